// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_stream.h"

#include <sys/socket.h>

#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using internal::Socket;

static_assert(AsyncRead<const TcpStream> && AsyncWrite<const TcpStream>);

}  // namespace

absl::StatusOr<TcpStream> TcpStream::FromFd(OwnedFd fd,
                                            const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_INET, SOCK_STREAM), handle);
}

TcpStream::ConnectFuture TcpStream::Connect(SocketAddr addr,
                                            reactor::Handle handle) {
  return Connect(absl::MakeConstSpan(&addr, 1), std::move(handle));
}

TcpStream::ConnectFuture TcpStream::Connect(absl::Span<const SocketAddr> addrs,
                                            reactor::Handle handle) {
  return ConnectFuture(addrs, std::move(handle), std::nullopt);
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
    const SocketAddr& addr = addrs_[tried_];
    PollResult<Result> attempt =
        attempt_.Poll(cx, addr, [this, &addr]() -> absl::StatusOr<Socket> {
          if (socket_.has_value()) return *std::exchange(socket_, std::nullopt);
          return Socket::Open(addr.family(), SOCK_STREAM);
        });
    if (attempt.IsPending()) return kPending;
    if (attempt->ok() || ++tried_ == addrs_.size()) {
      finished_ = true;
      return attempt;
    }
  }
}

}  // namespace rouse
