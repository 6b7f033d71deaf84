// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The version of Redis whose behaviour the server follows.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_VERSION_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_VERSION_H_

#include <string_view>

namespace mini_redis {

inline constexpr std::string_view kRedisVersion = "7.0.15";

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_VERSION_H_
