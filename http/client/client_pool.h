// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_pool.h
// -----------------------------------------------------------------------------
//
// `ClientPool` has the connections of a `Client`.

#ifndef ROUSE_HTTP_CLIENT_CLIENT_POOL_H_
#define ROUSE_HTTP_CLIENT_CLIENT_POOL_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/client/client.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h1/client_exchange.h"
#include "rouse/sync/semaphore.h"
#include "rouse/timer/instant.h"

namespace rouse::http::internal {

// ClientPool
//
// Thread-safe. The idle connections of a server are used from the newest to the
// oldest, so that connections that are not needed become old and are closed.
//
// An origin is forgotten when it has no connection and no waiting request.
//
// The shared connections of a server are used from the oldest to the newest,
// and close themselves when they have been idle for too long. Each counts as
// one of the connections to the server until it takes no more requests.
class ClientPool : public std::enable_shared_from_this<ClientPool> {
 public:
  explicit ClientPool(ClientOptions options) : options_(std::move(options)) {}

  const ClientOptions& options() const { return options_; }

  // Returns the semaphore with a permit for each connection to the server.
  std::shared_ptr<Semaphore> Permits(const std::string& origin);

  // Returns the semaphore whose permit a request needs to make a connection
  // while the protocol of the server may be HTTP/2.
  std::shared_ptr<Semaphore> Turns(const std::string& origin);

  // Returns a shared connection to the server that takes a request at once or,
  // with `even_if_full`, the connection with the fewest requests; or null.
  // Forgets those that take no more requests.
  std::shared_ptr<SharedConnection> FindShared(const std::string& origin,
                                               bool even_if_full);
  // Keeps a new shared connection. Requests that wait on other connections to
  // the server can use the new one.
  void AddShared(const std::string& origin,
                 std::shared_ptr<SharedConnection> connection,
                 Semaphore::OwnedPermit permit);

  // Returns whether the last connection to the server carried HTTP/1.1, and
  // notes that it did.
  bool SpeaksHttp1(const std::string& origin) const;
  void SetSpeaksHttp1(const std::string& origin);

  // Takes the idle connection that was used last, or returns null.
  std::unique_ptr<ClientConnection> TakeIdle(const std::string& origin);

  // Keeps a connection for further requests, or closes it.
  void Return(const std::string& origin,
              std::unique_ptr<ClientConnection> connection);

  size_t idle_connections() const;

  // Closes the connections that have been idle for too long. Returns when the
  // next connection will be, or nothing if no connection is idle; the caller is
  // then no longer the pool's reaper.
  std::optional<Instant> CloseExpired();
  // Notes that the caller is no longer the pool's reaper.
  void EndReaper();

 private:
  struct Shared {
    Shared(std::shared_ptr<SharedConnection> connection,
           Semaphore::OwnedPermit permit)
        : connection(std::move(connection)), permit(std::move(permit)) {}

    std::shared_ptr<SharedConnection> connection;
    Semaphore::OwnedPermit permit;
  };

  struct PerOrigin {
    std::shared_ptr<Semaphore> permits;
    std::shared_ptr<Semaphore> turns;  // null before the first is needed
    std::vector<std::unique_ptr<ClientConnection>> idle;  // oldest first
    std::vector<Shared> shared;                           // oldest first
    bool speaks_http1 = false;
  };

  // Returns the data of a server that a request is about to use.
  PerOrigin& Of(const std::string& origin, std::vector<PerOrigin>& forgotten)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const ClientOptions options_;
  mutable ThreadMutex mu_;
  absl::flat_hash_map<std::string, PerOrigin> origins_ ABSL_GUARDED_BY(mu_);
  size_t idle_ ABSL_GUARDED_BY(mu_) = 0;
  bool has_reaper_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_CLIENT_CLIENT_POOL_H_
