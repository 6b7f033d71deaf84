// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: async_io.h
// -----------------------------------------------------------------------------
//
// System calls of a user on a descriptor that another object owns, made when
// the descriptor is ready. Sockets and pipes have both functions as members:
//
//   const auto receive = [&] { return recvmsg(socket.fd(), &message, 0); };
//   absl::StatusOr<size_t> size = co_await socket.AsyncIo(
//       Interest::kReadable, "recvmsg", receive);

#ifndef ROUSE_REACTOR_ASYNC_IO_H_
#define ROUSE_REACTOR_ASYNC_IO_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {

namespace internal {

// Makes a system call, and returns the result, or -1 with `errno`.
using IoAttempt = absl::FunctionRef<ssize_t()>;

// See `reactor::TryIo()`.
std::optional<absl::StatusOr<size_t>> TryIo(const Registration& registration,
                                            Interest interest,
                                            std::string_view call,
                                            IoAttempt attempt);

// AsyncIoBase
//
// The part of an `AsyncIoFuture` that does not depend on the attempt's type.
class AsyncIoBase {
 protected:
  AsyncIoBase(const Registration& registration, Interest interest,
              std::string_view call)
      : ready_(registration, interest), call_(call) {}

  PollResult<absl::StatusOr<size_t>> PollCall(Context& cx, IoAttempt attempt);

 private:
  ReadyFuture ready_;
  std::string_view call_;
  bool finished_ = false;
};

}  // namespace internal

// TryIo()
//
// Makes one system call now, if a direction that `interest` names is ready.
// `attempt()` makes the call and returns the result, or -1 with `errno` if the
// call failed. An interrupted call is repeated.
//
// Returns the result, or an error whose message begins with `call`, or an error
// of `Registration`. Returns `std::nullopt`, without a call of `attempt()`, if
// no direction is ready. Returns `std::nullopt`, too, if the call would block
// (EAGAIN); the directions are then not ready until their next events. Name
// only the direction of the call: a refusal would otherwise also count for the
// other direction, which might get no further event.
template <class Attempt>
std::optional<absl::StatusOr<size_t>> TryIo(const Registration& registration,
                                            Interest interest,
                                            std::string_view call,
                                            Attempt&& attempt) {
  return internal::TryIo(registration, interest, call, attempt);
}

// AsyncIoFuture
//
// Waits until a direction that `interest` names is ready, and makes one system
// call as `TryIo()` does. If the call would block, waits for the next event and
// repeats the call. Returns `absl::StatusOr<size_t>`.
//
// If the future is destroyed before it is ready, the call has had no effect.
// The future borrows the registration and `call`, allocates nothing, takes a
// unit of the task's budget for each call, and can be moved until it is polled.
// Polling a finished future is a `Panic()`.
template <class Attempt>
class [[nodiscard]] AsyncIoFuture : private internal::AsyncIoBase {
 public:
  AsyncIoFuture(const Registration& registration, Interest interest,
                std::string_view call, Attempt attempt)
      : AsyncIoBase(registration, interest, call),
        attempt_(std::move(attempt)) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    return PollCall(cx, attempt_);
  }

 private:
  Attempt attempt_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_ASYNC_IO_H_
