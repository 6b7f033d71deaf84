// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/deadline_argument.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/examples/mini_redis/store/keyspace.h"
#include "rouse/timer/instant.h"

namespace mini_redis::handlers {
namespace {

// The conditions of EXPIRE.
struct Condition {
  bool if_none = false;     // NX
  bool if_any = false;      // XX
  bool if_later = false;    // GT
  bool if_earlier = false;  // LT

  // Returns whether `deadline` may replace `old`. A missing deadline is later
  // than any other.
  bool Allows(std::optional<rouse::Instant> old,
              rouse::Instant deadline) const {
    if (if_none && old.has_value()) return false;
    if (if_any && !old.has_value()) return false;
    if (if_later && (!old.has_value() || deadline <= *old)) return false;
    if (if_earlier && old.has_value() && deadline >= *old) return false;
    return true;
  }
};

bool ParseCondition(CommandContext& c, Condition& condition) {
  for (size_t i = 3; i < c.size(); ++i) {
    if (c.ArgIs(i, "NX")) {
      condition.if_none = true;
    } else if (c.ArgIs(i, "XX")) {
      condition.if_any = true;
    } else if (c.ArgIs(i, "GT")) {
      condition.if_later = true;
    } else if (c.ArgIs(i, "LT")) {
      condition.if_earlier = true;
    } else {
      c.reply().Error(absl::StrCat("ERR Unsupported option ", c.arg(i)));
      return false;
    }
  }
  if (condition.if_none &&
      (condition.if_any || condition.if_later || condition.if_earlier)) {
    c.reply().Error(
        "ERR NX and XX, GT or LT options at the same time are not compatible");
    return false;
  }
  if (condition.if_later && condition.if_earlier) {
    c.reply().Error(
        "ERR GT and LT options at the same time are not compatible");
    return false;
  }
  return true;
}

void ExpireIn(CommandContext& c, TimeUnit unit) {
  rouse::Instant deadline;
  if (!ParseDeadline(c, 2, unit, TimeRange::kAny, deadline)) return;
  Condition condition;
  if (!ParseCondition(c, condition)) return;
  Keyspace& keyspace = c.keyspace();
  const std::string_view key = c.arg(1);
  Entry* const entry = keyspace.Find(c.db(), key);
  if (entry == nullptr ||
      !condition.Allows(keyspace.Deadline(*entry), deadline)) {
    return c.reply().Integer(0);
  }
  keyspace.SetDeadline(c.db(), key, *entry, deadline);
  c.Log({"PEXPIREAT", key, absl::StrCat(keyspace.ToUnixMillis(deadline))});
  // If the deadline has passed, the key is removed now, and the log says so.
  (void)keyspace.Find(c.db(), key);
  c.reply().Integer(1);
}

// Replies with the time that is left, in multiples of `unit`.
void ReplyTimeLeft(CommandContext& c, absl::Duration unit) {
  Keyspace& keyspace = c.keyspace();
  const Entry* const entry = keyspace.Find(c.db(), c.arg(1));
  if (entry == nullptr) return c.reply().Integer(-2);
  const std::optional<rouse::Instant> deadline = keyspace.Deadline(*entry);
  if (!deadline.has_value()) return c.reply().Integer(-1);
  // Rounds like Redis: up from half a unit.
  c.reply().Integer((*deadline - keyspace.Now() + unit / 2) / unit);
}

}  // namespace

void Expire(CommandContext& c) { ExpireIn(c, TimeUnit::kSeconds); }
void PExpire(CommandContext& c) { ExpireIn(c, TimeUnit::kMillis); }
void ExpireAt(CommandContext& c) { ExpireIn(c, TimeUnit::kUnixSeconds); }
void PExpireAt(CommandContext& c) { ExpireIn(c, TimeUnit::kUnixMillis); }

void Ttl(CommandContext& c) { ReplyTimeLeft(c, absl::Seconds(1)); }
void PTtl(CommandContext& c) { ReplyTimeLeft(c, absl::Milliseconds(1)); }

void Persist(CommandContext& c) {
  Entry* const entry = c.keyspace().Find(c.db(), c.arg(1));
  if (entry == nullptr || !c.keyspace().ClearDeadline(c.db(), *entry)) {
    return c.reply().Integer(0);
  }
  c.LogCommand();
  c.reply().Integer(1);
}

}  // namespace mini_redis::handlers
