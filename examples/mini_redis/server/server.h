// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server.h
// -----------------------------------------------------------------------------
//
// Accepts connections, and runs the tasks that all connections need.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_SERVER_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_SERVER_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/scheduler/task_tracker.h"
#include "rouse/sync/semaphore.h"

namespace mini_redis {

// Server
//
// Serves each connection in a task of its own.
class Server {
 public:
  Server(rouse::TcpListener listener, std::shared_ptr<Service> service)
      : listener_(std::move(listener)),
        service_(std::move(service)),
        permits_(
            std::make_shared<rouse::Semaphore>(service_->options.max_clients)) {
  }

  // Accepts connections until the `stop` token of the service is cancelled.
  // Then closes the listener, and waits for the connections to end: each ends
  // after the requests that have arrived. After `grace`, disconnects the
  // clients that are left. At last writes and flushes the log, and returns the
  // error of the log or of the listener.
  rouse::Co<absl::Status> Run(absl::Duration grace) &&;

 private:
  rouse::Co<absl::Status> Accept(rouse::TcpListener listener);
  void Serve(rouse::TcpListener::Accepted accepted);

  rouse::TcpListener listener_;
  std::shared_ptr<Service> service_;
  std::shared_ptr<rouse::Semaphore> permits_;
  rouse::TaskTracker connections_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_SERVER_H_
