// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arguments that say when a key expires.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_DEADLINE_ARGUMENT_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_DEADLINE_ARGUMENT_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/timer/instant.h"

namespace mini_redis {

// The unit of an argument, and whether the argument counts from now or from
// 1970.
enum class TimeUnit { kSeconds, kMillis, kUnixSeconds, kUnixMillis };

// Says if an argument of zero or less is an error, or a time in the past.
enum class TimeRange { kPositive, kAny };

// Returns the unit of an option of SET: EX and PX count from now, and the same
// names with AT count from 1970.
std::optional<TimeUnit> TimeUnitOf(std::string_view option);

// Parses argument `i`. If the argument is not a valid time, replies with an
// error and returns false.
bool ParseDeadline(CommandContext& c, size_t i, TimeUnit unit, TimeRange range,
                   rouse::Instant& deadline);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_DEADLINE_ARGUMENT_H_
