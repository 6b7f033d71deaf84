// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: async_fd.h
// -----------------------------------------------------------------------------
//
// `AsyncFd<T>` lets tasks wait for whatever has a descriptor that the kernel
// can wait for: a device, an inotify queue, a socket of a kind that net/ has
// not, the connection of somebody else's library.
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
// Where a library makes the calls, it is waited for and told:
//
//   absl::StatusOr<ReadyGuard> guard = co_await connection.Readable();
//   if (!guard.ok()) co_return guard.status();
//   if (library_read(handle) == LIBRARY_WOULD_BLOCK) guard->ClearReady();

#ifndef ROUSE_REACTOR_ASYNC_FD_H_
#define ROUSE_REACTOR_ASYNC_FD_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
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
// Makes one system call as soon as it can be made without blocking: see
// `AsyncFd::Io()`. As `ReadyFuture`, but gives `absl::StatusOr<size_t>`.
// Destroying it before it is ready means that the call has done nothing.
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
      Panic(
          "AsyncFd::Io() was polled after it had given its result; make "
          "another one");
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
// Owns a `T`, which has a descriptor and closes it; an `FdSource` for one that
// somebody else closes, later. The descriptor should be non-blocking: see to
// that before.
//
// Movable, but not while a future or a guard of it lives. Const members are
// thread-safe as far as `T` is; any number of tasks may wait for one direction.
// Each is woken when it is ready; one of them then gets what there is.
template <HasFd T>
class AsyncFd {
 public:
  // Registers `io` for `interest`; waiting for what that has not named waits
  // for ever. Errors as at `Registration::Create()`; `io` is destroyed then.
  static absl::StatusOr<AsyncFd> Create(
      T io, Interest interest = Interest::kReadable | Interest::kWritable,
      const Handle& handle = Handle()) {
    return TryCreate(std::move(io), interest, handle);
  }

  // The same, but on failure `io` is left as it was.
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

  // Wait until an attempt to read, to write, or either, is worth making. Give
  // `absl::StatusOr<ReadyGuard>`.
  ReadyFuture Readable() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadyFuture(registration(), Interest::kReadable);
  }
  ReadyFuture Writable() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadyFuture(registration(), Interest::kWritable);
  }
  ReadyFuture Ready(Interest interest) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadyFuture(registration(), interest);
  }

  // Makes one system call as soon as it can be made without blocking. Gives
  // `absl::StatusOr<size_t>`: what `attempt()` has returned, which makes the
  // call and returns -1 with `errno` where that failed. It is repeated if it
  // was interrupted, and made again after the next event if it would block.
  // `call`, which outlives the future, begins the message of an error.
  template <class Attempt>
  IoFuture<Attempt> Io(Direction direction, std::string_view call,
                       Attempt attempt) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return IoFuture<Attempt>(registration(), direction, call,
                             std::move(attempt));
  }

  // For futures of your own: `PollReady()` and `PollIo()`.
  const Registration& registration() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return evented_.registration();
  }

  int fd() const { return evented_.io().fd(); }
  T& io() ABSL_ATTRIBUTE_LIFETIME_BOUND { return evented_.io(); }
  const T& io() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return evented_.io(); }

  // Ends the registration and gives back what was registered.
  T IntoInner() && { return std::move(evented_).IntoInner(); }

 private:
  explicit AsyncFd(PollEvented<T> evented) : evented_(std::move(evented)) {}

  PollEvented<T> evented_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_ASYNC_FD_H_
