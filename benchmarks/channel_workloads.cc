// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of channels between tasks: mpsc, mpmc, oneshot, mpsc together with
// oneshot, broadcast, and watch.

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/status/statusor.h"
#include "rouse/benchmarks/harness.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/broadcast.h"
#include "rouse/sync/mpmc.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/oneshot.h"
#include "rouse/sync/semaphore.h"
#include "rouse/sync/watch.h"

namespace rouse::bench {
namespace {

constexpr size_t kMessages = 200'000;

// Receives all values of a bounded or unbounded channel.
template <class Receiver>
Co<> Drain(Receiver rx) {
  size_t sum = 0;
  while (std::optional<size_t> value = co_await rx.Receive()) sum += *value;
  KeepAlive(sum);
}

template <class Receiver>
Co<> ReceiveSome(Receiver& rx, size_t count) {
  for (size_t i = 0; i < count; ++i) (void)co_await rx.Receive();
}

Co<> SendBounded(mpsc::Sender<size_t> tx, size_t count) {
  for (size_t i = 0; i < count; ++i) (void)co_await tx.Send(i);
}

Co<> SendUnbounded(mpsc::UnboundedSender<size_t> tx, size_t count) {
  for (size_t i = 0; i < count; ++i) (void)tx.Send(size_t{i});
  co_return;
}

Co<> JoinBoth(JoinHandle<void> first, JoinHandle<void> second) {
  (void)co_await first;
  (void)co_await second;
}

// One task sends 200,000 words to another task.
Co<> BoundedPair(size_t capacity) {
  auto [tx, rx] = mpsc::Channel<size_t>(capacity);
  JoinHandle<void> producer = Spawn(SendBounded(std::move(tx), kMessages));
  JoinHandle<void> consumer = Spawn(Drain(std::move(rx)));
  co_await JoinBoth(std::move(producer), std::move(consumer));
}

Co<> UnboundedPair() {
  auto [tx, rx] = mpsc::UnboundedChannel<size_t>();
  JoinHandle<void> producer = Spawn(SendUnbounded(std::move(tx), kMessages));
  JoinHandle<void> consumer = Spawn(Drain(std::move(rx)));
  co_await JoinBoth(std::move(producer), std::move(consumer));
}

void OneProducer(const Bench& bench, size_t capacity) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kMessages, [&] { runtime.BlockOn(BoundedPair(capacity)); });
}

void UnboundedOneProducer(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kMessages, [&] { runtime.BlockOn(UnboundedPair()); });
}

// Five producers send to the task that runs this coroutine.
Co<> BoundedFive(size_t capacity, size_t each) {
  auto [tx, rx] = mpsc::Channel<size_t>(capacity);
  for (int i = 0; i < 5; ++i) Spawn(SendBounded(tx, each)).Detach();
  co_await ReceiveSome(rx, 5 * each);
}

Co<> UnboundedFive(size_t each) {
  auto [tx, rx] = mpsc::UnboundedChannel<size_t>();
  for (int i = 0; i < 5; ++i) Spawn(SendUnbounded(tx, each)).Detach();
  co_await ReceiveSome(rx, 5 * each);
}

// The thread in `BlockOn()` receives.
void FiveProducers(const Bench& bench, size_t capacity) {
  constexpr size_t kEach = 1'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(5 * kEach,
                [&] { runtime.BlockOn(BoundedFive(capacity, kEach)); });
}

// A longer run of `FiveProducers()`, in which a task on a worker receives.
void FiveProducersToWorker(const Bench& bench, size_t capacity) {
  constexpr size_t kEach = 40'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(5 * kEach,
                [&] { bench.RunRoot(runtime, BoundedFive(capacity, kEach)); });
}

void UnboundedFiveProducersToWorker(const Bench& bench) {
  constexpr size_t kEach = 40'000;
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(5 * kEach,
                [&] { bench.RunRoot(runtime, UnboundedFive(kEach)); });
}

Co<> SendAndReceive(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto [tx, rx] = oneshot::Channel<size_t>();
    tx.Send(size_t{i});
    absl::StatusOr<size_t> value = co_await rx;
    KeepAlive(value);
  }
}

