// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_base.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: the members that all streams share.

#ifndef ROUSE_NET_SOCKET_STREAM_BASE_H_
#define ROUSE_NET_SOCKET_STREAM_BASE_H_

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/log/vlog.h"
#include "rouse/io/async_read.h"
#include "rouse/io/read.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/io_outcome.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// The meaning of a read that returns fewer bytes than requested.
enum class ShortRead {
  kNoMoreForNow,
  // A short read means nothing: a read of a Unix socket ends after bytes that
  // came with descriptors, or from another process.
  kNothing,
};

// Read and write as described at `AsyncRead` and `AsyncWrite`.
// `PollStreamPeek()` is like `PollStreamRead()`, but leaves the bytes in the
// socket. The two functions that move bytes from and to a single buffer are
// inlined into the polls of their futures: a server spends much of its time
// there.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline reactor::IoOutcome PollStreamRead(
    const EventedSocket& socket, ShortRead says, Context& cx,
    absl::Span<char> buffer, reactor::Waiter* waiter) {
  if (ABSL_PREDICT_FALSE(buffer.empty())) return reactor::IoOutcome::Count(0);
  const Socket& io = socket.io();
  const size_t full = says == ShortRead::kNothing ? 0 : buffer.size();
  return socket.registration().PollOutcome(
      reactor::Direction::kRead, cx, waiter, full,
      [&io, buffer] { return io.Receive(buffer); });
}
ABSL_ATTRIBUTE_ALWAYS_INLINE inline reactor::IoOutcome PollStreamWrite(
    const EventedSocket& socket, Context& cx, std::string_view data,
    reactor::Waiter* waiter) {
  if (ABSL_PREDICT_FALSE(data.empty())) return reactor::IoOutcome::Count(0);
  const Socket& io = socket.io();
  return socket.registration().PollOutcome(
      reactor::Direction::kWrite, cx, waiter, data.size(),
      [&io, data] { return io.Send(data); });
}
reactor::IoOutcome PollStreamPeek(const EventedSocket& socket, Context& cx,
                                  absl::Span<char> buffer,
                                  reactor::Waiter* waiter);
reactor::IoOutcome PollStreamReadVectored(
    const EventedSocket& socket, ShortRead says, Context& cx,
    absl::Span<const absl::Span<char>> buffers, reactor::Waiter* waiter);
reactor::IoOutcome PollStreamWriteVectored(
    const EventedSocket& socket, Context& cx,
    absl::Span<const std::string_view> parts, reactor::Waiter* waiter);

// Returns the status of an outcome of the functions above that is an error.
// `call` names the call, as in "recv from".
ABSL_ATTRIBUTE_COLD absl::Status StreamError(const EventedSocket& socket,
                                             reactor::IoOutcome outcome,
                                             std::string_view call);

// Converts an outcome of the functions above.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline PollResult<absl::StatusOr<size_t>>
StreamResult(const EventedSocket& socket, reactor::IoOutcome outcome,
             std::string_view call) {
  if (outcome.IsCount()) return absl::StatusOr<size_t>(outcome.count());
  if (outcome.IsPending()) return kPending;
  return absl::StatusOr<size_t>(StreamError(socket, outcome, call));
}

// Shuts down writing as described at `AsyncWrite`.
PollResult<absl::Status> PollStreamShutdown(const EventedSocket& socket);

// StreamBase
//
// The base class of a stream `S` between two addresses of type `Addr`.
template <class S, class Addr>
class StreamBase : public EventedBase<S, Socket> {
 public:
  using typename EventedBase<S, Socket>::Waiter;

  // The kinds of events for which a stream is registered. They include
  // `kPriority` because a read stops before out-of-band data: only knowledge of
  // that data shows that such a read has not emptied the socket.
  static constexpr reactor::Interest kInterest = reactor::Interest::kReadable |
                                                 reactor::Interest::kWritable |
                                                 reactor::Interest::kPriority;

  // The types of the futures. Polling a finished future is a `Panic()`. A
  // future can be moved until it is polled.
  using ReadFuture = rouse::ReadFuture<const S>;
  using ReadVectoredFuture = rouse::ReadVectoredFuture<const S>;
  using WriteFuture = rouse::WriteFuture<const S>;
  using WriteVectoredFuture = rouse::WriteVectoredFuture<const S>;
  using WriteAllFuture = rouse::WriteAllFuture<const S>;

