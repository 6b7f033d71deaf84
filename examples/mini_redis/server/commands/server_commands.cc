// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/command_table.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/glob.h"
#include "rouse/examples/mini_redis/store/keyspace.h"

namespace mini_redis::handlers {
namespace {

using Parameters = std::vector<std::pair<std::string_view, std::string>>;

std::string_view FsyncName(Fsync fsync) {
  switch (fsync) {
    case Fsync::kAlways:
      return "always";
    case Fsync::kEverySecond:
      return "everysec";
    case Fsync::kNever:
      return "no";
  }
  return "";
}

// Returns the parameters of CONFIG GET. The flags of the program set them.
Parameters AllParameters(const Service& service) {
  const ServiceOptions& options = service.options;
  const int64_t timeout = options.idle_timeout == absl::InfiniteDuration()
                              ? 0
                              : absl::ToInt64Seconds(options.idle_timeout);
  return {
      {"appendfsync", std::string(FsyncName(options.fsync))},
      {"appendonly", service.log == nullptr ? "no" : "yes"},
      {"databases", absl::StrCat(Keyspace::kDatabases)},
      {"dir", options.dir},
      {"maxclients", absl::StrCat(options.max_clients)},
      {"maxmemory", "0"},
      {"port", absl::StrCat(options.port)},
      {"proto-max-bulk-len",
       absl::StrCat(options.request_limits.max_bulk_size)},
      {"save", ""},
      {"timeout", absl::StrCat(timeout)},
  };
}

void ConfigGet(CommandContext& c) {
  Parameters found;
  for (auto& parameter : AllParameters(c.service())) {
    for (size_t i = 2; i < c.size(); ++i) {
      if (!GlobMatch(absl::AsciiStrToLower(c.arg(i)), parameter.first)) {
        continue;
      }
      found.push_back(std::move(parameter));
      break;
    }
  }
  c.reply().MapHeader(found.size());
  for (const auto& [name, value] : found) {
    c.reply().Bulk(name);
    c.reply().Bulk(value);
  }
}

// Accepts the values that the parameters have. The flags of the program are the
// only way to change a parameter.
void ConfigSet(CommandContext& c) {
  const Parameters parameters = AllParameters(c.service());
  for (size_t i = 2; i + 1 < c.size(); i += 2) {
    const std::string name = absl::AsciiStrToLower(c.arg(i));
    const auto it =
        std::find_if(parameters.begin(), parameters.end(),
                     [&name](const auto& p) { return p.first == name; });
    if (it == parameters.end()) {
      return c.reply().Error(absl::StrCat(
          "ERR Unknown option or number of arguments for CONFIG SET - '",
          c.arg(i), "'"));
    }
    if (it->second != c.arg(i + 1)) {
      return c.reply().Error(
          absl::StrCat("ERR CONFIG SET failed (possibly related to argument '",
                       c.arg(i), "') - can't set immutable config"));
    }
  }
  c.reply().Ok();
}

void ReplyDetails(CommandContext& c, const CommandSpec& spec) {
  std::vector<std::string_view> flags;
  if ((spec.flags & kRead) != 0) flags.push_back("readonly");
  if ((spec.flags & kWrite) != 0) flags.push_back("write");
  if ((spec.flags & kPubSub) != 0) flags.push_back("pubsub");
  if ((spec.flags & kNoMulti) != 0) flags.push_back("no_multi");
  c.reply().ArrayHeader(6);
  c.reply().Bulk(spec.name);
  c.reply().Integer(spec.arity);
  c.reply().SetHeader(flags.size());
  for (std::string_view flag : flags) c.reply().SimpleString(flag);
  c.reply().Integer(spec.keys.first);
  c.reply().Integer(spec.keys.last);
  c.reply().Integer(spec.keys.step);
}

}  // namespace

void Config(CommandContext& c) {
  if (c.ArgIs(1, "GET") && c.size() >= 3) {
    ConfigGet(c);
  } else if (c.ArgIs(1, "SET") && c.size() >= 4 && c.size() % 2 == 0) {
    ConfigSet(c);
  } else if (c.ArgIs(1, "RESETSTAT") && c.size() == 2) {
    c.service().stats = Stats();
    c.reply().Ok();
  } else if (c.ArgIs(1, "GET") || c.ArgIs(1, "SET") ||
             c.ArgIs(1, "RESETSTAT")) {
    c.WrongArity(absl::StrCat("config|", absl::AsciiStrToLower(c.arg(1))));
  } else {
    c.UnknownSubcommand();
  }
}

void Command(CommandContext& c) {
  if (c.size() == 1) {
    c.reply().ArrayHeader(AllCommands().size());
    for (const CommandSpec& spec : AllCommands()) ReplyDetails(c, spec);
  } else if (c.ArgIs(1, "COUNT") && c.size() == 2) {
    c.reply().Integer(static_cast<int64_t>(AllCommands().size()));
  } else if (c.ArgIs(1, "LIST") && c.size() == 2) {
    c.reply().ArrayHeader(AllCommands().size());
    for (const CommandSpec& spec : AllCommands()) c.reply().Bulk(spec.name);
  } else if (c.ArgIs(1, "INFO")) {
    c.reply().ArrayHeader(c.size() - 2);
    for (size_t i = 2; i < c.size(); ++i) {
      const CommandSpec* const spec = FindCommand(c.arg(i));
      if (spec == nullptr) {
        c.reply().NullArray();
      } else {
        ReplyDetails(c, *spec);
      }
    }
  } else if (c.ArgIs(1, "DOCS")) {
    // Clients take an empty reply for "nothing is known".
    c.reply().MapHeader(0);
  } else {
    c.UnknownSubcommand();
  }
}

void Monitor(CommandContext& c) {
  if (!c.client().monitor.has_value()) {
    c.client().monitor = c.service().monitors.Subscribe();
  }
  c.reply().Ok();
}

void Shutdown(CommandContext& c) {
  for (size_t i = 1; i < c.size(); ++i) {
    // The log is flushed in any case, and there are no snapshots.
    if (!c.ArgIs(i, "NOSAVE") && !c.ArgIs(i, "SAVE") && !c.ArgIs(i, "NOW") &&
        !c.ArgIs(i, "FORCE")) {
      return c.SyntaxError();
    }
  }
  // As in Redis, the end of the connection is the reply.
  c.client().closing = true;
  c.service().stop.Cancel();
}

}  // namespace mini_redis::handlers
