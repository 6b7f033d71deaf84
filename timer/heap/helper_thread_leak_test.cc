// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defect 7 of the seed: its thread's waker leaks a reference whenever the waker
// is stored, and thereby leaks the object that the waker refers to. This
// program therefore counts its allocations.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/helper_thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace {

// Stays zero under the sanitizers, which have their own operator new and report
// the leaks of this test themselves.
std::atomic<int> live_blocks{0};

}  // namespace

#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && \
    !defined(ABSL_HAVE_THREAD_SANITIZER)

void* operator new(size_t size) {
  void* const block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) std::abort();
  // Relaxed: the thread that compares the counts has joined the other threads.
  live_blocks.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  // Relaxed, as above.
  live_blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(block);
}

void operator delete(void* block, size_t) noexcept { operator delete(block); }

#endif

namespace rouse::heap {
namespace {

// Runs a helper thread, which parks, is woken by delays that are made, reset
// and dropped, fires some of them, and exits.
void UseAHelperThread() {
  const std::shared_ptr<Clock> clock = PausedClock();
  CountingWaker task;
  {
    absl::StatusOr<HelperThread> helper = HelperThread::Start(clock);
    ASSERT_TRUE(helper.ok()) << helper.status();
    Delay kept(helper->handle(), absl::Hours(1));
    for (int i = 0; i < 10; ++i) {
      Delay delay(helper->handle(), absl::Hours(1));
      const Waker waker = task.NewWaker();
      Context cx(waker);
      ASSERT_TRUE(delay.Poll(cx).IsPending());
      ASSERT_TRUE(kept.Reset(absl::Hours(1)).ok());
      ASSERT_TRUE(BlockOn(Delay(helper->handle(), absl::ZeroDuration())).ok());
    }
  }
  EXPECT_EQ(task.live(), 0);
  // The thread, its timer and its listener no longer own the clock.
  EXPECT_EQ(clock.use_count(), 1);
}

TEST(HelperThread, Defect7LeaksNoWaker) {
  // Makes all allocations that are made only once.
  UseAHelperThread();
  const int before = live_blocks.load(std::memory_order_relaxed);
  for (int i = 0; i < 20; ++i) {
    UseAHelperThread();
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_EQ(live_blocks.load(std::memory_order_relaxed), before);
}

}  // namespace
}  // namespace rouse::heap
