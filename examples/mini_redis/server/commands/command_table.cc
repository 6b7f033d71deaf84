// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/commands/command_table.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "absl/base/no_destructor.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/types/span.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"

namespace mini_redis {
namespace {

constexpr KeyRange kNoKeys = {0, 0, 0};
constexpr KeyRange kOneKey = {1, 1, 1};
constexpr KeyRange kAllKeys = {1, -1, 1};
constexpr KeyRange kAllButLast = {1, -2, 1};
constexpr KeyRange kPairs = {1, -1, 2};

constexpr CommandSpec kCommands[] = {
    {"append", 3, kWrite, handlers::Append, kOneKey},
    {"auth", -2, 0, handlers::Auth, kNoKeys},
    {"blpop", -3, kWrite, handlers::BLPop, kAllButLast},
    {"brpop", -3, kWrite, handlers::BRPop, kAllButLast},
    {"client", -2, 0, handlers::ClientCommand, kNoKeys},
    {"command", -1, 0, handlers::Command, kNoKeys},
    {"config", -2, 0, handlers::Config, kNoKeys},
    {"dbsize", 1, kRead, handlers::DbSize, kNoKeys},
    {"decr", 2, kWrite, handlers::Decr, kOneKey},
    {"decrby", 3, kWrite, handlers::DecrBy, kOneKey},
    {"del", -2, kWrite, handlers::Del, kAllKeys},
    {"discard", 1, kTransaction, handlers::Discard, kNoKeys},
    {"echo", 2, 0, handlers::Echo, kNoKeys},
    {"exec", 1, kTransaction, handlers::Exec, kNoKeys},
    {"exists", -2, kRead, handlers::Exists, kAllKeys},
    {"expire", -3, kWrite, handlers::Expire, kOneKey},
    {"expireat", -3, kWrite, handlers::ExpireAt, kOneKey},
    {"flushall", -1, kWrite, handlers::FlushAll, kNoKeys},
    {"flushdb", -1, kWrite, handlers::FlushDb, kNoKeys},
    {"get", 2, kRead, handlers::Get, kOneKey},
    {"hello", -1, kNoMulti, handlers::Hello, kNoKeys},
    {"incr", 2, kWrite, handlers::Incr, kOneKey},
    {"incrby", 3, kWrite, handlers::IncrBy, kOneKey},
    {"info", -1, 0, handlers::Info, kNoKeys},
    {"keys", 2, kRead, handlers::Keys, kNoKeys},
    {"llen", 2, kRead, handlers::LLen, kOneKey},
    {"lpop", -2, kWrite, handlers::LPop, kOneKey},
    {"lpush", -3, kWrite, handlers::LPush, kOneKey},
    {"lrange", 4, kRead, handlers::LRange, kOneKey},
    {"mget", -2, kRead, handlers::MGet, kAllKeys},
    {"monitor", 1, kNoMulti, handlers::Monitor, kNoKeys},
    {"mset", -3, kWrite, handlers::MSet, kPairs},
    {"multi", 1, kTransaction, handlers::Multi, kNoKeys},
    {"persist", 2, kWrite, handlers::Persist, kOneKey},
    {"pexpire", -3, kWrite, handlers::PExpire, kOneKey},
    {"pexpireat", -3, kWrite, handlers::PExpireAt, kOneKey},
    {"ping", -1, kPubSub, handlers::Ping, kNoKeys},
    {"psubscribe", -2, kPubSub, handlers::PSubscribe, kNoKeys},
    {"pttl", 2, kRead, handlers::PTtl, kOneKey},
    {"publish", 3, 0, handlers::Publish, kNoKeys},
    {"pubsub", -2, 0, handlers::PubSub, kNoKeys},
    {"punsubscribe", -1, kPubSub, handlers::PUnsubscribe, kNoKeys},
    {"quit", -1, kPubSub | kTransaction, handlers::Quit, kNoKeys},
    {"reset", 1, kPubSub | kTransaction, handlers::Reset, kNoKeys},
    {"rpop", -2, kWrite, handlers::RPop, kOneKey},
    {"rpush", -3, kWrite, handlers::RPush, kOneKey},
    {"scan", -2, kRead, handlers::Scan, kNoKeys},
    {"select", 2, 0, handlers::Select, kNoKeys},
    {"set", -3, kWrite, handlers::Set, kOneKey},
    {"shutdown", -1, kNoMulti, handlers::Shutdown, kNoKeys},
    {"strlen", 2, kRead, handlers::Strlen, kOneKey},
    {"subscribe", -2, kPubSub, handlers::Subscribe, kNoKeys},
    {"ttl", 2, kRead, handlers::Ttl, kOneKey},
    {"type", 2, kRead, handlers::Type, kOneKey},
    {"unlink", -2, kWrite, handlers::Del, kAllKeys},
    {"unsubscribe", -1, kPubSub, handlers::Unsubscribe, kNoKeys},
};

// Longer than every name.
constexpr size_t kNameBuffer = 16;

using Table = absl::flat_hash_map<std::string_view, const CommandSpec*>;

Table MakeTable() {
  Table table;
  for (const CommandSpec& spec : kCommands) table.emplace(spec.name, &spec);
  return table;
}

}  // namespace

const CommandSpec* FindCommand(std::string_view name) {
  static const absl::NoDestructor<Table> table(MakeTable());
  std::array<char, kNameBuffer> lower;
  if (name.size() > lower.size()) return nullptr;
  for (size_t i = 0; i < name.size(); ++i) {
    lower[i] = absl::ascii_tolower(static_cast<unsigned char>(name[i]));
  }
  const auto it = table->find(std::string_view(lower.data(), name.size()));
  return it == table->end() ? nullptr : it->second;
}

absl::Span<const CommandSpec> AllCommands() { return kCommands; }

}  // namespace mini_redis
