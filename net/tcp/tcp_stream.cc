// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/log/vlog.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using internal::Socket;
using reactor::Direction;

static_assert(AsyncRead<const TcpStream> && AsyncWrite<const TcpStream>);

}  // namespace

absl::StatusOr<TcpStream> TcpStream::FromFd(OwnedFd fd,
                                            const reactor::Handle& handle) {
  return FromSocket(Socket::AdoptTcp(std::move(fd)), handle);
}

TcpStream::ConnectFuture TcpStream::Connect(SocketAddr addr,
                                            reactor::Handle handle) {
  return Connect(absl::MakeConstSpan(&addr, 1), std::move(handle));
}

TcpStream::ConnectFuture TcpStream::Connect(absl::Span<const SocketAddr> addrs,
                                            reactor::Handle handle) {
  return ConnectFuture(addrs, std::move(handle), std::nullopt);
}

absl::StatusOr<TcpStream> TcpStream::ConnectFuture::Start() {
  absl::StatusOr<Socket> socket =
      socket_.has_value() ? *std::exchange(socket_, std::nullopt)
                          : Socket::Open(addr().family(), SOCK_STREAM);
  if (!socket.ok()) return std::move(socket).status();
  // Connects before registering: a socket that is neither connected nor
  // connecting counts as closed, and closed states stay.
  if (socket->Connect(addr()) != 0 && errno != EINPROGRESS && errno != EINTR) {
    return absl::ErrnoToStatus(errno, absl::StrCat("connect to ", addr()));
  }
  ROUSE_VLOG(2, "connecting to ", addr(), " by descriptor ", socket->fd());
  return FromSocket(*std::move(socket), handle_);
}

PollResult<absl::StatusOr<TcpStream>> TcpStream::ConnectFuture::PollAttempt(
    Context& cx) {
  using Result = absl::StatusOr<TcpStream>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (!stream_.has_value()) {
    Result started = Start();
    if (!started.ok()) {
      unit->MadeProgress();
      return started;
    }
    stream_.emplace(*std::move(started));
  }
  const auto event = stream_->evented().registration().PollReady(
      Direction::kWrite, cx, &waiter_);
  if (event.IsPending()) return kPending;
  unit->MadeProgress();
  TcpStream stream = *std::exchange(stream_, std::nullopt);
  if (!event->ok()) return Result(event->status());
  const int error = stream.io().TakeError();
  if (error != 0) {
    return Result(
        absl::ErrnoToStatus(error, absl::StrCat("connect to ", addr())));
  }
  return Result(std::move(stream));
}

PollResult<absl::StatusOr<TcpStream>> TcpStream::ConnectFuture::Poll(
    Context& cx) {
  using Result = absl::StatusOr<TcpStream>;
  if (finished_) internal::PanicFinished("TcpStream::Connect()");
  if (addrs_.empty()) {
    finished_ = true;
    return Result(absl::InvalidArgumentError(
        "connect: the list of addresses is empty; pass at least one address"));
  }
  for (;;) {
    PollResult<Result> attempt = PollAttempt(cx);
    if (attempt.IsPending()) return kPending;
    ROUSE_VLOG(2, "connection to ", addr(), ": ", attempt->status().ToString());
    if (attempt->ok() || ++tried_ == addrs_.size()) {
      finished_ = true;
      return attempt;
    }
  }
}

}  // namespace rouse
