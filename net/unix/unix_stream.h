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
// It is `AsyncRead` and `AsyncWrite`: all that rouse/io has works on it. To
// read and to write in different tasks there is "rouse/net/split.h".

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
// Thread-safety, cancelling, errors and budget are those of `TcpStream`. A peer
// that has closed the connection without reading all of it is Unavailable
// (ECONNRESET).
class UnixStream {
 public:
  // The place of a future among those that wait: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // The futures, as those of `TcpStream`.
  class ConnectFuture;
  using ReadFuture = rouse::ReadFuture<const UnixStream>;
  using WriteFuture = rouse::WriteFuture<const UnixStream>;
  using WriteVectoredFuture = rouse::WriteVectoredFuture<const UnixStream>;
  using WriteAllFuture = rouse::WriteAllFuture<const UnixStream>;

  // Connects to `addr`. Gives `absl::StatusOr<UnixStream>`, at the first poll:
  // the system does not wait for the peer. The connection is driven by
  // `handle`'s reactor or, if unbound, the one that is current where the future
  // is polled.
  //
  //   NotFound           there is no such path
  //   Unavailable        nobody listens there; or as many wait to be accepted
  //                      as may, then try again later
  //   PermissionDenied   the path may not be written to
  static ConnectFuture Connect(const UnixAddr& addr,
                               reactor::Handle handle = reactor::Handle());

  // Both ends of a connection without a name.
  static absl::StatusOr<std::pair<UnixStream, UnixStream>> Pair(
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a connected stream socket and makes it non-blocking. On failure
  // it is closed.
  static absl::StatusOr<UnixStream> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixStream(UnixStream&&) = default;
  UnixStream& operator=(UnixStream&&) = default;

  // As of `TcpStream`.
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

  // The same for futures of your own, as of `TcpStream`.
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

  // As of `TcpStream`; but writing to a peer that has called `ShutdownRead()`
  // is FailedPrecondition (EPIPE). A write that waits for room at that moment
  // may not hear of it before the peer closes: the system makes no event of it.
  absl::Status ShutdownWrite() const { return io().Shutdown(SHUT_WR); }
  absl::Status ShutdownRead() const { return io().Shutdown(SHUT_RD); }

  absl::StatusOr<PeerCredentials> GetPeerCredentials() const {
    return internal::PeerCredentialsOf(fd());
  }

  // The address of this end, and of the other one; that of a client is usually
  // unnamed.
  absl::StatusOr<UnixAddr> local_addr() const { return io().LocalUnixAddr(); }
  absl::StatusOr<UnixAddr> peer_addr() const { return io().PeerUnixAddr(); }

  // The descriptor. It stays owned.
  int fd() const { return io().fd(); }

  // Takes the descriptor out; it stays non-blocking.
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
