// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads of timers and sockets.

#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/time/time.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/io_outcome.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/scaling/curves/workers.h"
#include "rouse/testing/scaling/curves/workload.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

#ifdef ROUSE_SCALING
#include "rouse/testing/scaling/kernel.h"
#endif

namespace rouse::curves {
namespace {

// ---- Timers.

Co<> ArmAndCancel(Window& window) {
  constexpr uint64_t kBatch = 16;
  do {
    for (uint64_t i = 0; i < kBatch; ++i) {
      Sleep sleep(absl::Seconds(10));
      co_await PollFn([&sleep](Context& cx) -> PollResult<bool> {
        // Ready, whether the sleep is or not.
        return sleep.Poll(cx).IsReady();
      });
    }
  } while (window.Continues(kBatch));
}

void CancelledTimers(Workers& workers, Window& window) {
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < workers.count(); ++i) {
    handles.push_back(workers.scheduler().Spawn(ArmAndCancel(window)));
  }
  for (JoinHandle<void>& handle : handles) (void)BlockOn(handle);
}

Co<> SleepOften(Window& window) {
  do {
    co_await Sleep(absl::Milliseconds(1));
  } while (window.Continues(1));
}

Co<> SpawnSleepers(Window& window) {
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 64; ++i) handles.push_back(Spawn(SleepOften(window)));
  for (JoinHandle<void>& handle : handles) (void)co_await handle;
}

void Sleepers(Workers& workers, Window& window) {
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < workers.count(); ++i) {
    handles.push_back(workers.scheduler().Spawn(SpawnSleepers(window)));
  }
  for (JoinHandle<void>& handle : handles) (void)BlockOn(handle);
}

// ---- Sockets.

#ifdef ROUSE_SCALING

using scaling::ConnectedPair;
constexpr auto* read = &scaling::Read;
constexpr auto* write = &scaling::Write;

#else

std::pair<int, int> ConnectedPair() {
  int fds[2];
  PCHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
  return {fds[0], fds[1]};
}

#endif  // ROUSE_SCALING

constexpr size_t kSize = 64;

// One end of a connection, as a TcpStream without addresses.
class End {
 public:
  End(int fd, const reactor::Handle& reactor)
      : fd_(fd),
        registration_(
            reactor::Registration::Create(
                fd, reactor::Interest::kReadable | reactor::Interest::kWritable,
                reactor)
                .value()) {}
  End(End&&) = default;

  PollResult<bool> PollRead(Context& cx, char* buffer) {
    return Poll(reactor::Direction::kRead, cx,
                [fd = fd_, buffer] { return read(fd, buffer, kSize); });
  }
  PollResult<bool> PollWrite(Context& cx, const char* buffer) {
    return Poll(reactor::Direction::kWrite, cx,
                [fd = fd_, buffer] { return write(fd, buffer, kSize); });
  }

 private:
  template <class Attempt>
  PollResult<bool> Poll(reactor::Direction direction, Context& cx,
                        Attempt attempt) {
    const reactor::IoOutcome outcome =
        registration_.PollOutcome(direction, cx, nullptr, kSize, attempt);
    if (outcome.IsPending()) return kPending;
    return outcome.IsCount() && outcome.count() > 0;
  }

  int fd_;
  reactor::Registration registration_;
};

Co<> Reply(End end) {
  char buffer[kSize];
  for (;;) {
    if (!co_await PollFn([&](Context& cx) { return end.PollRead(cx, buffer); }))
      co_return;
    co_await PollFn([&](Context& cx) { return end.PollWrite(cx, buffer); });
  }
}

Co<> Request(End end, Window& window) {
  char buffer[kSize] = {};
  do {
    co_await PollFn([&](Context& cx) { return end.PollWrite(cx, buffer); });
    co_await PollFn([&](Context& cx) { return end.PollRead(cx, buffer); });
  } while (window.Continues(1));
}

// Both ends of four connections for each worker.
void Echo(Workers& workers, Window& window) {
  std::vector<JoinHandle<void>> clients;
  std::vector<JoinHandle<void>> servers;
  std::vector<int> fds;
  for (size_t i = 0; i < 4 * workers.count(); ++i) {
    const auto [client, server] = ConnectedPair();
    fds.push_back(client);
    fds.push_back(server);
    servers.push_back(
        workers.scheduler().Spawn(Reply(End(server, workers.reactor()))));
    clients.push_back(workers.scheduler().Spawn(
        Request(End(client, workers.reactor()), window)));
  }
  for (JoinHandle<void>& handle : clients) (void)BlockOn(handle);
  for (JoinHandle<void>& handle : servers) {
    handle.Abort();
    (void)BlockOn(handle);
  }
#ifndef ROUSE_SCALING
  for (const int fd : fds) close(fd);
#endif
}

constexpr Workload kWorkloads[] = {
    {"cancelled_timers",
     "A task for each worker arms and cancels timers of 10 s.",
     CancelledTimers},
    {"sleepers", "64 tasks for each worker sleep for 1 ms, again and again.",
     Sleepers, absl::Milliseconds(16)},
    {"echo",
     "Four connections for each worker, with a client and a server in one "
     "runtime. An operation is an echoed request.",
     Echo},
};

}  // namespace

std::span<const Workload> DriverWorkloads() { return kWorkloads; }

}  // namespace rouse::curves
