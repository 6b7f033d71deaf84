// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: await.h
// -----------------------------------------------------------------------------
//
// Makes a future of an awaitable of another library, such as a
// `cppcoro::task`:
//
//   int answer = co_await rouse::interop::Await(OtherLibrarysTask());
//
// A coroutine of Rouse awaits only Rouse's futures. `Await()` runs a coroutine
// of its own, which awaits the awaitable as the language defines it. The
// awaitable resumes this coroutine wherever it likes; the task continues on its
// own runtime.

#ifndef ROUSE_INTEROP_AWAIT_H_
#define ROUSE_INTEROP_AWAIT_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/interop/awaited.h"
#include "rouse/sync/oneshot.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::interop {

namespace internal {

// A coroutine that begins at once, belongs to nobody, and destroys itself at
// its end.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return Detached(); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    // Only an allocation or a waker can have thrown.
    void unhandled_exception() { std::terminate(); }
  };
};

template <class A>
concept Awaiter =
    requires(A awaiter, std::coroutine_handle<Detached::promise_type> handle) {
      { awaiter.await_ready() } -> std::convertible_to<bool>;
      awaiter.await_suspend(handle);
      awaiter.await_resume();
    };

// Returns the awaiter that `co_await` would use.
template <class A>
decltype(auto) GetAwaiter(A&& awaitable) {
  if constexpr (requires { std::forward<A>(awaitable).operator co_await(); }) {
    return std::forward<A>(awaitable).operator co_await();
  } else if constexpr (requires {
                         operator co_await(std::forward<A>(awaitable));
                       }) {
    return operator co_await(std::forward<A>(awaitable));
  } else {
    return std::forward<A>(awaitable);
  }
}

// The result of `await_resume()`, but an object in place of an rvalue
// reference, because the reference may refer to a part of the awaitable.
template <class A>
using RawAwaitOutput = decltype(GetAwaiter(std::declval<A>()).await_resume());
template <class A>
using AwaitOutput =
    std::conditional_t<std::is_rvalue_reference_v<RawAwaitOutput<A>>,
                       std::remove_cvref_t<RawAwaitOutput<A>>,
                       RawAwaitOutput<A>>;

}  // namespace internal

// ForeignAwaitable
//
// Satisfied if a coroutine of any type can await an `A`.
template <class A>
concept ForeignAwaitable = requires(A awaitable) {
  { internal::GetAwaiter(std::forward<A>(awaitable)) } -> internal::Awaiter;
};

namespace internal {

// Awaits `awaitable`, and sends the output or the exception.
template <class A>
Detached Drive(std::optional<A> awaitable,
               oneshot::Sender<Awaited<AwaitOutput<A>>> sender) {
  using Output = AwaitOutput<A>;
  using Result = Awaited<Output>;
  std::optional<Result> result;
  ROUSE_TRY {
    if constexpr (std::is_void_v<Output>) {
      co_await *std::move(awaitable);
      result.emplace(std::in_place_index<0>);
    } else if constexpr (std::is_reference_v<Output>) {
      auto&& output = co_await *std::move(awaitable);
      result.emplace(std::in_place_index<0>, std::addressof(output));
    } else {
      Output output = co_await *std::move(awaitable);
      result.emplace(std::in_place_index<0>, std::move(output));
    }
  }
  ROUSE_CATCH_ALL {
    result.emplace(std::in_place_index<1>, std::current_exception());
  }
  // Before the task continues, which may own what the awaitable refers to.
  // NOLINTNEXTLINE(bugprone-use-after-move): only the contents were moved.
  awaitable.reset();
  // False if the future was destroyed: the result is discarded.
  (void)sender.Send(*std::move(result));
}

}  // namespace internal

// AwaitFuture
//
// See `Await()`. Can be moved until it is first polled.
template <ForeignAwaitable A>
class [[nodiscard]] AwaitFuture {
  using Result = internal::Awaited<internal::AwaitOutput<A>>;

 public:
  using Output = internal::AwaitOutput<A>;

  explicit AwaitFuture(A awaitable) : awaitable_(std::move(awaitable)) {}

  PollResult<Output> Poll(Context& cx) {
    if (!result_.has_value()) {
      auto [sender, receiver] = oneshot::Channel<Result>();
      result_.emplace(std::move(receiver));
      internal::Drive<A>(std::exchange(awaitable_, std::nullopt),
                         std::move(sender));
    }
    PollResult<absl::StatusOr<Result>> sent = result_->Poll(cx);
    if (sent.IsPending()) return kPending;
    if (!sent->ok()) {
      Panic(
          "interop::Await: the awaitable has destroyed the coroutine that "
          "awaits it, and will never be ready");
    }
    return internal::ReadyAwaited<Output>(**std::move(sent));
  }

 private:
  std::optional<A> awaitable_;  // empty after the first poll
  std::optional<oneshot::Receiver<Result>> result_;
};

// Await()
//
// Returns a future of the output of `co_await awaitable`. The await begins at
// the first poll. The awaitable is moved in, and belongs to the future, and
// from the first poll on to the other coroutine.
//
// An exception from the awaitable propagates from the poll.
//
// Cancellation: destroying the future does not stop the awaitable. The other
// library goes on, and the output is destroyed when the library resumes the
// other coroutine. To stop earlier, use the library's own means, such as a stop
// token. Without a resumption, the memory is never freed.
//
// The awaitable is destroyed before the task continues: an output that is an
// lvalue reference must not refer to a part of the awaitable.
//
// The library may resume the coroutine on any thread, and must not destroy the
// coroutine. Some libraries, such as Asio, allow an await only in their own
// coroutines. Such an awaitable does not compile here: use the library's
// adapter, or `FromCallback()`. Costs two allocations.
template <class A>
  requires ForeignAwaitable<std::decay_t<A>>
AwaitFuture<std::decay_t<A>> Await(A&& awaitable) {
  return AwaitFuture<std::decay_t<A>>(std::forward<A>(awaitable));
}

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_AWAIT_H_
