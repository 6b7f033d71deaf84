// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: operation.h
// -----------------------------------------------------------------------------
//
// The future of all functions of fs/:
//
//   rouse::fs::Operation<std::string> read = rouse::fs::ReadFile("a.txt");
//   absl::StatusOr<std::string> text = co_await std::move(read);

#ifndef ROUSE_FS_OPERATION_H_
#define ROUSE_FS_OPERATION_H_

#include <type_traits>
#include <utility>
#include <variant>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/scheduler/abort_on_drop_handle.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {

// Operation
//
// A future of an `absl::StatusOr<T>`, or of an `absl::Status` if `T` is void.
// The first poll gives the system calls to a thread of the current blocking
// pool: in a task, the pool of its runtime. Operations that begin together
// share threads: see `scheduler::BlockingPool::SpawnShort()`. An operation that
// takes long delays no other operation by more than the time to wake or to
// start threads, unless the pool cannot have another thread. A read of an open
// file can be ready in the first poll, without another thread: see
// `File::ReadAt()`. Calls of a file that has a `Backend` go to the back end
// instead of the pool.
//
// The operation owns all memory that the calls use. Can be moved at any time,
// and polled by any thread, one at a time. Polling a finished operation is a
// `Panic()`.
//
// Cancellation: destroying an operation cancels calls that have not begun.
// Calls that have begun run to their end, and their result is discarded, so a
// write may still happen. Nothing is written to memory of the caller.
//
// Errors, besides those of the system calls (converted by
// `absl::ErrnoToStatus()`), whose messages name the call and the path:
//
//   FailedPrecondition  no blocking pool is current
//   Unavailable         the pool has been shut down
//   ResourceExhausted   no thread could be started
//   Internal            memory was lacking for the result
template <class T>
class [[nodiscard(
    "a file operation does nothing until it is awaited")]] Operation {
 public:
  using Result =
      std::conditional_t<std::is_void_v<T>, absl::Status, absl::StatusOr<T>>;

  using Call = absl::AnyInvocable<Result() &&>;
  using PollFunction = absl::AnyInvocable<PollResult<Result>(Context&)>;

  // Makes an operation that calls `call` once, on a thread of the pool.
  explicit Operation(Call call) : state_(std::move(call)) {}

  // Makes an operation whose polls call `poll`, such as an operation of a
  // `Backend`. `poll` is not
  // called again after it has been ready, and is destroyed with the operation.
  explicit Operation(PollFunction poll) : state_(std::move(poll)) {}

  PollResult<Result> Poll(Context& cx) {
    if (auto* const poll = std::get_if<PollFunction>(&state_)) {
      if (*poll == nullptr) PanicWithoutCall();
      PollResult<Result> result = (*poll)(cx);
      if (result.IsReady()) state_.template emplace<std::monostate>();
      return result;
    }
    if (auto* const call = std::get_if<Call>(&state_)) {
      Call taken = std::move(*call);
      if (taken == nullptr) PanicWithoutCall();
      state_.template emplace<std::monostate>();
      scheduler::BlockingPool* const pool = scheduler::CurrentBlockingPool();
      if (pool == nullptr) {
        return Result(absl::FailedPreconditionError(
            "fs: this thread has no blocking pool; await file operations in a "
            "task, or inside Runtime::BlockOn"));
      }
      state_.template emplace<Handle>(pool->SpawnShort(std::move(taken)));
    }
    auto* const handle = std::get_if<Handle>(&state_);
    if (handle == nullptr) PanicWithoutCall();
    PollResult<Result> result = handle->Poll(cx);
    if (result.IsPending()) return kPending;
    const bool was_cancelled = handle->was_cancelled();
    state_.template emplace<std::monostate>();
    if (was_cancelled) {
      return Result(
          absl::UnavailableError("fs: the blocking pool has been shut down"));
    }
    return result;
  }

 private:
  using Handle = AbortOnDropHandle<Result>;

  [[noreturn]] static void PanicWithoutCall() {
    Panic(
        "fs::Operation was polled after it completed or was moved from; call "
        "the function again");
  }

  // Not begun, begun on the pool, polled by a function, or finished.
  std::variant<Call, Handle, PollFunction, std::monostate> state_;
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_OPERATION_H_
