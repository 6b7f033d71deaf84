// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: acceptor.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: code shared by TCP and Unix listeners.

#ifndef ROUSE_NET_SOCKET_ACCEPTOR_H_
#define ROUSE_NET_SOCKET_ACCEPTOR_H_

#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
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
// reported; see `TcpListener::Accept()`.
PollResult<absl::StatusOr<AcceptedSocket>> PollAcceptSocket(
    const EventedSocket& listener, Context& cx, reactor::Waiter* waiter);

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_ACCEPTOR_H_
