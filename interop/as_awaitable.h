// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: as_awaitable.h
// -----------------------------------------------------------------------------
//
// Lets a coroutine of another library await a future of Rouse:
//
//   other::Task<> Greet(rouse::Handle rouse, other::Executor& executor) {
//     absl::StatusOr<rouse::TcpStream> stream =
//         co_await rouse::interop::AsAwaitable(
//             rouse, rouse::ConnectTcp("example.com:80"),
//             [&executor](absl::AnyInvocable<void()> resume) {
//               executor.Post(std::move(resume));
//             });
//     ...
//   }
//
// The future runs as a task of a runtime. The coroutine is resumed on an
// executor of its library.

#ifndef ROUSE_INTEROP_AS_AWAITABLE_H_
#define ROUSE_INTEROP_AS_AWAITABLE_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <coroutine>
#include <memory>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/interop/awaited.h"
#include "rouse/interop/claim.h"
#include "rouse/interop/put_output.h"
#include "rouse/runtime/handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/sync/cancellation_token.h"

namespace rouse::interop {

namespace internal {

// The state shared by the task and the awaitable.
template <class T>
struct Crossing {
  explicit Crossing(std::coroutine_handle<> coroutine) : awaiting(coroutine) {}

  // Written by the task, before the task calls the executor.
  std::optional<Awaited<T>> result;
  // Taken to resume or to destroy the coroutine. The executor orders the rest.
  Claim claim;
  const std::coroutine_handle<> awaiting;
  CancellationToken abandoned;
};

// Calls the executor when the task ends, for any reason.
template <class T, class Executor>
class ResumeAtEnd {
 public:
  ResumeAtEnd(std::shared_ptr<Crossing<T>> crossing, Executor executor)
      : crossing_(std::move(crossing)), executor_(std::move(executor)) {}
  ResumeAtEnd(ResumeAtEnd&&) = default;
  ResumeAtEnd& operator=(ResumeAtEnd&&) = delete;
  ~ResumeAtEnd() {
    // Moved from, or the coroutine was destroyed, perhaps with the executor.
    if (crossing_ == nullptr || crossing_->claim.IsTaken()) return;
    executor_(absl::AnyInvocable<void()>([crossing = std::move(crossing_)] {
      if (crossing->claim.Take()) crossing->awaiting.resume();
    }));
  }

  Crossing<T>& crossing() const { return *crossing_; }

 private:
  std::shared_ptr<Crossing<T>> crossing_;
  Executor executor_;
};

template <class T, class F, class Executor>
Co<> Cross(F future, ResumeAtEnd<T, Executor> at_end) {
  Crossing<T>& crossing = at_end.crossing();
  const CancellationToken abandoned = crossing.abandoned;
  Co<> put = PutOutput<F>(crossing.result, std::move(future));
  auto run = abandoned.RunUntilCancelled(std::move(put));
  co_await std::move(run);
}

}  // namespace internal

// AwaitableFuture
//
// See `AsAwaitable()`. An awaiter, to be awaited once.
template <Future F, class Executor>
class [[nodiscard]] AwaitableFuture {
  using Output = FutureOutput<F>;
  using Crossing = internal::Crossing<Output>;

 public:
  AwaitableFuture(Handle runtime, F future, Executor executor,
                  std::source_location where)
      : runtime_(std::move(runtime)),
        future_(std::move(future)),
        executor_(std::move(executor)),
        where_(where) {}
  AwaitableFuture(AwaitableFuture&&) = default;
  AwaitableFuture& operator=(AwaitableFuture&&) = delete;
  ~AwaitableFuture() {
    if (crossing_ != nullptr && crossing_->claim.Take()) {
      crossing_->abandoned.Cancel();
    }
  }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    const auto crossing = std::make_shared<Crossing>(awaiting);
    crossing_ = crossing;
    // The coroutine may be resumed, and this object destroyed, before `Spawn()`
    // returns.
    const Handle runtime = runtime_;
    const std::source_location where = where_;
    ROUSE_TRY {
      internal::ResumeAtEnd<Output, Executor> at_end(crossing,
                                                     std::move(executor_));
      runtime
          .Spawn(internal::Cross<Output, F, Executor>(std::move(future_),
                                                      std::move(at_end)),
                 SpawnOptions(), where)
          .Detach();
    }
    ROUSE_CATCH_ALL {
      // An exception resumes the coroutine, unless the executor does.
      if (crossing->claim.Take()) ROUSE_RETHROW;
    }
  }
  Output await_resume() {
    if (!crossing_->result.has_value()) {
      Panic(
          "interop::AsAwaitable: the runtime was shut down before the future "
          "was ready");
    }
    return internal::TakeAwaited<Output>(*std::move(crossing_->result));
  }

 private:
  Handle runtime_;
  F future_;
  Executor executor_;
  std::source_location where_;
  std::shared_ptr<Crossing> crossing_;  // null before the await
};

// AsAwaitable()
//
// Returns an awaitable, for a coroutine of any library, of the output of
// `future`. The future runs as a task of `runtime`, from the await on.
//
// When the future is ready, the task calls `executor(resume)` with a
// `absl::AnyInvocable<void()>`, on a thread of the runtime. The executor calls
// `resume` once, on a thread of the other library, and resumes the coroutine
// thereby. It must not throw, must not run `resume` on the runtime's thread
// unless the coroutine may run there, and must exist until the coroutine has
// been resumed, or until a call that has begun has returned.
//
// An exception from `future` propagates from the await. If the runtime is shut
// down first, the await panics, which throws.
//
// Cancellation: destroying the awaiting coroutine aborts the future. The
// coroutine must not be destroyed while `resume` runs; a `resume` that runs
// later does nothing.
template <Future F, class Executor>
  requires std::invocable<std::decay_t<Executor>&, absl::AnyInvocable<void()>>
AwaitableFuture<F, std::decay_t<Executor>> AsAwaitable(
    const Handle& runtime, F future, Executor&& executor,
    std::source_location where = std::source_location::current()) {
  return AwaitableFuture<F, std::decay_t<Executor>>(
      runtime, std::move(future), std::forward<Executor>(executor), where);
}

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_AS_AWAITABLE_H_
