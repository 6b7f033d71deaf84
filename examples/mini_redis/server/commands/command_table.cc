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

constexpr CommandSpec kCommands[] = {
    {"append", 3, kWrite, handlers::Append},
    {"auth", -2, 0, handlers::Auth},
    {"blpop", -3, kWrite, handlers::BLPop},
    {"brpop", -3, kWrite, handlers::BRPop},
    {"client", -2, 0, handlers::ClientCommand},
    {"command", -1, 0, handlers::Command},
    {"config", -2, 0, handlers::Config},
    {"dbsize", 1, kRead, handlers::DbSize},
    {"decr", 2, kWrite, handlers::Decr},
    {"decrby", 3, kWrite, handlers::DecrBy},
    {"del", -2, kWrite, handlers::Del},
    {"discard", 1, kTransaction, handlers::Discard},
    {"echo", 2, 0, handlers::Echo},
    {"exec", 1, kTransaction, handlers::Exec},
    {"exists", -2, kRead, handlers::Exists},
    {"expire", -3, kWrite, handlers::Expire},
    {"expireat", -3, kWrite, handlers::ExpireAt},
    {"flushall", -1, kWrite, handlers::FlushAll},
    {"flushdb", -1, kWrite, handlers::FlushDb},
    {"get", 2, kRead, handlers::Get},
    {"hello", -1, kNoMulti, handlers::Hello},
    {"incr", 2, kWrite, handlers::Incr},
    {"incrby", 3, kWrite, handlers::IncrBy},
    {"info", -1, 0, handlers::Info},
    {"keys", 2, kRead, handlers::Keys},
    {"llen", 2, kRead, handlers::LLen},
    {"lpop", -2, kWrite, handlers::LPop},
    {"lpush", -3, kWrite, handlers::LPush},
    {"lrange", 4, kRead, handlers::LRange},
    {"mget", -2, kRead, handlers::MGet},
    {"monitor", 1, kNoMulti, handlers::Monitor},
    {"mset", -3, kWrite, handlers::MSet},
    {"multi", 1, kTransaction, handlers::Multi},
    {"persist", 2, kWrite, handlers::Persist},
    {"pexpire", -3, kWrite, handlers::PExpire},
    {"pexpireat", -3, kWrite, handlers::PExpireAt},
    {"ping", -1, kPubSub, handlers::Ping},
    {"psubscribe", -2, kPubSub, handlers::PSubscribe},
    {"pttl", 2, kRead, handlers::PTtl},
    {"publish", 3, 0, handlers::Publish},
    {"pubsub", -2, 0, handlers::PubSub},
    {"punsubscribe", -1, kPubSub, handlers::PUnsubscribe},
    {"quit", -1, kPubSub | kTransaction, handlers::Quit},
    {"reset", 1, kPubSub | kTransaction, handlers::Reset},
    {"rpop", -2, kWrite, handlers::RPop},
    {"rpush", -3, kWrite, handlers::RPush},
    {"scan", -2, kRead, handlers::Scan},
    {"select", 2, 0, handlers::Select},
    {"set", -3, kWrite, handlers::Set},
    {"shutdown", -1, kNoMulti, handlers::Shutdown},
    {"strlen", 2, kRead, handlers::Strlen},
    {"subscribe", -2, kPubSub, handlers::Subscribe},
    {"ttl", 2, kRead, handlers::Ttl},
    {"type", 2, kRead, handlers::Type},
    {"unlink", -2, kWrite, handlers::Del},
    {"unsubscribe", -1, kPubSub, handlers::Unsubscribe},
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
