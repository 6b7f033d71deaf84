// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: keyspace.h
// -----------------------------------------------------------------------------
//
// The keys and values of all databases, and the times at which keys expire.
//
//   Keyspace keyspace(runtime.handle().timer());
//   Keyspace::Found found = keyspace.FindOrInsert(0, "session");
//   found.entry.SetString("alice");
//   keyspace.SetDeadline(0, "session", found.entry, keyspace.Now() + ttl);

#ifndef ROUSE_EXAMPLES_MINI_REDIS_STORE_KEYSPACE_H_
#define ROUSE_EXAMPLES_MINI_REDIS_STORE_KEYSPACE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/delay_queue.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace mini_redis {

// Keyspace
//
// Used by a single thread at a time: `Store` has the lock. Pointers and
// references to entries are valid until another key of the same database is
// inserted or removed.
//
// # Expiry
//
// A key past its deadline does not exist for any function. The key is removed
// when a function finds the key, or by `PollExpired()`, whichever comes first.
// Deadlines are on the clock of the driver with which the keyspace was made.
//
// # Shards
//
// The keys of a database are spread over a fixed number of small hash tables. A
// scan gives whole tables, so every key that exists during the whole scan is
// given, however the tables change. A table that grows moves only its own keys,
// so no insertion takes long.
class Keyspace {
 public:
  static constexpr size_t kDatabases = 16;

  // Called with the database and the name of each key that expires, before the
  // key is removed.
  using OnExpired = std::function<void(size_t, std::string_view)>;

  struct Found {
    Entry& entry;
    bool inserted;
  };

  explicit Keyspace(const rouse::wheel::Handle& timer);

  void SetOnExpired(OnExpired on_expired) {
    on_expired_ = std::move(on_expired);
  }

  // While expiry is held, no key expires. A log is replayed in this state: the
  // log says which keys expired, and when.
  void HoldExpiry(bool hold) { expiry_is_held_ = hold; }

  // Returns the entry of `key`, or null if the key does not exist.
  Entry* Find(size_t db, std::string_view key);

  // Returns the entry of `key`. A new entry is an empty string.
  Found FindOrInsert(size_t db, std::string_view key);

  // Removes `key`. Returns whether the key existed.
  bool Erase(size_t db, std::string_view key);

  // Removes all keys of a database.
  void Clear(size_t db);

  // Returns the number of keys, including expired keys that nothing has found.
  size_t Size(size_t db) const { return databases_[db].size; }
  // Returns the number of keys that have a deadline.
  size_t ExpiringSize(size_t db) const { return databases_[db].expiring; }

  // Sets, removes and returns the deadline of an entry of `key`.
  void SetDeadline(size_t db, std::string_view key, Entry& entry,
                   rouse::Instant deadline);
  // Returns whether the entry had a deadline.
  bool ClearDeadline(size_t db, Entry& entry);
  std::optional<rouse::Instant> Deadline(const Entry& entry) const;

  rouse::Instant Now() const { return clock_.Now(); }
  // Convert deadlines to and from milliseconds since 1970, the form in which
  // commands and the log have absolute times.
  int64_t ToUnixMillis(rouse::Instant instant) const;
  rouse::Instant FromUnixMillis(int64_t millis) const;

  using Visit = absl::FunctionRef<void(std::string_view key, const Entry&)>;

  // Visits every key of a database.
  void ForEach(size_t db, Visit visit) const;

  // Visits at least `count` keys, unless fewer are left, and returns the cursor
  // of the next call, or 0 at the end. The first cursor is 0.
  size_t Scan(size_t db, size_t cursor, size_t count, Visit visit) const;

  // Removes a key when the key's deadline comes. Ready with false when the
  // driver has shut down. A task that waits is woken for deadlines that are set
  // later, too.
  rouse::PollResult<bool> PollExpired(rouse::Context& cx);

 private:
  // The top bits of a hash select the shard. The table of the shard uses the
  // others.
  static constexpr int kShardBits = 10;
  static constexpr size_t kShards = size_t{1} << kShardBits;

  using Table = absl::flat_hash_map<std::string, Entry>;
  struct Database {
    // Null until the first insertion, because most databases are never used.
    std::unique_ptr<Table[]> shards;
    size_t size = 0;
    size_t expiring = 0;
  };
  // The key of a deadline.
  struct Name {
    size_t db;
    std::string key;
  };

  static size_t Hash(std::string_view key) { return Table::hasher()(key); }
  static size_t ShardOf(size_t hash) {
    return hash >> (8 * sizeof(size_t) - kShardBits);
  }

  bool IsExpired(const Entry& entry) const;
  // Removes an expired key.
  void Expire(size_t db, Table& table, Table::iterator it);
  void Remove(size_t db, Table& table, Table::iterator it);

  std::array<Database, kDatabases> databases_;
  const rouse::wheel::Handle timer_;
  const rouse::Clock& clock_;
  rouse::DelayQueue<Name> deadlines_;
  OnExpired on_expired_;
  bool expiry_is_held_ = false;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_STORE_KEYSPACE_H_
