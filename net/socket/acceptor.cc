// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket/acceptor.h"

#include <cerrno>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {
namespace {

// Whether a failure of accept(2) is the end of the connection that it would
// have returned, and the next one may do better. The network errors are those
// that Linux passes on from the new socket.
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
  // Each turn of the loop that makes progress takes a unit, so that connections
  // that fail one after the other do not keep the thread either.
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
      // Still ready: there may be no other event for what waits to be accepted.
      unit->MadeProgress();
      return Result(listener.io().ErrorAtLocal(error, "accept4 on"));
    }
  }
}

}  // namespace rouse::internal
