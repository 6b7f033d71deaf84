// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/fork/given_child.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "absl/base/config.h"
#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "rouse/base/atomic.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/futex.h"
#include "rouse/base/mutable_step.h"
#include "rouse/future/await_trace.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

#ifndef ROUSE_MODEL
void* GivenChild::operator new(size_t size) {
  return FramePool::Allocate(size);
}
void GivenChild::operator delete(void* object, size_t size) {
  FramePool::Free(object, size);
}
#endif

void GivenChild::Unref() {
  // Release pairs with the acquire of the last drop: use comes before delete.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

GivenChild::State GivenChild::Begin() {
  uint32_t state = state_.load(std::memory_order_relaxed);
  while (state == kNew || state == kIdle) {
    // Relaxed: the task's own state orders the polls and traces of the task,
    // and its queue orders what the fork did before it gave the child.
    if (state_.compare_exchange_weak(state, kBusy, std::memory_order_relaxed,
                                     std::memory_order_relaxed)) {
      break;
    }
  }
  return static_cast<State>(state);
}

bool GivenChild::End(State state) {
  uint32_t expected = kBusy;
  // Release pairs with the acquire of TakeBack(), Check() or Reclaim(): the
  // child can be the fork's afterwards.
  if (state_.compare_exchange_strong(expected, state, std::memory_order_release,
                                     std::memory_order_relaxed)) {
    return false;
  }
  // The state is kAwaited. Release as above. The fork may be destroyed from
  // here on, but this object lives until the task drops its reference.
  state_.store(kReturned, std::memory_order_release);
  FutexWakeOne(state_);
  return true;
}

bool GivenChild::Poll(Context& cx) {
  const State before = Begin();
  if (before == kReturned) return true;
  bool ended = true;
  ROUSE_TRY { ended = child_.poll(child_.child, cx); }
  ROUSE_CATCH_ALL {
#ifdef ABSL_HAVE_EXCEPTIONS
    exception_ = std::current_exception();
#endif
  }
  if (!ended) {
    if (!task_waker_.Read().WillWake(cx.waker())) {
      task_waker_.Write() = cx.waker().Clone();
    }
    return End(kIdle);
  }
  // The waker has a reference to the task.
  task_waker_.Write().Reset();
  // Release as in End(). The fork may be destroyed from here on.
  const uint32_t last = state_.exchange(kEnded, std::memory_order_release);
  if (last == kAwaited) FutexWakeOne(state_);
  waker_.Wake();
  return true;
}

void GivenChild::Trace(AwaitTrace& trace) {
  const State before = Begin();
  if (before == kReturned || before == kEnded) return;
  // Even if memory is lacking.
  const absl::Cleanup end = [this, before] { End(before); };
  child_.trace(child_.child, trace);
}

void GivenChild::Abandon() {
  uint32_t state = state_.load(std::memory_order_relaxed);
  while (state == kNew || state == kIdle) {
    // Relaxed: the step continues the release sequence of the latest End().
    if (state_.compare_exchange_weak(state, kReturned,
                                     std::memory_order_relaxed,
                                     std::memory_order_relaxed)) {
      waker_.Wake();
      return;
    }
  }
}

bool GivenChild::TakeBack() {
  uint32_t state = kNew;
  // Acquire pairs with the release of End(), after a trace, and after the last
  // poll before Abandon().
  return state_.compare_exchange_strong(state, kReturned,
                                        std::memory_order_acquire,
                                        std::memory_order_acquire) ||
         state == kReturned;
}

GivenChild::Progress GivenChild::Check(const Waker& waker) {
  for (bool registered = false;; registered = true) {
    // Acquire pairs with the release of Poll() and End().
    switch (state_.load(std::memory_order_acquire)) {
      case kEnded:
        return Progress::kEnded;
      case kReturned:
        return Progress::kReturned;
      default:
        break;
    }
    if (registered) return Progress::kRuns;
    ROUSE_MUTABLE_CALL(waker_.Register(waker));
  }
}

void GivenChild::Reclaim(absl::FunctionRef<void()> before_sleep) {
  bool may_sleep = false;
  // Acquire here and below pairs with the release of Poll() and End(): the
  // task's use of the child comes before the fork's.
  uint32_t state = state_.load(std::memory_order_acquire);
  for (;;) {
    switch (state) {
      case kEnded:
        return;
      case kReturned:
        ROUSE_MUTABLE_CALL(std::move(task_waker_.Write()).Wake());
        return;
      case kNew:
      case kIdle:
        if (state_.compare_exchange_weak(state, kReturned,
                                         std::memory_order_acquire,
                                         std::memory_order_acquire)) {
          state = kReturned;
        }
        break;
      case kBusy:
        if (!may_sleep) {
          before_sleep();
          may_sleep = true;
          state = state_.load(std::memory_order_acquire);
          break;
        }
        // Relaxed: the child is still the task's.
        if (!state_.compare_exchange_weak(state, kAwaited,
                                          std::memory_order_relaxed,
                                          std::memory_order_relaxed)) {
          state = state_.load(std::memory_order_acquire);
          break;
        }
        [[fallthrough]];
      default:
        FutexWait(state_, kAwaited);
        state = state_.load(std::memory_order_acquire);
    }
  }
}

}  // namespace rouse::internal
