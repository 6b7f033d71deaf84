// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/by_name.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/lookup_host.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/happy_eyeballs.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/udp_socket.h"

namespace rouse {
namespace {

// Returns the first successful `Socket::Bind()` for an address of `addrs`, or
// the last error.
template <class Socket>
absl::StatusOr<Socket> BindToAny(const std::vector<SocketAddr>& addrs) {
  absl::Status last;
  for (const SocketAddr& addr : addrs) {
    absl::StatusOr<Socket> socket = Socket::Bind(addr);
    if (socket.ok()) return socket;
    last = socket.status();
  }
  return last;
}

}  // namespace

Co<absl::StatusOr<TcpStream>> ConnectTcp(std::string host_port) {
  std::vector<SocketAddr> addrs = co_await OrReturn(LookupHost(host_port));
  Co<absl::StatusOr<TcpStream>> connect =
      ConnectHappyEyeballs(std::move(addrs));
  co_return co_await std::move(connect);
}

Co<absl::StatusOr<TcpStream>> ConnectTcp(std::string host_port,
                                         const Resolver& resolver) {
  std::vector<SocketAddr> addrs = co_await OrReturn(resolver.Lookup(host_port));
  Co<absl::StatusOr<TcpStream>> connect =
      ConnectHappyEyeballs(std::move(addrs));
  co_return co_await std::move(connect);
}

Co<absl::StatusOr<TcpListener>> ListenTcp(std::string host_port) {
  std::vector<SocketAddr> addrs = co_await OrReturn(LookupHost(host_port));
  co_return BindToAny<TcpListener>(addrs);
}

Co<absl::StatusOr<TcpListener>> ListenTcp(std::string host_port,
                                          const Resolver& resolver) {
  std::vector<SocketAddr> addrs = co_await OrReturn(resolver.Lookup(host_port));
  co_return BindToAny<TcpListener>(addrs);
}

Co<absl::StatusOr<UdpSocket>> BindUdp(std::string host_port) {
  std::vector<SocketAddr> addrs = co_await OrReturn(LookupHost(host_port));
  co_return BindToAny<UdpSocket>(addrs);
}

Co<absl::StatusOr<UdpSocket>> BindUdp(std::string host_port,
                                      const Resolver& resolver) {
  std::vector<SocketAddr> addrs = co_await OrReturn(resolver.Lookup(host_port));
  co_return BindToAny<UdpSocket>(addrs);
}

}  // namespace rouse
