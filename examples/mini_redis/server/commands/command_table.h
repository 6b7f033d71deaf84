// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of all commands.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_COMMAND_TABLE_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_COMMAND_TABLE_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"

namespace mini_redis {

enum CommandFlag : uint8_t {
  kRead = 1 << 0,
  kWrite = 1 << 1,        // changes keys: refused while the log has an error
  kPubSub = 1 << 2,       // allowed to a subscriber of version 2
  kNoMulti = 1 << 3,      // not allowed in a transaction
  kTransaction = 1 << 4,  // runs in a transaction instead of being queued
};

// Which arguments are keys: the first, the last (negative positions count from
// the end), and the distance from one key to the next. Clients ask for this.
struct KeyRange {
  int first;
  int last;
  int step;
};

// CommandSpec
//
// A command. `arity` is the number of arguments, including the name, or the
// negative of the smallest number.
struct CommandSpec {
  std::string_view name;  // in lower case
  int arity;
  uint8_t flags;
  void (*run)(CommandContext&);
  KeyRange keys;
};

// Returns the command of a name in any case, or null.
const CommandSpec* FindCommand(std::string_view name);

absl::Span<const CommandSpec> AllCommands();

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_COMMAND_TABLE_H_
