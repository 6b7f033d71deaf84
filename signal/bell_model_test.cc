// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models a handler that is installed, run and listened to. If a listening
// thread is not notified of a signal, that is a deadlock or a failure here.

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/futex.h"
#include "rouse/signal/bell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::internal {
namespace {

using model::Require;
using model::Thread;

constexpr int kFd = 7;
constexpr int kHandlerBefore = 11;

// A signal of a process. Its operating system gives the orders that bell.h
// requires, and no other orders.
class Process {
 public:
  // Models sigaction(2).
  bool Install() {
    return bell.Install(kFd, kHandlerBefore, [this] {
      handled_.store(true, std::memory_order_release);
      return true;
    });
  }

  // Models kill(2), if the system chooses this thread. Returns whether there
  // was a handler.
  bool Raise() {
    if (!handled_.load(std::memory_order_acquire)) return false;
    bell.Ring([this](int fd) {
      Require(fd == kFd);
      written_.fetch_add(1, std::memory_order_release);
      FutexWakeOne(written_);
    });
    Require(bell.previous() == kHandlerBefore);
    return true;
  }

  // Waits until the descriptor has been written to `times` times or more.
  void AwaitWrites(uint32_t times) {
    for (;;) {
      const uint32_t written = written_.load(std::memory_order_acquire);
      if (written >= times) return;
      FutexWait(written_, written, absl::InfiniteDuration());
    }
  }

  Bell<int> bell;

 private:
  Atomic<bool> handled_{false};
  Atomic<uint32_t> written_{0};
};

MODEL_TEST(Bell, ANotifiedListenerSeesTheSignalCounted) {
  Process process;
  Require(process.Install());
  Thread other([&] { Require(process.Raise()); });
  process.AwaitWrites(1);
  Require(process.bell.count() == 1);
  other.Join();
}

// The handler runs on two threads.
MODEL_TEST(Bell, TwoSignalsAtOnceAreBothCounted) {
  Process process;
  Require(process.Install());
  Thread other([&] { Require(process.Raise()); });
  Require(process.Raise());
  process.AwaitWrites(2);
  Require(process.bell.count() == 2);
  other.Join();
}

// This holds even for a thread that has not waited for the descriptor.
MODEL_TEST(Bell, TheSendersWritesAreVisibleWithItsSignal) {
  Process process;
  Require(process.Install());
  Cell<int> data(0);
  Thread sender([&] {
    data.Write() = 1;
    Require(process.Raise());
  });
  if (process.bell.count() == 1) Require(data.Read() == 1);
  sender.Join();
}

// The second of two counts includes the actions before the first.
MODEL_TEST(Bell, TheWritesOfEverySenderAreVisible) {
  Process process;
  Require(process.Install());
  Cell<int> first(0);
  Cell<int> second(0);
  Thread one([&] {
    first.Write() = 1;
    Require(process.Raise());
  });
  Thread two([&] {
    second.Write() = 1;
    Require(process.Raise());
  });
  if (process.bell.count() == 2) {
    Require(first.Read() == 1);
    Require(second.Read() == 1);
  }
  one.Join();
  two.Join();
}

// A signal arrives during the installation of the handler: the new handler runs
// with all that it needs, or the signal is handled as before.
MODEL_TEST(Bell, ASignalDuringTheInstallationIsCounted) {
  Process process;
  bool handled = false;
  Thread other([&] { handled = process.Raise(); });
  Require(process.Install());
  other.Join();
  Require(process.bell.count() == (handled ? 1u : 0u));
}

MODEL_TEST(Bell, APreviousOneShotHandlerIsCalledOnce) {
  Process process;
  Require(process.Install());
  bool other_calls = false;
  Thread other([&] { other_calls = !process.bell.IsSpent(); });
  const bool calls = !process.bell.IsSpent();
  other.Join();
  Require(calls != other_calls);
}

// No descriptor is left behind, which the next installation would use as its
// own.
MODEL_TEST(Bell, AFailedInstallationLeavesNothing) {
  Process process;
  Require(!process.bell.Install(kFd + 1, kHandlerBefore, [] { return false; }));
  Require(process.bell.fd() == -1);
  Require(process.Install());
  Require(process.bell.fd() == kFd);
  Thread other([&] { Require(process.Raise()); });
  process.AwaitWrites(1);
  other.Join();
}

MODEL_MUTANTS(Bell, "signal/bell.h");

}  // namespace
}  // namespace rouse::internal
