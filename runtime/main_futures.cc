// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/main_futures.h"

#include <memory>

#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/runtime/main_clock_hold.h"
#include "rouse/timer/clock.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

struct MainFutures::Waiting : IntrusiveListNode<> {
  ThreadParker parker;
};

bool MainFutures::Wait(const std::shared_ptr<const void>& owner, Clock& clock,
                       absl::FunctionRef<bool(Context&)> poll) {
  Waiting self;
  const ThreadParker::Unparker unparker = self.parker.unparker();
  FastRand rand = SplitRand();
  const std::shared_ptr<MainClockHold> held = MainClockHold::For(owner, clock);
  {
    const absl::MutexLock lock(&mu_);
    waiting_.PushBack(&self);
  }
  const absl::Cleanup end = [this, &self, &held] {
    if (held != nullptr) held->End();
    const absl::MutexLock lock(&mu_);
    self.Unlink();
  };
  const Waker waker = held == nullptr ? unparker.waker().Clone()
                                      : Waker::FromCallable([held, unparker] {
                                          held->OnWake();
                                          unparker.Unpark();
                                        });
  for (;;) {
    {
      const MainClockHold::Hold hold =
          held != nullptr ? held->BeginPoll() : MainClockHold::Hold();
      Context cx(waker, &rand);
      if (poll(cx)) return true;
    }
    {
      const absl::MutexLock lock(&mu_);
      if (given_up_) return false;
    }
    FramePool::OnIdle();
    // Do not spin with an auto-advancing clock, which advances when nothing is
    // left to do.
    if (held == nullptr) {
      self.parker.SpinThenPark();
    } else {
      self.parker.Park();
    }
  }
}

void MainFutures::GiveUp() {
  // Under the lock, so that the waiting threads still exist.
  const absl::MutexLock lock(&mu_);
  given_up_ = true;
  waiting_.ForEach(
      [](Waiting* waiting) { waiting->parker.unparker().Unpark(); });
}

FastRand MainFutures::SplitRand() {
  const absl::MutexLock lock(&mu_);
  return rand_.Split();
}

}  // namespace rouse::internal
