// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_stream.h
// -----------------------------------------------------------------------------
//
// A `TcpStream` is a TCP connection:
//
//   rouse::Co<absl::Status> Greet(rouse::SocketAddr addr) {
//     rouse::TcpStream stream =
//         co_await rouse::OrReturn(rouse::TcpStream::Connect(addr));
//     co_await rouse::OrReturn(stream.WriteAll("hello\n"));
//     char buffer[1024];
//     size_t size = co_await rouse::OrReturn(
//         stream.Read(absl::MakeSpan(buffer)));
//     ...
//   }
//
// `TcpStream` models `AsyncRead` and `AsyncWrite`, so everything in rouse/io
// works with it. To read and write in different tasks, use "rouse/net/split.h".

#ifndef ROUSE_NET_TCP_TCP_STREAM_H_
#define ROUSE_NET_TCP_TCP_STREAM_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/stream_base.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_options.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// TcpStream
//
// Owns the connection and closes it on destruction. Movable, but not while one
// of its futures is alive.
//
// The members that a `TcpStream` shares with a `UnixStream`, such as `Read()`
// and `ShutdownWrite()`, are in net/socket/stream_base.h, and those of all
// sockets and pipes, such as `IntoFd()`, in net/evented_base.h.
//
// Const members are thread-safe: one task can read while another task writes.
// If two tasks write, or read, concurrently, the order of their bytes is
// unspecified.
//
// # Cancelling
//
// Each operation is a future that does nothing before the first poll, borrows
// the stream and the buffer, and allocates nothing. If a `Read()` or `Write()`
// is destroyed before it is ready, nothing was read or written. A `WriteAll()`
// may have written a part of its data.
//
// # Errors
//
// Errors are those of the system call, converted by `absl::ErrnoToStatus()`,
// among them
//
//   Unavailable          connection refused, reset or aborted; host unreachable
//   FailedPrecondition   written to a closed connection (EPIPE)
//   DeadlineExceeded     the peer has stopped answering (ETIMEDOUT)
//
// and the errors of `reactor::Registration`: Unavailable, too, when the reactor
// has been shut down.
//
// Every operation takes the task's cooperative budget (see context.h), so a
// peer that sends without end does not monopolize the thread.
class TcpStream : public internal::StreamBase<TcpStream, SocketAddr>,
                  public TcpOptions<TcpStream> {
 private:
  struct PeekOp;

 public:
  // The types of two futures. Subject to the rules for `ReadFuture`.
  class ConnectFuture;
  using PeekFuture = internal::IoFuture<const TcpStream, PeekOp>;

  // Connects to `addr` and returns `absl::StatusOr<TcpStream>`. The connection
  // is driven by `handle`'s reactor or, if `handle` is unbound, by the reactor
  // that is current at the future's first poll. Destroying the future abandons
  // the attempt. To set options before the connection is made, use `TcpSocket`.
  static ConnectFuture Connect(SocketAddr addr,
                               reactor::Handle handle = reactor::Handle());
  // Deleted for text: `ConnectTcp()` (rouse/net/by_name.h) takes host names and
  // numeric addresses.
  static void Connect(std::string_view not_an_address_see_ConnectTcp) = delete;

  // Like `Connect()` above, but tries each address of `addrs` in turn and
  // returns the first successful connection. If all attempts fail, returns the
  // error of the last one; returns InvalidArgument if `addrs` is empty.
  static ConnectFuture Connect(absl::Span<const SocketAddr> addrs,
                               reactor::Handle handle = reactor::Handle());

  // Takes over a connected TCP socket and makes the socket non-blocking. On
  // failure closes `fd`. Returns InvalidArgument if `fd` is not a TCP socket;
  // FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<TcpStream> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  TcpStream(TcpStream&&) = default;
  TcpStream& operator=(TcpStream&&) = default;

  // Returns the descriptor, which the stream continues to own.
  using StreamBase::fd;

  // Like `Read()`, but leaves the bytes to be read again.
  PeekFuture Peek(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return PeekFuture(*this, buffer);
  }

  // Like `Peek()`, but returns `std::nullopt` instead of waiting: see
  // `TryRead()`.
  std::optional<absl::StatusOr<size_t>> TryPeek(absl::Span<char> buffer) const {
    return TryNow([this, buffer](Context& cx, Waiter* waiter) {
      return PollPeek(cx, buffer, waiter);
    });
  }

  // Like `Peek()`, for hand-written futures: see `PollRead()`.
  PollResult<absl::StatusOr<size_t>> PollPeek(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const {
    return internal::StreamResult(
        evented(), internal::PollStreamPeek(evented(), cx, buffer, waiter),
        "recv from");
  }

 private:
  friend EventedBase;

  struct PeekOp {
    static constexpr std::string_view kName = "TcpStream::Peek()";
    explicit PeekOp(absl::Span<char> buffer) : buffer(buffer) {}
    auto operator()(const TcpStream& stream, Context& cx,
                    Waiter* waiter) const {
      return stream.PollPeek(cx, buffer, waiter);
    }
    absl::Span<char> buffer;
  };

  explicit TcpStream(Evented evented) : StreamBase(std::move(evented)) {}
};

class [[nodiscard("connects only when awaited")]] TcpStream::ConnectFuture {
 public:
  PollResult<absl::StatusOr<TcpStream>> Poll(Context& cx);

 private:
  friend class TcpStream;
  friend class TcpSocket;

  // REQUIRES: if `socket` is given, `socket` has no connection yet, and `addrs`
  // contains a single address.
  ConnectFuture(absl::Span<const SocketAddr> addrs, reactor::Handle handle,
                std::optional<internal::Socket> socket)
      : addrs_(addrs.begin(), addrs.end()),
        socket_(std::move(socket)),
        attempt_(std::move(handle)) {}

  // Usually a single address, which needs no allocation.
  absl::InlinedVector<SocketAddr, 1> addrs_;
  size_t tried_ = 0;  // number of failed `addrs_`
  std::optional<internal::Socket> socket_;
  bool finished_ = false;
  ConnectAttempt attempt_;
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_STREAM_H_
