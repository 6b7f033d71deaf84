// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/resp/numbers.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/store/blocked_pops.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/examples/mini_redis/store/keyspace.h"
#include "rouse/sync/oneshot.h"

namespace mini_redis::handlers {
namespace {

std::string PopElement(List& list, bool left) {
  std::string element = std::move(left ? list.front() : list.back());
  if (left) {
    list.pop_front();
  } else {
    list.pop_back();
  }
  return element;
}

void Push(CommandContext& c, bool left) {
  const std::string_view key = c.arg(1);
  const Keyspace::Found found = c.keyspace().FindOrInsert(c.db(), key);
  List* const list =
      found.inserted ? &found.entry.MakeList() : found.entry.list();
  if (list == nullptr) return c.WrongType();
  for (size_t i = 2; i < c.size(); ++i) {
    if (left) {
      list->emplace_front(c.arg(i));
    } else {
      list->emplace_back(c.arg(i));
    }
  }
  c.LogCommand();
  c.reply().Integer(static_cast<int64_t>(list->size()));
  c.NotePush(key);
}

void Pop(CommandContext& c, bool left) {
  if (c.size() > 3) return c.WrongArity(left ? "lpop" : "rpop");
  const bool has_count = c.size() == 3;
  int64_t count = 1;
  if (has_count && (!resp::ParseInteger(c.arg(2), count) || count < 0)) {
    return c.reply().Error("ERR value is out of range, must be positive");
  }
  Entry* const entry = c.keyspace().Find(c.db(), c.arg(1));
  if (entry == nullptr) {
    if (has_count) return c.reply().NullArray();
    return c.reply().Null();
  }
  List* const list = entry->list();
  if (list == nullptr) return c.WrongType();
  const size_t popped = std::min(static_cast<size_t>(count), list->size());
  if (has_count) c.reply().ArrayHeader(popped);
  for (size_t i = 0; i < popped; ++i) {
    c.reply().Bulk(PopElement(*list, left));
  }
  if (popped > 0) c.LogCommand();
  if (list->empty()) (void)c.keyspace().Erase(c.db(), c.arg(1));
}

// Replies to a BLPOP with an element of `list`, which is not empty.
void ReplyBlockingPop(CommandContext& c, std::string_view key, List& list,
                      bool left) {
  c.reply().ArrayHeader(2);
  c.reply().Bulk(key);
  c.reply().Bulk(PopElement(list, left));
  c.Log({left ? "LPOP" : "RPOP", key});
  if (list.empty()) (void)c.keyspace().Erase(c.db(), key);
}

void BlockingPop(CommandContext& c, bool left) {
  double seconds;
  if (!absl::SimpleAtod(c.arg(c.size() - 1), &seconds) ||
      !std::isfinite(seconds)) {
    return c.reply().Error("ERR timeout is not a float or out of range");
  }
  if (seconds < 0) return c.reply().Error("ERR timeout is negative");
  std::vector<std::string> keys;
  for (size_t i = 1; i + 1 < c.size(); ++i) {
    Entry* const entry = c.keyspace().Find(c.db(), c.arg(i));
    if (entry == nullptr) {
      keys.emplace_back(c.arg(i));
      continue;
    }
    if (entry->list() == nullptr) return c.WrongType();
    return ReplyBlockingPop(c, c.arg(i), *entry->list(), left);
  }
  if (c.in_exec()) return c.reply().NullArray();
  auto [sender, receiver] = rouse::oneshot::Channel<PoppedElement>();
  const BlockedPops::Id id =
      c.blocked_pops().Add(c.db(), std::move(keys), left, std::move(sender));
  // The connection waits, and writes the reply.
  c.client().blocked.emplace(BlockedPop{
      id, std::move(receiver),
      seconds == 0 ? absl::InfiniteDuration() : absl::Seconds(seconds)});
}

}  // namespace

void LPush(CommandContext& c) { Push(c, /*left=*/true); }
void RPush(CommandContext& c) { Push(c, /*left=*/false); }
void LPop(CommandContext& c) { Pop(c, /*left=*/true); }
void RPop(CommandContext& c) { Pop(c, /*left=*/false); }
void BLPop(CommandContext& c) { BlockingPop(c, /*left=*/true); }
void BRPop(CommandContext& c) { BlockingPop(c, /*left=*/false); }

void LLen(CommandContext& c) {
  const Entry* const entry = c.keyspace().Find(c.db(), c.arg(1));
  if (entry == nullptr) return c.reply().Integer(0);
  if (entry->list() == nullptr) return c.WrongType();
  c.reply().Integer(static_cast<int64_t>(entry->list()->size()));
}

void LRange(CommandContext& c) {
  int64_t first;
  int64_t last;
  if (!c.ParseInteger(2, first) || !c.ParseInteger(3, last)) return;
  const Entry* const entry = c.keyspace().Find(c.db(), c.arg(1));
  if (entry == nullptr) return c.reply().ArrayHeader(0);
  const List* const list = entry->list();
  if (list == nullptr) return c.WrongType();
  const auto size = static_cast<int64_t>(list->size());
  // Negative positions count from the end.
  if (first < 0) first = std::max<int64_t>(first + size, 0);
  if (last < 0) last += size;
  last = std::min(last, size - 1);
  if (first > last) return c.reply().ArrayHeader(0);
  c.reply().ArrayHeader(static_cast<size_t>(last - first + 1));
  for (auto it = list->begin() + first; it != list->begin() + last + 1; ++it) {
    c.reply().Bulk(*it);
  }
}

}  // namespace mini_redis::handlers
