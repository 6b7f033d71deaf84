// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reactor_fixture.h
// -----------------------------------------------------------------------------
//
// Fixtures for tests that need a reactor.

#ifndef ROUSE_TESTING_INTERNAL_REACTOR_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_REACTOR_FIXTURE_H_

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse::reactor {

// A thread that acts as a runtime: the thread polls one future at a time, and
// turns the reactor. The reactor is not the thread's current reactor: see
// `CurrentReactorTest`.
class ReactorTest : public FdTest {
 protected:
  ReactorTest() : reactor_(Reactor::Create().value()) {}

  // Delivers all pending events to the tasks. Returns the number of events.
  size_t Turn() {
    const absl::StatusOr<size_t> events = reactor_.Turn(absl::ZeroDuration());
    EXPECT_TRUE(events.ok()) << events.status();
    return events.value_or(0);
  }

  // Returns how often the tasks have been woken in total.
  int wakes() const { return runner_.wakes() + task_.wakes() + other_.wakes(); }

  // Waits for an event after polls that were all pending. `wakes` is the count
  // before those polls. Does not wait if the polls woke a task, such as a task
  // without budget.
  void ParkUnlessWokenSince(int wakes) {
    if (this->wakes() == wakes) {
      reactor_.Park();
    } else {
      Turn();
    }
  }

  // Polls until the future is ready.
  template <class F>
  auto Run(F&& future) {
    for (;;) {
      const int before = wakes();
      auto result = runner_.Poll(future);
      if (result.IsReady()) return *std::move(result);
      ParkUnlessWokenSince(before);
    }
  }

  // `Run()` uses a task of its own, so that a test can count the wakes of the
  // other tasks.
  CountingWaker runner_, task_, other_;
  Reactor reactor_;
};

// A `ReactorTest` whose reactor is the thread's current reactor.
class CurrentReactorTest : public ReactorTest {
 private:
  const ScopedDefault current_{reactor_.handle()};
};

}  // namespace rouse::reactor

#endif  // ROUSE_TESTING_INTERNAL_REACTOR_FIXTURE_H_
