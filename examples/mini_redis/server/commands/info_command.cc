// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/server/commands/version.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/keyspace.h"

namespace mini_redis::handlers {
namespace {

std::string ServerSection(CommandContext& c) {
  const absl::Duration uptime = c.keyspace().Now() - c.service().started;
  return absl::StrCat("redis_version:", kRedisVersion,
                      "\r\nredis_mode:standalone\r\nprocess_id:", getpid(),
                      "\r\ntcp_port:", c.service().options.port,
                      "\r\nuptime_in_seconds:", absl::ToInt64Seconds(uptime),
                      "\r\n");
}

std::string ClientsSection(CommandContext& c) {
  const Service& service = c.service();
  return absl::StrCat("connected_clients:", service.clients.size(),
                      "\r\nmaxclients:", service.options.max_clients,
                      "\r\nblocked_clients:", c.blocked_pops().size(), "\r\n");
}

std::string PersistenceSection(CommandContext& c) {
  const AppendLog* const log = c.service().log.get();
  return absl::StrCat("loading:0\r\naof_enabled:", log == nullptr ? 0 : 1,
                      "\r\naof_last_write_status:",
                      log == nullptr || log->error().ok() ? "ok" : "err",
                      "\r\n");
}

std::string StatsSection(CommandContext& c) {
  const Stats& stats = c.service().stats;
  return absl::StrCat(
      "total_connections_received:", stats.connections,
      "\r\ntotal_commands_processed:", stats.commands,
      "\r\nrejected_connections:", stats.rejected_connections,
      "\r\npubsub_patterns:", c.service().pubsub.pattern_count(), "\r\n");
}

std::string ReplicationSection(CommandContext&) {
  return "role:master\r\nconnected_slaves:0\r\n";
}

std::string KeyspaceSection(CommandContext& c) {
  std::string lines;
  for (size_t db = 0; db < Keyspace::kDatabases; ++db) {
    const size_t size = c.keyspace().Size(db);
    if (size == 0) continue;
    absl::StrAppend(&lines, "db", db, ":keys=", size,
                    ",expires=", c.keyspace().ExpiringSize(db), "\r\n");
  }
  return lines;
}

struct Section {
  std::string_view name;
  std::string (*text)(CommandContext&);
};

constexpr Section kSections[] = {
    {"Server", ServerSection},           {"Clients", ClientsSection},
    {"Persistence", PersistenceSection}, {"Stats", StatsSection},
    {"Replication", ReplicationSection}, {"Keyspace", KeyspaceSection},
};

bool IsWanted(const CommandContext& c, std::string_view section) {
  if (c.size() == 1) return true;
  for (size_t i = 1; i < c.size(); ++i) {
    if (c.ArgIs(i, section) || c.ArgIs(i, "all") || c.ArgIs(i, "default") ||
        c.ArgIs(i, "everything")) {
      return true;
    }
  }
  return false;
}

}  // namespace

void Info(CommandContext& c) {
  std::string text = "txt:";
  for (const Section& section : kSections) {
    if (!IsWanted(c, section.name)) continue;
    if (text.size() > 4) text += "\r\n";
    absl::StrAppend(&text, "# ", section.name, "\r\n", section.text(c));
  }
  c.reply().Verbatim(text);
}

}  // namespace mini_redis::handlers
