// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines that MONITOR shows.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_MONITOR_LINE_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_MONITOR_LINE_H_

#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"

namespace mini_redis {

// Sends a line about a command to all clients that monitor the server.
void SendToMonitors(const Service& service, const Client& client,
                    const resp::Command& command);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_COMMANDS_MONITOR_LINE_H_
