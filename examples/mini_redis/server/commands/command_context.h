// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: command_context.h
// -----------------------------------------------------------------------------
//
// What the function of a command gets:
//
//   void Strlen(CommandContext& c) {
//     const Entry* const entry = c.keyspace().Find(c.db(), c.arg(1));
//     if (entry == nullptr) return c.reply().Integer(0);
//     ...
//   }

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_COMMAND_CONTEXT_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_COMMAND_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/numbers.h"
#include "rouse/examples/mini_redis/resp/reply_writer.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/blocked_pops.h"
#include "rouse/examples/mini_redis/store/keyspace.h"
#include "rouse/examples/mini_redis/store/store.h"

namespace mini_redis {

// CommandContext
//
// A command while the command runs. The lock of the store is held meanwhile.
class CommandContext {
 public:
  CommandContext(Service& service, Client& client, const resp::Command& command,
                 std::string& out)
      : service_(service),
        client_(client),
        command_(command),
        reply_(out, client.protocol) {}

  Service& service() ABSL_ATTRIBUTE_LIFETIME_BOUND { return service_; }
  Client& client() ABSL_ATTRIBUTE_LIFETIME_BOUND { return client_; }
  resp::ReplyWriter& reply() ABSL_ATTRIBUTE_LIFETIME_BOUND { return reply_; }

  // Returns the number of arguments, including the name.
  size_t size() const { return command_.size(); }
  std::string_view arg(size_t i) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return command_[i];
  }
  // Returns whether argument `i` is `word`, in any case.
  bool ArgIs(size_t i, std::string_view word) const {
    return absl::EqualsIgnoreCase(arg(i), word);
  }
  const resp::Command& command() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return command_;
  }

  size_t db() const { return client_.db; }
  Store& store() ABSL_ATTRIBUTE_LIFETIME_BOUND { return service_.store; }
  Keyspace& keyspace() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    service_.store.mu().AssertHeld();
    return service_.store.keyspace();
  }

  BlockedPops& blocked_pops() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    service_.store.mu().AssertHeld();
    return service_.store.blocked_pops();
  }
  // Notes that clients may wait for the list `key`.
  void NotePush(std::string_view key) {
    service_.store.mu().AssertHeld();
    service_.store.NotePush(client_.db, key);
  }

  // Logs what the command has changed.
  void Log(absl::Span<const std::string_view> command) {
    service_.store.mu().AssertHeld();
    service_.store.Log(client_.db, command);
  }

  // Logs the command itself.
  void LogCommand();

  // Returns whether the command runs in a transaction, where nothing waits.
  bool in_exec() const { return in_exec_; }
  void set_in_exec() { in_exec_ = true; }

  // Parses argument `i`. If the argument is not a number, replies with an error
  // and returns false.
  bool ParseInteger(size_t i, int64_t& number) {
    if (resp::ParseInteger(arg(i), number)) return true;
    NotAnInteger();
    return false;
  }

  // The usual errors.
  void NotAnInteger() {
    reply_.Error("ERR value is not an integer or out of range");
  }
  void SyntaxError() { reply_.Error("ERR syntax error"); }
  void WrongType() {
    reply_.Error(
        "WRONGTYPE Operation against a key holding the wrong kind of value");
  }
  void WrongArity(std::string_view command_name);
  void UnknownSubcommand();

 private:
  Service& service_;
  Client& client_;
  const resp::Command& command_;
  resp::ReplyWriter reply_;
  bool in_exec_ = false;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_COMMAND_CONTEXT_H_
