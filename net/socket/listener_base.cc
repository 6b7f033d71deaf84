// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket/listener_base.h"

#include <cerrno>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/log/vlog.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {
namespace {

// Returns whether an error of accept(2) concerns only the connection that the
// call would have returned, so that the next connection may succeed. Linux
// passes the network errors on from the new socket.
bool IsOfOneConnection(int error) {
  switch (error) {
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace

PollResult<absl::StatusOr<AcceptedSocket>> PollAcceptSocket(
    const EventedSocket& listener, Context& cx, reactor::Waiter* waiter) {
  using Result = absl::StatusOr<AcceptedSocket>;
  const reactor::Registration& registration = listener.registration();
  // Each iteration that makes progress takes a unit of budget, so that
  // connections that fail one after another do not monopolize the thread
  // either.
  for (;;) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    const auto event =
        registration.PollReady(reactor::Direction::kRead, cx, waiter);
    if (event.IsPending()) return kPending;
    if (!event->ok()) {
      unit->MadeProgress();
      return Result(event->status());
    }

    Socket socket;
    RawAddr peer;
    if (listener.io().Accept(socket, peer) == 0) {
      ROUSE_VLOG(2, "accepted ", peer.ToString(), " as descriptor ",
                 socket.fd());
      unit->MadeProgress();
      return Result(AcceptedSocket(std::move(socket), peer));
    }
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) {
      registration.WouldBlock(**event);
    } else if (error == EINTR) {
      continue;
    } else if (IsOfOneConnection(error)) {
      unit->MadeProgress();
    } else {
      // The direction stays ready: connections in the queue might cause no
      // further event.
      unit->MadeProgress();
      return Result(listener.io().ErrorAtLocal(error, "accept4 on"));
    }
  }
}

}  // namespace rouse::internal
