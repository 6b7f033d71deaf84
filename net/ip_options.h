// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ip_options.h
// -----------------------------------------------------------------------------
//
// The options shared by TCP and UDP sockets:
//
//   co_await rouse::OrReturn(socket.SetReceiveBufferSize(1 << 20));
//   co_await rouse::OrReturn(socket.SetTtl(1));

#ifndef ROUSE_NET_IP_OPTIONS_H_
#define ROUSE_NET_IP_OPTIONS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/socket_option.h"

namespace rouse {

// IpOptions
//
// The base class of a `Socket` that has an `fd()`. All members are thread-safe.
// Errors are those of the system calls: InvalidArgument for a value out of
// range, FailedPrecondition for a closed descriptor.
template <class Socket>
class IpOptions {
 public:
  // Set or return the sizes of the kernel's buffers in bytes. Linux doubles the
  // requested size and enforces a minimum of some thousand bytes and a maximum
  // set by the system; the functions without an argument return the actual
  // size. A connection negotiates its window when it is established, so a large
  // size must be set beforehand, on a `TcpSocket`. A datagram that does not fit
  // into the receive buffer is lost.
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

  // Sets or returns the maximum number of hops of a packet, 1 to 255: one more
  // than the number of routers that the packet can pass, so with 1 the packet
  // stays in the local network (IP_TTL, and for IPv6 IPV6_UNICAST_HOPS). A new
  // socket has the system's default, usually 64.
  absl::Status SetTtl(int hops) const {
    return internal::SetOption(fd(), internal::IpOption::kTtl, hops);
  }
  absl::StatusOr<int> Ttl() const {
    return internal::GetOption(fd(), internal::IpOption::kTtl);
  }

  // Sets or returns the type of service of sent packets, 0 to 255 (IP_TOS, and
  // for IPv6 IPV6_TCLASS): six bits of the class of traffic (DSCP), and two of
  // congestion (ECN), which TCP sets itself. Initially 0.
  absl::Status SetTos(int tos) const {
    return internal::SetOption(fd(), internal::IpOption::kTos, tos);
  }
  absl::StatusOr<int> Tos() const {
    return internal::GetOption(fd(), internal::IpOption::kTos);
  }

  // Sets or returns the name of the network interface through which packets are
  // sent and received, such as "eth1" (SO_BINDTODEVICE). An empty name, the
  // initial value, means any interface. Returns NotFound (ENODEV) if no such
  // interface exists; PermissionDenied if the socket is bound to another
  // interface, and the program lacks CAP_NET_RAW.
  absl::Status SetDevice(std::string_view name) const {
    return internal::SetDevice(fd(), name);
  }
  absl::StatusOr<std::string> Device() const {
    return internal::GetDevice(fd());
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
