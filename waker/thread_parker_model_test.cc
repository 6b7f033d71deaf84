// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <memory>

#include "absl/time/time.h"
#include "rouse/base/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {
namespace {

using model::Cell;
using model::Require;
using model::Thread;

// In all of these tests, a lost unpark is a deadlock.

MODEL_TEST(ThreadParker, AnUnparkBeforeDuringOrAfterEndsThePark) {
  ThreadParker parker;
  Cell<int> data(0);
  Thread other([&data, unparker = parker.unparker()] {
    data.Write() = 1;
    unparker.Unpark();
  });
  parker.Park();
  Require(data.Read() == 1);
}

MODEL_TEST(ThreadParker, AnUnparkThatCameFirstEndsThePark) {
  ThreadParker parker;
  parker.unparker().Unpark();
  parker.Park();
}

// The second unpark finds the note of the first. Everything before the second
// unpark must nevertheless be visible.
MODEL_TEST(ThreadParker, AParkSeesTheWritesBeforeEveryUnparkThatItUsesUp) {
  ThreadParker parker;
  Atomic<int> done(0);
  const auto unpark = [&](int bit) {
    return [&done, bit, unparker = parker.unparker()] {
      done.fetch_or(bit, std::memory_order_relaxed);
      unparker.Unpark();
    };
  };
  Thread one(unpark(1));
  Thread two(unpark(2));
  // One park may use up both unparks. The park then sees both, and there is no
  // third unpark.
  parker.Park();
  if (done.load(std::memory_order_relaxed) != 3) parker.Park();
  Require(done.load(std::memory_order_relaxed) == 3);
}

MODEL_TEST(ThreadParker, EachUnparkIsWorthOnePark) {
  ThreadParker parker;
  Atomic<bool> parked(false);
  Thread other([&parked, unparker = parker.unparker()] {
    unparker.Unpark();
    while (!parked.load(std::memory_order_acquire)) model::SpinHint();
    unparker.Unpark();
  });
  parker.Park();
  parked.store(true, std::memory_order_release);
  parker.Park();
}

MODEL_TEST(ThreadParker, ATimedParkUsesUpAnUnparkOrLeavesIt) {
  ThreadParker parker;
  Atomic<bool> unparked(false);
  Thread other([&, unparker = parker.unparker()] {
    unparked.store(true, std::memory_order_relaxed);
    unparker.Unpark();
  });
  parker.ParkFor(absl::Milliseconds(1));
  // A park that has used up the unpark sees everything before the unpark. The
  // park below would then not end.
  if (!unparked.load(std::memory_order_relaxed)) parker.Park();
}

MODEL_TEST(ThreadParker, AParkAfterATimeoutIsOrdinary) {
  ThreadParker parker;
  parker.ParkFor(absl::Milliseconds(1));
  Thread other([unparker = parker.unparker()] { unparker.Unpark(); });
  parker.Park();
}

MODEL_TEST(ThreadParker, ATimedParkLeavesNothingOfTheUnparkItUsesUp) {
  ThreadParker parker;
  Cell<int> data(0);
  parker.unparker().Unpark();
  parker.ParkFor(absl::Milliseconds(1));
  Thread other([&data, unparker = parker.unparker()] {
    data.Write() = 1;
    unparker.Unpark();
  });
  parker.Park();
  Require(data.Read() == 1);
}

MODEL_TEST(ThreadParker, SpuriousReturnsComeOnlyFromTheKernel,
           .spurious_failures = 2) {
  ThreadParker parker;
  Cell<int> data(0);
  Thread other([&data, unparker = parker.unparker()] {
    data.Write() = 1;
    unparker.Unpark();
  });
  parker.Park();
  Require(data.Read() == 1);
}

MODEL_TEST(ThreadParker, AnUnparkerOutlivesTheParker) {
  auto parker = std::make_unique<ThreadParker>();
  Thread other([unparker = parker->unparker()] { unparker.Unpark(); });
  parker->ParkFor(absl::Milliseconds(1));
  parker.reset();
}

MODEL_MUTANTS(
    ThreadParker, "waker/thread_parker.",
    "ParkFor at thread_parker.cc:182: modify skipped: the kernel does "
    "not let it wait, as if its time were up");

}  // namespace
}  // namespace rouse
