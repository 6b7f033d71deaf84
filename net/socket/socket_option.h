// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: socket_option.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: the options of sockets.

#ifndef ROUSE_NET_SOCKET_SOCKET_OPTION_H_
#define ROUSE_NET_SOCKET_SOCKET_OPTION_H_

#include "rouse/base/cxx20.h"

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse::internal {

// The number of Multipath TCP, which is newer than some C libraries.
inline constexpr int kMultipathTcp = 262;

// SocketOption
//
// An option with an int as its value, and the name of the option in errors.
struct SocketOption {
  int level;
  int option;
  std::string_view name;

  static const SocketOption kReuseAddr;
  static const SocketOption kReusePort;
  static const SocketOption kBroadcast;
  static const SocketOption kSendBuffer;     // bytes
  static const SocketOption kReceiveBuffer;  // bytes
  static const SocketOption kKeepAlive;
  static const SocketOption kNoDelay;
  static const SocketOption kKeepIdle;      // seconds
  static const SocketOption kKeepInterval;  // seconds
  static const SocketOption kKeepCount;
  static const SocketOption kOnlyIPv6;
  static const SocketOption kQuickAck;
  static const SocketOption kFastOpen;  // connections
  static const SocketOption kFastOpenConnect;
  static const SocketOption kDeferAccept;  // seconds
};

absl::Status SetOption(int fd, const SocketOption& option, int value);
absl::StatusOr<int> GetOption(int fd, const SocketOption& option);

// An option that exists separately for IPv4 and IPv6; the socket's family
// selects the variant.
struct IpOption {
  SocketOption v4;
  SocketOption v6;

  static const IpOption kTtl;           // hops
  static const IpOption kMulticastTtl;  // hops
  static const IpOption kMulticastLoop;
  static const IpOption kTos;
};

absl::Status SetOption(int fd, const IpOption& option, int value);
absl::StatusOr<int> GetOption(int fd, const IpOption& option);

// Sets or returns the name of the network interface to which the socket is
// bound (SO_BINDTODEVICE). An empty name means any interface.
absl::Status SetDevice(int fd, std::string_view name);
absl::StatusOr<std::string> GetDevice(int fd);

// Returns the socket's family: AF_INET, AF_INET6 or any other.
absl::StatusOr<int> FamilyOf(int fd);

// Returns the status for a call that has just failed.
absl::Status OptionError(std::string_view name);

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_SOCKET_OPTION_H_
