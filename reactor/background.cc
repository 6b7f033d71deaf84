// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/background.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/atomic.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread.h"
#include "rouse/reactor/core.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {

// # The protocol
//
// `order_` is the thread's current order, `ended_` is true when the thread has
// finished.
//
//   kRun -> kEndWhenIdle -> kEndNow   the owner, who may skip a step, and then
//                                     unparks the reactor
//   false -> true                     the thread, after the shutdown; it then
//                                     wakes the waker registered in `waiting_`
//
// No order is missed: the thread checks the order before each park, and the
// unpark, which comes after the order, ends a park that begins without the
// order. The end is not missed either: a poll registers the waker before it
// checks `ended_`, so either the wake finds the waker, or the registration
// comes after the wake, and the check finds the end.
//
// Neither word orders anything by itself. The unpark makes the owner's writes
// visible to the thread. The thread's writes are visible to the owner because
// the owner joins the thread before continuing.
class Background::Driver {
 public:
  // What the thread must do. The value only increases.
  enum Order : uint32_t { kRun, kEndWhenIdle, kEndNow };

  explicit Driver(Reactor reactor)
      : reactor_(std::move(reactor)), unparker_(reactor_.unparker()) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() {
    Give(kEndNow);
    if (thread_.has_value()) thread_->Join();
  }

  absl::Status Start() {
    absl::StatusOr<Thread> thread =
        Thread::Start("rouse-reactor", [this] { Run(); });
    if (!thread.ok()) return absl::UnavailableError(thread.status().message());
    thread_.emplace(*std::move(thread));
    return absl::OkStatus();
  }

  Handle handle() const { return reactor_.handle(); }

  void Give(Order order) {
    // Relaxed: the unpark makes the order visible to the check after the park.
    order_.store(order, std::memory_order_relaxed);
    unparker_.Unpark();
  }

  bool PollEnded(Context& cx) {
    waiting_.Register(cx.waker());
    // Relaxed: the registration acquires all writes before a wake.
    return ended_.load(std::memory_order_relaxed);
  }

 private:
  void Run() {
    while (!MayEnd()) reactor_.Park();
    reactor_.Shutdown();
    // Relaxed: the wake releases the store.
    ended_.store(true, std::memory_order_relaxed);
    // The destructor of this object joins the thread, and therefore waits for
    // the wake.
    waiting_.Wake();
  }

  bool MayEnd() {
    // Relaxed: every new order is followed by an unpark.
    switch (order_.load(std::memory_order_relaxed)) {
      case kRun:
        return false;
      case kEndWhenIdle:
        return reactor_.handle().core()->ShutdownIfIdle();
      default:
        return true;
    }
  }

  Reactor reactor_;  // used by the thread while it runs
  const Reactor::Unparker unparker_;
  Atomic<uint32_t> order_{kRun};
  Atomic<bool> ended_{false};
  AtomicWaker waiting_;
  std::optional<Thread> thread_;
};

Background::Background(std::unique_ptr<Driver> driver)
    : driver_(std::move(driver)) {}

Background::Background(Background&&) noexcept = default;

Background::~Background() = default;

absl::StatusOr<Background> Background::Start(Reactor reactor) {
  auto driver = std::make_unique<Driver>(std::move(reactor));
  if (absl::Status status = driver->Start(); !status.ok()) return status;
  return Background(std::move(driver));
}

Handle Background::handle() const { return driver_->handle(); }

Background::ShutdownFuture Background::ShutdownOnIdle() && {
  driver_->Give(Driver::kEndWhenIdle);
  return ShutdownFuture(std::move(driver_));
}

Background::ShutdownFuture Background::ShutdownNow() && {
  driver_->Give(Driver::kEndNow);
  return ShutdownFuture(std::move(driver_));
}

void Background::Forget() && { static_cast<void>(driver_.release()); }

Background::ShutdownFuture::ShutdownFuture(std::unique_ptr<Driver> driver)
    : driver_(std::move(driver)) {}

Background::ShutdownFuture::ShutdownFuture(ShutdownFuture&&) noexcept = default;

Background::ShutdownFuture::~ShutdownFuture() = default;

PollResult<void> Background::ShutdownFuture::Poll(Context& cx) {
  if (driver_ == nullptr) {
    Panic(
        "Background::ShutdownFuture was polled after it completed; poll the "
        "future only until it is ready");
  }
  if (!driver_->PollEnded(cx)) return kPending;
  // The thread has only its exit left to do.
  driver_.reset();
  return {};
}

}  // namespace rouse::reactor
