// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket/socket_option.h"

#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace rouse::internal {

constexpr SocketOption SocketOption::kReuseAddr = {SOL_SOCKET, SO_REUSEADDR,
                                                   "SO_REUSEADDR"};
constexpr SocketOption SocketOption::kReusePort = {SOL_SOCKET, SO_REUSEPORT,
                                                   "SO_REUSEPORT"};
constexpr SocketOption SocketOption::kBroadcast = {SOL_SOCKET, SO_BROADCAST,
                                                   "SO_BROADCAST"};
constexpr SocketOption SocketOption::kSendBuffer = {SOL_SOCKET, SO_SNDBUF,
                                                    "SO_SNDBUF"};
constexpr SocketOption SocketOption::kReceiveBuffer = {SOL_SOCKET, SO_RCVBUF,
                                                       "SO_RCVBUF"};
constexpr SocketOption SocketOption::kKeepAlive = {SOL_SOCKET, SO_KEEPALIVE,
                                                   "SO_KEEPALIVE"};
constexpr SocketOption SocketOption::kNoDelay = {IPPROTO_TCP, TCP_NODELAY,
                                                 "TCP_NODELAY"};
constexpr SocketOption SocketOption::kKeepIdle = {IPPROTO_TCP, TCP_KEEPIDLE,
                                                  "TCP_KEEPIDLE"};
constexpr SocketOption SocketOption::kKeepInterval = {
    IPPROTO_TCP, TCP_KEEPINTVL, "TCP_KEEPINTVL"};
constexpr SocketOption SocketOption::kKeepCount = {IPPROTO_TCP, TCP_KEEPCNT,
                                                   "TCP_KEEPCNT"};
constexpr SocketOption SocketOption::kOnlyIPv6 = {IPPROTO_IPV6, IPV6_V6ONLY,
                                                  "IPV6_V6ONLY"};
constexpr SocketOption SocketOption::kQuickAck = {IPPROTO_TCP, TCP_QUICKACK,
                                                  "TCP_QUICKACK"};
constexpr SocketOption SocketOption::kFastOpen = {IPPROTO_TCP, TCP_FASTOPEN,
                                                  "TCP_FASTOPEN"};
constexpr SocketOption SocketOption::kFastOpenConnect = {
    IPPROTO_TCP, TCP_FASTOPEN_CONNECT, "TCP_FASTOPEN_CONNECT"};
constexpr SocketOption SocketOption::kDeferAccept = {
    IPPROTO_TCP, TCP_DEFER_ACCEPT, "TCP_DEFER_ACCEPT"};

constexpr IpOption IpOption::kTtl = {
    {IPPROTO_IP, IP_TTL, "IP_TTL"},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS, "IPV6_UNICAST_HOPS"}};
constexpr IpOption IpOption::kMulticastTtl = {
    {IPPROTO_IP, IP_MULTICAST_TTL, "IP_MULTICAST_TTL"},
    {IPPROTO_IPV6, IPV6_MULTICAST_HOPS, "IPV6_MULTICAST_HOPS"}};
constexpr IpOption IpOption::kMulticastLoop = {
    {IPPROTO_IP, IP_MULTICAST_LOOP, "IP_MULTICAST_LOOP"},
    {IPPROTO_IPV6, IPV6_MULTICAST_LOOP, "IPV6_MULTICAST_LOOP"}};
constexpr IpOption IpOption::kTos = {
    {IPPROTO_IP, IP_TOS, "IP_TOS"}, {IPPROTO_IPV6, IPV6_TCLASS, "IPV6_TCLASS"}};

absl::Status OptionError(std::string_view name) {
  return absl::ErrnoToStatus(errno, absl::StrCat("setsockopt(", name, ")"));
}

absl::Status SetOption(int fd, const SocketOption& option, int value) {
  if (setsockopt(fd, option.level, option.option, &value, sizeof value) == 0) {
    return absl::OkStatus();
  }
  return OptionError(option.name);
}

absl::StatusOr<int> GetOption(int fd, const SocketOption& option) {
  int value = 0;
  socklen_t size = sizeof value;
  if (getsockopt(fd, option.level, option.option, &value, &size) == 0) {
    return value;
  }
  return absl::ErrnoToStatus(errno,
                             absl::StrCat("getsockopt(", option.name, ")"));
}

absl::Status SetDevice(int fd, std::string_view name) {
  // The system would cut off the rest of such a name.
  if (name.size() >= IFNAMSIZ || name.find('\0') != name.npos) {
    return absl::NotFoundError(
        absl::StrCat("the name of an interface has at most ", IFNAMSIZ - 1,
                     " bytes, none of them zero, unlike \"", name, "\""));
  }
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name.data(),
                 static_cast<socklen_t>(name.size())) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat("setsockopt(SO_BINDTODEVICE) to the interface \"",
                          name, "\""));
}

absl::StatusOr<std::string> GetDevice(int fd) {
  char name[IFNAMSIZ] = {};
  socklen_t size = sizeof name;
  if (getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &size) != 0) {
    return absl::ErrnoToStatus(errno, "getsockopt(SO_BINDTODEVICE)");
  }
  return std::string(name, strnlen(name, size));
}

absl::StatusOr<int> FamilyOf(int fd) {
  return GetOption(fd, SocketOption{SOL_SOCKET, SO_DOMAIN, "SO_DOMAIN"});
}

absl::Status SetOption(int fd, const IpOption& option, int value) {
  // The system would ignore the other bits on an IPv4 socket, and would take -1
  // for the default on an IPv6 socket.
  if (option.v4.option == IP_TOS && (value < 0 || value > 255)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a type of service is 0 to 255, unlike ", value));
  }
  const absl::StatusOr<int> family = FamilyOf(fd);
  if (!family.ok()) return family.status();
  return SetOption(fd, *family == AF_INET6 ? option.v6 : option.v4, value);
}

absl::StatusOr<int> GetOption(int fd, const IpOption& option) {
  const absl::StatusOr<int> family = FamilyOf(fd);
  if (!family.ok()) return family.status();
  return GetOption(fd, *family == AF_INET6 ? option.v6 : option.v4);
}

}  // namespace rouse::internal
