// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The codec of a connection's `Framed`.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_REQUEST_CODEC_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_REQUEST_CODEC_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/command_decoder.h"
#include "rouse/io/codec.h"

namespace mini_redis {

// RequestCodec
//
// A `rouse::Codec` whose frame is a pointer to a command in the codec. The
// command exists until the next call of the codec, and its memory is used again
// for the next command, so a connection allocates nothing for a request. The
// codec must not be moved while a frame is in use.
class RequestCodec {
 public:
  using Frame = const resp::Command*;

  explicit RequestCodec(const resp::CommandLimits& limits) : decoder_(limits) {}

  absl::StatusOr<std::optional<Frame>> Decode(std::string_view& bytes) {
    const absl::StatusOr<bool> complete = decoder_.DecodeInto(bytes, command_);
    if (!complete.ok()) return complete.status();
    if (!*complete) return std::nullopt;
    return &command_;
  }

  absl::StatusOr<std::optional<Frame>> DecodeEnd(std::string_view& bytes) {
    absl::StatusOr<std::optional<resp::Command>> command =
        decoder_.DecodeEnd(bytes);
    if (!command.ok()) return command.status();
    if (!command->has_value()) return std::nullopt;
    command_ = **std::move(command);
    return &command_;
  }

  absl::Status Encode(Frame command, std::string& out) const {
    return decoder_.Encode(*command, out);
  }

  // Returns whether a request has begun and is not complete.
  bool IsWithinRequest() const { return decoder_.IsWithinRequest(); }

 private:
  resp::CommandDecoder decoder_;
  resp::Command command_;
};

static_assert(rouse::Codec<RequestCodec>);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_REQUEST_CODEC_H_
