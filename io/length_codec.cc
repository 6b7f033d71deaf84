// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/length_codec.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse {

namespace {

// Returns `a + b`, or the largest number if the sum is larger.
uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  return b > std::numeric_limits<uint64_t>::max() - a
             ? std::numeric_limits<uint64_t>::max()
             : a + b;
}

// Returns the absolute value.
uint64_t Magnitude(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  return number < 0 ? ~bits + 1 : bits;
}

LengthCodec::Options WithSizes(size_t max_size, size_t length_size) {
  LengthCodec::Options options;
  options.max_size = max_size;
  options.length_size = length_size;
  return options;
}

}  // namespace

LengthCodec::LengthCodec(size_t max_size, size_t length_size)
    : LengthCodec(WithSizes(max_size, length_size)) {}

LengthCodec::LengthCodec(const Options& options)
    : max_size_(options.max_size),
      length_size_(options.length_size),
      order_(options.order),
      offset_(options.offset),
      adjustment_(options.adjustment),
      skip_(options.skip.value_or(options.offset + options.length_size)) {
  if (length_size_ < 1 || length_size_ > 8) {
    Panic("LengthCodec: length_size must be 1 to 8");
  }
  if (offset_ > std::numeric_limits<size_t>::max() - 8) {
    Panic("LengthCodec: offset is too large");
  }
  if (skip_ > offset_ && skip_ < head_size()) {
    Panic(
        "LengthCodec: skip ends within the length; skip all of the length, or "
        "at most the bytes in front of it");
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
  if (bytes.size() < head_size()) return std::nullopt;
  uint64_t length = 0;
  for (size_t i = 0; i < length_size_; ++i) {
    const size_t at = order_ == std::endian::big ? i : length_size_ - 1 - i;
    length = length << 8 | static_cast<uint8_t>(bytes[offset_ + at]);
  }
  // The number of bytes behind the length, and of all bytes.
  const uint64_t by = Magnitude(adjustment_);
  const bool is_negative = adjustment_ < 0 && length < by;
  const uint64_t rest = is_negative       ? 0
                        : adjustment_ < 0 ? length - by
                                          : SaturatingAdd(length, by);
  const uint64_t total = SaturatingAdd(head_size(), rest);
  // Errors are made first, so that they are not lost if memory runs out.
  if (is_negative || total < skip_) {
    absl::Status too_small = absl::InvalidArgumentError(absl::StrCat(
        "the length ", length, " of a frame is too small for an adjustment of ",
        adjustment_, " and ", skip_, " bytes to skip"));
    bytes.remove_prefix(head_size());
    to_pass_over_ = rest;
    return too_small;
  }
  const uint64_t size = total - skip_;
  if (size > max_size_) {
    absl::Status too_long = absl::ResourceExhaustedError(absl::StrCat(
        "a frame of ", size, " bytes exceeds the limit of ", max_size_));
    bytes.remove_prefix(head_size());
    to_pass_over_ = rest;
    return too_long;
  }
  if (bytes.size() < total) return std::nullopt;
  std::string frame(bytes.substr(skip_, static_cast<size_t>(size)));
  bytes.remove_prefix(static_cast<size_t>(total));
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
  if (skip_ + frame.size() < head_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a frame of ", frame.size(),
                     " bytes is shorter than its header; begin the frame with "
                     "the ",
                     head_size() - skip_, " bytes of the header"));
  }
  const uint64_t rest = skip_ + frame.size() - head_size();
  const uint64_t by = Magnitude(adjustment_);
  const uint64_t largest = length_size_ == 8
                               ? std::numeric_limits<uint64_t>::max()
                               : (uint64_t{1} << (8 * length_size_)) - 1;
  const bool is_negative = adjustment_ > 0 && rest < by;
  const uint64_t length = adjustment_ > 0 ? rest - by : SaturatingAdd(rest, by);
  if (is_negative || length > largest) {
    return absl::InvalidArgumentError(
        absl::StrCat("the length of a frame of ", frame.size(),
                     " bytes, with an adjustment "
                     "of ",
                     adjustment_, ", does not fit into ", length_size_,
                     " bytes without a sign"));
  }
  const size_t begin = out.size();
  out.append(skip_, '\0');
  out += frame;
  for (size_t i = 0; i < length_size_; ++i) {
    const size_t at = order_ == std::endian::little ? i : length_size_ - 1 - i;
    out[begin + offset_ + at] = static_cast<char>(length >> (8 * i));
  }
  return absl::OkStatus();
}

}  // namespace rouse
