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

#include <optional>
#include <type_traits>
#include <utility>

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
// pool: in a task, the pool of its runtime. The operation owns all memory that
// the calls use. Can be moved at any time, and polled by any thread, one at a
// time. Polling a finished operation is a `Panic()`.
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

  // Makes an operation that calls `call` once.
  explicit Operation(absl::AnyInvocable<Result() &&> call)
      : call_(std::move(call)) {}

  PollResult<Result> Poll(Context& cx) {
    if (!handle_.has_value()) {
      if (call_ == nullptr) {
        Panic("fs::Operation was polled after it completed");
      }
      scheduler::BlockingPool* const pool = scheduler::CurrentBlockingPool();
      if (pool == nullptr) {
        call_ = nullptr;
        return Result(absl::FailedPreconditionError(
            "fs: this thread has no blocking pool; await file operations in a "
            "task, or inside Runtime::BlockOn"));
      }
      handle_.emplace(pool->Spawn(std::exchange(call_, nullptr)));
    }
    PollResult<Result> result = handle_->Poll(cx);
    if (result.IsPending()) return kPending;
    const bool was_cancelled = handle_->was_cancelled();
    handle_.reset();
    if (was_cancelled) {
      return Result(
          absl::UnavailableError("fs: the blocking pool has been shut down"));
    }
    return result;
  }

 private:
  absl::AnyInvocable<Result() &&> call_;  // null from the first poll on
  std::optional<AbortOnDropHandle<Result>> handle_;
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_OPERATION_H_
