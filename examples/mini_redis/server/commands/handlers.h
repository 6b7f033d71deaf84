// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of the commands, each named like the command.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_HANDLERS_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_HANDLERS_H_

#include "rouse/examples/mini_redis/server/commands/command_context.h"

namespace mini_redis::handlers {

// string_commands.cc
void Get(CommandContext& c);
void Set(CommandContext& c);
void MGet(CommandContext& c);
void MSet(CommandContext& c);
void Append(CommandContext& c);
void Strlen(CommandContext& c);
void Incr(CommandContext& c);
void Decr(CommandContext& c);
void IncrBy(CommandContext& c);
void DecrBy(CommandContext& c);

// key_commands.cc
void Del(CommandContext& c);
void Exists(CommandContext& c);
void Type(CommandContext& c);
void Keys(CommandContext& c);
void Scan(CommandContext& c);
void DbSize(CommandContext& c);
void FlushAll(CommandContext& c);
void FlushDb(CommandContext& c);

// expiry_commands.cc
void Expire(CommandContext& c);
void PExpire(CommandContext& c);
void ExpireAt(CommandContext& c);
void PExpireAt(CommandContext& c);
void Ttl(CommandContext& c);
void PTtl(CommandContext& c);
void Persist(CommandContext& c);

// list_commands.cc
void LPush(CommandContext& c);
void RPush(CommandContext& c);
void LPop(CommandContext& c);
void RPop(CommandContext& c);
void LLen(CommandContext& c);
void LRange(CommandContext& c);
void BLPop(CommandContext& c);
void BRPop(CommandContext& c);

// pubsub_commands.cc
void Subscribe(CommandContext& c);
void Unsubscribe(CommandContext& c);
void PSubscribe(CommandContext& c);
void PUnsubscribe(CommandContext& c);
void Publish(CommandContext& c);
void PubSub(CommandContext& c);

// transaction_commands.cc
void Multi(CommandContext& c);
void Exec(CommandContext& c);
void Discard(CommandContext& c);

// connection_commands.cc
void Ping(CommandContext& c);
void Echo(CommandContext& c);
void Hello(CommandContext& c);
void Auth(CommandContext& c);
void Select(CommandContext& c);
void Quit(CommandContext& c);
void Reset(CommandContext& c);

// client_command.cc
void ClientCommand(CommandContext& c);

// server_commands.cc
void Command(CommandContext& c);
void Config(CommandContext& c);
void Info(CommandContext& c);
void Monitor(CommandContext& c);
void Shutdown(CommandContext& c);

}  // namespace mini_redis::handlers

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_HANDLERS_H_
