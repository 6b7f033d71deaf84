// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/keyspace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/timer/delay_queue.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace mini_redis {

Keyspace::Keyspace(const rouse::wheel::Handle& timer)
    : timer_(timer), clock_(timer_.clock()), deadlines_(timer_) {}

bool Keyspace::IsExpired(const Entry& entry) const {
  if (entry.expiry_ == rouse::DelayKey() || expiry_is_held_) return false;
  const std::optional<rouse::Instant> deadline =
      deadlines_.Deadline(entry.expiry_);
  return deadline.has_value() && *deadline <= clock_.Now();
}

void Keyspace::Remove(size_t db, Table& table, Table::iterator it) {
  (void)ClearDeadline(db, it->second);
  table.erase(it);
  --databases_[db].size;
}

void Keyspace::Expire(size_t db, Table& table, Table::iterator it) {
  if (on_expired_ != nullptr) on_expired_(db, it->first);
  Remove(db, table, it);
}

Entry* Keyspace::Find(size_t db, std::string_view key) {
  Database& database = databases_[db];
  if (database.shards == nullptr) return nullptr;
  const size_t hash = Hash(key);
  Table& table = database.shards[ShardOf(hash)];
  const Table::iterator it = table.find(key, hash);
  if (it == table.end()) return nullptr;
  if (IsExpired(it->second)) {
    Expire(db, table, it);
    return nullptr;
  }
  return &it->second;
}

Keyspace::Found Keyspace::FindOrInsert(size_t db, std::string_view key) {
  if (Entry* entry = Find(db, key)) return Found{*entry, false};
  Database& database = databases_[db];
  if (database.shards == nullptr) {
    database.shards = std::make_unique<Table[]>(kShards);
  }
  Table& table = database.shards[ShardOf(Hash(key))];
  ++database.size;
  return Found{table.try_emplace(key).first->second, true};
}

bool Keyspace::Erase(size_t db, std::string_view key) {
  Database& database = databases_[db];
  if (database.shards == nullptr) return false;
  const size_t hash = Hash(key);
  Table& table = database.shards[ShardOf(hash)];
  const Table::iterator it = table.find(key, hash);
  if (it == table.end()) return false;
  if (IsExpired(it->second)) {
    Expire(db, table, it);
    return false;
  }
  Remove(db, table, it);
  return true;
}

void Keyspace::Clear(size_t db) {
  Database& database = databases_[db];
  if (database.shards == nullptr) return;
  for (size_t i = 0; i < kShards; ++i) {
    for (auto& [key, entry] : database.shards[i])
      (void)ClearDeadline(db, entry);
  }
  database.shards = nullptr;
  database.size = 0;
}

void Keyspace::SetDeadline(size_t db, std::string_view key, Entry& entry,
                           rouse::Instant deadline) {
  if (deadlines_.ResetAt(entry.expiry_, deadline)) return;
  ++databases_[db].expiring;
  entry.expiry_ = deadlines_.InsertAt(Name{db, std::string(key)}, deadline);
}

bool Keyspace::ClearDeadline(size_t db, Entry& entry) {
  if (entry.expiry_ == rouse::DelayKey()) return false;
  // The deadline is not in the queue if the deadline has just come.
  (void)deadlines_.TryRemove(std::exchange(entry.expiry_, rouse::DelayKey()));
  --databases_[db].expiring;
  return true;
}

std::optional<rouse::Instant> Keyspace::Deadline(const Entry& entry) const {
  if (entry.expiry_ == rouse::DelayKey()) return std::nullopt;
  return deadlines_.Deadline(entry.expiry_);
}

int64_t Keyspace::ToUnixMillis(rouse::Instant instant) const {
  return absl::ToUnixMillis(clock_.ToTime(instant));
}

rouse::Instant Keyspace::FromUnixMillis(int64_t millis) const {
  return clock_.FromTime(absl::FromUnixMillis(millis));
}

void Keyspace::ForEach(size_t db, Visit visit) const {
  for (size_t cursor = 0;;) {
    cursor = Scan(db, cursor, kShards, visit);
    if (cursor == 0) return;
  }
}

size_t Keyspace::Scan(size_t db, size_t cursor, size_t count,
                      Visit visit) const {
  const Database& database = databases_[db];
  if (database.shards == nullptr) return 0;
  size_t visited = 0;
  for (size_t shard = cursor; shard < kShards; ++shard) {
    if (visited >= count) return shard;
    for (const auto& [key, entry] : database.shards[shard]) {
      if (IsExpired(entry)) continue;
      visit(key, entry);
      ++visited;
    }
  }
  return 0;
}

rouse::PollResult<bool> Keyspace::PollExpired(rouse::Context& cx) {
  auto expired = deadlines_.PollNext(cx);
  if (expired.IsPending()) return rouse::kPending;
  if (!expired->has_value()) return false;
  const Name& name = (*expired)->value;
  Table& table = databases_[name.db].shards[ShardOf(Hash(name.key))];
  const Table::iterator it = table.find(name.key);
  // The queue and the tables change together, so the key exists.
  Expire(name.db, table, it);
  return true;
}

}  // namespace mini_redis
