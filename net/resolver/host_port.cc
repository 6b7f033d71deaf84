// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/resolver/host_port.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rouse/net/socket_addr.h"

namespace rouse::internal {
namespace {

// The limit of the domain name system, including the final dot.
constexpr size_t kLongestName = 254;

// Parses the port at the end of a text.
std::optional<uint16_t> ParsePort(std::string_view text) {
  uint32_t port;
  if (text.empty() || text.size() > 5 ||
      !std::all_of(text.begin(), text.end(),
                   [](unsigned char c) { return absl::ascii_isdigit(c); }) ||
      !absl::SimpleAtoi(text, &port) || port > 65535) {
    return std::nullopt;
  }
  return static_cast<uint16_t>(port);
}

}  // namespace

absl::StatusOr<HostPort> SplitHostPort(std::string_view call,
                                       std::string_view host_port) {
  const size_t colon = host_port.rfind(':');
  std::optional<uint16_t> port;
  std::string_view host;
  if (colon != std::string_view::npos) {
    host = host_port.substr(0, colon);
    port = ParsePort(host_port.substr(colon + 1));
    const bool in_brackets =
        host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (in_brackets) host = host.substr(1, host.size() - 2);
    // An address with a colon needs brackets, and nothing else can have them.
    if (in_brackets != (host.find(':') != std::string_view::npos) ||
        host.find_first_of("[]") != std::string_view::npos) {
      port.reset();
    }
  }
  if (!port.has_value() || host.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(call, "(\"", host_port,
                     "\"): not a host and port; write \"example.com:80\" or "
                     "\"[2001:db8::1]:80\""));
  }
  return HostPort{std::string(host), *port};
}

std::optional<absl::StatusOr<std::vector<SocketAddr>>> LookupWithoutServer(
    std::string_view call, std::string_view host, uint16_t port) {
  if (host.empty() || host.size() > kLongestName ||
      host.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        call, "(\"", host,
        "\"): not a name; a name has 1 to 254 characters, none of them zero"));
  }
  const bool is_ipv6 = host.find(':') != std::string_view::npos;
  absl::StatusOr<SocketAddr> addr =
      SocketAddr::Parse(is_ipv6 ? absl::StrCat("[", host, "]:", port)
                                : absl::StrCat(host, ":", port));
  if (addr.ok()) return std::vector<SocketAddr>{*addr};
  if (is_ipv6) {
    return absl::InvalidArgumentError(absl::StrCat(
        call, "(\"", host,
        "\"): neither an IPv6 address nor a name; after %, write an interface "
        "of this machine"));
  }
  return std::nullopt;
}

void AppendOnce(std::vector<SocketAddr>& addrs, const sockaddr* addr,
                socklen_t size, uint16_t port) {
  const absl::StatusOr<SocketAddr> parsed =
      SocketAddr::FromSockaddr(addr, size);
  if (!parsed.ok()) return;
  const SocketAddr found = parsed->WithPort(port);
  if (std::find(addrs.begin(), addrs.end(), found) == addrs.end()) {
    addrs.push_back(found);
  }
}

}  // namespace rouse::internal
