// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of a client.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_CLIENT_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/server/pubsub/pubsub.h"
#include "rouse/examples/mini_redis/store/blocked_pops.h"
#include "rouse/sync/broadcast.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/oneshot.h"
#include "rouse/timer/instant.h"

namespace mini_redis {

// Lines of MONITOR, shared by all monitors.
using MonitorLine = std::shared_ptr<const std::string>;

// A BLPOP that has found no element.
struct BlockedPop {
  BlockedPops::Id id;
  rouse::oneshot::Receiver<PoppedElement> element;
  absl::Duration timeout;
};

// A command that waits for EXEC.
struct QueuedCommand {
  const struct CommandSpec* spec;
  resp::Command command;
};

// Client
//
// Changed by commands, under the lock of the `Store`. The commands of other
// clients, such as CLIENT LIST, read the first group. The other members belong
// to the client's connection.
struct Client {
  Client(uint64_t id, std::string address, rouse::CancellationToken kill)
      : id(id), address(std::move(address)), kill(std::move(kill)) {}

  const uint64_t id;
  const std::string address;
  const rouse::CancellationToken kill;  // ends the connection at once
  rouse::Instant connected;
  rouse::Instant last_command_time;
  const struct CommandSpec* last_command = nullptr;
  std::string name;
  std::string library_name;
  std::string library_version;
  size_t db = 0;
  int protocol = 2;
  std::optional<Subscriber> subscriber;  // present while anything is subscribed
  bool in_transaction = false;
  std::vector<QueuedCommand> queue;

  size_t queued_bytes = 0;
  bool transaction_is_broken = false;  // EXEC fails
  std::optional<BlockedPop> blocked;
  std::optional<rouse::broadcast::Receiver<MonitorLine>> monitor;
  // The connection ends when the replies so far have been sent.
  bool closing = false;

  // Replies that have not been sent.
  std::string out;
  // The replies in `out` to commands that changed something, and the position
  // in the log that must be confirmed before these replies are sent.
  std::vector<std::pair<size_t, size_t>> unconfirmed;
  uint64_t log_position = 0;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_CLIENT_H_
