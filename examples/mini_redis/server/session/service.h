// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What all connections of a server share.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_SERVICE_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_SERVICE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/resp/command_decoder.h"
#include "rouse/examples/mini_redis/server/pubsub/pubsub.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/store.h"
#include "rouse/sync/broadcast.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/timer/wheel/handle.h"

namespace mini_redis {

struct ServiceOptions {
  size_t max_clients = 10000;
  // Largest size of the replies and messages that wait for a client.
  size_t output_limit = size_t{64} << 20;  // bytes
  resp::CommandLimits request_limits;
  // How long a client may send nothing, and how long a client may take no byte
  // of a reply.
  absl::Duration idle_timeout = absl::InfiniteDuration();
  // How long a request may take to arrive, from the first byte to the last.
  absl::Duration request_timeout = absl::Minutes(1);
  // For CONFIG GET.
  std::string dir = ".";
  Fsync fsync = Fsync::kEverySecond;
  uint16_t port = 0;
};

// Numbers for INFO.
struct Stats {
  uint64_t connections = 0;
  uint64_t rejected_connections = 0;
  uint64_t commands = 0;
};

// Service
//
// The lock of the store, `store.mu()`, guards everything except for the options
// and the tokens: commands run one at a time.
class Service {
 public:
  // `log` can be null.
  Service(const rouse::wheel::Handle& timer, ServiceOptions service_options,
          std::unique_ptr<AppendLog> append_log);

  // Returns the id of a new client. Ids are in the order of the calls, so the
  // clients of CLIENT LIST are in the order in which they connected.
  uint64_t TakeClientId() {
    // Relaxed: the number orders nothing else.
    return last_client_id_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  const ServiceOptions options;
  const std::unique_ptr<AppendLog> log;
  Store store;
  PubSub pubsub;
  absl::btree_map<uint64_t, Client*> clients;  // by id
  Stats stats;
  const rouse::Instant started;

  // A channel of all commands. A monitor that falls behind is disconnected.
  const rouse::broadcast::Sender<MonitorLine> monitors;

  // Asks the server to stop: connections end after the current requests.
  const rouse::CancellationToken stop;
  // Parent of the tokens that end connections at once.
  const rouse::CancellationToken kill_all;

 private:
  std::atomic<uint64_t> last_client_id_{0};
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_SERVICE_H_
