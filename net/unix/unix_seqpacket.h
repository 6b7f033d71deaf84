// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_seqpacket.h
// -----------------------------------------------------------------------------
//
// A `UnixSeqpacket` is a connection to another process of this machine that
// keeps the boundaries of messages, so that no codec is needed:
//
//   rouse::UnixSeqpacket connection =
//       co_await rouse::OrReturn(rouse::UnixSeqpacket::Connect(addr));
//   co_await rouse::OrReturn(connection.Send("status"));
//   char buffer[4096];
//   rouse::UnixSeqpacket::Received answer =
//       co_await rouse::OrReturn(connection.Recv(absl::MakeSpan(buffer)));
//   if (answer.truncated) ...

#ifndef ROUSE_NET_UNIX_UNIX_SEQPACKET_H_
#define ROUSE_NET_UNIX_UNIX_SEQPACKET_H_

#include <sys/socket.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/unix/peer_credentials.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {
template <class L, class Stream, class Addr>
class ListenerBase;
}  // namespace internal

// UnixSeqpacket
//
// Owns the socket (SOCK_SEQPACKET) and closes it on destruction. Movable, but
// not while one of its futures is alive. Const members are thread-safe: any
// number of tasks can send and receive, and each message goes to one of the
// receiving tasks.
//
// # Messages
//
// Messages arrive whole, once and in order, each by one receive. Bytes that do
// not fit into the receiver's buffer are lost, and `Received::truncated` says
// so. The system cannot tell an empty message from the end of the connection,
// so `Send()` refuses an empty message. If a peer sends one nevertheless, it
// is received as the end.
//
// # Cancelling
//
// Each operation is a future that does nothing before the first poll, borrows
// the socket and the buffer, and allocates nothing. If the future is destroyed
// before it is ready, nothing was sent or received.
//
// # Errors
//
// Errors are those of the system call, converted by `absl::ErrnoToStatus()`,
// among them
//
//   FailedPrecondition   sent to a closed connection (EPIPE)
//   Unavailable          the peer has closed the connection without receiving
//                        all messages (ECONNRESET)
//   InvalidArgument      a message that is empty, or larger than the send
//                        buffer
//
// and the errors of `reactor::Registration`: Unavailable, too, when the reactor
// has been shut down.
//
// Every operation takes the task's cooperative budget (see context.h).
class UnixSeqpacket
    : public internal::EventedBase<UnixSeqpacket, internal::Socket> {
 private:
  struct SendOp;
  struct RecvOp;

 public:
  using EventedBase::Waiter;

  // The kinds of events for which the socket is registered.
  static constexpr reactor::Interest kInterest =
      reactor::Interest::kReadable | reactor::Interest::kWritable;

  // Describes a received message; the buffer holds the bytes. The connection
  // has ended if `size` is 0 and `truncated` is false.
  struct Received {
    Received(size_t size, bool truncated) : size(size), truncated(truncated) {}

    size_t size;     // bytes in the buffer
    bool truncated;  // the message was larger
  };

  // The types of the futures. Polling a finished future is a `Panic()`. A
  // future can be moved until it is polled.
  class ConnectFuture;
  using SendFuture = internal::IoFuture<const UnixSeqpacket, SendOp>;
  using RecvFuture = internal::IoFuture<const UnixSeqpacket, RecvOp>;

  // Connects to `addr` and returns `absl::StatusOr<UnixSeqpacket>` at the first
  // poll, like `UnixStream::Connect()`, with the same errors. Returns
  // InvalidArgument (EPROTOTYPE) if a socket of another kind listens there.
  static ConnectFuture Connect(const UnixAddr& addr,
                               reactor::Handle handle = reactor::Handle());

  // Makes both ends of an unnamed connection.
  static absl::StatusOr<std::pair<UnixSeqpacket, UnixSeqpacket>> Pair(
      const reactor::Handle& handle = reactor::Handle());

  // Takes over a connected socket and makes the socket non-blocking. On failure
  // closes `fd`. Returns InvalidArgument if `fd` is not a Unix seqpacket
  // socket; FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<UnixSeqpacket> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  UnixSeqpacket(UnixSeqpacket&&) = default;
  UnixSeqpacket& operator=(UnixSeqpacket&&) = default;

  // Sends one message, and waits while the send buffer is full. Returns
  // `absl::StatusOr<size_t>`, the size of `message`.
  SendFuture Send(std::string_view message) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture(*this, message);
  }

  // Receives one message. Returns `absl::StatusOr<Received>`.
  RecvFuture Recv(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return RecvFuture(*this, buffer);
  }

  // Like the functions without `Try`, but return a `std::optional`, which is
  // `std::nullopt` if the operation would have to wait (see
  // net/evented_base.h). Take no budget.
  std::optional<absl::StatusOr<size_t>> TrySend(
      std::string_view message) const {
    return TryNow([this, message](Context& cx, Waiter* waiter) {
      return PollSend(cx, message, waiter);
    });
  }
  std::optional<absl::StatusOr<Received>> TryRecv(
      absl::Span<char> buffer) const {
    return TryNow([this, buffer](Context& cx, Waiter* waiter) {
      return PollRecv(cx, buffer, waiter);
    });
  }

  // Like the functions above, for hand-written futures. Without a `waiter` only
  // one task can wait to receive and one task to send: the task that polled
  // last is woken.
  PollResult<absl::StatusOr<size_t>> PollSend(Context& cx,
                                              std::string_view message,
                                              Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<Received>> PollRecv(Context& cx,
                                                absl::Span<char> buffer,
                                                Waiter* waiter = nullptr) const;

  // End one direction. After `ShutdownWrite()` the peer receives the end of the
  // connection after all messages. After `ShutdownRead()` the peer's sends fail
  // with FailedPrecondition, and receives of this end return the end after the
  // messages that have already arrived.
  absl::Status ShutdownWrite() const { return io().Shutdown(SHUT_WR); }
  absl::Status ShutdownRead() const { return io().Shutdown(SHUT_RD); }

  // Returns the address of this end or of the peer. The address of a client is
  // usually unnamed.
  absl::StatusOr<UnixAddr> local_addr() const {
    return io().LocalAddr<UnixAddr>();
  }
  absl::StatusOr<UnixAddr> peer_addr() const {
    return io().PeerAddr<UnixAddr>();
  }

  // Returns which process and user made the other end of the connection.
  absl::StatusOr<PeerCredentials> GetPeerCredentials() const {
    return internal::PeerCredentialsOf(fd());
  }

 private:
  friend EventedBase;
  template <class L, class Stream, class Addr>
  friend class internal::ListenerBase;

  struct SendOp {
    static constexpr std::string_view kName = "UnixSeqpacket::Send()";
    explicit SendOp(std::string_view message) : message(message) {}
    auto operator()(const UnixSeqpacket& socket, Context& cx,
                    Waiter* waiter) const {
      return socket.PollSend(cx, message, waiter);
    }
    std::string_view message;
  };
  struct RecvOp {
    static constexpr std::string_view kName = "UnixSeqpacket::Recv()";
    explicit RecvOp(absl::Span<char> buffer) : buffer(buffer) {}
    auto operator()(const UnixSeqpacket& socket, Context& cx,
                    Waiter* waiter) const {
      return socket.PollRecv(cx, buffer, waiter);
    }
    absl::Span<char> buffer;
  };

  explicit UnixSeqpacket(Evented evented) : EventedBase(std::move(evented)) {}

  static absl::StatusOr<UnixSeqpacket> FromSocket(
      absl::StatusOr<internal::Socket> socket, const reactor::Handle& handle) {
    return Register(std::move(socket), handle);
  }
};

class [[nodiscard]] UnixSeqpacket::ConnectFuture {
 public:
  PollResult<absl::StatusOr<UnixSeqpacket>> Poll(Context& cx);

 private:
  friend class UnixSeqpacket;

  ConnectFuture(const UnixAddr& addr, reactor::Handle handle)
      : addr_(addr), handle_(std::move(handle)) {}

  UnixAddr addr_;
  reactor::Handle handle_;
  bool finished_ = false;
};

}  // namespace rouse

#endif  // ROUSE_NET_UNIX_UNIX_SEQPACKET_H_
