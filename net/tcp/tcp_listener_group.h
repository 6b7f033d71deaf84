// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_listener_group.h
// -----------------------------------------------------------------------------
//
// A `TcpListenerGroup` makes several listeners on one address (SO_REUSEPORT),
// one for each thread that accepts connections:
//
//   absl::StatusOr<TcpListenerGroup> group =
//       TcpListenerGroup::Bind(SocketAddr::Localhost(7777), /*count=*/4);
//   ...
//   // On each of four threads, where a runtime of the thread's own is current:
//   absl::StatusOr<TcpListener> listener = group->Take(number_of_the_thread);
//
// The kernel distributes the connections among the listeners, so the threads
// share neither a queue of connections nor a lock.

#ifndef ROUSE_NET_TCP_TCP_LISTENER_GROUP_H_
#define ROUSE_NET_TCP_TCP_LISTENER_GROUP_H_

#include <sys/socket.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/net/socket/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_socket.h"
#include "rouse/reactor/handle.h"

namespace rouse {

// Says which listener of a group gets a connection.
enum class TcpSteering {
  // A listener that the kernel chooses by a hash of both addresses: the
  // listeners get about equally many connections.
  kByAddress,
  // The listener whose index is the number of the CPU that received the first
  // packet, modulo the number of listeners (SO_ATTACH_REUSEPORT_CBPF). A packet
  // then stays on one CPU if thread `i` runs on the CPUs whose numbers leave
  // the remainder `i`.
  kByCpu,
};

// Formats a choice as "by-address" or "by-cpu".
template <class Sink>
void AbslStringify(Sink& sink, TcpSteering steering) {
  sink.Append(steering == TcpSteering::kByCpu ? "by-cpu" : "by-address");
}

// TcpListenerGroupOptions
//
// The options of a `TcpListenerGroup`.
struct TcpListenerGroupOptions {
  // Number of connections that wait at each listener: see
  // `TcpSocket::Listen()`.
  int backlog = SOMAXCONN;

  TcpSteering steering = TcpSteering::kByAddress;
};

// TcpListenerGroup
//
// Owns the listeners that no thread has taken yet, and closes them on
// destruction. Needs no reactor. Movable. Threads can call `Take()`
// concurrently if their indices differ; const members are thread-safe.
//
// Another process of the same user, such as the next version of the program,
// can join the group by binding a group to the same address. Neither group
// should use `TcpSteering::kByCpu` then: the kernel numbers the listeners of
// both together, and obeys the program that was attached last.
//
// # The connections of a listener that is closed
//
// A connection belongs to one listener from its first packet on. When that
// listener is closed, the kernel resets the connections in its queue and the
// connections whose handshake is under way, although other listeners of the
// group would accept them. Two ways exist to end a listener while the group
// goes on:
//
// - Set the sysctl net.ipv4.tcp_migrate_req to 1 (Linux 5.14). The kernel then
//   moves these connections to the other listeners of the group.
// - Drain the listener: yield once, so that the reactor reports what has
//   arrived, then call `TryAccept()` until it returns `std::nullopt`, and
//   destroy the listener right after. Only a client that connects in between is
//   reset, and must connect again.
//
// After a listener has been closed, the last listener has its index for
// `TcpSteering::kByCpu`, and the connections whose CPU belonged to the last
// listener are distributed by address.
class TcpListenerGroup {
 public:
  // Makes `count` listeners on `addr`. With port 0 the system chooses a port
  // that is free, and all listeners have this port. An address can be reused
  // immediately after its server has ended (SO_REUSEADDR).
  //
  // Calls `configure(socket)` for each socket before its bind, to set further
  // options, such as `TcpSocket::SetReceiveBufferSize()`. An error of
  // `configure()` is returned.
  //
  // The listeners accept from the moment of the call on: a connection that
  // arrives before all of them listen goes to a listener that already listens.
  // With `TcpSteering::kByCpu`, too, a connection that arrives during the call
  // is distributed by address.
  //
  //   InvalidArgument      `count` is 0
  //   FailedPrecondition   the address is in use by a socket without
  //                        SO_REUSEPORT, or by a process of another user
  //
  // and the errors of `TcpListener::Bind()`. On failure, no listener is left.
  // Costs a few system calls for each listener.
  static absl::StatusOr<TcpListenerGroup> Bind(
      const SocketAddr& addr, size_t count,
      const TcpListenerGroupOptions& options = {},
      absl::FunctionRef<absl::Status(const TcpSocket&)> configure =
          LeaveUnchanged);

  TcpListenerGroup(TcpListenerGroup&&) = default;
  TcpListenerGroup& operator=(TcpListenerGroup&&) = default;

  // Returns the number of listeners that the group was made with.
  size_t size() const { return sockets_.size(); }

  // Returns the address of all listeners, with the port that the system chose.
  const SocketAddr& local_addr() const { return local_addr_; }

  // Returns the listener of an index from 0 to `size()` - 1. The listener is
  // driven by `handle`'s reactor or, if `handle` is unbound, by the reactor
  // that is current. A larger index is a `Panic()`.
  //
  // Returns FailedPrecondition if the listener has been taken already, and the
  // errors of `reactor::Registration::Create()`. After such an error the
  // listener stays in the group, and can be taken again.
  absl::StatusOr<TcpListener> Take(
      size_t index, const reactor::Handle& handle = reactor::Handle());

 private:
  TcpListenerGroup(std::vector<internal::Socket> sockets,
                   const SocketAddr& local_addr)
      : sockets_(std::move(sockets)), local_addr_(local_addr) {}

  static absl::Status LeaveUnchanged(const TcpSocket&) {
    return absl::OkStatus();
  }

  // Without a descriptor where a listener has been taken.
  std::vector<internal::Socket> sockets_;
  SocketAddr local_addr_;
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_LISTENER_GROUP_H_
