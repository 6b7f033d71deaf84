// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: decode_in_pieces.h
// -----------------------------------------------------------------------------
//
// Feeds a codec with pieces of a text, as `rouse::Framed` does, for tests.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_RESP_DECODE_IN_PIECES_H_
#define ROUSE_EXAMPLES_MINI_REDIS_RESP_DECODE_IN_PIECES_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mini_redis::resp {

// What a codec made of a text.
template <class Frame>
struct Decoded {
  std::vector<Frame> frames;
  std::vector<absl::Status> errors;
  // Largest number of bytes that the codec left in the buffer.
  size_t most_kept = 0;
};

// Decodes `text` in pieces whose sizes `next_size()` returns, up to the end of
// the stream.
template <class Codec>
Decoded<typename Codec::Frame> DecodeInPieces(
    Codec codec, std::string_view text, absl::FunctionRef<size_t()> next_size) {
  Decoded<typename Codec::Frame> decoded;
  std::string buffer;
  const auto take = [&](bool at_end) {
    for (;;) {
      std::string_view bytes = buffer;
      absl::StatusOr<std::optional<typename Codec::Frame>> frame =
          at_end ? codec.DecodeEnd(bytes) : codec.Decode(bytes);
      buffer.erase(0, buffer.size() - bytes.size());
      decoded.most_kept = std::max(decoded.most_kept, buffer.size());
      if (!frame.ok()) {
        decoded.errors.push_back(std::move(frame).status());
      } else if (frame->has_value()) {
        decoded.frames.push_back(**std::move(frame));
      } else {
        return;
      }
    }
  };
  while (!text.empty()) {
    const size_t size = std::min(next_size(), text.size());
    buffer += text.substr(0, size);
    text.remove_prefix(size);
    take(false);
  }
  take(true);
  return decoded;
}

// Decodes `text` in pieces of `step` bytes.
template <class Codec>
Decoded<typename Codec::Frame> DecodeInPieces(Codec codec,
                                              std::string_view text,
                                              size_t step) {
  const auto next_size = [step] { return step; };
  return DecodeInPieces(std::move(codec), text, next_size);
}

}  // namespace mini_redis::resp

#endif  // ROUSE_EXAMPLES_MINI_REDIS_RESP_DECODE_IN_PIECES_H_
