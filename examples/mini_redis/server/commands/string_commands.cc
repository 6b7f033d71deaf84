// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/examples/mini_redis/resp/numbers.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/deadline_argument.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/examples/mini_redis/store/keyspace.h"
#include "rouse/timer/instant.h"

namespace mini_redis::handlers {
namespace {

// Largest size of a string, as in Redis.
constexpr size_t kMaxString = size_t{512} << 20;  // bytes

// The options of SET.
struct SetOptions {
  std::optional<rouse::Instant> deadline;
  bool keep_ttl = false;
  bool if_absent = false;
  bool if_present = false;
  bool get = false;
};

// Parses the options of SET. If an option is wrong, replies with an error and
// returns false.
bool ParseSetOptions(CommandContext& c, SetOptions& options) {
  for (size_t i = 3; i < c.size(); ++i) {
    if (c.ArgIs(i, "NX") && !options.if_present) {
      options.if_absent = true;
    } else if (c.ArgIs(i, "XX") && !options.if_absent) {
      options.if_present = true;
    } else if (c.ArgIs(i, "GET")) {
      options.get = true;
    } else if (c.ArgIs(i, "KEEPTTL") && !options.deadline.has_value()) {
      options.keep_ttl = true;
    } else if (const std::optional<TimeUnit> unit = TimeUnitOf(c.arg(i));
               unit.has_value() && i + 1 < c.size() && !options.keep_ttl &&
               !options.deadline.has_value()) {
      rouse::Instant deadline;
      if (!ParseDeadline(c, ++i, *unit, TimeRange::kPositive, deadline)) {
        return false;
      }
      options.deadline = deadline;
    } else {
      c.SyntaxError();
      return false;
    }
  }
  return true;
}

void LogSet(CommandContext& c, const SetOptions& options) {
  if (options.deadline.has_value()) {
    c.Log({"SET", c.arg(1), c.arg(2), "PXAT",
           absl::StrCat(c.keyspace().ToUnixMillis(*options.deadline))});
  } else if (options.keep_ttl) {
    c.Log({"SET", c.arg(1), c.arg(2), "KEEPTTL"});
  } else {
    c.Log({"SET", c.arg(1), c.arg(2)});
  }
}

// Replies to a string, or to a missing key.
void ReplyString(CommandContext& c, const Entry* entry) {
  if (entry == nullptr) return c.reply().Null();
  c.reply().Bulk(*entry->string());
}

void IncrementBy(CommandContext& c, int64_t increment) {
  const Keyspace::Found found = c.keyspace().FindOrInsert(c.db(), c.arg(1));
  std::string* const value = found.entry.string();
  if (value == nullptr) return c.WrongType();
  int64_t number = 0;
  if (!found.inserted && !resp::ParseInteger(*value, number)) {
    return c.NotAnInteger();
  }
  if (__builtin_add_overflow(number, increment, &number)) {
    return c.reply().Error("ERR increment or decrement would overflow");
  }
  value->clear();
  resp::AppendInteger(number, *value);
  std::string text;
  resp::AppendInteger(increment, text);
  c.Log({"INCRBY", c.arg(1), text});
  c.reply().Integer(number);
}

}  // namespace

void Get(CommandContext& c) {
  const Entry* const entry = c.keyspace().Find(c.db(), c.arg(1));
  if (entry != nullptr && entry->string() == nullptr) return c.WrongType();
  ReplyString(c, entry);
}

void Set(CommandContext& c) {
  SetOptions options;
  if (c.size() > 3 && !ParseSetOptions(c, options)) return;
  Keyspace& keyspace = c.keyspace();
  const std::string_view key = c.arg(1);
  if (options.get || options.if_absent || options.if_present) {
    const Entry* const entry = keyspace.Find(c.db(), key);
    if (options.get && entry != nullptr && entry->string() == nullptr) {
      return c.WrongType();
    }
    const bool refused =
        entry == nullptr ? options.if_present : options.if_absent;
    if (options.get) {
      ReplyString(c, entry);
    } else if (refused) {
      c.reply().Null();
    }
    if (refused) return;
  }
  const Keyspace::Found found = keyspace.FindOrInsert(c.db(), key);
  found.entry.SetString(c.arg(2));
  if (options.deadline.has_value()) {
    keyspace.SetDeadline(c.db(), key, found.entry, *options.deadline);
  } else if (!options.keep_ttl) {
    (void)keyspace.ClearDeadline(c.db(), found.entry);
  }
  LogSet(c, options);
  if (!options.get) c.reply().Ok();
}

void MGet(CommandContext& c) {
  c.reply().ArrayHeader(c.size() - 1);
  for (size_t i = 1; i < c.size(); ++i) {
    const Entry* const entry = c.keyspace().Find(c.db(), c.arg(i));
    const bool is_string = entry != nullptr && entry->string() != nullptr;
    ReplyString(c, is_string ? entry : nullptr);
  }
}

void MSet(CommandContext& c) {
  if (c.size() % 2 == 0) return c.WrongArity("mset");
  for (size_t i = 1; i < c.size(); i += 2) {
    const Keyspace::Found found = c.keyspace().FindOrInsert(c.db(), c.arg(i));
    found.entry.SetString(c.arg(i + 1));
    (void)c.keyspace().ClearDeadline(c.db(), found.entry);
  }
  c.LogCommand();
  c.reply().Ok();
}

void Append(CommandContext& c) {
  const Keyspace::Found found = c.keyspace().FindOrInsert(c.db(), c.arg(1));
  std::string* const value = found.entry.string();
  if (value == nullptr) return c.WrongType();
  if (value->size() + c.arg(2).size() > kMaxString) {
    return c.reply().Error(
        "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  }
  value->append(c.arg(2));
  c.LogCommand();
  c.reply().Integer(static_cast<int64_t>(value->size()));
}

void Strlen(CommandContext& c) {
  const Entry* const entry = c.keyspace().Find(c.db(), c.arg(1));
  if (entry == nullptr) return c.reply().Integer(0);
  if (entry->string() == nullptr) return c.WrongType();
  c.reply().Integer(static_cast<int64_t>(entry->string()->size()));
}

void Incr(CommandContext& c) { IncrementBy(c, 1); }
void Decr(CommandContext& c) { IncrementBy(c, -1); }

void IncrBy(CommandContext& c) {
  int64_t increment;
  if (c.ParseInteger(2, increment)) IncrementBy(c, increment);
}

void DecrBy(CommandContext& c) {
  int64_t decrement;
  if (!c.ParseInteger(2, decrement)) return;
  if (decrement == std::numeric_limits<int64_t>::min()) {
    return c.reply().Error("ERR decrement would overflow");
  }
  IncrementBy(c, -decrement);
}

}  // namespace mini_redis::handlers
