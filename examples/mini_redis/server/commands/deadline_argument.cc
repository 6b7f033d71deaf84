// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/commands/deadline_argument.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/store/keyspace.h"
#include "rouse/timer/instant.h"

namespace mini_redis {

std::optional<TimeUnit> TimeUnitOf(std::string_view option) {
  // The first letter is the unit of the time, and the rest says from when the
  // time counts.
  const bool is_millis = absl::StartsWithIgnoreCase(option, "P");
  if (!is_millis && !absl::StartsWithIgnoreCase(option, "E")) {
    return std::nullopt;
  }
  option.remove_prefix(1);
  if (absl::EqualsIgnoreCase(option, "X")) {
    return is_millis ? TimeUnit::kMillis : TimeUnit::kSeconds;
  }
  if (absl::EqualsIgnoreCase(option, "XAT")) {
    return is_millis ? TimeUnit::kUnixMillis : TimeUnit::kUnixSeconds;
  }
  return std::nullopt;
}

bool ParseDeadline(CommandContext& c, size_t i, TimeUnit unit, TimeRange range,
                   rouse::Instant& deadline) {
  int64_t time;
  if (!c.ParseInteger(i, time)) return false;
  const bool absolute =
      unit == TimeUnit::kUnixSeconds || unit == TimeUnit::kUnixMillis;
  int64_t millis = time;
  bool valid = time > 0 || range == TimeRange::kAny;
  if (unit == TimeUnit::kSeconds || unit == TimeUnit::kUnixSeconds) {
    valid = valid && !__builtin_mul_overflow(time, 1000, &millis);
  }
  Keyspace& keyspace = c.keyspace();
  // The sum with the present time must fit, too.
  int64_t unused;
  if (valid && !absolute) {
    valid = !__builtin_add_overflow(
        millis, keyspace.ToUnixMillis(keyspace.Now()), &unused);
  }
  if (!valid) {
    c.reply().Error(absl::StrCat("ERR invalid expire time in '",
                                 absl::AsciiStrToLower(c.arg(0)), "' command"));
    return false;
  }
  deadline = absolute ? keyspace.FromUnixMillis(millis)
                      : keyspace.Now() + absl::Milliseconds(millis);
  return true;
}

}  // namespace mini_redis
