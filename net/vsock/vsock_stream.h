// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: vsock_stream.h
// -----------------------------------------------------------------------------
//
// A `VsockStream` is a connection between a virtual machine and its host, which
// needs no network:
//
//   rouse::Co<absl::Status> Report(std::string_view state) {
//     rouse::VsockStream stream =
//         co_await rouse::OrReturn(rouse::VsockStream::Connect(
//             rouse::VsockAddr(rouse::VsockAddr::kHost, 1024)));
//     co_return co_await stream.WriteAll(state);
//   }
//
// `VsockStream` models `AsyncRead` and `AsyncWrite`, so everything in rouse/io
// works with it. To read and write in different tasks, use "rouse/net/split.h".

#ifndef ROUSE_NET_VSOCK_VSOCK_STREAM_H_
#define ROUSE_NET_VSOCK_VSOCK_STREAM_H_

#include <utility>

#include "absl/status/statusor.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/socket/stream_base.h"
#include "rouse/net/vsock/vsock_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// VsockStream
//
// Shares the members in net/socket/stream_base.h, such as `Read()`, with
// `TcpStream`. Thread safety, cancelling, errors and budget are as described at
// `TcpStream`.
class VsockStream : public internal::StreamBase<VsockStream, VsockAddr> {
 public:
  // The type of the future of `Connect()`. Subject to the rules for
  // `ReadFuture`.
  class ConnectFuture;

  // Connects to `addr` and returns `absl::StatusOr<VsockStream>`. The
  // connection is driven by `handle`'s reactor or, if `handle` is unbound, by
  // the reactor that is current at the future's first poll. Destroying the
  // future abandons the attempt.
  //
  //   Unavailable        nobody listens there (ECONNRESET)
  //   DeadlineExceeded   no machine has this CID, or the machine has not
  //                      answered within 2 seconds (ETIMEDOUT)
  //   NotFound           the kernel has no way to this CID (ENODEV)
  //   Unimplemented      the kernel has no vsock (EAFNOSUPPORT)
  static ConnectFuture Connect(const VsockAddr& addr,
                               reactor::Handle handle = reactor::Handle());

  // Takes over a connected stream socket of this family, and makes the socket
  // non-blocking. On failure closes `fd`. Returns InvalidArgument if `fd` is
  // not a stream socket of this family; FailedPrecondition if `fd` is not an
  // open descriptor.
  static absl::StatusOr<VsockStream> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  VsockStream(VsockStream&&) = default;
  VsockStream& operator=(VsockStream&&) = default;

 private:
  friend EventedBase;

  explicit VsockStream(Evented evented) : StreamBase(std::move(evented)) {}
};

class [[nodiscard]] VsockStream::ConnectFuture {
 public:
  PollResult<absl::StatusOr<VsockStream>> Poll(Context& cx);

 private:
  friend class VsockStream;

  ConnectFuture(const VsockAddr& addr, reactor::Handle handle)
      : addr_(addr), attempt_(std::move(handle)) {}

  VsockAddr addr_;
  bool finished_ = false;
  ConnectAttempt attempt_;
};

}  // namespace rouse

#endif  // ROUSE_NET_VSOCK_VSOCK_STREAM_H_
