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

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {

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
  std::optional<absl::StatusOr<ReadyGuard>> guard =
      TryReady(registration, interest);
  if (!guard.has_value()) return std::nullopt;
  if (!guard->ok()) return (*std::move(guard)).status();
  return (*guard)->TryIo(call, std::forward<Attempt>(attempt));
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
class [[nodiscard]] AsyncIoFuture {
 public:
  AsyncIoFuture(const Registration& registration, Interest interest,
                std::string_view call, Attempt attempt)
      : ready_(registration, interest),
        call_(call),
        attempt_(std::move(attempt)) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    if (finished_) {
      Panic("AsyncIo() was polled after it completed; call AsyncIo() again");
    }
    for (;;) {
      PollResult<absl::StatusOr<ReadyGuard>> guard = ready_.PollGuard(cx);
      if (guard.IsPending()) return kPending;
      if (!guard->ok()) {
        finished_ = true;
        return absl::StatusOr<size_t>((*std::move(guard)).status());
      }
      std::optional<absl::StatusOr<size_t>> result =
          (*guard)->TryIo(call_, attempt_);
      if (!result.has_value()) continue;
      finished_ = true;
      return *std::move(result);
    }
  }

 private:
  ReadyFuture ready_;
  std::string_view call_;
  Attempt attempt_;
  bool finished_ = false;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_ASYNC_IO_H_
