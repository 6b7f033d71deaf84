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
// As `TcpListener`. A path that it was bound to stays in the file system when
// it is destroyed: remove it yourself, before the next one is bound to it. An
// abstract name goes with it.
class UnixListener {
 private:
  struct AcceptOp;

 public:
  // The place of a future among those that wait: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // For those who have to name it. As the futures of `TcpStream`.
  using AcceptFuture = internal::IoFuture<const UnixListener, AcceptOp>;

  // A connection, and where it comes from, usually without a name.
  struct Accepted {
    Accepted(UnixStream stream, const UnixAddr& peer)
        : stream(std::move(stream)), peer(peer) {}

    UnixStream stream;
    UnixAddr peer;
  };

  // Listens at `addr`.
  //
  //   FailedPrecondition   the path exists, or the name is in use
  //                        (EADDRINUSE), or the current reactor handle is
  //                        bound to none
  //   NotFound             there is no such directory
  //   PermissionDenied     it may not be written to
  //   ResourceExhausted    out of descriptors or memory
  static absl::StatusOr<UnixListener> Bind(
      const UnixAddr& addr, const reactor::Handle& handle = reactor::Handle());

  // Takes over a stream socket that listens and makes it non-blocking. On
  // failure it is closed.
  static absl::StatusOr<UnixListener> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixListener(UnixListener&&) = default;
  UnixListener& operator=(UnixListener&&) = default;

  // Waits for the next connection, as `TcpListener::Accept()`, with the same
  // errors. Gives `absl::StatusOr<Accepted>`.
  AcceptFuture Accept() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return AcceptFuture(*this);
  }

  // The same for futures of your own. Without a `waiter` there is one task that
  // accepts: the one that polled last is woken.
  PollResult<absl::StatusOr<Accepted>> PollAccept(
      Context& cx, Waiter* waiter = nullptr) const;

  // Where it listens.
  absl::StatusOr<UnixAddr> local_addr() const { return io().LocalUnixAddr(); }

  // The descriptor. It stays owned.
  int fd() const { return io().fd(); }

  // Takes the descriptor out; it goes on listening, and stays non-blocking.
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
