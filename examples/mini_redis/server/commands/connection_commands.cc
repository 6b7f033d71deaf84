// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "rouse/examples/mini_redis/resp/numbers.h"
#include "rouse/examples/mini_redis/resp/reply_writer.h"
#include "rouse/examples/mini_redis/server/commands/client_name.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/executor.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/server/commands/version.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/keyspace.h"

namespace mini_redis::handlers {
namespace {

void ReplyHello(const Client& client, std::string& out) {
  resp::ReplyWriter reply(out, client.protocol);
  reply.MapHeader(7);
  reply.Bulk("server");
  reply.Bulk("redis");
  reply.Bulk("version");
  reply.Bulk(kRedisVersion);
  reply.Bulk("proto");
  reply.Integer(client.protocol);
  reply.Bulk("id");
  reply.Integer(static_cast<int64_t>(client.id));
  reply.Bulk("mode");
  reply.Bulk("standalone");
  reply.Bulk("role");
  reply.Bulk("master");
  reply.Bulk("modules");
  reply.ArrayHeader(0);
}

}  // namespace

void Ping(CommandContext& c) {
  if (c.size() > 2) return c.WrongArity("ping");
  const Client& client = c.client();
  // A subscriber of version 2 can receive pushes only.
  if (client.subscriber.has_value() && client.protocol == 2) {
    c.reply().ArrayHeader(2);
    c.reply().Bulk("pong");
    return c.reply().Bulk(c.size() == 2 ? c.arg(1) : "");
  }
  if (c.size() == 2) return c.reply().Bulk(c.arg(1));
  c.reply().SimpleString("PONG");
}

void Echo(CommandContext& c) { c.reply().Bulk(c.arg(1)); }

void Hello(CommandContext& c) {
  Client& client = c.client();
  int64_t protocol = client.protocol;
  if (c.size() >= 2) {
    if (!resp::ParseInteger(c.arg(1), protocol)) {
      return c.reply().Error(
          "ERR Protocol version is not an integer or out of range");
    }
    if (protocol != 2 && protocol != 3) {
      return c.reply().Error("NOPROTO unsupported protocol version");
    }
  }
  std::string_view name = client.name;
  for (size_t i = 2; i < c.size(); ++i) {
    if (c.ArgIs(i, "SETNAME") && i + 1 < c.size()) {
      name = c.arg(++i);
      if (!IsClientName(name)) return ReplyBadClientName(c);
    } else if (c.ArgIs(i, "AUTH") && i + 2 < c.size()) {
      // There are no passwords, and as in Redis the default user needs none.
      if (c.arg(i + 1) != "default") {
        return c.reply().Error(
            "WRONGPASS invalid username-password pair or user is disabled.");
      }
      i += 2;
    } else {
      return c.reply().Error(
          absl::StrCat("ERR Syntax error in HELLO option '", c.arg(i), "'"));
    }
  }
  if (name.data() != client.name.data()) client.name = name;
  client.protocol = static_cast<int>(protocol);
  ReplyHello(client, c.reply().out());
}

void Auth(CommandContext& c) {
  if (c.size() > 3) return c.SyntaxError();
  if (c.size() == 3 && c.arg(1) != "default") {
    return c.reply().Error(
        "WRONGPASS invalid username-password pair or user is disabled.");
  }
  if (c.size() == 3) return c.reply().Ok();
  c.reply().Error(
      "ERR AUTH <password> called without any password configured for the "
      "default user. Are you sure your configuration is correct?");
}

void Select(CommandContext& c) {
  int64_t db;
  if (!c.ParseInteger(1, db)) return;
  if (db < 0 || db >= static_cast<int64_t>(Keyspace::kDatabases)) {
    return c.reply().Error("ERR DB index is out of range");
  }
  c.client().db = static_cast<size_t>(db);
  c.reply().Ok();
}

void Quit(CommandContext& c) {
  c.client().closing = true;
  c.reply().Ok();
}

void Reset(CommandContext& c) {
  Client& client = c.client();
  c.service().store.mu().AssertHeld();
  Disconnect(c.service(), client);
  client.db = 0;
  client.protocol = 2;
  client.name.clear();
  resp::ReplyWriter(c.reply().out()).SimpleString("RESET");
}

}  // namespace mini_redis::handlers
