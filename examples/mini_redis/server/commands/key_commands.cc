// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/examples/mini_redis/store/glob.h"
#include "rouse/examples/mini_redis/store/keyspace.h"

namespace mini_redis::handlers {
namespace {

constexpr size_t kDefaultScanCount = 10;

// Parses the option of FLUSHALL and FLUSHDB, which changes nothing here.
bool ParseFlushOption(CommandContext& c) {
  if (c.size() == 1) return true;
  if (c.size() == 2 && (c.ArgIs(1, "ASYNC") || c.ArgIs(1, "SYNC"))) return true;
  c.SyntaxError();
  return false;
}

struct ScanOptions {
  uint64_t cursor = 0;
  size_t count = kDefaultScanCount;
  std::string_view pattern = "*";
  std::string_view type;  // empty for all types
};

bool ParseScanOptions(CommandContext& c, ScanOptions& options) {
  if (!absl::SimpleAtoi(c.arg(1), &options.cursor)) {
    c.reply().Error("ERR invalid cursor");
    return false;
  }
  for (size_t i = 2; i < c.size(); i += 2) {
    if (i + 1 == c.size()) {
      c.SyntaxError();
      return false;
    }
    if (c.ArgIs(i, "COUNT")) {
      int64_t count;
      if (!c.ParseInteger(i + 1, count)) return false;
      if (count < 1) {
        c.SyntaxError();
        return false;
      }
      options.count = static_cast<size_t>(count);
    } else if (c.ArgIs(i, "MATCH")) {
      options.pattern = c.arg(i + 1);
    } else if (c.ArgIs(i, "TYPE")) {
      options.type = c.arg(i + 1);
    } else {
      c.SyntaxError();
      return false;
    }
  }
  return true;
}

void ReplyStrings(CommandContext& c,
                  const std::vector<std::string_view>& keys) {
  c.reply().ArrayHeader(keys.size());
  for (std::string_view key : keys) c.reply().Bulk(key);
}

}  // namespace

void Del(CommandContext& c) {
  int64_t removed = 0;
  for (size_t i = 1; i < c.size(); ++i) {
    if (!c.keyspace().Erase(c.db(), c.arg(i))) continue;
    c.Log({"DEL", c.arg(i)});
    ++removed;
  }
  c.reply().Integer(removed);
}

void Exists(CommandContext& c) {
  int64_t found = 0;
  for (size_t i = 1; i < c.size(); ++i) {
    if (c.keyspace().Find(c.db(), c.arg(i)) != nullptr) ++found;
  }
  c.reply().Integer(found);
}

void Type(CommandContext& c) {
  const Entry* const entry = c.keyspace().Find(c.db(), c.arg(1));
  c.reply().SimpleString(entry == nullptr ? "none" : entry->type());
}

void Keys(CommandContext& c) {
  const std::string_view pattern = c.arg(1);
  std::vector<std::string_view> keys;
  c.keyspace().ForEach(c.db(), [&](std::string_view key, const Entry&) {
    if (GlobMatch(pattern, key)) keys.push_back(key);
  });
  ReplyStrings(c, keys);
}

void Scan(CommandContext& c) {
  ScanOptions options;
  if (!ParseScanOptions(c, options)) return;
  std::vector<std::string_view> keys;
  const size_t next = c.keyspace().Scan(
      c.db(), options.cursor, options.count,
      [&](std::string_view key, const Entry& entry) {
        if (!options.type.empty() &&
            !absl::EqualsIgnoreCase(options.type, entry.type())) {
          return;
        }
        if (GlobMatch(options.pattern, key)) keys.push_back(key);
      });
  c.reply().ArrayHeader(2);
  c.reply().Bulk(absl::StrCat(next));
  ReplyStrings(c, keys);
}

void DbSize(CommandContext& c) {
  c.reply().Integer(static_cast<int64_t>(c.keyspace().Size(c.db())));
}

void FlushAll(CommandContext& c) {
  if (!ParseFlushOption(c)) return;
  for (size_t db = 0; db < Keyspace::kDatabases; ++db) c.keyspace().Clear(db);
  c.LogCommand();
  c.reply().Ok();
}

void FlushDb(CommandContext& c) {
  if (!ParseFlushOption(c)) return;
  c.keyspace().Clear(c.db());
  c.LogCommand();
  c.reply().Ok();
}

}  // namespace mini_redis::handlers
