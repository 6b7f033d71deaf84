// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef WORDS_CODEC_H_
#define WORDS_CODEC_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "store.h"

// A line of up to three words. The last word can contain spaces.
class WordsCodec {
 public:
  using Frame = Words;

  absl::StatusOr<std::optional<Words>> Decode(std::string_view& bytes) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    if (end > kMaxSize) {
      bytes = {};
      return absl::ResourceExhaustedError("a line is too long");
    }
    if (end == bytes.size()) return std::nullopt;
    std::string_view line = absl::StripSuffix(bytes.substr(0, end), "\r");
    Words words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    bytes.remove_prefix(end + 1);
    return words;
  }

  absl::StatusOr<std::optional<Words>> DecodeEnd(std::string_view& bytes) {
    if (bytes.empty()) return std::nullopt;
    bytes = {};
    return absl::OutOfRangeError("the stream ended within a line");
  }

  absl::Status Encode(const Words& words, std::string& out) {
    absl::StrAppend(&out, absl::StrJoin(words, " "), "\r\n");
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kMaxSize = 4096;  // bytes
};

#endif  // WORDS_CODEC_H_