Co<> SendShared(mpmc::Sender<size_t> tx, size_t count) {
  for (size_t i = 0; i < count; ++i) (void)co_await tx.Send(i);
}

Co<> SendShared(mpmc::UnboundedSender<size_t> tx, size_t count) {
  for (size_t i = 0; i < count; ++i) (void)tx.Send(size_t{i});
  co_return;
}

// Tasks send 200,000 words to as many receiving tasks, each word to one task.
template <class Tx, class Rx>
Co<> SharedBy(std::pair<Tx, Rx> channel, size_t ends) {
  std::vector<JoinHandle<void>> receivers;
  for (size_t i = 0; i < ends; ++i) {
    Spawn(SendShared(channel.first, kMessages / ends)).Detach();
    receivers.push_back(Spawn(Drain(channel.second)));
  }
  {
    const auto last = std::move(channel);
  }
  for (JoinHandle<void>& receiver : receivers) (void)co_await receiver;
}

void SharedBounded(const Bench& bench, size_t ends) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kMessages, [&] {
    runtime.BlockOn(SharedBy(mpmc::Channel<size_t>(1'000), ends));
  });
}

void SharedUnbounded(const Bench& bench, size_t ends) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kMessages, [&] {
    runtime.BlockOn(SharedBy(mpmc::UnboundedChannel<size_t>(), ends));
  });
}

// Creates a oneshot, sends, and then receives, without a task switch.
void OneshotReady(const Bench& bench) {
  constexpr size_t kCount = 100'000;
  Runtime runtime = bench.MakeCurrentThreadRuntime();
  bench.Measure(kCount, [&] { runtime.BlockOn(SendAndReceive(kCount)); });
}

using Reply = oneshot::Sender<bool>;

Co<> Answer(mpsc::Receiver<Reply> requests) {
  while (std::optional<Reply> reply = co_await requests.Receive()) {
    reply->Send(true);
  }
}

Co<> Ask(mpsc::Sender<Reply> requests, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto [reply, answer] = oneshot::Channel<bool>();
    (void)co_await requests.Send(std::move(reply));
    (void)co_await answer;
  }
}

// A client sends requests over an mpsc of capacity 10, and receives answers
// over oneshots. The client is the thread in `BlockOn()`, or a task.
void RequestReply(const Bench& bench) {
  constexpr size_t kRequests = 1'000;
  Runtime runtime = bench.MakeRuntime();
  auto channel = mpsc::Channel<Reply>(10);
  runtime.Spawn(Answer(std::move(channel.second))).Detach();
  const bool on_worker = bench.Is("request_reply_worker");
  bench.Measure(kRequests, [&] {
    if (on_worker) {
      bench.RunRoot(runtime, Ask(channel.first, kRequests));
    } else {
      runtime.BlockOn(Ask(channel.first, kRequests));
    }
  });
}

// Sends each word to ten tasks. The sender begins a burst only after all tasks
// have received the third burst before it, so that no receiver lags.
class BroadcastToTen {
 public:
  static constexpr size_t kReceivers = 10;
  static constexpr size_t kValues = 20'000;

  Co<> Run() {
    auto [tx, rx] = broadcast::Channel<size_t>(1'024);
    std::vector<JoinHandle<void>> receivers;
    for (size_t i = 0; i < kReceivers; ++i) {
      receivers.push_back(Spawn(Receive(tx.Subscribe())));
    }
    (void)co_await Spawn(Send(std::move(tx)));
    for (JoinHandle<void>& receiver : receivers) (void)co_await receiver;
  }

 private:
  static constexpr size_t kBurst = 250;
  static constexpr size_t kBurstsAhead = 3;

  Co<> Send(broadcast::Sender<size_t> tx) {
    for (size_t i = 0; i < kValues; ++i) {
      if (i % kBurst == 0) {
        absl::StatusOr<Semaphore::Permit> burst = co_await window_.Acquire();
        burst->Forget();
      }
      CHECK_OK(tx.Send(size_t{i}).status());
    }
  }

  Co<> Receive(broadcast::Receiver<size_t> rx) {
    for (size_t i = 0; i < kValues; ++i) {
      broadcast::Received<size_t> value = co_await rx.Receive();
      CHECK_EQ(*value, i);
      // Relaxed: the semaphore orders the bursts.
      if (i % kBurst == kBurst - 1 &&
          notified_[i / kBurst].fetch_add(1, std::memory_order_relaxed) ==
              kReceivers - 1) {
        window_.AddPermits(1);
      }
    }
  }

  Semaphore window_{kBurstsAhead};
  std::vector<std::atomic<size_t>> notified_ =
      std::vector<std::atomic<size_t>>(kValues / kBurst);
};

// A hundred tasks wait for each change. An operation is a change that all tasks
// have seen.
class WatchOfHundred {
 public:
  static constexpr size_t kReceivers = 100;
  static constexpr size_t kValues = 2'000;

