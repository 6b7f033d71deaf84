// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/commands/command_context.h"

#include <cstddef>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace mini_redis {

void CommandContext::LogCommand() {
  if (service_.store.log() == nullptr) return;
  absl::InlinedVector<std::string_view, 8> arguments;
  for (size_t i = 0; i < size(); ++i) arguments.push_back(arg(i));
  Log(arguments);
}

void CommandContext::WrongArity(std::string_view command_name) {
  reply_.Error(absl::StrCat("ERR wrong number of arguments for '", command_name,
                            "' command"));
}

void CommandContext::UnknownSubcommand() {
  reply_.Error(absl::StrCat("ERR unknown subcommand '", arg(1).substr(0, 128),
                            "'. Try ", absl::AsciiStrToUpper(arg(0)),
                            " HELP."));
}

}  // namespace mini_redis
