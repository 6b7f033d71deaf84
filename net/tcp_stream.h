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

#ifndef ROUSE_NET_TCP_STREAM_H_
#define ROUSE_NET_TCP_STREAM_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll_evented.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// TcpStream
//
// Owns the connection and closes it when it is destroyed. Movable, but not
// while a future of it lives.
//
// Const members are thread-safe: one task may read while another one writes.
// Bytes that two tasks write, or read, at the same time come in an order that
// is not defined.
//
// # Cancelling
//
// Each operation is a future that does nothing before it is polled, borrows the
// stream and the buffer, and allocates nothing. Destroying `Read()` or
// `Write()` before it is ready means that nothing was read or written.
// `WriteAll()` may have written a part.
//
// # Errors
//
// Those of the system call, through `absl::ErrnoToStatus()`, among them
//
//   Unavailable          connection refused, reset or aborted; host unreachable
//   FailedPrecondition   written to a connection that is closed (EPIPE)
//   DeadlineExceeded     the peer has stopped answering (ETIMEDOUT)
//
// and what is documented at `reactor::Registration`: Unavailable, too, when the
// reactor has been shut down.
//
// Every operation takes the task's cooperative budget (see context.h), so that
// a peer that sends without end does not keep the thread.
class TcpStream {
 public:
  class ConnectFuture;
  class ReadFuture;
  class WriteFuture;
  class WriteAllFuture;

  // Connects to `addr`. Gives `absl::StatusOr<TcpStream>`. The connection is
  // driven by `handle`'s reactor or, if unbound, the one that is current where
  // the future is polled first. Destroying the future gives the attempt up.
  static ConnectFuture Connect(SocketAddr addr,
                               reactor::Handle handle = reactor::Handle());

  // Takes over a connected stream socket and makes it non-blocking. On failure
  // it is closed.
  static absl::StatusOr<TcpStream> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  TcpStream(TcpStream&&) = default;
  TcpStream& operator=(TcpStream&&) = default;

  // Reads what there is, up to the size of `buffer`, as soon as there is
  // anything. Gives `absl::StatusOr<size_t>`: 0 when the peer has written its
  // last, or the buffer is empty.
  ReadFuture Read(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Writes at least one byte of `data`, as many as can be written now. Gives
  // `absl::StatusOr<size_t>`: 0 only if `data` is empty. That it is written
  // means that the system has it, not that the peer has.
  WriteFuture Write(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Writes all of `data`. Gives `absl::Status`; after an error it is not known
  // how much was written.
  WriteAllFuture WriteAll(std::string_view data) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // The same for futures of your own. Without a `waiter` there is one task that
  // reads and one that writes: the one that polled last is woken.
  PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer,
      reactor::Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollWrite(
      Context& cx, std::string_view data,
      reactor::Waiter* waiter = nullptr) const;

  // Tells the peer that nothing more will be written: it reads to the end. What
  // was written is delivered first. Reading goes on.
  absl::Status ShutdownWrite() const { return io().ShutdownWrite(); }

  // Whether small writes are sent at once (TCP_NODELAY) instead of being
  // gathered while data is unacknowledged. Off in a new connection.
  absl::Status SetNoDelay(bool on) const { return io().SetNoDelay(on); }
  absl::StatusOr<bool> NoDelay() const { return io().NoDelay(); }

  // The address of this end, and of the other one. Fail on a connection that
  // has been reset.
  absl::StatusOr<SocketAddr> local_addr() const { return io().LocalAddr(); }
  absl::StatusOr<SocketAddr> peer_addr() const { return io().PeerAddr(); }

  // The descriptor. It stays owned.
  int fd() const { return io().fd(); }

  // Takes the descriptor out; it stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

 private:
  friend class TcpListener;

  using Evented = reactor::PollEvented<internal::Socket>;

  explicit TcpStream(Evented evented) : evented_(std::move(evented)) {}

  static absl::StatusOr<TcpStream> FromSocket(internal::Socket socket,
                                              const reactor::Handle& handle);

  const internal::Socket& io() const { return evented_.io(); }

  Evented evented_;
};

// -----------------------------------------------------------------------------
// The futures, for those who have to name them. Polling one that is finished is
// a `Panic()`. They may be moved until they are polled.
// -----------------------------------------------------------------------------

class [[nodiscard]] TcpStream::ReadFuture {
 public:
  PollResult<absl::StatusOr<size_t>> Poll(Context& cx);

 private:
  friend class TcpStream;
  ReadFuture(const TcpStream& stream, absl::Span<char> buffer)
      : stream_(&stream), buffer_(buffer) {}

  const TcpStream* stream_;  // null when finished
  absl::Span<char> buffer_;
  reactor::Waiter waiter_;
};

class [[nodiscard]] TcpStream::WriteFuture {
 public:
  PollResult<absl::StatusOr<size_t>> Poll(Context& cx);

 private:
  friend class TcpStream;
  WriteFuture(const TcpStream& stream, std::string_view data)
      : stream_(&stream), data_(data) {}

  const TcpStream* stream_;  // null when finished
  std::string_view data_;
  reactor::Waiter waiter_;
};

class [[nodiscard]] TcpStream::WriteAllFuture {
 public:
  PollResult<absl::Status> Poll(Context& cx);

 private:
  friend class TcpStream;
  WriteAllFuture(const TcpStream& stream, std::string_view data)
      : stream_(&stream), data_(data) {}

  const TcpStream* stream_;  // null when finished
  std::string_view data_;    // what is left
  reactor::Waiter waiter_;
};

class [[nodiscard]] TcpStream::ConnectFuture {
 public:
  PollResult<absl::StatusOr<TcpStream>> Poll(Context& cx);

 private:
  friend class TcpStream;
  ConnectFuture(const SocketAddr& addr, reactor::Handle handle)
      : addr_(addr), handle_(std::move(handle)) {}

  // Opens the socket and asks for the connection.
  absl::StatusOr<TcpStream> Start() const;

  SocketAddr addr_;
  reactor::Handle handle_;
  std::optional<TcpStream> stream_;  // while it is being connected
  bool finished_ = false;
  reactor::Waiter waiter_;  // gone before the stream is
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_STREAM_H_
