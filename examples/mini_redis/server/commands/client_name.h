// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of clients.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_CLIENT_NAME_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_CLIENT_NAME_H_

#include <string_view>

#include "rouse/examples/mini_redis/server/commands/command_context.h"

namespace mini_redis {

// Returns whether `name` can stand in a line of CLIENT LIST: only printable
// bytes of ASCII, and no spaces.
bool IsClientName(std::string_view name);

void ReplyBadClientName(CommandContext& c);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_CLIENT_NAME_H_
