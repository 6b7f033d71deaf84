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
// Owns the listening socket and closes it when it is destroyed; connections
// that nobody has accepted are reset then. Movable, but not while a future of
// it lives.
//
// Const members are thread-safe: several tasks may accept at once, and each
// connection goes to one of them.
class TcpListener {
 private:
  struct AcceptOp;

 public:
  // The place of a future among those that wait: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // For those who have to name it. As the futures of `TcpStream`.
  using AcceptFuture = internal::IoFuture<const TcpListener, AcceptOp>;

  // A connection, and where it comes from.
  struct Accepted {
    Accepted(TcpStream stream, const SocketAddr& peer)
        : stream(std::move(stream)), peer(peer) {}

    TcpStream stream;
    SocketAddr peer;
  };

  // Listens on `addr`; port 0 lets the system choose one, see `local_addr()`.
  // For options that are set before, and for the length of the queue, there is
  // `TcpSocket`.
  //
  // The address of a server that has just ended can be taken at once
  // (SO_REUSEADDR); that of one that runs cannot.
  //
  //   FailedPrecondition   the address is in use (EADDRINUSE), or the
  //                        current reactor handle is bound to none
  //   AlreadyExists        it is not an address of this machine (EADDRNOTAVAIL)
  //   PermissionDenied     the port is for the administrator
  //   ResourceExhausted    out of descriptors or memory
  //
  // and what is documented at `reactor::Registration::Create()`.
  static absl::StatusOr<TcpListener> Bind(
      const SocketAddr& addr,
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a TCP socket that listens and makes it non-blocking. On failure
  // it is closed. InvalidArgument if it is of another kind, such as a Unix
  // socket.
  static absl::StatusOr<TcpListener> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  TcpListener(TcpListener&&) = default;
  TcpListener& operator=(TcpListener&&) = default;

  // Waits for the next connection. Gives `absl::StatusOr<Accepted>`; the stream
  // is driven by the reactor of the listener. Destroying the future loses no
  // connection.
  //
  // What is wrong with a single connection, such as that it was aborted while
  // it was waiting, is not reported: the next one is taken. What is, concerns
  // the listener, which stays usable:
  //
  //   ResourceExhausted   out of descriptors (EMFILE, ENFILE) or memory
  //                       (ENOBUFS, ENOMEM). The connection goes on waiting,
  //                       and the next `Accept()` tries again at once: a loop
  //                       should wait a little, or close something, before it
  //                       does. Or the reactor has its limit of sources; then
  //                       the connection has been closed.
  //   Unavailable         the reactor has been shut down
  AcceptFuture Accept() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return AcceptFuture(*this);
  }

  // The same for futures of your own. Without a `waiter` there is one task that
  // accepts: the one that polled last is woken.
  PollResult<absl::StatusOr<Accepted>> PollAccept(
      Context& cx, Waiter* waiter = nullptr) const;

  // Where it listens, with the port that was chosen.
  absl::StatusOr<SocketAddr> local_addr() const { return io().LocalAddr(); }

  // The descriptor. It stays owned.
  int fd() const { return io().fd(); }

  // Takes the descriptor out; it goes on listening, and stays non-blocking.
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
