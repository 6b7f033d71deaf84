// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/server/commands/client_name.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/command_table.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/timer/instant.h"

namespace mini_redis {

bool IsClientName(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return c >= '!' && c <= '~'; });
}

void ReplyBadClientName(CommandContext& c) {
  c.reply().Error(
      "ERR Client names cannot contain spaces, newlines or special "
      "characters.");
}

namespace handlers {
namespace {

std::string_view TypeOf(const Client& client) {
  return client.subscriber.has_value() ? "pubsub" : "normal";
}

// Appends the line of a client in CLIENT LIST.
void AppendClient(const Client& client, rouse::Instant now, std::string& out) {
  const size_t channels =
      client.subscriber.has_value() ? client.subscriber->channels().size() : 0;
  const size_t patterns =
      client.subscriber.has_value() ? client.subscriber->patterns().size() : 0;
  std::string flags;
  if (client.monitor.has_value()) flags += 'O';
  if (client.subscriber.has_value()) flags += 'P';
  if (client.in_transaction) flags += 'x';
  if (client.blocked.has_value()) flags += 'b';
  if (flags.empty()) flags = "N";
  absl::StrAppend(
      &out, "id=", client.id, " addr=", client.address, " name=", client.name,
      " age=", absl::ToInt64Seconds(now - client.connected),
      " idle=", absl::ToInt64Seconds(now - client.last_command_time));
  absl::StrAppend(
      &out, " flags=", flags, " db=", client.db, " sub=", channels,
      " psub=", patterns, " multi=",
      client.in_transaction ? static_cast<int>(client.queue.size()) : -1,
      " cmd=",
      client.last_command == nullptr ? "NULL" : client.last_command->name);
  absl::StrAppend(&out, " user=default lib-name=", client.library_name,
                  " lib-ver=", client.library_version,
                  " resp=", client.protocol, "\n");
}

// Which clients CLIENT KILL ends.
struct KillFilter {
  uint64_t id = 0;           // 0 for any
  std::string_view address;  // empty for any
  std::string_view type;     // empty for any
  bool skip_me = true;

  bool Matches(const Client& client, const Client& me) const {
    return (id == 0 || client.id == id) &&
           (address.empty() || client.address == address) &&
           (type.empty() || absl::EqualsIgnoreCase(type, TypeOf(client))) &&
           !(skip_me && &client == &me);
  }
};

// Parses the arguments of CLIENT KILL behind the subcommand.
bool ParseKillFilter(CommandContext& c, KillFilter& filter) {
  if (c.size() == 3) {
    filter.address = c.arg(2);
    filter.skip_me = false;
    return true;
  }
  for (size_t i = 2; i < c.size(); i += 2) {
    bool valid = i + 1 < c.size();
    if (valid && c.ArgIs(i, "ID")) {
      if (!absl::SimpleAtoi(c.arg(i + 1), &filter.id) || filter.id == 0) {
        c.reply().Error("ERR client-id should be greater than 0");
        return false;
      }
    } else if (valid && c.ArgIs(i, "ADDR")) {
      filter.address = c.arg(i + 1);
    } else if (valid && c.ArgIs(i, "TYPE")) {
      filter.type = c.arg(i + 1);
      if (!absl::EqualsIgnoreCase(filter.type, "normal") &&
          !absl::EqualsIgnoreCase(filter.type, "pubsub")) {
        c.reply().Error(
            absl::StrCat("ERR Unknown client type '", filter.type, "'"));
        return false;
      }
    } else if (valid && c.ArgIs(i, "SKIPME")) {
      filter.skip_me = c.ArgIs(i + 1, "yes");
      valid = filter.skip_me || c.ArgIs(i + 1, "no");
    } else {
      valid = false;
    }
    if (!valid) {
      c.SyntaxError();
      return false;
    }
  }
  return true;
}

void Kill(CommandContext& c) {
  KillFilter filter;
  if (!ParseKillFilter(c, filter)) return;
  int64_t killed = 0;
  for (auto& [id, client] : c.service().clients) {
    if (!filter.Matches(*client, c.client())) continue;
    ++killed;
    if (client == &c.client()) {
      // The reply must be sent first.
      client->closing = true;
    } else {
      client->kill.Cancel();
    }
  }
  if (c.size() > 3) return c.reply().Integer(killed);
  if (killed == 0) return c.reply().Error("ERR No such client");
  c.reply().Ok();
}

void List(CommandContext& c) {
  KillFilter filter;
  filter.skip_me = false;
  if (c.size() == 4 && c.ArgIs(2, "TYPE")) {
    filter.type = c.arg(3);
  } else if (c.size() != 2) {
    return c.SyntaxError();
  }
  std::string lines;
  for (const auto& [id, client] : c.service().clients) {
    if (!filter.Matches(*client, c.client())) continue;
    AppendClient(*client, c.keyspace().Now(), lines);
  }
  c.reply().Bulk(lines);
}

void SetInfo(CommandContext& c) {
  if (!IsClientName(c.arg(3))) {
    return c.reply().Error(absl::StrCat(
        "ERR ", c.arg(2),
        " cannot contain spaces, newlines or special characters."));
  }
  if (c.ArgIs(2, "LIB-NAME")) {
    c.client().library_name = c.arg(3);
  } else if (c.ArgIs(2, "LIB-VER")) {
    c.client().library_version = c.arg(3);
  } else {
    return c.reply().Error(
        absl::StrCat("ERR Unrecognized option '", c.arg(2), "'"));
  }
  c.reply().Ok();
}

}  // namespace

void ClientCommand(CommandContext& c) {
  Client& client = c.client();
  if (c.ArgIs(1, "ID") && c.size() == 2) {
    c.reply().Integer(static_cast<int64_t>(client.id));
  } else if (c.ArgIs(1, "GETNAME") && c.size() == 2) {
    if (client.name.empty()) return c.reply().Null();
    c.reply().Bulk(client.name);
  } else if (c.ArgIs(1, "SETNAME") && c.size() == 3) {
    if (!IsClientName(c.arg(2))) return ReplyBadClientName(c);
    client.name = c.arg(2);
    c.reply().Ok();
  } else if (c.ArgIs(1, "SETINFO") && c.size() == 4) {
    SetInfo(c);
  } else if (c.ArgIs(1, "LIST")) {
    List(c);
  } else if (c.ArgIs(1, "INFO") && c.size() == 2) {
    std::string line;
    AppendClient(client, c.keyspace().Now(), line);
    c.reply().Bulk(line);
  } else if (c.ArgIs(1, "KILL") && c.size() >= 3) {
    Kill(c);
  } else {
    for (const std::string_view known :
         {"id", "getname", "setname", "setinfo", "info", "kill"}) {
      if (c.ArgIs(1, known)) {
        return c.WrongArity(absl::StrCat("client|", known));
      }
    }
    c.UnknownSubcommand();
  }
}

}  // namespace handlers
}  // namespace mini_redis
