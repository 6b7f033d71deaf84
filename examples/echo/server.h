// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A TCP echo server, which writes back all bytes that a client sends.

#ifndef ROUSE_EXAMPLES_ECHO_SERVER_H_
#define ROUSE_EXAMPLES_ECHO_SERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/scheduler/task_tracker.h"
#include "rouse/sync/cancellation_token.h"

namespace rouse::echo {

// The totals of all connections of a server so far. Relaxed: a reader that
// needs the final values joins the counting threads first.
class Totals {
 public:
  uint64_t connections() const {
    return connections_.load(std::memory_order_relaxed);
  }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  void AddConnection() { connections_.fetch_add(1, std::memory_order_relaxed); }
  void AddBytes(uint64_t bytes) {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> connections_{0};
  std::atomic<uint64_t> bytes_{0};
};

// Server
//
// Serves every connection in a task of its own.
class Server {
 public:
  // Listens on `address`, with the current reactor. Closes connections that are
  // idle for longer than `idle_timeout`.
  static absl::StatusOr<Server> Listen(const SocketAddr& address,
                                       absl::Duration idle_timeout);

  absl::StatusOr<SocketAddr> local_addr() const {
    return listener_.local_addr();
  }

  // Accepts connections until `stop` is cancelled. Then waits at most `grace`
  // for the open connections to end. Connections that are still open end with
  // the runtime.
  Co<absl::Status> Run(CancellationToken stop, absl::Duration grace) &&;

  const std::shared_ptr<Totals>& totals() const { return totals_; }

 private:
  Server(TcpListener listener, absl::Duration idle_timeout)
      : listener_(std::move(listener)), idle_timeout_(idle_timeout) {}

  Co<absl::Status> Accept(TcpListener listener, const CancellationToken& stop);

  TcpListener listener_;
  absl::Duration idle_timeout_;
  TaskTracker connections_;
  std::shared_ptr<Totals> totals_ = std::make_shared<Totals>();
};

}  // namespace rouse::echo

#endif  // ROUSE_EXAMPLES_ECHO_SERVER_H_
