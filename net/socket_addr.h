// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: socket_addr.h
// -----------------------------------------------------------------------------
//
// A `SocketAddr` is where a socket is: an address and a port.
//
//   absl::StatusOr<SocketAddr> addr = SocketAddr::Parse("127.0.0.1:7777");
//   LOG(INFO) << "listening on " << *addr;

#ifndef ROUSE_NET_SOCKET_ADDR_H_
#define ROUSE_NET_SOCKET_ADDR_H_

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
// IPv4 or IPv6. A value: copyable, comparable, hashable, printable. Unix
// sockets have a `UnixAddr`.
class SocketAddr {
 public:
  // Any IPv4 address, port 0: where a socket is bound that does not care.
  SocketAddr() : SocketAddr(IPv4({0, 0, 0, 0}, 0)) {}

  // The address's bytes as they are written, first to last.
  static SocketAddr IPv4(std::array<uint8_t, 4> bytes, uint16_t port);

  // The same. `scope` is the number of the interface for a link-local address.
  static SocketAddr IPv6(std::array<uint8_t, 16> bytes, uint16_t port,
                         uint32_t scope = 0);

  // 127.0.0.1. Port 0 lets the system choose one when it is bound.
  static SocketAddr Localhost(uint16_t port) {
    return IPv4({127, 0, 0, 1}, port);
  }

  // Reads "192.0.2.1:80", "[2001:db8::1]:80" or, with the number or the name of
  // an interface of this machine, "[fe80::1%2]:80" and "[fe80::1%eth0]:80". The
  // port is decimal, 0 to 65535. No names of hosts are looked up: for that
  // there is "rouse/net/lookup_host.h". Anything else is InvalidArgument.
  static absl::StatusOr<SocketAddr> Parse(std::string_view text);

  // From what a system call has filled in. InvalidArgument if it is of another
  // family, or shorter than its family needs.
  static absl::StatusOr<SocketAddr> FromSockaddr(const sockaddr* addr,
                                                 socklen_t size);

  // For a system call; lives as long as this object.
  const sockaddr* data() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  socklen_t size() const {
    return IsIPv4() ? sizeof storage_.v4 : sizeof storage_.v6;
  }

  // AF_INET or AF_INET6.
  int family() const { return storage_.v4.sin_family; }
  bool IsIPv4() const { return family() == AF_INET; }
  bool IsIPv6() const { return family() == AF_INET6; }

  uint16_t port() const;

  // The same address with another port.
  SocketAddr WithPort(uint16_t port) const;

  // Whether packets to it do not leave the machine: 127.0.0.0/8, or ::1.
  bool IsLoopback() const;

  // Whether it stands for any address of the machine: 0.0.0.0, or ::.
  bool IsUnspecified() const;

  // Whether it is that of a group: 224.0.0.0/4, or ff00::/8.
  bool IsMulticast() const;

  // The number of the interface of an IPv6 address; 0 if none is given.
  uint32_t scope() const { return IsIPv4() ? 0 : storage_.v6.sin6_scope_id; }

  // As `Parse()` reads it.
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
  // What is not used is zero.
  union Storage {
    Storage() { std::memset(this, 0, sizeof *this); }
    sockaddr_in v4;
    sockaddr_in6 v6;
  };

  explicit SocketAddr(const Storage& storage) : storage_(storage) {}

  // The address alone, without the port.
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
