// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/errors.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace mini_redis {
namespace {

constexpr std::string_view kPayload = "mini_redis.server_error";

absl::StatusCode CodeOf(std::string_view word) {
  struct Code {
    std::string_view word;
    absl::StatusCode code;
  };
  static constexpr Code kCodes[] = {
      {"WRONGTYPE", absl::StatusCode::kFailedPrecondition},
      {"READONLY", absl::StatusCode::kFailedPrecondition},
      {"MISCONF", absl::StatusCode::kFailedPrecondition},
      {"NOAUTH", absl::StatusCode::kUnauthenticated},
      {"WRONGPASS", absl::StatusCode::kUnauthenticated},
      {"NOPERM", absl::StatusCode::kPermissionDenied},
      {"LOADING", absl::StatusCode::kUnavailable},
      {"BUSY", absl::StatusCode::kUnavailable},
      {"CLUSTERDOWN", absl::StatusCode::kUnavailable},
      {"MASTERDOWN", absl::StatusCode::kUnavailable},
      {"TRYAGAIN", absl::StatusCode::kUnavailable},
      {"OOM", absl::StatusCode::kResourceExhausted},
      {"EXECABORT", absl::StatusCode::kAborted},
      {"NOSCRIPT", absl::StatusCode::kNotFound},
  };
  for (const Code& code : kCodes) {
    if (code.word == word) return code.code;
  }
  return absl::StatusCode::kInvalidArgument;
}

}  // namespace

std::optional<std::string> ServerError(const absl::Status& status) {
  const auto text = status.GetPayload(kPayload);
  if (!text.has_value()) return std::nullopt;
  return std::string(*text);
}

absl::Status MakeServerError(std::string_view where, std::string_view text) {
  absl::Status status(CodeOf(text.substr(0, text.find(' '))),
                      absl::StrCat(where, ": ", text));
  status.SetPayload(kPayload, absl::Cord(text));
  return status;
}

absl::Status Annotate(std::string_view where, const absl::Status& status) {
  absl::Status annotated(status.code(),
                         absl::StrCat(where, ": ", status.message()));
  const auto copy = [&annotated](std::string_view url,
                                 const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  };
  status.ForEachPayload(copy);
  return annotated;
}

}  // namespace mini_redis
