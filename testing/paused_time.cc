// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/paused_time.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

// A step that has begun. The clock calls `Arrive()`, and the future reads the
// result.
class ClockStep::Shared {
 public:
  // REQUIRES: `handle` keeps the clock alive.
  explicit Shared(Handle handle)
      : handle_(std::move(handle)), start_(clock().Now()) {}

  Clock& clock() const { return handle_.clock(); }
  Instant start() const { return start_; }

  bool has_arrived() const {
    const absl::MutexLock lock(&mu_);
    return has_arrived_;
  }

  // Returns whether the clock has arrived. If not, `waker` is called at the
  // arrival.
  bool Wait(Waker waker) {
    // The previous waker, or the new one, is destroyed after the lock is
    // released.
    const absl::MutexLock lock(&mu_);
    if (!has_arrived_) std::swap(waker_, waker);
    return has_arrived_;
  }

  void Arrive() {
    Waker waker;
    {
      const absl::MutexLock lock(&mu_);
      has_arrived_ = true;
      waker = std::move(waker_);
    }
    std::move(waker).Wake();
  }

 private:
  const Handle handle_;
  const Instant start_;
  mutable absl::Mutex mu_;
  bool has_arrived_ ABSL_GUARDED_BY(mu_) = false;
  Waker waker_ ABSL_GUARDED_BY(mu_);
};

ClockStep::~ClockStep() {
  if (shared_ != nullptr && !shared_->has_arrived()) shared_->clock().EndStep();
}

PollResult<absl::Duration> ClockStep::Poll(Context& cx) {
  if (shared_ == nullptr) {
    auto shared = std::make_shared<Shared>(Handle::Current());
    Clock& clock = shared->clock();
    shared->Wait(cx.waker().Clone());
    const auto arrived = [shared] { shared->Arrive(); };
    if (duration_.has_value()) {
      clock.StepTo(shared->start() + *duration_, arrived);
    } else {
      clock.StepToNext(arrived);
    }
    shared_ = std::move(shared);
    return kPending;
  }
  if (!shared_->Wait(cx.waker().Clone())) return kPending;
  return shared_->clock().Now() - shared_->start();
}

ClockStep Advance(AnyDuration d) {
  if (absl::Duration(d) < absl::ZeroDuration()) {
    Panic("Advance: the duration is negative; a clock moves only forward");
  }
  return ClockStep(absl::Duration(d));
}

ClockStep AdvanceToNext() { return ClockStep(std::nullopt); }

Runtime PausedRuntime() { return PausedRuntime(Builder::CurrentThread()); }

Runtime PausedRuntime(Builder&& builder) { return PausedRuntime(builder); }

Runtime PausedRuntime(Builder& builder) {
  std::shared_ptr<Clock> clock = PausedClock();
  clock->SetAutoAdvance(true);
  clock->EndStep();  // the clock stays at its current time
  absl::StatusOr<Runtime> runtime = builder.WithClock(clock).Build();
  if (!runtime.ok()) {
    Panic(absl::StrCat("PausedRuntime: ", runtime.status().ToString()));
  }
  return *std::move(runtime);
}

}  // namespace rouse
