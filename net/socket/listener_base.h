// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: listener_base.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: the members that all listeners share.

#ifndef ROUSE_NET_SOCKET_LISTENER_BASE_H_
#define ROUSE_NET_SOCKET_LISTENER_BASE_H_

#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// AcceptedSocket
//
// A connection with the address of its peer.
struct AcceptedSocket {
  AcceptedSocket(Socket socket, const RawAddr& peer)
      : socket(std::move(socket)), peer(peer) {}

  Socket socket;
  RawAddr peer;
};

// Waits for the next connection. Errors of a single connection are not
// reported; see `ListenerBase::Accept()`.
PollResult<absl::StatusOr<AcceptedSocket>> PollAcceptSocket(
    const EventedSocket& listener, Context& cx, reactor::Waiter* waiter);

// ListenerBase
//
// The base class of a listener `L` that accepts a `Stream` from an `Addr`. `L`
// names the call of `Accept()` in `L::kAcceptName`.
template <class L, class Stream, class Addr>
class ListenerBase : public EventedBase<L, Socket> {
 private:
  struct AcceptOp;

 public:
  using typename EventedBase<L, Socket>::Waiter;

  // The kinds of events for which a listener is registered: a connection counts
  // as something to read.
  static constexpr reactor::Interest kInterest = reactor::Interest::kReadable;

  // The type of the future of `Accept()`. Subject to the rules for the futures
  // of `TcpStream`.
  using AcceptFuture = IoFuture<const L, AcceptOp>;

  // An accepted connection with the address of its peer. The peer of a Unix
  // socket is usually unnamed.
  struct Accepted {
    Accepted(Stream stream, const Addr& peer)
        : stream(std::move(stream)), peer(peer) {}

    Stream stream;
    Addr peer;
  };

  // Waits for the next connection and returns `absl::StatusOr<Accepted>`. The
  // listener's reactor drives the stream. Destroying the future loses no
  // connection.
  //
  // Errors of a single connection (for example, an abort while the connection
  // waited in the queue) are not reported: `Accept()` takes the next connection
  // instead. A reported error concerns the listener, which stays usable:
  //
  //   ResourceExhausted   out of descriptors (EMFILE, ENFILE) or memory
  //                       (ENOBUFS, ENOMEM). The connection stays in the
  //                       queue, and the next `Accept()` tries again at once:
  //                       a loop should wait a little, or close something,
  //                       before the next call. Also if the reactor has
  //                       reached its limit of sources; in this case the
  //                       connection has been closed.
  //   Unavailable         the reactor has been shut down
  AcceptFuture Accept() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return AcceptFuture(this->self());
  }

  // Like `Accept()`, but returns `std::optional<absl::StatusOr<Accepted>>`:
  // `std::nullopt` if no connection can be accepted now (see
  // net/evented_base.h). Takes no budget.
  std::optional<absl::StatusOr<Accepted>> TryAccept() const {
    return this->TryNow(
        [this](Context& cx, Waiter* waiter) { return PollAccept(cx, waiter); });
  }

  // Like `Accept()`, for hand-written futures. Without a `waiter` only one task
  // can wait to accept: the task that polled last is woken.
  PollResult<absl::StatusOr<Accepted>> PollAccept(
      Context& cx, Waiter* waiter = nullptr) const {
    using Result = absl::StatusOr<Accepted>;
    auto accepted = PollAcceptSocket(this->evented(), cx, waiter);
    if (accepted.IsPending()) return kPending;
    if (!accepted->ok()) return Result((*std::move(accepted)).status());
    const Addr peer = (*accepted)->peer.template To<Addr>();
    absl::StatusOr<Stream> stream =
        Stream::FromSocket(std::move((*accepted)->socket),
                           this->evented().registration().handle());
    if (!stream.ok()) return Result(std::move(stream).status());
    return Result(Accepted(*std::move(stream), peer));
  }

  // Makes the listener a `Stream` of the results of `Accept()`. The stream
  // never ends, not even after an error: a loop should wait a little after
  // ResourceExhausted, and must end after Unavailable.
  PollResult<std::optional<absl::StatusOr<Accepted>>> PollNext(
      Context& cx, Waiter* waiter = nullptr) const {
    PollResult<absl::StatusOr<Accepted>> accepted = PollAccept(cx, waiter);
    if (accepted.IsPending()) return kPending;
    return PollResult<std::optional<absl::StatusOr<Accepted>>>(
        std::in_place, *std::move(accepted));
  }

  // Returns the address on which the socket listens. The address of a TCP
  // socket has the port that the system chose.
  absl::StatusOr<Addr> local_addr() const {
    return this->io().template LocalAddr<Addr>();
  }

 protected:
  explicit ListenerBase(EventedSocket evented)
      : EventedBase<L, Socket>(std::move(evented)) {}

  // Opens a socket of `type`, binds the socket to `addr`, and listens.
  static absl::StatusOr<L> BindAndListen(int type, const Addr& addr,
                                         const reactor::Handle& handle) {
    absl::StatusOr<Socket> socket = Socket::Open(addr.family(), type);
    if (!socket.ok()) return std::move(socket).status();
    absl::Status status = socket->Bind(addr);
    if (status.ok()) status = socket->Listen();
    if (!status.ok()) return status;
    return FromSocket(std::move(socket), handle);
  }

  static absl::StatusOr<L> FromSocket(absl::StatusOr<Socket> socket,
                                      const reactor::Handle& handle) {
    return ListenerBase::Register(std::move(socket), handle);
  }

 private:
  struct AcceptOp {
    static constexpr std::string_view kName = L::kAcceptName;

    AcceptOp() = default;
    auto operator()(const L& listener, Context& cx, Waiter* waiter) const {
      return listener.PollAccept(cx, waiter);
    }
  };
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_LISTENER_BASE_H_
