// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/vsock/vsock_stream.h"

#include <sys/socket.h>

#include <utility>

#include "absl/status/statusor.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/vsock/vsock_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using internal::Socket;

static_assert(AsyncRead<const VsockStream> && AsyncWrite<const VsockStream>);

VsockStream::ConnectFuture VsockStream::Connect(const VsockAddr& addr,
                                                reactor::Handle handle) {
  return ConnectFuture(addr, std::move(handle));
}

absl::StatusOr<VsockStream> VsockStream::FromFd(OwnedFd fd,
                                                const reactor::Handle& handle) {
  return FromSocket(Socket::Adopt(std::move(fd), AF_VSOCK, SOCK_STREAM),
                    handle);
}

PollResult<absl::StatusOr<VsockStream>> VsockStream::ConnectFuture::Poll(
    Context& cx) {
  if (finished_) internal::PanicFinished("VsockStream::Connect()");
  auto outcome = attempt_.Poll(
      cx, addr_, [] { return Socket::Open(AF_VSOCK, SOCK_STREAM); });
  finished_ = outcome.IsReady();
  return outcome;
}

}  // namespace rouse
