// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using model::Cell;
using model::Require;
using model::Thread;

// Held by a waker's callable. The checker observes its destruction.
class Callable {
 public:
  Callable(Cell<int>& calls, int& ends) : calls_(&calls), ends_(&ends) {}
  Callable(Callable&& other) noexcept
      : calls_(std::exchange(other.calls_, nullptr)), ends_(other.ends_) {}
  Callable& operator=(Callable&&) = delete;
  ~Callable() {
    if (calls_ == nullptr) return;
    // All uses are over.
    ++calls_->Write();
    ++*ends_;
  }
  void operator()() const { calls_->Read(); }

 private:
  Cell<int>* calls_;
  int* ends_;
};

MODEL_TEST(Waker, EndsOnceAfterTheLastUse) {
  Cell<int> calls(0);
  int ends = 0;
  {
    const Waker waker = Waker::FromCallable(Callable(calls, ends));
    Thread one([clone = waker.Clone()]() mutable { std::move(clone).Wake(); });
    Thread two([clone = waker.Clone()] { clone.WakeByRef(); });
    waker.WakeByRef();
  }
  Require(ends == 1);
}

MODEL_TEST(Waker, EndsOnAnyThread) {
  Cell<int> calls(0);
  int ends = 0;
  {
    Waker waker = Waker::FromCallable(Callable(calls, ends));
    Thread other([clone = waker.Clone()]() mutable {
      clone.WakeByRef();
      clone.Reset();
    });
    waker.WakeByRef();
    waker.Reset();
    other.Join();
  }
  Require(ends == 1);
}

MODEL_TEST(Waker, IsClonedWhileOtherWakersAreDropped) {
  Cell<int> calls(0);
  int ends = 0;
  {
    Waker waker = Waker::FromCallable(Callable(calls, ends));
    Thread other([clone = waker.Clone()] {
      const Waker another = clone.Clone();
      another.WakeByRef();
    });
    waker.Clone().Reset();
    waker.Reset();
    other.Join();
  }
  Require(ends == 1);
}

MODEL_MUTANTS(Waker, "waker/waker.h");

}  // namespace
}  // namespace rouse
