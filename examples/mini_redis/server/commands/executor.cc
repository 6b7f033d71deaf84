// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/commands/executor.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/reply_writer.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/command_table.h"
#include "rouse/examples/mini_redis/server/commands/monitor_line.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/log_file.h"
#include "rouse/examples/mini_redis/store/log_replay.h"
#include "rouse/sync/cancellation_token.h"

namespace mini_redis {
namespace {

// Longest part of a client's text in an error, as in Redis.
constexpr size_t kQuoted = 128;  // bytes

std::string UnknownCommand(const resp::Command& command) {
  std::string error =
      absl::StrCat("ERR unknown command '", command[0].substr(0, kQuoted),
                   "', with args beginning with: ");
  for (size_t i = 1; i < command.size() && error.size() < 2 * kQuoted; ++i) {
    absl::StrAppend(&error, "'", command[i].substr(0, kQuoted), "' ");
  }
  return error;
}

// Returns why `client` cannot run a command now, or an empty string.
std::string Refusal(const Client& client, const CommandSpec* spec,
                    const resp::Command& command) {
  if (spec == nullptr) return UnknownCommand(command);
  const auto size = static_cast<int>(command.size());
  if (spec->arity >= 0 ? size != spec->arity : size < -spec->arity) {
    return absl::StrCat("ERR wrong number of arguments for '", spec->name,
                        "' command");
  }
  if (client.subscriber.has_value() && client.protocol == 2 &&
      (spec->flags & kPubSub) == 0) {
    return absl::StrCat("ERR Can't execute '", spec->name,
                        "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
                        "QUIT / RESET are allowed in this context");
  }
  if (client.in_transaction && (spec->flags & kNoMulti) != 0) {
    return "ERR Command not allowed inside a transaction";
  }
  return "";
}

// Replies that a command was refused. In a transaction, EXEC fails then. A
// refused EXEC ends the transaction, and replies like this even without one.
void Refuse(Client& client, const CommandSpec* spec, std::string_view refusal) {
  resp::ReplyWriter reply(client.out, client.protocol);
  if (spec != nullptr && spec->name == "exec") {
    LeaveTransaction(client);
    (void)absl::ConsumePrefix(&refusal, "ERR ");
    return reply.Error(
        absl::StrCat("EXECABORT Transaction discarded because of: ", refusal));
  }
  client.transaction_is_broken = client.in_transaction;
  reply.Error(refusal);
}

// Queues a command for EXEC. The queue may not take more memory than replies.
void Queue(const Service& service, Client& client, const CommandSpec& spec,
           const resp::Command& command) {
  resp::ReplyWriter reply(client.out, client.protocol);
  client.queued_bytes += sizeof(QueuedCommand) + command.capacity();
  if (client.queued_bytes > service.options.output_limit) {
    client.transaction_is_broken = true;
    client.queue.clear();
    return reply.Error("ERR the transaction is too large");
  }
  client.queue.push_back(QueuedCommand{&spec, command});
  reply.SimpleString("QUEUED");
}

// Notes that the replies since `begin` depend on the log's state of now.
void NoteUnconfirmed(Client& client, const AppendLog& log, size_t begin) {
  client.log_position = log.end();
  client.unconfirmed.emplace_back(begin, client.out.size());
}

}  // namespace

std::string LogError(const absl::Status& error) {
  return absl::StrCat("MISCONF Errors writing to the AOF file: ",
                      error.message());
}

void Execute(Service& service, Client& client, const resp::Command& command) {
  ++service.stats.commands;
  const CommandSpec* const spec = FindCommand(command[0]);
  if (std::string refusal = Refusal(client, spec, command); !refusal.empty()) {
    return Refuse(client, spec, refusal);
  }
  client.last_command = spec;
  if (service.monitors.receiver_count() > 0) {
    SendToMonitors(service, client, command);
  }
  if (client.in_transaction && (spec->flags & kTransaction) == 0) {
    return Queue(service, client, *spec, command);
  }
  AppendLog* const log = service.store.log();
  if (log == nullptr) {
    CommandContext c(service, client, command, client.out);
    spec->run(c);
  } else {
    const absl::Status error = log->error();
    if (!error.ok() && (spec->flags & kWrite) != 0) {
      return resp::ReplyWriter(client.out, client.protocol)
          .Error(LogError(error));
    }
    const uint64_t before = log->end();
    const size_t begin = client.out.size();
    CommandContext c(service, client, command, client.out);
    spec->run(c);
    if (log->end() != before) NoteUnconfirmed(client, *log, begin);
  }
  service.store.ServePops();
}

void ExecuteQueue(CommandContext& c) {
  Client& client = c.client();
  Service& service = c.service();
  AppendLog* const log = service.store.log();
  const std::vector<QueuedCommand> queue = std::move(client.queue);
  LeaveTransaction(client);
  bool writes = false;
  for (const QueuedCommand& queued : queue) {
    if ((queued.spec->flags & kWrite) != 0) writes = true;
  }
  if (log != nullptr && writes) {
    if (const absl::Status error = log->error(); !error.ok()) {
      return c.reply().Error(LogError(error));
    }
    log->BeginGroup();
  }
  c.reply().ArrayHeader(queue.size());
  for (const QueuedCommand& queued : queue) {
    CommandContext inner(service, client, queued.command, client.out);
    inner.set_in_exec();
    queued.spec->run(inner);
  }
  if (log != nullptr && writes) log->EndGroup();
}

void LeaveTransaction(Client& client) {
  client.in_transaction = false;
  client.transaction_is_broken = false;
  client.queue.clear();
  client.queued_bytes = 0;
}

void Disconnect(Service& service, Client& client) {
  if (client.subscriber.has_value()) {
    service.pubsub.Remove(*client.subscriber);
    client.subscriber.reset();
  }
  if (client.blocked.has_value()) {
    service.store.blocked_pops().Remove(client.blocked->id);
    client.blocked.reset();
  }
  client.monitor.reset();
  LeaveTransaction(client);
}

absl::StatusOr<Replayed> ReplayInto(Service& service, DiskLogFile& file) {
  Client client(/*id=*/0, /*address=*/"", rouse::CancellationToken());
  {
    const absl::MutexLock lock(&service.store.mu());
    service.store.SetLog(nullptr);
    service.store.keyspace().HoldExpiry(true);
  }
  auto run = [&service, &client](const resp::Command& command) {
    const CommandSpec* const spec = FindCommand(command[0]);
    if (spec == nullptr ||
        ((spec->flags & kWrite) == 0 && spec->name != "select")) {
      return absl::DataLossError(absl::StrCat(
          "'", command[0].substr(0, kQuoted), "' is not a command of a log"));
    }
    client.out.clear();
    const absl::MutexLock lock(&service.store.mu());
    Execute(service, client, command);
    if (client.out.starts_with('-')) {
      return absl::DataLossError(absl::StrCat(
          "the command '", spec->name,
          "' fails: ", client.out.substr(1, client.out.find('\r') - 1)));
    }
    return absl::OkStatus();
  };
  absl::StatusOr<Replayed> replayed = ReplayLog(file, run);
  const absl::MutexLock lock(&service.store.mu());
  service.store.keyspace().HoldExpiry(false);
  service.store.SetLog(service.log.get());
  return replayed;
}

}  // namespace mini_redis
