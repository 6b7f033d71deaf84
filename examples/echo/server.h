// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A TCP echo server: what it reads from a connection it writes back.

#ifndef ROUSE_EXAMPLES_ECHO_SERVER_H_
#define ROUSE_EXAMPLES_ECHO_SERVER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/waker/atomic_waker.h"

namespace rouse::echo {

// What all connections of a server share.
class Connections {
 public:
  // Connections accepted and bytes written back so far. Relaxed: who wants the
  // last word joins the threads that count first.
  uint64_t served() const { return served_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // Waits until no connection is open.
  Co<> AllClosed();

 private:
  friend class Connection;

  std::atomic<uint64_t> served_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<size_t> open_{0};
  AtomicWaker all_closed_;
};

// Server
//
// Serves every connection by a task of its own.
class Server {
 public:
  // Listens on `address`, with the current reactor. Connections that are idle
  // for longer than `idle_timeout` are closed.
  static absl::StatusOr<Server> Listen(const SocketAddr& address,
                                       absl::Duration idle_timeout);

  absl::StatusOr<SocketAddr> local_addr() const {
    return listener_.local_addr();
  }

  // Accepts connections until `stop` is ready, then no more; and waits for
  // those that are open to end, for `grace` at the most. What is open then ends
  // with the runtime.
  Co<absl::Status> ServeUntil(Co<absl::Status> stop, absl::Duration grace) &&;

  const std::shared_ptr<Connections>& connections() const {
    return connections_;
  }

 private:
  Server(TcpListener listener, absl::Duration idle_timeout)
      : listener_(std::move(listener)), idle_timeout_(idle_timeout) {}

  TcpListener listener_;
  absl::Duration idle_timeout_;
  std::shared_ptr<Connections> connections_ = std::make_shared<Connections>();
};

}  // namespace rouse::echo

#endif  // ROUSE_EXAMPLES_ECHO_SERVER_H_
