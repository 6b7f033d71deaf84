// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_waiter.h
// -----------------------------------------------------------------------------
//
// Makes a stream of a receiver whose futures wait in a list of waiters.
// Internal to `sync/`.
//
//   using Waiter = StreamWaiter<ReceiveFuture>;
//
//   PollResult<std::optional<Item>> PollNext(Context& cx,
//                                            Waiter* waiter = nullptr) {
//     if (waiter == nullptr) waiter = &own_waiter_.get();
//     auto received = waiter->Poll(cx, [this] { return Receive(); });
//     ...
//   }

#ifndef ROUSE_SYNC_INTERNAL_STREAM_WAITER_H_
#define ROUSE_SYNC_INTERNAL_STREAM_WAITER_H_

#include <memory>
#include <optional>

#include "rouse/base/exceptions.h"
#include "rouse/waker/context.h"

namespace rouse::internal {

// StreamWaiter
//
// Holds the future of the next item while the future is pending. Can be moved
// until its first use.
template <class F>
class StreamWaiter {
 public:
  // Polls the pending future or, if there is none, the future that `make()`
  // returns.
  template <class Make>
  auto Poll(Context& cx, Make make) {
    if (!future_.has_value()) future_.emplace(make());
    ROUSE_TRY {
      auto result = future_->Poll(cx);
      if (result.IsReady()) future_.reset();
      return result;
    }
    ROUSE_CATCH_ALL {
      future_.reset();
      ROUSE_RETHROW;
    }
  }

 private:
  std::optional<F> future_;
};

// OwnStreamWaiter
//
// The waiter of a receiver that is polled without a waiter. Allocated at the
// first use. Stays behind when the receiver is copied or moved, because the
// future refers to the receiver: a move ends the wait. In the receiver, the
// waiter comes before all members that the future uses.
template <class Waiter>
class OwnStreamWaiter {
 public:
  OwnStreamWaiter() = default;
  OwnStreamWaiter(const OwnStreamWaiter&) {}
  OwnStreamWaiter(OwnStreamWaiter&& other) noexcept { other.Reset(); }
  OwnStreamWaiter& operator=(OwnStreamWaiter&&) = delete;

  Waiter& get() {
    if (waiter_ == nullptr) waiter_ = std::make_unique<Waiter>();
    return *waiter_;
  }

  // Ends the wait.
  void Reset() { waiter_.reset(); }

 private:
  std::unique_ptr<Waiter> waiter_;
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_INTERNAL_STREAM_WAITER_H_