  Co<> Run() {
    auto [tx, rx] = watch::Channel<size_t>(0);
    std::vector<JoinHandle<void>> receivers;
    for (size_t i = 0; i < kReceivers; ++i) {
      receivers.push_back(Spawn(Receive(rx)));
    }
    (void)co_await Spawn(Send(std::move(tx)));
    for (JoinHandle<void>& receiver : receivers) (void)co_await receiver;
  }

 private:
  Co<> Send(watch::Sender<size_t> tx) {
    for (size_t i = 1; i <= kValues; ++i) {
      CHECK(tx.Send(size_t{i}));
      co_await all_notified_.Notified();
    }
  }

  Co<> Receive(watch::Receiver<size_t> rx) {
    for (size_t i = 1; i <= kValues; ++i) {
      CHECK_OK(co_await rx.Changed());
      CHECK_EQ(*rx.Borrow(), i);
      if ((notified_.fetch_add(1, std::memory_order_acq_rel) + 1) %
              kReceivers ==
          0) {
        all_notified_.NotifyOne();
      }
    }
  }

  std::atomic<size_t> notified_{0};
  Notify all_notified_;
};

// Measures a workload whose iteration is a run of a new `Group`.
template <class Group>
void RunGroup(const Bench& bench, size_t operations) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(operations, [&] {
    Group group;
    runtime.BlockOn(group.Run());
  });
}

}  // namespace

bool RunChannelWorkload(const Bench& bench) {
  if (bench.Is("mpsc_bounded100_1p") || bench.Is("mpsc_bounded100_1p_ct")) {
    OneProducer(bench, 100);
  } else if (bench.Is("mpsc_bounded1000_1p") ||
             bench.Is("mpsc_bounded1000_1p_ct")) {
    OneProducer(bench, 1'000);
  } else if (bench.Is("mpsc_unbounded_1p") ||
             bench.Is("mpsc_unbounded_1p_ct")) {
    UnboundedOneProducer(bench);
  } else if (bench.Is("mpsc_bounded1m_5p")) {
    FiveProducers(bench, 1'000'000);
  } else if (bench.Is("mpsc_bounded100_5p")) {
    FiveProducers(bench, 100);
  } else if (bench.Is("mpsc_bounded1000_5p")) {
    FiveProducersToWorker(bench, 1'000);
  } else if (bench.Is("mpsc_unbounded_5p")) {
    UnboundedFiveProducersToWorker(bench);
  } else if (bench.Is("mpmc_bounded1000_1x1")) {
    SharedBounded(bench, 1);
  } else if (bench.Is("mpmc_bounded1000_4x4")) {
    SharedBounded(bench, 4);
  } else if (bench.Is("mpmc_unbounded_1x1")) {
    SharedUnbounded(bench, 1);
  } else if (bench.Is("mpmc_unbounded_4x4")) {
    SharedUnbounded(bench, 4);
  } else if (bench.Is("oneshot_ready")) {
    OneshotReady(bench);
  } else if (bench.Is("request_reply") || bench.Is("request_reply_ct") ||
             bench.Is("request_reply_worker")) {
    RequestReply(bench);
  } else if (bench.Is("broadcast_10") || bench.Is("broadcast_10_ct")) {
    RunGroup<BroadcastToTen>(
        bench, BroadcastToTen::kReceivers * BroadcastToTen::kValues);
  } else if (bench.Is("watch_100") || bench.Is("watch_100_ct")) {
    RunGroup<WatchOfHundred>(bench, WatchOfHundred::kValues);
  } else {
    return false;
  }
  return true;
}

}  // namespace rouse::bench
