// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: async_fd.h
// -----------------------------------------------------------------------------
//
// `AsyncFd<T>` lets tasks wait for any object with a descriptor, if the kernel
// can wait for the descriptor: a device, an inotify queue, a socket of a kind
// unknown to net/, a connection of a third-party library.
//
//   absl::StatusOr<AsyncFd<OwnedFd>> queue = AsyncFd<OwnedFd>::Create(
//       OwnedFd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), Interest::kReadable);
//
//   const auto read_events = [&] {
//     return read(queue->fd(), buffer, sizeof buffer);
//   };
//   absl::StatusOr<size_t> size =
//       co_await queue->Io(Direction::kRead, "read of inotify", read_events);
//
// If a library makes the system calls, wait for the descriptor first, and
// report a refused call afterwards:
//
//   absl::StatusOr<ReadyGuard> guard = co_await connection.Readable();
//   if (!guard.ok()) co_return guard.status();
//   if (library_read(handle) == LIBRARY_WOULD_BLOCK) guard->ClearReady();

#ifndef ROUSE_REACTOR_ASYNC_FD_H_
#define ROUSE_REACTOR_ASYNC_FD_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/async_io.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll_evented.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {

// IoFuture
//
// Makes one system call as soon as the call can be made without blocking: see
// `AsyncFd::Io()`. Like `ReadyFuture`, but returns `absl::StatusOr<size_t>`. If
// the future is destroyed before it is ready, the call has had no effect.
template <class Attempt>
class [[nodiscard]] IoFuture {
 public:
  IoFuture(const Registration& registration, Direction direction,
           std::string_view call, Attempt attempt)
      : registration_(&registration),
        direction_(direction),
        call_(call),
        attempt_(std::move(attempt)) {}

  PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
    if (registration_ == nullptr) {
      Panic("AsyncFd::Io() was polled after it completed; call Io() again");
    }
    auto result = registration_->PollIo(
        direction_, cx, &waiter_, /*full=*/0, attempt_,
        [this](int error) { return absl::ErrnoToStatus(error, call_); });
    if (result.IsReady()) registration_ = nullptr;
    return result;
  }

 private:
  const Registration* registration_;  // null when finished
  Direction direction_;
  std::string_view call_;
  Attempt attempt_;
  Waiter waiter_;
};

// AsyncFd
//
// Owns a `T`, which owns a descriptor. For a descriptor that another owner
// closes later, use an `FdSource` as the `T`. The descriptor should be made
// non-blocking beforehand.
//
// Movable, but not while one of its futures or guards is alive. Const members
// are thread-safe if those of `T` are. Any number of tasks can wait for one
// direction: all are woken when the direction is ready, and one of them then
// gets the available data.
template <HasFd T>
class AsyncFd {
 public:
  // Registers `io` for `interest`. A wait for anything not in `interest` never
  // ends, unless `Reregister()` adds it. Errors are those of
  // `Registration::Create()`; `io` is destroyed on failure.
  static absl::StatusOr<AsyncFd> Create(
      T io, Interest interest = Interest::kReadable | Interest::kWritable,
      const Handle& handle = Handle()) {
    return TryCreate(std::move(io), interest, handle);
  }

  // Like `Create()`, but leaves `io` unchanged on failure.
  static absl::StatusOr<AsyncFd> TryCreate(
      T&& io, Interest interest = Interest::kReadable | Interest::kWritable,
      const Handle& handle = Handle()) {
    absl::StatusOr<PollEvented<T>> evented =
        PollEvented<T>::TryCreate(std::move(io), interest, handle);
    if (!evented.ok()) return std::move(evented).status();
    return AsyncFd(*std::move(evented));
  }

  AsyncFd(AsyncFd&&) noexcept = default;
  AsyncFd& operator=(AsyncFd&&) noexcept = default;
  ~AsyncFd() = default;

  // Wait until an attempt to read, to write, or to do either, is worthwhile.
  // The futures return `absl::StatusOr<ReadyGuard>`.
  ReadyFuture Readable() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadyFuture(registration(), Interest::kReadable);
  }
  ReadyFuture Writable() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadyFuture(registration(), Interest::kWritable);
  }
  ReadyFuture Ready(Interest interest) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadyFuture(registration(), interest);
  }

  // Makes one system call as soon as the call can be made without blocking.
  // `attempt()` makes the call and returns the result, or -1 with `errno` if
  // the call failed. An interrupted call is repeated; a call that would block
  // is repeated after the next event. Returns `absl::StatusOr<size_t>`, the
  // result of `attempt()`. `call`, which must outlive the future, begins the
  // message of an error.
  template <class Attempt>
  IoFuture<Attempt> Io(Direction direction, std::string_view call,
                       Attempt attempt) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return IoFuture<Attempt>(registration(), direction, call,
                             std::move(attempt));
  }

  // Makes one system call now, if a direction that `interest` names is ready:
  // see `reactor::TryIo()`. Returns `std::nullopt` if the call must wait.
  template <class Attempt>
  std::optional<absl::StatusOr<size_t>> TryIo(Interest interest,
                                              std::string_view call,
                                              Attempt&& attempt) const {
    return reactor::TryIo(registration(), interest, call,
                          std::forward<Attempt>(attempt));
  }

  // Returns the registration, whose `PollReady()` and `PollIo()` are for
  // hand-written futures.
  const Registration& registration() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return evented_.registration();
  }

  // Returns the descriptor, which the `T` continues to own.
  int fd() const { return evented_.io().fd(); }
  // Returns the `T`. The caller must not close or replace its descriptor.
  T& io() ABSL_ATTRIBUTE_LIFETIME_BOUND { return evented_.io(); }
  const T& io() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return evented_.io(); }

  // Changes the kinds of reported events: see
  // `Registration::Reregister()`. Tasks can wait meanwhile. Not thread-safe.
  absl::Status Reregister(Interest interest) {
    return evented_.Reregister(interest);
  }

  // Ends the registration and returns the `T`.
  T IntoInner() && { return std::move(evented_).IntoInner(); }

 private:
  explicit AsyncFd(PollEvented<T> evented) : evented_(std::move(evented)) {}

  PollEvented<T> evented_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_ASYNC_FD_H_
