// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/codec/any_delimiter_codec.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse {

using Answer = absl::StatusOr<std::optional<std::string>>;

AnyDelimiterCodec::AnyDelimiterCodec(std::string_view delimiters,
                                     std::string_view terminator,
                                     size_t max_size)
    : delimiters_(delimiters), terminator_(terminator), max_size_(max_size) {
  if (delimiters.empty()) {
    Panic("AnyDelimiterCodec: no delimiters; name at least one byte");
  }
  if (terminator.empty() ||
      delimiters.find(terminator.front()) == std::string_view::npos) {
    Panic(
        "AnyDelimiterCodec: the terminator must begin with one of the "
        "delimiters");
  }
}

absl::Status AnyDelimiterCodec::TooLong() const {
  return absl::ResourceExhaustedError(
      absl::StrCat("a frame exceeds the limit of ", max_size_, " bytes"));
}

Answer AnyDelimiterCodec::Decode(std::string_view& bytes) {
  // Each result is made before its bytes are taken, so that the result is not
  // lost if memory runs out.
  for (;;) {
    const size_t end = bytes.find_first_of(delimiters_, searched_.value());
    const bool is_whole = end != std::string_view::npos;
    const size_t size = is_whole ? end : bytes.size();
    Answer answer = std::nullopt;
    if (!is_skipping_) {
      if (size > max_size_) {
        answer = TooLong();
      } else if (is_whole) {
        answer = std::string(bytes.substr(0, size));
      } else {
        searched_.set_value(size);
        return answer;
      }
    }
    bytes.remove_prefix(is_whole ? size + 1 : size);
    searched_.set_value(0);
    const bool was_skipping = std::exchange(is_skipping_, !is_whole);
    if (!was_skipping || !is_whole) return answer;
  }
}

Answer AnyDelimiterCodec::DecodeEnd(std::string_view& bytes) {
  Answer frame = Decode(bytes);
  if (!frame.ok() || frame->has_value()) return frame;
  if (bytes.empty()) {
    // The rest of a frame that is too long ends here, too.
    is_skipping_ = false;
    return frame;
  }
  frame = std::string(bytes);
  bytes = {};
  searched_.set_value(0);
  return frame;
}

absl::Status AnyDelimiterCodec::Encode(std::string_view frame,
                                       std::string& out) const {
  if (frame.size() > max_size_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a frame of ", frame.size(),
                     " bytes exceeds the limit of ", max_size_));
  }
  if (frame.find_first_of(delimiters_) != std::string_view::npos) {
    return absl::InvalidArgumentError(
        "the frame contains a delimiter; send each part separately");
  }
  absl::StrAppend(&out, frame, terminator_);
  return absl::OkStatus();
}

}  // namespace rouse
