// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/executor.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/server/session/client.h"

namespace mini_redis::handlers {

void Multi(CommandContext& c) {
  if (c.client().in_transaction) {
    return c.reply().Error("ERR MULTI calls can not be nested");
  }
  c.client().in_transaction = true;
  c.reply().Ok();
}

void Exec(CommandContext& c) {
  if (!c.client().in_transaction) {
    return c.reply().Error("ERR EXEC without MULTI");
  }
  if (c.client().transaction_is_broken) {
    LeaveTransaction(c.client());
    return c.reply().Error(
        "EXECABORT Transaction discarded because of previous errors.");
  }
  ExecuteQueue(c);
}

void Discard(CommandContext& c) {
  if (!c.client().in_transaction) {
    return c.reply().Error("ERR DISCARD without MULTI");
  }
  LeaveTransaction(c.client());
  c.reply().Ok();
}

}  // namespace mini_redis::handlers
