// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of tasks that communicate.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/mutex.h"
#include "rouse/sync/notify.h"
#include "rouse/testing/scaling/curves/workers.h"
#include "rouse/testing/scaling/curves/workload.h"

namespace rouse::curves {
namespace {

constexpr uint64_t kBatch = 16;

void Join(std::vector<JoinHandle<void>> handles) {
  for (JoinHandle<void>& handle : handles) (void)BlockOn(handle);
}

struct Pair {
  Notify ping;
  Notify pong;
};

Co<> Pong(std::shared_ptr<Pair> pair, const bool& has_ended) {
  for (;;) {
    co_await pair->ping.Notified();
    if (has_ended) co_return;
    pair->pong.NotifyOne();
  }
}

// `Pong()` is told of the end before the last notification.
Co<> PingPongPair(Window& window) {
  auto pair = std::make_shared<Pair>();
  bool has_ended = false;
  JoinHandle<void> pong = Spawn(Pong(pair, has_ended));
  do {
    for (uint64_t i = 0; i < kBatch; ++i) {
      pair->ping.NotifyOne();
      co_await pair->pong.Notified();
    }
  } while (window.Continues(kBatch));
  has_ended = true;
  pair->ping.NotifyOne();
  (void)co_await pong;
}

void PingPong(Workers& workers, Window& window) {
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < workers.count(); ++i) {
    handles.push_back(workers.scheduler().Spawn(PingPongPair(window)));
  }
  Join(std::move(handles));
}

Co<> Send(mpsc::Sender<uint64_t> sender, Window& window) {
  do {
    for (uint64_t i = 0; i < kBatch; ++i) (void)co_await sender.Send(i);
  } while (window.Continues(kBatch));
}

Co<> Receive(mpsc::Receiver<uint64_t> receiver) {
  while ((co_await receiver.Receive()).has_value()) {
  }
}

// `senders` tasks for each of `channels` channels.
void Channels(Workers& workers, Window& window, size_t channels,
              size_t senders) {
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < channels; ++i) {
    auto [sender, receiver] = mpsc::Channel<uint64_t>(128);
    handles.push_back(workers.scheduler().Spawn(Receive(std::move(receiver))));
    for (size_t j = 0; j < senders; ++j) {
      handles.push_back(workers.scheduler().Spawn(Send(sender, window)));
    }
  }
  Join(std::move(handles));
}

void OneChannel(Workers& workers, Window& window) {
  Channels(workers, window, 1, workers.count());
}

void ManyChannels(Workers& workers, Window& window) {
  Channels(workers, window, workers.count(), 1);
}

Co<> LockOften(Mutex<uint64_t>& mutex, Window& window) {
  do {
    for (uint64_t i = 0; i < kBatch; ++i) ++*co_await mutex.Lock();
  } while (window.Continues(kBatch));
}

void OneMutex(Workers& workers, Window& window) {
  Mutex<uint64_t> mutex(0);
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < 2 * workers.count(); ++i) {
    handles.push_back(workers.scheduler().Spawn(LockOften(mutex, window)));
  }
  Join(std::move(handles));
}

constexpr Workload kWorkloads[] = {
    {"ping_pong",
     "A pair of tasks for each worker notify each other in turn. An operation "
     "is a round trip.",
     PingPong},
    {"one_channel",
     "One bounded channel; a task for each worker sends to one receiver.",
     OneChannel},
    {"many_channels",
     "A bounded channel for each worker, with a sender and a receiver.",
     ManyChannels},
    {"one_mutex", "Two tasks for each worker lock one Mutex.", OneMutex},
};

}  // namespace

std::span<const Workload> SyncWorkloads() { return kWorkloads; }

}  // namespace rouse::curves
