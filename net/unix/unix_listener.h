// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_listener.h
// -----------------------------------------------------------------------------
//
// A `UnixListener` accepts connections from processes of this machine:
//
//   absl::StatusOr<UnixListener> listener = UnixListener::Bind(
//       UnixAddr::FromPath("/run/app.sock").value());
//   for (;;) {
//     absl::StatusOr<UnixListener::Accepted> accepted =
//         co_await listener->Accept();
//     ...
//   }

#ifndef ROUSE_NET_UNIX_UNIX_LISTENER_H_
#define ROUSE_NET_UNIX_UNIX_LISTENER_H_

#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/stream_io.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UnixListener
//
// Like `TcpListener`, for Unix sockets. A path to which the listener was bound
// stays in the file system when the listener is destroyed: remove the path
// before the next listener is bound to the same path. An abstract name
// disappears with the listener.
class UnixListener {
 private:
  struct AcceptOp;

 public:
  // Represents a waiting future in the list of waiters; see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // The type of the future of `Accept()`. Subject to the rules for the futures
  // of `TcpStream`.
  using AcceptFuture = internal::IoFuture<const UnixListener, AcceptOp>;

  // An accepted connection with the address of its peer, which is usually
  // unnamed.
  struct Accepted {
    Accepted(UnixStream stream, const UnixAddr& peer)
        : stream(std::move(stream)), peer(peer) {}

    UnixStream stream;
    UnixAddr peer;
  };

  // Listens at `addr`.
  //
  //   FailedPrecondition   the path exists, or the name is in use
  //                        (EADDRINUSE), or the current reactor handle is not
  //                        bound to a reactor
  //   NotFound             no such directory exists
  //   PermissionDenied     no permission to write to the directory
  //   ResourceExhausted    out of descriptors or memory
  static absl::StatusOr<UnixListener> Bind(
      const UnixAddr& addr, const reactor::Handle& handle = reactor::Handle());

  // Takes over a listening stream socket and makes the socket non-blocking. On
  // failure closes `fd`.
  static absl::StatusOr<UnixListener> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixListener(UnixListener&&) = default;
  UnixListener& operator=(UnixListener&&) = default;

  // Waits for the next connection, like `TcpListener::Accept()` and with the
  // same errors. Returns `absl::StatusOr<Accepted>`.
  AcceptFuture Accept() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return AcceptFuture(*this);
  }

  // Like `Accept()`, for hand-written futures. Without a `waiter` only one task
  // can wait to accept: the task that polled last is woken.
  PollResult<absl::StatusOr<Accepted>> PollAccept(
      Context& cx, Waiter* waiter = nullptr) const;

  // Returns the address on which the socket listens.
  absl::StatusOr<UnixAddr> local_addr() const { return io().LocalUnixAddr(); }

  // Returns the descriptor, which the listener continues to own.
  int fd() const { return io().fd(); }

  // Releases the descriptor, which continues to listen and stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

 private:
  struct AcceptOp {
    static constexpr std::string_view kName = "UnixListener::Accept()";
    AcceptOp() = default;
    auto operator()(const UnixListener& listener, Context& cx,
                    Waiter* waiter) const {
      return listener.PollAccept(cx, waiter);
    }
  };

  explicit UnixListener(internal::EventedSocket evented)
      : evented_(std::move(evented)) {}

  static absl::StatusOr<UnixListener> FromSocket(internal::Socket socket,
                                                 const reactor::Handle& handle);

  const internal::Socket& io() const { return evented_.io(); }

  internal::EventedSocket evented_;
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_LISTENER_H_
