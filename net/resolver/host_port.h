// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: host_port.h
// -----------------------------------------------------------------------------
//
// Internal to net/: the parts of a lookup that do not depend on how a name
// server is asked.

#ifndef ROUSE_NET_RESOLVER_HOST_PORT_H_
#define ROUSE_NET_RESOLVER_HOST_PORT_H_

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rouse/net/socket_addr.h"

namespace rouse::internal {

// HostPort
//
// A host, which is a name or an address without brackets, and a port.
struct HostPort {
  std::string host;
  uint16_t port = 0;
};

// Splits "example.com:80", "192.0.2.1:80" or "[2001:db8::1]:80". Returns
// InvalidArgument for any other text. `call` is the function that the user has
// called, which begins the message of an error.
absl::StatusOr<HostPort> SplitHostPort(std::string_view call,
                                       std::string_view host_port);

// Returns the result of a lookup of `host` if no name server is needed: the
// address that `host` is, or InvalidArgument if `host` is neither an address
// nor a name. Returns `std::nullopt` for a name.
std::optional<absl::StatusOr<std::vector<SocketAddr>>> LookupWithoutServer(
    std::string_view call, std::string_view host, uint16_t port);

// Appends the address with `port` to `addrs`, unless `addrs` contains it, or it
// is of another family than IPv4 and IPv6.
void AppendOnce(std::vector<SocketAddr>& addrs, const sockaddr* addr,
                socklen_t size, uint16_t port);

}  // namespace rouse::internal

#endif  // ROUSE_NET_RESOLVER_HOST_PORT_H_
