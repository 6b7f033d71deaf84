// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/slot/slot.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/reactor/slot/wake_batch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor {
namespace {

std::pair<OwnedFd, OwnedFd> MakeSocketPair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) !=
      0) {
    std::abort();
  }
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

// Measures the reactor's cost of one wait, without the kernel: a waiter is
// queued, an event removes and wakes the waiter, and a short read lowers the
// edge.
void BM_WaitPostLower(benchmark::State& state) {
  internal::Slot slot;
  internal::WakeBatch woken;
  const Waker waker;
  Waiter waiter;
  for (auto _ : state) {
    slot.Wait(Direction::kRead, waker, &waiter);
    slot.Post(slot.generation(), Ready::kReadable | Ready::kWritable, woken);
    woken.WakeAll();
    slot.Lower(Direction::kRead, slot.Load(), Ready());
  }
}
BENCHMARK(BM_WaitPostLower);

// Measures an event without a waiter.
void BM_PostToNobody(benchmark::State& state) {
  internal::Slot slot;
  internal::WakeBatch woken;
  for (auto _ : state) {
    slot.Post(slot.generation(), Ready::kReadable | Ready::kWritable, woken);
  }
}
BENCHMARK(BM_PostToNobody);

void BM_RegisterAndDeregister(benchmark::State& state) {
  Reactor reactor = Reactor::Create().value();
  auto [a, b] = MakeSocketPair();
  for (auto _ : state) {
    auto registration =
        Registration::Create(a.get(), Interest::kReadable, reactor.handle());
    benchmark::DoNotOptimize(registration.ok());
  }
}
BENCHMARK(BM_RegisterAndDeregister);

// Waits, writes, turns, wakes and reads `range(0)` sockets, all of which are
// written to before the turn. Reported per socket.
void BM_WakeThroughTheKernel(benchmark::State& state) {
  Reactor reactor = Reactor::Create().value();
  struct Connection {
    OwnedFd ours, theirs;
    Registration registration;
    Waiter waiter;

    Connection(OwnedFd a, OwnedFd b, const Handle& handle)
        : ours(std::move(a)),
          theirs(std::move(b)),
          registration(
              Registration::Create(ours.get(), Interest::kReadable, handle)
                  .value()) {}
  };
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < state.range(0); ++i) {
    auto [a, b] = MakeSocketPair();
    connections.push_back(std::make_unique<Connection>(
        std::move(a), std::move(b), reactor.handle()));
  }
  int wakes = 0;
  const Waker waker = Waker::FromCallable([&wakes] { ++wakes; });
  char byte;
  char buffer[64];
  const auto read = [&](Connection& connection) {
    Context cx(waker);
    return connection.registration
        .PollIo(
            Direction::kRead, cx, &connection.waiter, sizeof buffer,
            [&] {
              return recv(connection.ours.get(), buffer, sizeof buffer, 0);
            },
            [](int error) { return absl::ErrnoToStatus(error, "recv"); })
        .IsReady();
  };
  for (auto _ : state) {
    for (auto& connection : connections) {
      if (read(*connection)) std::abort();
      if (send(connection->theirs.get(), &byte, 1, 0) != 1) std::abort();
    }
    if (!reactor.Turn(absl::InfiniteDuration()).ok()) std::abort();
    for (auto& connection : connections) {
      if (!read(*connection)) std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_WakeThroughTheKernel)->Arg(1)->Arg(64);

void BM_UnparkNobody(benchmark::State& state) {
  Reactor reactor = Reactor::Create().value();
  const Reactor::Unparker unparker = reactor.unparker();
  for (auto _ : state) unparker.Unpark();
}
BENCHMARK(BM_UnparkNobody);

void BM_TurnWithNothingToDo(benchmark::State& state) {
  Reactor reactor = Reactor::Create().value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(reactor.Turn(absl::ZeroDuration()).ok());
  }
}
BENCHMARK(BM_TurnWithNothingToDo);

}  // namespace
}  // namespace rouse::reactor
