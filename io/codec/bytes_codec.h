// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: bytes_codec.h
// -----------------------------------------------------------------------------
//
// Frames without a meaning: the bytes as they arrive.
//
//   rouse::Framed chunks(std::move(stream), rouse::BytesCodec());
//   while (auto chunk = co_await rouse::Next(chunks)) {
//     co_await rouse::OrReturn(chunk->status());
//     Hash(**chunk);
//   }

#ifndef ROUSE_IO_CODEC_BYTES_CODEC_H_
#define ROUSE_IO_CODEC_BYTES_CODEC_H_

#include "rouse/base/cxx20.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse {

// BytesCodec
//
// A `Codec` whose frames are the available bytes, at least one. How the bytes
// are divided says nothing about how they were sent. Has no errors. For code
// that takes a `Framed` or a `Stream` of strings.
class BytesCodec {
 public:
  using Frame = std::string;

  absl::StatusOr<std::optional<std::string>> Decode(
      std::string_view& bytes) const {
    if (bytes.empty()) return std::nullopt;
    std::string frame(bytes);
    bytes = {};
    return frame;
  }
  absl::StatusOr<std::optional<std::string>> DecodeEnd(
      std::string_view& bytes) const {
    return Decode(bytes);
  }
  absl::Status Encode(std::string_view frame, std::string& out) const {
    out += frame;
    return absl::OkStatus();
  }
};

}  // namespace rouse

#endif  // ROUSE_IO_CODEC_BYTES_CODEC_H_
