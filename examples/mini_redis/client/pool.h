// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pool.h
// -----------------------------------------------------------------------------
//
// A limited number of connections to one server:
//
//   mini_redis::Pool pool("127.0.0.1:6379");
//   mini_redis::Pool::Lease client = co_await rouse::OrReturn(pool.Acquire());
//   co_await rouse::OrReturn(client->Set("key", "value"));

#ifndef ROUSE_EXAMPLES_MINI_REDIS_CLIENT_POOL_H_
#define ROUSE_EXAMPLES_MINI_REDIS_CLIENT_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/client/client.h"
#include "rouse/future/co.h"
#include "rouse/sync/semaphore.h"

namespace mini_redis {

struct PoolOptions {
  // Largest number of connections, leased or not.
  size_t max_connections = 8;
  // How long `Acquire()` waits for another task to give a connection back, and
  // then for a new connection.
  absl::Duration acquire_timeout = absl::Seconds(5);
  ClientOptions client;
};

// Pool
//
// Connects when a connection is first needed, and keeps the connections that
// come back. A `Client` can serve many tasks by itself; a pool is for commands
// that keep a connection busy, such as BLPOP, and it connects again after a
// connection has ended.
//
// Thread-safe. Leases can outlive the pool. Destroying the pool closes the
// connections that are not leased.
//
// `Acquire()` is cancel-safe. Tasks get connections in the order in which they
// began to wait. Errors: DeadlineExceeded if all connections stay leased, and
// the errors of `Client::Connect()`.
class Pool {
 public:
  class Lease;
  // Makes a connection.
  using Connector = std::function<rouse::Co<absl::StatusOr<Client>>()>;

  // `address` is "host:port".
  explicit Pool(std::string address, PoolOptions options = PoolOptions());
  // Makes a pool whose connections `connector` makes. Errors call the server
  // `address`.
  Pool(std::string address, PoolOptions options, Connector connector);
  Pool(Pool&&) = default;
  Pool& operator=(Pool&&) = delete;
  ~Pool();

  // Returns a connection for the caller alone.
  rouse::Co<absl::StatusOr<Lease>> Acquire() const;

  // Returns the number of connections that are not leased.
  size_t idle() const;
  // Returns the number of leases that would not wait for another lease.
  size_t available() const;

 private:
  struct Shared;

  static rouse::Co<absl::StatusOr<Lease>> AcquireFrom(
      std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;  // null if moved from
};

struct Pool::Shared {
  Shared(std::string address, PoolOptions options, Connector connector)
      : address(std::move(address)),
        options(options),
        connector(std::move(connector)),
        leases(std::make_shared<rouse::Semaphore>(options.max_connections)) {}

  // Takes a connection that has not ended.
  std::optional<Client> TakeIdle();
  void GiveBack(Client client);

  const std::string address;
  const PoolOptions options;
  const Connector connector;
  const std::shared_ptr<rouse::Semaphore> leases;
  mutable absl::Mutex mu;
  bool closed ABSL_GUARDED_BY(mu) = false;
  // The connection that came back last is used next, so that the others become
  // old and show whether fewer would do.
  std::vector<Client> idle ABSL_GUARDED_BY(mu);
};

// Pool::Lease
//
// Gives the connection back when destroyed. A connection that has ended is
// dropped, and so is a connection with a reply missing, such as after a timeout
// or a cancelled request. Movable. A copy of the `Client` must not outlive the
// lease.
class [[nodiscard]] Pool::Lease {
 public:
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&& other) noexcept {
    Lease replaced(std::move(other));
    std::swap(shared_, replaced.shared_);
    std::swap(client_, replaced.client_);
    std::swap(permit_, replaced.permit_);
    return *this;
  }
  ~Lease();

  const Client& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return *client_;
  }
  const Client* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return &*client_;
  }

 private:
  friend class Pool;

  Lease(std::shared_ptr<Shared> shared, Client client,
        rouse::Semaphore::OwnedPermit permit)
      : shared_(std::move(shared)),
        client_(std::move(client)),
        permit_(std::move(permit)) {}

  std::shared_ptr<Shared> shared_;  // null if moved from
  std::optional<Client> client_;
  rouse::Semaphore::OwnedPermit permit_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_CLIENT_POOL_H_
