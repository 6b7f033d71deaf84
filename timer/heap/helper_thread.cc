// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/helper_thread.h"

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/heap/timer_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::heap {

class HelperThread::Driver {
 public:
  explicit Driver(std::shared_ptr<Clock> clock)
      : clock_(std::move(clock)),
        timer_(clock_),
        unparker_(parker_.unparker()),
        listener_(std::make_shared<const absl::AnyInvocable<void() const>>(
            [unparker = unparker_] { unparker.Unpark(); })) {
    clock_->AddListener(listener_);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() {
    // Relaxed: Unpark makes the store visible after the next park.
    stopping_.store(true, std::memory_order_relaxed);
    unparker_.Unpark();
    if (thread_.has_value()) thread_->Join();
    clock_->RemoveListener(listener_);
  }

  absl::Status Start() {
    absl::StatusOr<Thread> thread =
        Thread::Start("rouse-timer", [this] { Run(); });
    if (!thread.ok()) {
      return absl::UnavailableError(thread.status().message());
    }
    thread_.emplace(*std::move(thread));
    return absl::OkStatus();
  }

  TimerHandle handle() const { return timer_.handle(); }

 private:
  void Run() {
    // Relaxed: the thread that sets the flag calls Unpark afterwards.
    while (!stopping_.load(std::memory_order_relaxed)) {
      Context cx(unparker_.waker());
      static_cast<void>(timer_.Poll(cx));
      timer_.Advance();
      Park(timer_.NextEvent());
    }
  }

  void Park(std::optional<Instant> until) {
    if (!until.has_value() || *until == Instant::Max()) return parker_.Park();
    // If this changes, the listener ends the park.
    const bool paused = clock_->IsPaused();
    const Instant now = clock_->Now();
    if (paused && *until > now) return parker_.Park();
    parker_.ParkFor(*until - now);
  }

  const std::shared_ptr<Clock> clock_;
  Timer timer_;  // used by the thread while there is one
  ThreadParker parker_;
  const ThreadParker::Unparker unparker_;
  const Clock::Listener listener_;
  Atomic<bool> stopping_{false};
  std::optional<Thread> thread_;
};

HelperThread::HelperThread(std::unique_ptr<Driver> driver)
    : driver_(std::move(driver)) {}

HelperThread::HelperThread(HelperThread&&) noexcept = default;

HelperThread::~HelperThread() = default;

absl::StatusOr<HelperThread> HelperThread::Start(std::shared_ptr<Clock> clock) {
  if (clock->HasAutoAdvance()) {
    return absl::InvalidArgumentError(
        "heap::HelperThread: the clock auto-advances, which a heap's thread "
        "does not support; switch auto-advance off and call Clock::Advance(), "
        "or use a wheel::Driver");
  }
  auto driver = std::make_unique<Driver>(std::move(clock));
  if (absl::Status status = driver->Start(); !status.ok()) return status;
  return HelperThread(std::move(driver));
}

TimerHandle HelperThread::handle() const { return driver_->handle(); }

void HelperThread::Forget() && { static_cast<void>(driver_.release()); }

}  // namespace rouse::heap
