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
// It is `AsyncRead` and `AsyncWrite`: all that rouse/io has works on it. To
// read and to write in different tasks there is "rouse/net/split.h".

#ifndef ROUSE_NET_TCP_TCP_STREAM_H_
#define ROUSE_NET_TCP_TCP_STREAM_H_

#include <sys/socket.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/read.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket/stream_io.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_options.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
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
class TcpStream : public TcpOptions<TcpStream> {
 private:
  struct PeekOp;

 public:
  // The place of a future among those that wait: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // The futures, for those who have to name them. Polling one that is finished
  // is a `Panic()`. They may be moved until they are polled.
  class ConnectFuture;
  using PeekFuture = internal::IoFuture<const TcpStream, PeekOp>;
  using ReadFuture = rouse::ReadFuture<const TcpStream>;
  using WriteFuture = rouse::WriteFuture<const TcpStream>;
  using WriteVectoredFuture = rouse::WriteVectoredFuture<const TcpStream>;
  using WriteAllFuture = rouse::WriteAllFuture<const TcpStream>;

  // Connects to `addr`. Gives `absl::StatusOr<TcpStream>`. The connection is
  // driven by `handle`'s reactor or, if unbound, the one that is current where
  // the future is polled first. Destroying the future gives the attempt up.
  // For options that are set before, there is `TcpSocket`.
  static ConnectFuture Connect(SocketAddr addr,
                               reactor::Handle handle = reactor::Handle());
  // Text: `ConnectTcp()` (rouse/net/by_name.h) takes names and numbers.
  static void Connect(std::string_view not_an_address_see_ConnectTcp) = delete;

  // The same with the first of `addrs` that can be connected to, one after the
  // other. If there is none, gives the error of the last; InvalidArgument if
  // `addrs` is empty.
  static ConnectFuture Connect(absl::Span<const SocketAddr> addrs,
                               reactor::Handle handle = reactor::Handle());

  // Takes over a connected TCP socket and makes it non-blocking. On failure it
  // is closed. InvalidArgument if it is of another kind, such as a Unix socket.
  static absl::StatusOr<TcpStream> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  TcpStream(TcpStream&&) = default;
  TcpStream& operator=(TcpStream&&) = default;

  // Reads what there is, up to the size of `buffer`, as soon as there is
  // anything. Gives `absl::StatusOr<size_t>`: 0 when the peer has written its
  // last, or the buffer is empty.
  ReadFuture Read(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadFuture(*this, buffer);
  }
  void Read(internal::NeedsAbslMakeSpan auto&& buffer) const = delete;

  // The same, but the bytes stay, and are read again.
  PeekFuture Peek(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return PeekFuture(*this, buffer);
  }

  // Writes at least one byte of `data`, as many as can be written now. Gives
  // `absl::StatusOr<size_t>`: 0 only if `data` is empty. That it is written
  // means that the system has it, not that the peer has.
  WriteFuture Write(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteFuture(*this, data);
  }

  // The same of several parts in one system call, which takes the first 64.
  WriteVectoredFuture WriteVectored(absl::Span<const std::string_view> parts)
      const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteVectoredFuture(*this, parts);
  }

  // Writes all of `data`. Gives `absl::Status`; after an error it is not known
  // how much was written.
  WriteAllFuture WriteAll(std::string_view data) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteAllFuture(*this, data);
  }

  // The same for futures of your own: a `TcpStream` is `AsyncRead` and
  // `AsyncWrite`. Without a `waiter` there is one task that reads and one that
  // writes: the one that polled last is woken.
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const {
    return internal::PollStreamRead(
        evented_, internal::ShortRead::kNoMoreForNow, cx, buffer, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollPeek(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const {
    return internal::PollStreamPeek(evented_, cx, buffer, waiter);
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
  // Always ready: nothing is kept here.
  PollResult<absl::Status> PollFlush(Context&) const {
    return absl::OkStatus();
  }
  // As `ShutdownWrite()`, always ready. OK, too, if the connection has ended.
  PollResult<absl::Status> PollShutdown(Context&) const {
    return internal::PollStreamShutdown(evented_);
  }

  // Tells the peer that nothing more will be written: it reads to the end. What
  // was written is delivered first. Reading goes on.
  absl::Status ShutdownWrite() const { return io().Shutdown(SHUT_WR); }

  // Reads come to an end, also one that waits, once what has arrived has been
  // read. The peer does not hear of it. On Linux what it sends all the same is
  // read, also after the end: the end is only for as long as it sends nothing.
  // FailedPrecondition, as for `ShutdownWrite()`, if the connection has ended.
  absl::Status ShutdownRead() const { return io().Shutdown(SHUT_RD); }

  // The address of this end, and that of the other one, which is known also
  // when the connection has been reset.
  absl::StatusOr<SocketAddr> local_addr() const { return io().LocalAddr(); }
  absl::StatusOr<SocketAddr> peer_addr() const { return io().PeerAddr(); }

  // The descriptor. It stays owned.
  int fd() const { return io().fd(); }

  // Takes the descriptor out; it stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

 private:
  friend class TcpListener;
  friend class TcpSocket;

  struct PeekOp {
    static constexpr std::string_view kName = "TcpStream::Peek()";
    explicit PeekOp(absl::Span<char> buffer) : buffer(buffer) {}
    auto operator()(const TcpStream& stream, Context& cx,
                    Waiter* waiter) const {
      return stream.PollPeek(cx, buffer, waiter);
    }
    absl::Span<char> buffer;
  };

  explicit TcpStream(internal::EventedSocket evented)
      : evented_(std::move(evented)) {}

  static absl::StatusOr<TcpStream> FromSocket(internal::Socket socket,
                                              const reactor::Handle& handle);

  const internal::Socket& io() const { return evented_.io(); }

  internal::EventedSocket evented_;
};

class [[nodiscard]] TcpStream::ConnectFuture {
 public:
  PollResult<absl::StatusOr<TcpStream>> Poll(Context& cx);

 private:
  friend class TcpStream;
  friend class TcpSocket;

  // `socket`, if there is one, has no connection yet, and `addrs` is one.
  ConnectFuture(absl::Span<const SocketAddr> addrs, reactor::Handle handle,
                std::optional<internal::Socket> socket)
      : addrs_(addrs.begin(), addrs.end()),
        handle_(std::move(handle)),
        socket_(std::move(socket)) {}

  const SocketAddr& addr() const { return addrs_[tried_]; }

  // Opens the socket and asks for the connection to `addr()`.
  absl::StatusOr<TcpStream> Start();

  // One attempt. Ready: how it ended.
  PollResult<absl::StatusOr<TcpStream>> PollAttempt(Context& cx);

  // One address is the usual number, and needs no allocation.
  absl::InlinedVector<SocketAddr, 1> addrs_;
  size_t tried_ = 0;  // of `addrs_`, in vain
  reactor::Handle handle_;
  std::optional<internal::Socket> socket_;
  std::optional<TcpStream> stream_;  // while it is being connected
  bool finished_ = false;
  reactor::Waiter waiter_;  // gone before the stream is
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_STREAM_H_
