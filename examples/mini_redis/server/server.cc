// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/server.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/server/session/connection.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_options.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task_tracker.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/semaphore.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"

namespace mini_redis {
namespace {

// How long the server waits before it tries to accept again when no descriptor
// is free, and how often it logs this error.
constexpr absl::Duration kRetryAccept = absl::Milliseconds(50);
constexpr absl::Duration kLogInterval = absl::Seconds(1);

// How long a client that is not served may take to read the reason.
constexpr absl::Duration kRefusalTimeout = absl::Seconds(1);

// After how much silence the system checks whether a client still exists, as in
// Redis.
constexpr absl::Duration kKeepAlive = absl::Minutes(5);

// How long disconnected clients, and the last write of the log, may take.
constexpr absl::Duration kLastGrace = absl::Seconds(10);

rouse::Co<> ServeWithPermit(std::shared_ptr<Service> service,
                            rouse::TcpListener::Accepted accepted, uint64_t id,
                            rouse::Semaphore::OwnedPermit) {
  std::string address = accepted.peer.ToString();
  co_await ServeConnection(std::move(service), std::move(accepted.stream), id,
                           std::move(address));
}

rouse::Co<> Refuse(rouse::TcpStream stream) {
  (void)co_await rouse::Timeout(
      kRefusalTimeout,
      stream.WriteAll("-ERR max number of clients reached\r\n"));
}

rouse::Co<> ExpireKeys(std::shared_ptr<Service> service) {
  co_await service->store.ExpireKeys();
}

rouse::Co<absl::Status> WriteLog(std::shared_ptr<Service> service) {
  co_return co_await service->log->Run();
}

}  // namespace

void Server::Serve(rouse::TcpListener::Accepted accepted) {
  std::optional<rouse::Semaphore::OwnedPermit> permit =
      rouse::Semaphore::TryAcquireOwned(permits_);
  if (!permit.has_value()) {
    const absl::MutexLock lock(&service_->store.mu());
    ++service_->stats.rejected_connections;
    connections_.Spawn(Refuse(std::move(accepted.stream))).Detach();
    return;
  }
  // Errors of these options concern a connection that has ended already.
  (void)accepted.stream.SetNoDelay(true);
  rouse::KeepAlive keep_alive;
  keep_alive.idle = kKeepAlive;
  (void)accepted.stream.SetKeepAlive(keep_alive);
  connections_
      .Spawn(ServeWithPermit(service_, std::move(accepted),
                             service_->TakeClientId(), *std::move(permit)))
      .Detach();
}

rouse::Co<absl::Status> Server::Accept(rouse::TcpListener listener) {
  const rouse::CancellationToken& stop = service_->stop;
  rouse::Instant next_log;
  for (;;) {
    std::optional<absl::StatusOr<rouse::TcpListener::Accepted>> accepted =
        co_await stop.RunUntilCancelled(listener.Accept());
    if (!accepted.has_value()) co_return absl::OkStatus();
    if (accepted->ok()) {
      Serve(**std::move(accepted));
      continue;
    }
    if (!absl::IsResourceExhausted(accepted->status())) {
      co_return accepted->status();
    }
    if (const rouse::Instant now = rouse::Now(); now >= next_log) {
      next_log = now + kLogInterval;
      LOG(ERROR) << "cannot accept connections; the server tries again: "
                 << accepted->status();
    }
    (void)co_await stop.RunUntilCancelled(rouse::Sleep(kRetryAccept));
  }
}

rouse::Co<absl::Status> Server::Run(absl::Duration grace) && {
  // Aborted at the end of this function.
  rouse::JoinSet<void> background;
  background.Spawn(ExpireKeys(service_));
  std::optional<rouse::JoinHandle<absl::Status>> log;
  if (service_->log != nullptr) log = rouse::Spawn(WriteLog(service_));

  absl::Status status = co_await Accept(std::move(listener_));

  // An error of the listener ends the server, too.
  service_->stop.Cancel();
  connections_.Close();
  const absl::Status ended =
      co_await rouse::Timeout(grace, connections_.Wait());
  if (!ended.ok()) {
    LOG(WARNING) << connections_.size()
                 << " clients do not read their replies and are disconnected";
    service_->kill_all.Cancel();
    (void)co_await rouse::Timeout(kLastGrace, connections_.Wait());
  }
  co_await background.Shutdown();
  if (!log.has_value()) co_return status;
  service_->log->Close();
  const absl::Status written =
      co_await rouse::Timeout(kLastGrace, *std::move(log));
  co_return written.ok() ? status : written;
}

}  // namespace mini_redis
