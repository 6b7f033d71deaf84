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

#include <sys/socket.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/read.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/stream_io.h"
#include "rouse/net/unix/peer_credentials.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UnixStream
//
// Thread safety, cancelling, errors and budget are as described at `TcpStream`.
// If the peer has closed the connection without reading all bytes, an operation
// fails with Unavailable (ECONNRESET).
class UnixStream {
 public:
  // Represents a waiting future in the list of waiters; see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // The types of the futures. Subject to the rules for the futures of
  // `TcpStream`.
  class ConnectFuture;
  using ReadFuture = rouse::ReadFuture<const UnixStream>;
  using WriteFuture = rouse::WriteFuture<const UnixStream>;
  using WriteVectoredFuture = rouse::WriteVectoredFuture<const UnixStream>;
  using WriteAllFuture = rouse::WriteAllFuture<const UnixStream>;

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
  // failure closes `fd`.
  static absl::StatusOr<UnixStream> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixStream(UnixStream&&) = default;
  UnixStream& operator=(UnixStream&&) = default;

  // Read and write like the functions of the same names of `TcpStream`.
  ReadFuture Read(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadFuture(*this, buffer);
  }
  void Read(internal::NeedsAbslMakeSpan auto&& buffer) const = delete;
  WriteFuture Write(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteFuture(*this, data);
  }
  WriteVectoredFuture WriteVectored(absl::Span<const std::string_view> parts)
      const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteVectoredFuture(*this, parts);
  }
  WriteAllFuture WriteAll(std::string_view data) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteAllFuture(*this, data);
  }

  // Like the functions above, for hand-written futures; see `TcpStream`.
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const {
    return internal::PollStreamRead(evented_, internal::ShortRead::kNothing, cx,
                                    buffer, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) const {
    return internal::PollStreamWrite(evented_, cx, data, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) const {
    return internal::PollStreamWriteVectored(evented_, cx, parts, waiter);
  }
  PollResult<absl::Status> PollFlush(Context&) const {
    return absl::OkStatus();
  }
  PollResult<absl::Status> PollShutdown(Context&) const {
    return internal::PollStreamShutdown(evented_);
  }

  // Shuts down one direction, like the functions of `TcpStream`, except that
  // writing to a peer that has called `ShutdownRead()` fails with
  // FailedPrecondition (EPIPE). A write that waits for room during the peer's
  // call might not fail before the peer closes the connection, because the
  // system reports no event.
  absl::Status ShutdownWrite() const { return io().Shutdown(SHUT_WR); }
  absl::Status ShutdownRead() const { return io().Shutdown(SHUT_RD); }

  absl::StatusOr<PeerCredentials> GetPeerCredentials() const {
    return internal::PeerCredentialsOf(fd());
  }

  // Returns the address of this end or of the peer. The address of a client is
  // usually unnamed.
  absl::StatusOr<UnixAddr> local_addr() const { return io().LocalUnixAddr(); }
  absl::StatusOr<UnixAddr> peer_addr() const { return io().PeerUnixAddr(); }

  // Returns the descriptor, which the stream continues to own.
  int fd() const { return io().fd(); }

  // Releases the descriptor, which stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

 private:
  friend class UnixListener;

  explicit UnixStream(internal::EventedSocket evented)
      : evented_(std::move(evented)) {}

  static absl::StatusOr<UnixStream> FromSocket(internal::Socket socket,
                                               const reactor::Handle& handle);

  const internal::Socket& io() const { return evented_.io(); }

  internal::EventedSocket evented_;
};

class [[nodiscard]] UnixStream::ConnectFuture {
 public:
  PollResult<absl::StatusOr<UnixStream>> Poll(Context& cx);

 private:
  friend class UnixStream;
  ConnectFuture(const UnixAddr& addr, reactor::Handle handle)
      : addr_(addr), handle_(std::move(handle)) {}

  UnixAddr addr_;
  reactor::Handle handle_;
  bool finished_ = false;
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_STREAM_H_
