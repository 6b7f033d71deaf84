// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/line_codec.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace rouse {
namespace {

std::string_view WithoutReturn(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

absl::Status LineCodec::TooLong() const {
  return absl::ResourceExhaustedError(
      absl::StrCat("a line exceeds the limit of ", max_size_, " bytes"));
}

LineCodec::Answer LineCodec::ToAnswer(std::string_view line) const {
  if (line.size() > max_size_) return TooLong();
  return std::string(line);
}

absl::StatusOr<std::optional<std::string>> LineCodec::Decode(
    std::string_view& bytes) {
  // Each result is made before its bytes are taken, so that the result is not
  // lost if memory runs out.
  for (;;) {
    const size_t end = bytes.find('\n', searched_.value());
    if (end == std::string_view::npos) {
      // One more byte may be the first byte of the line end.
      const bool may_fit = bytes.empty() || bytes.size() - 1 <= max_size_;
      if (may_fit && !passing_over_) {
        searched_.set_value(bytes.size());
        return std::nullopt;
      }
      Answer answer = std::nullopt;
      if (!passing_over_) answer = TooLong();
      bytes = {};
      searched_.set_value(0);
      passing_over_ = true;
      return answer;
    }
    Answer answer = std::nullopt;
    if (!passing_over_) answer = ToAnswer(WithoutReturn(bytes.substr(0, end)));
    bytes.remove_prefix(end + 1);
    searched_.set_value(0);
    if (!std::exchange(passing_over_, false)) return answer;
  }
}

absl::StatusOr<std::optional<std::string>> LineCodec::DecodeEnd(
    std::string_view& bytes) {
  Answer line = Decode(bytes);
  if (!line.ok() || line->has_value()) return line;
  if (bytes.empty()) {
    // The rest of a line that is too long ends here, too.
    passing_over_ = false;
    return line;
  }
  Answer last = ToAnswer(bytes);
  bytes = {};
  searched_.set_value(0);
  return last;
}

absl::Status LineCodec::Encode(std::string_view line, std::string& out) const {
  if (line.size() > max_size_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a line of ", line.size(), " bytes exceeds the limit of ", max_size_));
  }
  if (line.find('\n') != std::string_view::npos ||
      WithoutReturn(line).size() != line.size()) {
    return absl::InvalidArgumentError(
        "the line contains a line end; send each line separately");
  }
  absl::StrAppend(&out, line, "\n");
  return absl::OkStatus();
}

}  // namespace rouse
