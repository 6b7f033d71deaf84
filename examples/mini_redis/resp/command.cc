// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/command.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace mini_redis::resp {

void AppendCommand(const Command& command, std::string& out) {
  absl::StrAppend(&out, "*", command.size(), "\r\n");
  for (size_t i = 0; i < command.size(); ++i) {
    const std::string_view argument = command[i];
    absl::StrAppend(&out, "$", argument.size(), "\r\n", argument, "\r\n");
  }
}

}  // namespace mini_redis::resp
