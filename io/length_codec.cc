// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/length_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse {

LengthCodec::LengthCodec(size_t max_size, size_t length_size)
    : max_size_(max_size), length_size_(length_size) {
  if (length_size != 1 && length_size != 2 && length_size != 4 &&
      length_size != 8) {
    Panic("LengthCodec: length_size must be 1, 2, 4 or 8");
  }
  if (length_size < 8) {
    const uint64_t limit = (uint64_t{1} << (8 * length_size)) - 1;
    max_size_ = static_cast<size_t>(std::min<uint64_t>(max_size, limit));
  }
}

absl::StatusOr<std::optional<std::string>> LengthCodec::Decode(
    std::string_view& bytes) {
  if (to_pass_over_ > 0) {
    const auto passed =
        static_cast<size_t>(std::min<uint64_t>(to_pass_over_, bytes.size()));
    bytes.remove_prefix(passed);
    to_pass_over_ -= passed;
  }
  if (bytes.size() < length_size_) return std::nullopt;
  uint64_t size = 0;
  for (const char byte : bytes.substr(0, length_size_)) {
    size = size << 8 | static_cast<uint8_t>(byte);
  }
  if (size > max_size_) {
    // The error is made first, so that it is not lost if memory runs out.
    absl::Status too_long = absl::ResourceExhaustedError(absl::StrCat(
        "a frame of ", size, " bytes exceeds the limit of ", max_size_));
    bytes.remove_prefix(length_size_);
    to_pass_over_ = size;
    return too_long;
  }
  if (bytes.size() - length_size_ < size) return std::nullopt;
  std::string frame(bytes.substr(length_size_, static_cast<size_t>(size)));
  bytes.remove_prefix(length_size_ + frame.size());
  return frame;
}

absl::StatusOr<std::optional<std::string>> LengthCodec::DecodeEnd(
    std::string_view& bytes) {
  absl::StatusOr<std::optional<std::string>> frame = Decode(bytes);
  if (!frame.ok() || frame->has_value()) return frame;
  if (bytes.empty() && to_pass_over_ == 0) return frame;
  absl::Status cut_off =
      absl::OutOfRangeError("the stream ended inside a frame");
  bytes = {};
  to_pass_over_ = 0;
  return cut_off;
}

absl::Status LengthCodec::Encode(std::string_view frame,
                                 std::string& out) const {
  if (frame.size() > max_size_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a frame of ", frame.size(),
                     " bytes exceeds the limit of ", max_size_));
  }
  for (size_t i = length_size_; i-- > 0;) {
    out += static_cast<char>(uint64_t{frame.size()} >> (8 * i));
  }
  out += frame;
  return absl::OkStatus();
}

}  // namespace rouse
