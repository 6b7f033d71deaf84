// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/socket_addr.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rouse {
namespace {

// Parses a number of decimal digits, at most `limit`.
std::optional<uint32_t> ParseNumber(std::string_view text, uint32_t limit) {
  if (text.empty()) return std::nullopt;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      return std::nullopt;
    }
  }
  uint32_t number;
  if (!absl::SimpleAtoi(text, &number) || number > limit) return std::nullopt;
  return number;
}

// Parses the number or the name of an interface.
std::optional<uint32_t> ParseScope(std::string_view text) {
  const std::optional<uint32_t> number =
      ParseNumber(text, std::numeric_limits<uint32_t>::max());
  if (number.has_value()) return number;
  const std::string name(text);
  if (name.find('\0') != std::string::npos) return std::nullopt;
  // The index is 0 if no such interface exists.
  const uint32_t index = if_nametoindex(name.c_str());
  return index != 0 ? std::optional<uint32_t>(index) : std::nullopt;
}

template <size_t kSize>
std::optional<std::array<uint8_t, kSize>> ParseBytes(int family,
                                                     std::string_view text) {
  std::array<uint8_t, kSize> bytes;
  const std::string terminated(text);
  // A zero byte would end the text early.
  if (terminated.find('\0') != std::string::npos ||
      inet_pton(family, terminated.c_str(), bytes.data()) != 1) {
    return std::nullopt;
  }
  return bytes;
}

std::optional<SocketAddr> ParseAddr(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<uint32_t> port =
      ParseNumber(text.substr(colon + 1), std::numeric_limits<uint16_t>::max());
  if (!port.has_value()) return std::nullopt;
  std::string_view host = text.substr(0, colon);

  if (host.empty() || host.front() != '[') {
    const auto bytes = ParseBytes<4>(AF_INET, host);
    if (!bytes.has_value()) return std::nullopt;
    return SocketAddr::IPv4(*bytes, static_cast<uint16_t>(*port));
  }

  if (host.back() != ']') return std::nullopt;
  host = host.substr(1, host.size() - 2);
  std::optional<uint32_t> scope = 0;
  const size_t percent = host.find('%');
  if (percent != std::string_view::npos) {
    scope = ParseScope(host.substr(percent + 1));
    host = host.substr(0, percent);
  }
  const auto bytes = ParseBytes<16>(AF_INET6, host);
  if (!bytes.has_value() || !scope.has_value()) return std::nullopt;
  return SocketAddr::IPv6(*bytes, static_cast<uint16_t>(*port), *scope);
}

}  // namespace

SocketAddr SocketAddr::IPv4(std::array<uint8_t, 4> bytes, uint16_t port) {
  Storage storage;
  storage.v4.sin_family = AF_INET;
  storage.v4.sin_port = htons(port);
  std::memcpy(&storage.v4.sin_addr, bytes.data(), bytes.size());
  return SocketAddr(storage);
}

SocketAddr SocketAddr::IPv6(std::array<uint8_t, 16> bytes, uint16_t port,
                            uint32_t scope) {
  Storage storage;
  storage.v6.sin6_family = AF_INET6;
  storage.v6.sin6_port = htons(port);
  std::memcpy(&storage.v6.sin6_addr, bytes.data(), bytes.size());
  storage.v6.sin6_scope_id = scope;
  return SocketAddr(storage);
}

absl::StatusOr<SocketAddr> SocketAddr::Parse(std::string_view text) {
  const std::optional<SocketAddr> addr = ParseAddr(text);
  if (addr.has_value()) return *addr;
  return absl::InvalidArgumentError(absl::StrCat(
      "not a socket address: \"", text,
      "\"; write an address such as \"192.0.2.1:80\" or \"[2001:db8::1]:80\""));
}

absl::StatusOr<SocketAddr> SocketAddr::FromSockaddr(const sockaddr* addr,
                                                    socklen_t size) {
  Storage storage;
  if (size >= sizeof storage.v4 && addr->sa_family == AF_INET) {
    std::memcpy(&storage.v4, addr, sizeof storage.v4);
    std::memset(storage.v4.sin_zero, 0, sizeof storage.v4.sin_zero);
    return SocketAddr(storage);
  }
  if (size >= sizeof storage.v6 && addr->sa_family == AF_INET6) {
    std::memcpy(&storage.v6, addr, sizeof storage.v6);
    return SocketAddr(storage);
  }
  return absl::InvalidArgumentError(
      "the sockaddr is not an IPv4 or IPv6 address");
}

// Both families have family and port in the same place.
uint16_t SocketAddr::port() const { return ntohs(storage_.v4.sin_port); }

SocketAddr SocketAddr::WithPort(uint16_t port) const {
  SocketAddr other = *this;
  other.storage_.v4.sin_port = htons(port);
  return other;
}

bool SocketAddr::IsLoopback() const {
  if (IsIPv4()) return ntohl(storage_.v4.sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&storage_.v6.sin6_addr);
}

bool SocketAddr::IsUnspecified() const {
  if (IsIPv4()) return storage_.v4.sin_addr.s_addr == 0;
  return IN6_IS_ADDR_UNSPECIFIED(&storage_.v6.sin6_addr);
}

bool SocketAddr::IsMulticast() const {
  if (IsIPv4()) return ntohl(storage_.v4.sin_addr.s_addr) >> 28 == 14;
  return IN6_IS_ADDR_MULTICAST(&storage_.v6.sin6_addr);
}

std::string SocketAddr::ToString() const {
  char host[INET6_ADDRSTRLEN];
  if (IsIPv4()) {
    inet_ntop(AF_INET, &storage_.v4.sin_addr, host, sizeof host);
    return absl::StrCat(host, ":", port());
  }
  inet_ntop(AF_INET6, &storage_.v6.sin6_addr, host, sizeof host);
  if (scope() == 0) {
    return absl::StrCat("[", host, "]:", port());
  }
  return absl::StrCat("[", host, "%", scope(), "]:", port());
}

}  // namespace rouse
