// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_stream.h
// -----------------------------------------------------------------------------
//
// A `UnixStream` is a connection to another process of this machine:
//
//   rouse::Co<absl::Status> Ask(rouse::UnixAddr addr) {
//     rouse::UnixStream stream =
//         co_await rouse::OrReturn(rouse::UnixStream::Connect(addr));
//     co_await rouse::OrReturn(stream.WriteAll("status\n"));
//     co_await rouse::OrReturn(stream.ShutdownWrite());
//     std::string answer;
//     co_await rouse::OrReturn(rouse::ReadToEnd(stream, answer));
//     ...
//   }
//
// `UnixStream` models `AsyncRead` and `AsyncWrite`, so everything in rouse/io
// works with it. To read and write in different tasks, use "rouse/net/split.h".

#ifndef ROUSE_NET_UNIX_UNIX_STREAM_H_
#define ROUSE_NET_UNIX_UNIX_STREAM_H_

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/stream_base.h"
#include "rouse/net/unix/peer_credentials.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UnixStream
//
// Shares the members in net/socket/stream_base.h, such as `Read()`, with
// `TcpStream`. Thread safety, cancelling, errors and budget are as described at
// `TcpStream`. If the peer has closed the connection without reading all bytes,
// an operation fails with Unavailable (ECONNRESET).
class UnixStream : public internal::StreamBase<UnixStream, UnixAddr> {
 public:
  // The type of the future of `Connect()`. Subject to the rules for
  // `ReadFuture`.
  class ConnectFuture;

  // Connects to `addr` and returns `absl::StatusOr<UnixStream>` at the first
  // poll, because the system does not wait for the peer. The connection is
  // driven by `handle`'s reactor or, if `handle` is unbound, by the reactor
  // that is current where the future is polled.
  //
  //   NotFound           no such path exists
  //   Unavailable        nobody listens there; or the queue of connections to
  //                      be accepted is full, then try again later
  //   PermissionDenied   no permission to write to the path
  static ConnectFuture Connect(const UnixAddr& addr,
                               reactor::Handle handle = reactor::Handle());

  // Makes both ends of an unnamed connection.
  static absl::StatusOr<std::pair<UnixStream, UnixStream>> Pair(
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a connected stream socket and makes the socket non-blocking. On
  // failure closes `fd`. Returns InvalidArgument if `fd` is not a Unix stream
  // socket; FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<UnixStream> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixStream(UnixStream&&) = default;
  UnixStream& operator=(UnixStream&&) = default;

  // Returns which process and user made the other end of the connection.
  absl::StatusOr<PeerCredentials> GetPeerCredentials() const {
    return internal::PeerCredentialsOf(fd());
  }

 private:
  friend EventedBase;

  explicit UnixStream(Evented evented) : StreamBase(std::move(evented)) {}
};

class [[nodiscard("connects only when awaited")]] UnixStream::ConnectFuture {
 public:
  PollResult<absl::StatusOr<UnixStream>> Poll(Context& cx);

 private:
  friend class UnixSocket;
  friend class UnixStream;

  // Without a `socket`, the first poll opens one.
  ConnectFuture(const UnixAddr& addr, reactor::Handle handle,
                std::optional<internal::Socket> socket)
      : addr_(addr), handle_(std::move(handle)), socket_(std::move(socket)) {}

  UnixAddr addr_;
  reactor::Handle handle_;
  std::optional<internal::Socket> socket_;
  bool finished_ = false;
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_STREAM_H_
