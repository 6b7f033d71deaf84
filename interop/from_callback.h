// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: from_callback.h
// -----------------------------------------------------------------------------
//
// Makes a future of a function with a callback:
//
//   absl::StatusOr<Row> row = co_await rouse::interop::FromCallback<Row>(
//       [&](rouse::interop::Callback<Row> done) {
//         database.Query("...", [done](Row row) { done(std::move(row)); });
//       });

#ifndef ROUSE_INTEROP_FROM_CALLBACK_H_
#define ROUSE_INTEROP_FROM_CALLBACK_H_

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/interop/claim.h"
#include "rouse/sync/oneshot.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::interop {

// Callback
//
// Completes the future of `FromCallback()`. Copyable, so that a `std::function`
// can hold a `Callback`. Thread-safe: any thread may call a copy, even while
// the future is destroyed.
template <class T>
class Callback {
 public:
  explicit Callback(oneshot::Sender<T> sender)
      : state_(std::make_shared<State>(std::move(sender))) {}

  // Completes the future with a `T` made of `args`, and wakes the task that
  // awaits the future. The first call counts: later calls, of this callback or
  // of a copy, and calls after the future was destroyed, do nothing.
  template <class... Args>
    requires((std::is_void_v<T> && sizeof...(Args) == 0) ||
             std::constructible_from<T, Args...>)
  void operator()(Args&&... args) const {
    // The sender was made before the copies were.
    if (!state_->claim.Take()) return;
    if constexpr (std::is_void_v<T>) {
      (void)state_->sender.Send();
    } else {
      (void)state_->sender.Send(T(std::forward<Args>(args)...));
    }
  }

 private:
  struct State {
    explicit State(oneshot::Sender<T> sender) : sender(std::move(sender)) {}

    internal::Claim claim;
    oneshot::Sender<T> sender;
  };

  std::shared_ptr<State> state_;
};

// FromCallbackFuture
//
// See `FromCallback()`. Can be moved until it is first polled.
template <class T, class Start>
class [[nodiscard]] FromCallbackFuture {
 public:
  explicit FromCallbackFuture(Start start) : start_(std::move(start)) {}

  PollResult<oneshot::Received<T>> Poll(Context& cx) {
    if (!result_.has_value()) {
      auto [sender, receiver] = oneshot::Channel<T>();
      result_.emplace(std::move(receiver));
      Callback<T> done(std::move(sender));
      std::move(start_)(std::move(done));
    }
    return result_->Poll(cx);
  }

 private:
  Start start_;
  std::optional<oneshot::Receiver<T>> result_;
};

// FromCallback()
//
// Returns a future. The first poll calls `start(Callback<T>)`, and the future
// is ready when the callback has been called. `start` may call the callback at
// once. The output is `absl::Status` if `T` is void or `absl::Status`, and
// otherwise `absl::StatusOr<T>`; a `StatusOr` is not nested.
//
// `start` is destroyed with the future. A callback can come later, and must not
// refer to `start` or to objects of the task.
//
// Cancellation: destroying the future discards a later result. The operation
// begun by `start` continues, unless the caller stops the operation.
//
// Errors: kCancelled if all copies of the callback were destroyed without a
// call. A lost callback therefore does not make the task wait for ever.
//
// An exception of `start` propagates from the poll. Costs two allocations.
template <class T, class Start>
  requires std::invocable<std::decay_t<Start>, Callback<T>>
FromCallbackFuture<T, std::decay_t<Start>> FromCallback(Start&& start) {
  return FromCallbackFuture<T, std::decay_t<Start>>(std::forward<Start>(start));
}

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_FROM_CALLBACK_H_
