// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs commands.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_EXECUTOR_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_EXECUTOR_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/server/commands/command_table.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/log_file.h"
#include "rouse/examples/mini_redis/store/log_replay.h"

namespace mini_redis {

// Runs a command of a client, and appends the reply to `client.out`. A command
// in a transaction is queued instead. A command that must wait appends nothing
// and sets `client.blocked`.
void Execute(Service& service, Client& client, const resp::Command& command)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(service.store.mu());

// Runs the commands that `client` has queued, as EXEC does.
void ExecuteQueue(CommandContext& c);

// Leaves the client's transaction, and forgets the queued commands.
void LeaveTransaction(Client& client);

// Ends the client's subscriptions, transaction and waiting commands.
void Disconnect(Service& service, Client& client)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(service.store.mu());

// Returns the text of the reply to a change that the log cannot take.
std::string LogError(const absl::Status& error);

// Runs the commands of a log. The changes are not logged again.
absl::StatusOr<Replayed> ReplayInto(Service& service, DiskLogFile& file);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_EXECUTOR_H_
