// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: socket_option.h
// -----------------------------------------------------------------------------
//
// For net/ itself: the options of sockets.

#ifndef ROUSE_NET_SOCKET_SOCKET_OPTION_H_
#define ROUSE_NET_SOCKET_SOCKET_OPTION_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse::internal {

// SocketOption
//
// One whose value is an int, and what it is called in an error.
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
};

absl::Status SetOption(int fd, const SocketOption& option, int value);
absl::StatusOr<int> GetOption(int fd, const SocketOption& option);

// An option that IPv4 and IPv6 have each of their own: that of the socket's
// family.
struct IpOption {
  SocketOption v4;
  SocketOption v6;

  static const IpOption kTtl;           // hops
  static const IpOption kMulticastTtl;  // hops
  static const IpOption kMulticastLoop;
};

absl::Status SetOption(int fd, const IpOption& option, int value);
absl::StatusOr<int> GetOption(int fd, const IpOption& option);

// AF_INET or AF_INET6, or whatever else it is.
absl::StatusOr<int> FamilyOf(int fd);

// For a call that failed just now.
absl::Status OptionError(std::string_view name);

}  // namespace rouse::internal

#endif  // ROUSE_NET_SOCKET_SOCKET_OPTION_H_
