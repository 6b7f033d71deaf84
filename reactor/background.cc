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
// `order_` is what the thread is to do, `ended_` whether it has done it.
//
//   kRun -> kEndWhenIdle -> kEndNow   the owner, who may leave out a step, and
//                                     then unparks the reactor
//   false -> true                     the thread, after the shutdown; it then
//                                     wakes who is registered in `waiting_`
//
// No order is missed: the thread looks before each park, and the unpark, which
// comes after the order, ends the park that begins without it. Nor is the end:
// who polls registers before it looks, so either the wake finds the waker, or
// the registration comes after the wake, and the look finds the end.
//
// Neither word orders anything by itself. What the owner has done is visible to
// the thread by the unpark, and what the thread has done is visible to the
// owner because it joins the thread before it goes on.
class Background::Driver {
 public:
  // What the thread is to do; only ever grows.
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
    // Relaxed: the unpark makes it visible to the look after the park.
    order_.store(order, std::memory_order_relaxed);
    unparker_.Unpark();
  }

  bool PollEnded(Context& cx) {
    waiting_.Register(cx.waker());
    // Relaxed: the registration acquires what comes before a wake.
    return ended_.load(std::memory_order_relaxed);
  }

 private:
  void Run() {
    while (!MayEnd()) reactor_.Park();
    reactor_.Shutdown();
    // Relaxed: the wake releases it.
    ended_.store(true, std::memory_order_relaxed);
    // Whoever ends this object joins the thread, and so waits for the wake.
    waiting_.Wake();
  }

  bool MayEnd() {
    // Relaxed: whoever gives an order unparks thereafter.
    switch (order_.load(std::memory_order_relaxed)) {
      case kRun:
        return false;
      case kEndWhenIdle:
        return reactor_.handle().core()->ShutdownIfIdle();
      default:
        return true;
    }
  }

  Reactor reactor_;  // of the thread, while there is one
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
        "the future of a Background's shutdown was polled after it had been "
        "ready");
  }
  if (!driver_->PollEnded(cx)) return kPending;
  // The thread has nothing left to do but to end.
  driver_.reset();
  return {};
}

}  // namespace rouse::reactor