  // Reads the available bytes, up to the size of `buffer`, as soon as there are
  // any. Returns `absl::StatusOr<size_t>`: 0 if the peer has finished writing,
  // or the buffer is empty.
  ReadFuture Read(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadFuture(this->self(), buffer);
  }
  void Read(NeedsAbslMakeSpan auto&& buffer) const = delete;

  // Like `Read()`, into several buffers in one system call, which fills at most
  // the first 64 buffers.
  ReadVectoredFuture ReadVectored(absl::Span<const absl::Span<char>> buffers)
      const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadVectoredFuture(this->self(), buffers);
  }

  // Writes at least one byte of `data`, and as many as can be written now.
  // Returns `absl::StatusOr<size_t>`: 0 only if `data` is empty. Bytes count as
  // written when the system, not the peer, has received them.
  WriteFuture Write(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteFuture(this->self(), data);
  }

  // Like `Write()`, for several parts in one system call, which takes at most
  // the first 64 parts.
  WriteVectoredFuture WriteVectored(absl::Span<const std::string_view> parts)
      const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteVectoredFuture(this->self(), parts);
  }

  // Writes all of `data`. Returns `absl::Status`; after an error, the number of
  // bytes written is unknown.
  WriteAllFuture WriteAll(std::string_view data) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteAllFuture(this->self(), data);
  }

  // Like `Read()`, `ReadVectored()`, `Write()` and `WriteVectored()`, but
  // return `std::optional<absl::StatusOr<size_t>>`: `std::nullopt` if the
  // operation would have to wait (see net/evented_base.h). Take no budget.
  std::optional<absl::StatusOr<size_t>> TryRead(absl::Span<char> buffer) const {
    return this->TryNow([this, buffer](Context& cx, Waiter* waiter) {
      return PollRead(cx, buffer, waiter);
    });
  }
  void TryRead(NeedsAbslMakeSpan auto&& buffer) const = delete;
  std::optional<absl::StatusOr<size_t>> TryReadVectored(
      absl::Span<const absl::Span<char>> buffers) const {
    return this->TryNow([this, buffers](Context& cx, Waiter* waiter) {
      return PollReadVectored(cx, buffers, waiter);
    });
  }
  std::optional<absl::StatusOr<size_t>> TryWrite(std::string_view data) const {
    return this->TryNow([this, data](Context& cx, Waiter* waiter) {
      return PollWrite(cx, data, waiter);
    });
  }
  std::optional<absl::StatusOr<size_t>> TryWriteVectored(
      absl::Span<const std::string_view> parts) const {
    return this->TryNow([this, parts](Context& cx, Waiter* waiter) {
      return PollWriteVectored(cx, parts, waiter);
    });
  }

  // Like the functions above, for hand-written futures: a stream models
  // `AsyncRead` and `AsyncWrite`. Without a `waiter` only one task can wait to
  // read and one task to write: the task that polled last is woken.
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer, Waiter* waiter = nullptr) const {
    return StreamResult(
        this->evented(),
        PollStreamRead(this->evented(), kShortRead, cx, buffer, waiter),
        "recv from");
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) const {
    return StreamResult(this->evented(),
                        PollStreamReadVectored(this->evented(), kShortRead, cx,
                                               buffers, waiter),
                        "readv from");
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE PollResult<absl::StatusOr<size_t>> PollWrite(
      Context& cx, std::string_view data, Waiter* waiter = nullptr) const {
    return StreamResult(this->evented(),
                        PollStreamWrite(this->evented(), cx, data, waiter),
                        "send to");
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) const {
    return StreamResult(
        this->evented(),
        PollStreamWriteVectored(this->evented(), cx, parts, waiter),
        "sendmsg to");
  }
  // Is always ready, because a stream keeps no data to flush.
  PollResult<absl::Status> PollFlush(Context&) const {
    return absl::OkStatus();
  }
  // Like `ShutdownWrite()`, and always ready. Returns OK even if the connection
  // has ended.
  PollResult<absl::Status> PollShutdown(Context&) const {
    return PollStreamShutdown(this->evented());
  }

  // Notifies the peer that nothing more will be written: the peer reads the end
  // of the stream after all bytes written before. Reading continues to work.
  absl::Status ShutdownWrite() const { return this->io().Shutdown(SHUT_WR); }

  // Makes reads, including a pending read, return the end of the stream after
  // the bytes that have already arrived. Returns FailedPrecondition, like
  // `ShutdownWrite()`, if the connection has ended.
  //
  // The peer of a TCP connection is not notified. On Linux, bytes that the peer
  // sends nevertheless are still read, even after a read has returned the end:
  // the end lasts only while the peer sends nothing.
  //
  // On a Unix socket, the peer's writes fail with FailedPrecondition (EPIPE)
  // from now on. A write that waits for room during the call might not fail
  // before this end closes the connection, because the system reports no event.
  absl::Status ShutdownRead() const { return this->io().Shutdown(SHUT_RD); }

  // Returns the address of this end or of the peer. The address of a TCP peer
  // is known even after the connection has been reset. The address of a client
  // of a Unix socket is usually unnamed.
  absl::StatusOr<Addr> local_addr() const {
    return this->io().template LocalAddr<Addr>();
  }
  absl::StatusOr<Addr> peer_addr() const {
    return this->io().template PeerAddr<Addr>();
  }

 protected:
  // An attempt to connect an `S` to an `Addr`.
  class ConnectAttempt;

  explicit StreamBase(EventedSocket evented)
      : EventedBase<S, Socket>(std::move(evented)) {}

  static absl::StatusOr<S> FromSocket(absl::StatusOr<Socket> socket,
                                      const reactor::Handle& handle) {
    return StreamBase::Register(std::move(socket), handle);
  }

 private:
  template <class L, class Stream, class PeerAddr>
  friend class ListenerBase;

  static constexpr ShortRead kShortRead = std::is_same_v<Addr, SocketAddr>
                                              ? ShortRead::kNoMoreForNow
                                              : ShortRead::kNothing;
};

