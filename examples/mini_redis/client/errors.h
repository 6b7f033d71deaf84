// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: errors.h
// -----------------------------------------------------------------------------
//
// The errors of the client. An error names the server's address and, for a
// request, the command:
//
//   127.0.0.1:6379: INCR: ERR value is not an integer or out of range

#ifndef ROUSE_EXAMPLES_MINI_REDIS_CLIENT_ERRORS_H_
#define ROUSE_EXAMPLES_MINI_REDIS_CLIENT_ERRORS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mini_redis {

// Returns the text of the server's error reply, such as "WRONGTYPE Operation
// against a key holding the wrong kind of value", or nothing if `status` is not
// the error reply of a server.
std::optional<std::string> ServerError(const absl::Status& status);

// Converts the text of an error reply. `where` says which request of which
// server has failed. The first word of the text determines the code:
//
//   WRONGTYPE, READONLY, MISCONF          FailedPrecondition
//   NOAUTH, WRONGPASS                     Unauthenticated
//   NOPERM                                PermissionDenied
//   LOADING, BUSY, CLUSTERDOWN, MASTERDOWN, TRYAGAIN
//                                         Unavailable
//   OOM                                   ResourceExhausted
//   EXECABORT                             Aborted
//   NOSCRIPT                              NotFound
//   any other word, such as ERR           InvalidArgument
absl::Status MakeServerError(std::string_view where, std::string_view text);

// Returns `status` with "`where`: " before its message. Keeps the code and the
// payloads.
absl::Status Annotate(std::string_view where, const absl::Status& status);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_CLIENT_ERRORS_H_
