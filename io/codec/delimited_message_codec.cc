// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/codec/delimited_message_codec.h"

#include <algorithm>
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

namespace rouse::internal {
namespace {

// The largest number of bytes of a varint of 64 bits.
constexpr size_t kMaxVarintSize = 10;

// The result of reading a varint at the front of some bytes.
struct Varint {
  enum class Kind { kWhole, kIncomplete, kTooLarge };

  Kind kind;
  uint64_t value = 0;
  size_t size = 0;  // number of bytes
};

Varint ReadVarint(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    // The last byte has room for the last bit only.
    if (i == kMaxVarintSize - 1 && byte > 1) {
      return {Varint::Kind::kTooLarge, 0, kMaxVarintSize};
    }
    value |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) return {Varint::Kind::kWhole, value, i + 1};
  }
  return {Varint::Kind::kIncomplete, 0, 0};
}

}  // namespace

DelimitedBytes::DelimitedBytes(size_t max_size) : max_size_(max_size) {
  if (max_size > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    Panic(
        "DelimitedMessageCodec: max_size must be below 2^31, the limit of "
        "protobuf");
  }
}

absl::StatusOr<std::optional<DelimitedBytes::Found>> DelimitedBytes::Find(
    std::string_view& bytes) {
  if (to_pass_over_ > 0) {
    const auto passed =
        static_cast<size_t>(std::min<uint64_t>(to_pass_over_, bytes.size()));
    bytes.remove_prefix(passed);
    to_pass_over_ -= passed;
  }
  const Varint size = ReadVarint(bytes);
  // Errors are made first, so that they are not lost if memory runs out.
  switch (size.kind) {
    case Varint::Kind::kIncomplete:
      return std::nullopt;
    case Varint::Kind::kTooLarge: {
      absl::Status overflow = absl::InvalidArgumentError(
          "the size of a message is a varint with more than 64 bits; the "
          "stream is most likely not one of delimited messages");
      bytes.remove_prefix(size.size);
      return overflow;
    }
    case Varint::Kind::kWhole:
      break;
  }
  if (size.value > max_size_) {
    absl::Status too_large = absl::ResourceExhaustedError(
        absl::StrCat("a message of ", size.value,
                     " bytes exceeds the limit of ", max_size_));
    bytes.remove_prefix(size.size);
    to_pass_over_ = size.value;
    return too_large;
  }
  const size_t total = size.size + static_cast<size_t>(size.value);
  if (bytes.size() < total) return std::nullopt;
  return Found{bytes.substr(size.size, static_cast<size_t>(size.value)), total};
}

absl::Status DelimitedBytes::End(std::string_view& bytes) {
  if (bytes.empty() && to_pass_over_ == 0) return absl::OkStatus();
  const bool has_size =
      to_pass_over_ > 0 || ReadVarint(bytes).kind != Varint::Kind::kIncomplete;
  absl::Status cut_off = absl::OutOfRangeError(
      has_size ? "the stream ended within a message"
               : "the stream ended within the size of a message");
  bytes = {};
  to_pass_over_ = 0;
  return cut_off;
}

absl::Status DelimitedBytes::AppendSize(size_t size, std::string& out) const {
  if (size > max_size_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a message of ", size, " bytes exceeds the limit of ", max_size_));
  }
  for (; size >= 0x80; size >>= 7) {
    out += static_cast<char>((size & 0x7F) | 0x80);
  }
  out += static_cast<char>(size);
  return absl::OkStatus();
}

absl::Status CannotParse(size_t size) {
  return absl::InvalidArgumentError(
      absl::StrCat("a message of ", size,
                   " bytes cannot be parsed; the peer must send messages of "
                   "the same type"));
}

absl::Status CannotSerialize(size_t size) {
  return absl::InvalidArgumentError(
      absl::StrCat("a message of ", size,
                   " bytes cannot be serialized; set all required fields"));
}

}  // namespace rouse::internal
