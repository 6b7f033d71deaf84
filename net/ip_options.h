// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ip_options.h
// -----------------------------------------------------------------------------
//
// The options that TCP and UDP share:
//
//   co_await rouse::OrReturn(socket.SetReceiveBufferSize(1 << 20));
//   co_await rouse::OrReturn(socket.SetTtl(1));

#ifndef ROUSE_NET_IP_OPTIONS_H_
#define ROUSE_NET_IP_OPTIONS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/socket_option.h"

namespace rouse {

// IpOptions
//
// The base class of a `Socket` that has an `fd()`. All of it is thread-safe.
// Errors are those of the system calls: InvalidArgument for a value that is out
// of range, FailedPrecondition for a descriptor that has been closed.
template <class Socket>
class IpOptions {
 public:
  // The sizes of the kernel's buffers in bytes. Linux makes them twice what was
  // asked for, at least some thousand and at most a limit of the system, and
  // answers what they are. The window of a connection is agreed on when it is
  // made: set what is to be large before, on a `TcpSocket`. A datagram that
  // does not fit into the buffer that receives is lost.
  absl::Status SetSendBufferSize(int bytes) const {
    return internal::SetOption(fd(), internal::SocketOption::kSendBuffer,
                               bytes);
  }
  absl::StatusOr<int> SendBufferSize() const {
    return internal::GetOption(fd(), internal::SocketOption::kSendBuffer);
  }
  absl::Status SetReceiveBufferSize(int bytes) const {
    return internal::SetOption(fd(), internal::SocketOption::kReceiveBuffer,
                               bytes);
  }
  absl::StatusOr<int> ReceiveBufferSize() const {
    return internal::GetOption(fd(), internal::SocketOption::kReceiveBuffer);
  }

  // How many hops a packet may take, 1 to 255: one more than the routers it may
  // pass, so that with 1 it stays in the local network (IP_TTL, and for IPv6
  // IPV6_UNICAST_HOPS). The system's number, usually 64, in a new socket.
  absl::Status SetTtl(int hops) const {
    return internal::SetOption(fd(), internal::IpOption::kTtl, hops);
  }
  absl::StatusOr<int> Ttl() const {
    return internal::GetOption(fd(), internal::IpOption::kTtl);
  }

 protected:
  IpOptions() = default;
  ~IpOptions() = default;
  IpOptions(const IpOptions&) = default;
  IpOptions& operator=(const IpOptions&) = default;

 private:
  int fd() const { return static_cast<const Socket&>(*this).fd(); }
};

}  // namespace rouse

#endif  // ROUSE_NET_IP_OPTIONS_H_
