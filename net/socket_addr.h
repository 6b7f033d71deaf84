// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: socket_addr.h
// -----------------------------------------------------------------------------
//
// A `SocketAddr` is the address of a socket: an IP address and a port.
//
//   absl::StatusOr<SocketAddr> addr = SocketAddr::Parse("127.0.0.1:7777");
//   LOG(INFO) << "listening on " << *addr;

#ifndef ROUSE_NET_SOCKET_ADDR_H_
#define ROUSE_NET_SOCKET_ADDR_H_

#include "rouse/base/cxx20.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"

namespace rouse {

// SocketAddr
//
// Holds an IPv4 or IPv6 address with a port. A value: copyable, comparable,
// hashable, printable. The address of a Unix socket is a `UnixAddr`.
class SocketAddr {
 public:
  // Makes the unspecified IPv4 address with port 0, for binding a socket to any
  // address.
  SocketAddr() : SocketAddr(IPv4({0, 0, 0, 0}, 0)) {}

  // Makes an IPv4 address. `bytes` are in the order in which they are written,
  // first to last.
  static SocketAddr IPv4(std::array<uint8_t, 4> bytes, uint16_t port);

  // Makes an IPv6 address. `bytes` are in the order in which they are written,
  // first to last. `scope` is the number of the interface for a link-local
  // address.
  static SocketAddr IPv6(std::array<uint8_t, 16> bytes, uint16_t port,
                         uint32_t scope = 0);

  // Makes the address 127.0.0.1. With port 0 the system chooses the port when a
  // socket is bound.
  static SocketAddr Localhost(uint16_t port) {
    return IPv4({127, 0, 0, 1}, port);
  }

  // Parses "192.0.2.1:80", "[2001:db8::1]:80" or, with the number or the name
  // of an interface of this machine, "[fe80::1%2]:80" and "[fe80::1%eth0]:80".
  // The port is decimal, 0 to 65535. `Parse()` does not look up host names: use
  // "rouse/net/lookup_host.h" for them. Returns InvalidArgument for any other
  // text.
  static absl::StatusOr<SocketAddr> Parse(std::string_view text);

  // Converts an address that a system call has filled in. Returns
  // InvalidArgument if the address is of another family, or shorter than its
  // family requires.
  static absl::StatusOr<SocketAddr> FromSockaddr(const sockaddr* addr,
                                                 socklen_t size);

  // Returns the address in the form that system calls take. The pointer is
  // valid as long as this object.
  const sockaddr* data() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  socklen_t size() const {
    return IsIPv4() ? sizeof storage_.v4 : sizeof storage_.v6;
  }

  // Returns AF_INET or AF_INET6.
  int family() const { return storage_.v4.sin_family; }
  bool IsIPv4() const { return family() == AF_INET; }
  bool IsIPv6() const { return family() == AF_INET6; }

  // Returns the port, in the byte order of the host.
  uint16_t port() const;

  // Returns a copy of the address with another port.
  SocketAddr WithPort(uint16_t port) const;

  // Returns whether packets to the address stay on this machine: 127.0.0.0/8,
  // or ::1.
  bool IsLoopback() const;

  // Returns whether the address stands for any address of the machine: 0.0.0.0,
  // or ::.
  bool IsUnspecified() const;

  // Returns whether the address is a multicast group: 224.0.0.0/4, or ff00::/8.
  bool IsMulticast() const;

  // Returns the number of the interface of an IPv6 address, or 0 if none is
  // given.
  uint32_t scope() const { return IsIPv4() ? 0 : storage_.v6.sin6_scope_id; }

  // Returns the address in the form that `Parse()` reads.
  std::string ToString() const;

  friend bool operator==(const SocketAddr& a, const SocketAddr& b) {
    return a.family() == b.family() && a.port() == b.port() &&
           a.bytes() == b.bytes() && a.scope() == b.scope();
  }

  template <class H>
  friend H AbslHashValue(H state, const SocketAddr& addr) {
    return H::combine(std::move(state), addr.family(), addr.port(),
                      addr.bytes(), addr.scope());
  }

  template <class Sink>
  friend void AbslStringify(Sink& sink, const SocketAddr& addr) {
    sink.Append(addr.ToString());
  }

 private:
  // Unused bytes are zero.
  union Storage {
    Storage() { std::memset(this, 0, sizeof *this); }
    sockaddr_in v4;
    sockaddr_in6 v6;
  };

  explicit SocketAddr(const Storage& storage) : storage_(storage) {}

  // Returns the bytes of the IP address, without the port.
  std::string_view bytes() const {
    return IsIPv4() ? std::string_view(
                          reinterpret_cast<const char*>(&storage_.v4.sin_addr),
                          sizeof storage_.v4.sin_addr)
                    : std::string_view(
                          reinterpret_cast<const char*>(&storage_.v6.sin6_addr),
                          sizeof storage_.v6.sin6_addr);
  }

  Storage storage_;
};

}  // namespace rouse

#endif  // ROUSE_NET_SOCKET_ADDR_H_
