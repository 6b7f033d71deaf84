// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/commands/monitor_line.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"

namespace mini_redis {

void SendToMonitors(const Service& service, const Client& client,
                    const resp::Command& command) {
  constexpr int64_t kMicrosPerSecond = 1'000'000;
  const int64_t micros = absl::ToUnixMicros(absl::Now());
  std::string line =
      absl::StrFormat("+%d.%06d [%d %s]", micros / kMicrosPerSecond,
                      micros % kMicrosPerSecond, client.db, client.address);
  for (size_t i = 0; i < command.size(); ++i) {
    absl::StrAppend(&line, " \"", absl::CHexEscape(command[i]), "\"");
  }
  line += "\r\n";
  // Fails if the last monitor has just left.
  service.monitors.Send(std::make_shared<const std::string>(std::move(line)))
      .IgnoreError();
}

}  // namespace mini_redis
