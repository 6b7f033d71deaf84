// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/text/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace rouse {
namespace {

// The size of a character by its first byte, and the limits of its second byte.
// All later bytes are from 0x80 to 0xBF.
struct Form {
  size_t size;  // 0 for a byte that begins no character
  uint8_t least;
  uint8_t most;
};

Form FormOf(uint8_t first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};  // not a longer form
  if (first == 0xED) return {3, 0x80, 0x9F};  // not a surrogate
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};  // not a longer form
  if (first < 0xF4) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};  // not above U+10FFFF
  return {0, 0, 0};
}

// Returns how many bytes at the front of `bytes`, which is not empty, are those
// of `form`.
size_t MatchedSize(const Form& form, std::string_view bytes) {
  if (form.size == 0) return 0;
  size_t size = 1;
  while (size < form.size && size < bytes.size()) {
    const auto byte = static_cast<uint8_t>(bytes[size]);
    const uint8_t least = size == 1 ? form.least : 0x80;
    const uint8_t most = size == 1 ? form.most : 0xBF;
    if (byte < least || byte > most) break;
    ++size;
  }
  return size;
}

}  // namespace

size_t Utf8PrefixSize(std::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    uint64_t word;
    if (bytes.size() - done >= sizeof word) {
      std::memcpy(&word, bytes.data() + done, sizeof word);
      if ((word & 0x8080808080808080) == 0) {
        done += sizeof word;
        continue;
      }
    }
    const Form form = FormOf(static_cast<uint8_t>(bytes[done]));
    if (form.size == 0) break;
    if (MatchedSize(form, bytes.substr(done)) < form.size) break;
    done += form.size;
  }
  return done;
}

namespace internal {

bool IsIncompleteUtf8(std::string_view rest) {
  const Form form = FormOf(static_cast<uint8_t>(rest.front()));
  return rest.size() < form.size && MatchedSize(form, rest) == rest.size();
}

std::string_view IncompleteUtf8Suffix(std::string_view bytes) {
  constexpr size_t kLongest = 3;
  for (size_t size = 1; size <= kLongest && size <= bytes.size(); ++size) {
    const std::string_view suffix = bytes.substr(bytes.size() - size);
    if (IsIncompleteUtf8(suffix)) return suffix;
  }
  return {};
}

}  // namespace internal

}  // namespace rouse
