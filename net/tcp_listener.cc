#include "rouse/net/tcp_listener.h"

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/net/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using internal::Socket;
using reactor::Direction;
using reactor::Interest;

// Whether a failure of accept(2) is the end of the connection that it would
// have returned, and the next one may do better. The network errors are those
// that Linux passes on from the new socket.
bool IsOfOneConnection(int error) {
  switch (error) {
    case ECONNABORTED:
    case EPERM:  // a firewall's rule
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

absl::StatusOr<TcpListener> TcpListener::Bind(const SocketAddr& addr,
                                              const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Open(addr);
  if (!socket.ok()) return std::move(socket).status();
  absl::Status status = socket->Bind(addr);
  if (status.ok()) status = socket->Listen();
  if (!status.ok()) return status;
  absl::StatusOr<Evented> evented =
      Evented::Create(*std::move(socket), Interest::kReadable, handle);
  if (!evented.ok()) return std::move(evented).status();
  return TcpListener(*std::move(evented));
}

absl::StatusOr<TcpListener> TcpListener::FromFd(OwnedFd fd,
                                                const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Adopt(std::move(fd));
  if (!socket.ok()) return std::move(socket).status();
  absl::StatusOr<Evented> evented =
      Evented::Create(*std::move(socket), Interest::kReadable, handle);
  if (!evented.ok()) return std::move(evented).status();
  return TcpListener(*std::move(evented));
}

PollResult<absl::StatusOr<TcpListener::Accepted>> TcpListener::PollAccept(
    Context& cx, reactor::Waiter* waiter) const {
  using Result = absl::StatusOr<Accepted>;
  // Each turn of the loop that makes progress takes a unit, so that connections
  // that fail one after the other do not keep the thread either.
  for (;;) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    const auto event =
        evented_.registration().PollReady(Direction::kRead, cx, waiter);
    if (event.IsPending()) return kPending;
    if (!event->ok()) return Result(event->status());

    Socket socket;
    SocketAddr peer;
    if (io().Accept(socket, peer) == 0) {
      unit->MadeProgress();
      absl::StatusOr<TcpStream> stream = TcpStream::FromSocket(
          std::move(socket), evented_.registration().handle());
      if (!stream.ok()) return Result(std::move(stream).status());
      return Result(Accepted(*std::move(stream), peer));
    }
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) {
      evented_.registration().WouldBlock(**event);
    } else if (error == EINTR) {
      continue;
    } else if (IsOfOneConnection(error)) {
      unit->MadeProgress();
    } else {
      // Still ready: there may be no other event for what waits to be accepted.
      unit->MadeProgress();
      return Result(io().ErrorAtLocal(error, "accept4 on"));
    }
  }
}

TcpListener::AcceptFuture TcpListener::Accept() const {
  return AcceptFuture(*this);
}

PollResult<absl::StatusOr<TcpListener::Accepted>>
TcpListener::AcceptFuture::Poll(Context& cx) {
  if (listener_ == nullptr) {
    Panic(
        "TcpListener::Accept() was polled after it had given its result; make "
        "another one");
  }
  auto result = listener_->PollAccept(cx, &waiter_);
  if (result.IsReady()) listener_ = nullptr;
  return result;
}

}  // namespace rouse
