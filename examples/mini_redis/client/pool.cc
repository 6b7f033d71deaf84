// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/pool.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/client/client.h"
#include "rouse/future/co.h"
#include "rouse/sync/semaphore.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/timeout.h"

namespace mini_redis {

using ::rouse::Co;

std::optional<Client> Pool::Shared::TakeIdle() {
  // Connections that have ended are destroyed without the lock.
  std::vector<Client> ended;
  const absl::MutexLock lock(&mu);
  while (!idle.empty()) {
    Client client = std::move(idle.back());
    idle.pop_back();
    if (client.IsIdle()) return client;
    ended.push_back(std::move(client));
  }
  return std::nullopt;
}

void Pool::Shared::GiveBack(Client client) {
  if (!client.IsIdle()) return;
  const absl::MutexLock lock(&mu);
  if (!closed) idle.push_back(std::move(client));
}

Pool::Lease::~Lease() {
  // The connection is back before the permit, so that the next task finds the
  // connection.
  if (shared_ != nullptr) shared_->GiveBack(*std::move(client_));
}

Pool::Pool(std::string address, PoolOptions options)
    : Pool(address, options, [address, client = options.client] {
        return Client::Connect(address, client);
      }) {}

Pool::Pool(std::string address, PoolOptions options, Connector connector)
    : shared_(std::make_shared<Shared>(std::move(address), options,
                                       std::move(connector))) {}

Pool::~Pool() {
  if (shared_ == nullptr) return;
  std::vector<Client> idle;
  const absl::MutexLock lock(&shared_->mu);
  shared_->closed = true;
  std::swap(idle, shared_->idle);
}

Co<absl::StatusOr<Pool::Lease>> Pool::Acquire() const {
  return AcquireFrom(shared_);
}

Co<absl::StatusOr<Pool::Lease>> Pool::AcquireFrom(
    std::shared_ptr<Shared> shared) {
  const absl::Duration timeout = shared->options.acquire_timeout;
  const rouse::Instant deadline = rouse::Now() + timeout;
  absl::StatusOr<rouse::Semaphore::OwnedPermit> permit =
      co_await rouse::Timeout(rouse::SleepUntil(deadline),
                              rouse::Semaphore::AcquireOwned(shared->leases));
  if (rouse::TimedOut(permit.status())) {
    co_return absl::DeadlineExceededError(
        absl::StrCat(shared->address, ": all ", shared->options.max_connections,
                     " connections of the pool stayed in use for ",
                     absl::FormatDuration(timeout)));
  }
  if (!permit.ok()) co_return permit.status();
  std::optional<Client> client = shared->TakeIdle();
  if (!client.has_value()) {
    absl::StatusOr<Client> connected = co_await rouse::Timeout(
        rouse::SleepUntil(deadline), shared->connector());
    if (rouse::TimedOut(connected.status())) {
      co_return absl::DeadlineExceededError(
          absl::StrCat(shared->address, ": no connection within ",
                       absl::FormatDuration(timeout)));
    }
    if (!connected.ok()) co_return connected.status();
    client = *std::move(connected);
  }
  co_return Lease(std::move(shared), *std::move(client), *std::move(permit));
}

size_t Pool::idle() const {
  const absl::MutexLock lock(&shared_->mu);
  return shared_->idle.size();
}

size_t Pool::available() const { return shared_->leases->available_permits(); }

}  // namespace mini_redis
