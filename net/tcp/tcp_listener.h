// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_listener.h
// -----------------------------------------------------------------------------
//
// A `TcpListener` accepts TCP connections:
//
//   absl::StatusOr<TcpListener> listener =
//       TcpListener::Bind(SocketAddr::Localhost(7777));
//   for (;;) {
//     absl::StatusOr<TcpListener::Accepted> accepted =
//         co_await listener->Accept();
//     if (!accepted.ok()) {
//       ... log it, and wait a little: see `Accept()` ...
//       continue;
//     }
//     rouse::Spawn(Serve(std::move(accepted->stream)));
//   }

#ifndef ROUSE_NET_TCP_TCP_LISTENER_H_
#define ROUSE_NET_TCP_TCP_LISTENER_H_

#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// TcpListener
//
// Owns the listening socket and closes the socket in its destructor;
// connections that were not accepted by then are reset. Movable, but not while
// one of its futures is alive.
//
// Const members are thread-safe: several tasks can accept concurrently, and
// each connection goes to one of them.
class TcpListener {
 private:
  struct AcceptOp;

 public:
  // Represents a waiting future in the list of waiters; see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // The type of the future of `Accept()`. Subject to the rules for the futures
  // of `TcpStream`.
  using AcceptFuture = internal::IoFuture<const TcpListener, AcceptOp>;

  // An accepted connection with the address of its peer.
  struct Accepted {
    Accepted(TcpStream stream, const SocketAddr& peer)
        : stream(std::move(stream)), peer(peer) {}

    TcpStream stream;
    SocketAddr peer;
  };

  // Listens on `addr`. With port 0 the system chooses a port, which
  // `local_addr()` returns. To set options before the bind, or the length of
  // the queue, use `TcpSocket`.
  //
  // An address can be reused immediately after its server has ended
  // (SO_REUSEADDR), but not while the server is running.
  //
  //   FailedPrecondition   the address is in use (EADDRINUSE), or the
  //                        current reactor handle is not bound to a reactor
  //   AlreadyExists        not an address of this machine (EADDRNOTAVAIL)
  //   PermissionDenied     the port is reserved for the administrator
  //   ResourceExhausted    out of descriptors or memory
  //
  // and the errors of `reactor::Registration::Create()`.
  static absl::StatusOr<TcpListener> Bind(
      const SocketAddr& addr,
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a listening TCP socket and makes the socket non-blocking. On
  // failure closes `fd`. Returns InvalidArgument if `fd` is a socket of another
  // kind, such as a Unix socket.
  static absl::StatusOr<TcpListener> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  TcpListener(TcpListener&&) = default;
  TcpListener& operator=(TcpListener&&) = default;

  // Waits for the next connection and returns `absl::StatusOr<Accepted>`. The
  // listener's reactor drives the stream. Destroying the future loses no
  // connection.
  //
  // Errors of a single connection (for example, an abort while the connection
  // waited in the queue) are not reported: `Accept()` takes the next connection
  // instead. A reported error concerns the listener, which stays usable:
  //
  //   ResourceExhausted   out of descriptors (EMFILE, ENFILE) or memory
  //                       (ENOBUFS, ENOMEM). The connection stays in the
  //                       queue, and the next `Accept()` tries again at once:
  //                       a loop should wait a little, or close something,
  //                       before the next call. Also if the reactor has
  //                       reached its limit of sources; in this case the
  //                       connection has been closed.
  //   Unavailable         the reactor has been shut down
  AcceptFuture Accept() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return AcceptFuture(*this);
  }

  // Like `Accept()`, for hand-written futures. Without a `waiter` only one task
  // can wait to accept: the task that polled last is woken.
  PollResult<absl::StatusOr<Accepted>> PollAccept(
      Context& cx, Waiter* waiter = nullptr) const;

  // Returns the address on which the socket listens, with the port that the
  // system chose.
  absl::StatusOr<SocketAddr> local_addr() const { return io().LocalAddr(); }

  // Returns the descriptor, which the listener continues to own.
  int fd() const { return io().fd(); }

  // Releases the descriptor, which continues to listen and stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

 private:
  friend class TcpSocket;

  struct AcceptOp {
    static constexpr std::string_view kName = "TcpListener::Accept()";
    AcceptOp() = default;
    auto operator()(const TcpListener& listener, Context& cx,
                    Waiter* waiter) const {
      return listener.PollAccept(cx, waiter);
    }
  };

  explicit TcpListener(internal::EventedSocket evented)
      : evented_(std::move(evented)) {}

  static absl::StatusOr<TcpListener> FromSocket(internal::Socket socket,
                                                const reactor::Handle& handle);

  const internal::Socket& io() const { return evented_.io(); }

  internal::EventedSocket evented_;
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_LISTENER_H_
