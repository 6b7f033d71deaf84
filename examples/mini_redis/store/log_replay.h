// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads an append-only log when a server starts.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_STORE_LOG_REPLAY_H_
#define ROUSE_EXAMPLES_MINI_REDIS_STORE_LOG_REPLAY_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/store/log_file.h"

namespace mini_redis {

struct Replayed {
  uint64_t commands = 0;
  // Number of bytes that were cut off the end of the file.
  uint64_t cut = 0;
};

// Passes each command of a log to `run`, in order, and prepares the file for
// further commands. The commands of a transaction are passed when the end of
// the transaction has been read.
//
// If a server is killed while the server writes, the last command or
// transaction is incomplete. This end of the file is cut off, with a warning
// that names the file and the position. Nothing that was confirmed is lost.
//
// Any other error is damage, which no server causes. The replay fails, leaves
// the file unchanged, and names the file and the position: DataLoss for bytes
// that are not a command, and for a command that `run` refuses. A damaged
// length may make the rest of the file look like a part of an incomplete
// command. Therefore it is damage, too, if the incomplete command seems to
// contain the beginnings of further commands.
absl::StatusOr<Replayed> ReplayLog(
    DiskLogFile& file,
    absl::FunctionRef<absl::Status(const resp::Command&)> run);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_STORE_LOG_REPLAY_H_