template <class S, class Addr>
class StreamBase<S, Addr>::ConnectAttempt {
 public:
  explicit ConnectAttempt(reactor::Handle handle)
      : handle_(std::move(handle)) {}

  // Begins the attempt, unless it is pending, with the socket that `open()`
  // returns as `absl::StatusOr<Socket>`. Returns the outcome when it is known.
  // The poll after that begins the next attempt.
  template <class Open>
  PollResult<absl::StatusOr<S>> Poll(Context& cx, const Addr& addr, Open open) {
    PollResult<absl::StatusOr<S>> outcome = PollOutcome(cx, addr, open);
    if (outcome.IsReady()) {
      ROUSE_VLOG(2, "connection to ", addr, ": ", outcome->status().ToString());
    }
    return outcome;
  }

 private:
  template <class Open>
  PollResult<absl::StatusOr<S>> PollOutcome(Context& cx, const Addr& addr,
                                            Open& open) {
    using Result = absl::StatusOr<S>;
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    if (!stream_.has_value()) {
      Result started = Start(addr, open());
      if (!started.ok()) {
        unit->MadeProgress();
        return started;
      }
      stream_.emplace(*std::move(started));
    }
    const auto event = stream_->evented().registration().PollReady(
        reactor::Direction::kWrite, cx, &waiter_);
    if (event.IsPending()) return kPending;
    unit->MadeProgress();
    S stream = *std::exchange(stream_, std::nullopt);
    if (!event->ok()) return Result(event->status());
    const int error = stream.io().TakeError();
    if (error != 0) return Result(ConnectError(error, addr));
    return Result(std::move(stream));
  }

  absl::StatusOr<S> Start(const Addr& addr, absl::StatusOr<Socket> socket) {
    if (!socket.ok()) return std::move(socket).status();
    // Connects before registering: a socket that is neither connected nor
    // connecting counts as closed, and closed states stay.
    if (socket->Connect(addr) != 0 && errno != EINPROGRESS && errno != EINTR) {
      return ConnectError(errno, addr);
    }
    ROUSE_VLOG(2, "connecting to ", addr, " by descriptor ", socket->fd());
    return FromSocket(*std::move(socket), handle_);
  }

  static absl::Status ConnectError(int error, const Addr& addr) {
    return absl::ErrnoToStatus(error, absl::StrCat("connect to ", addr));
  }

  reactor::Handle handle_;
  std::optional<S> stream_;  // while connecting
  reactor::Waiter waiter_;   // destroyed before the stream
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_STREAM_BASE_H_
