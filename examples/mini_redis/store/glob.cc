// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/glob.h"

#include <string_view>
#include <utility>

namespace mini_redis {
namespace {

// Takes the next byte of a set off `pattern`, without a backslash before the
// byte. REQUIRES: `pattern` is not empty.
unsigned char TakeSetByte(std::string_view& pattern) {
  if (pattern.front() == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
  const unsigned char byte = static_cast<unsigned char>(pattern.front());
  pattern.remove_prefix(1);
  return byte;
}

// Takes a set, behind its "[", off `pattern`. Returns whether `c` is in the
// set. As in Redis, a set without "]" ends with the pattern.
bool TakeSet(std::string_view& pattern, unsigned char c) {
  bool negated = false;
  if (!pattern.empty() && pattern.front() == '^') {
    negated = true;
    pattern.remove_prefix(1);
  }
  bool found = false;
  while (!pattern.empty() && pattern.front() != ']') {
    unsigned char first = TakeSetByte(pattern);
    unsigned char last = first;
    if (pattern.size() >= 2 && pattern[0] == '-' && pattern[1] != ']') {
      pattern.remove_prefix(1);
      last = TakeSetByte(pattern);
      if (first > last) std::swap(first, last);
    }
    if (first <= c && c <= last) found = true;
  }
  if (!pattern.empty()) pattern.remove_prefix(1);
  return found != negated;
}

// Takes the pattern of a single byte off `pattern`. Returns whether `c`
// matches. REQUIRES: `pattern` is not empty, and does not begin with "*".
bool TakeByte(std::string_view& pattern, char c) {
  const char first = pattern.front();
  pattern.remove_prefix(1);
  if (first == '?') return true;
  if (first == '[') return TakeSet(pattern, static_cast<unsigned char>(c));
  if (first == '\\' && !pattern.empty()) {
    const char literal = pattern.front();
    pattern.remove_prefix(1);
    return literal == c;
  }
  return first == c;
}

}  // namespace

bool GlobMatch(std::string_view pattern, std::string_view text) {
  // The pattern behind the last "*", and the text from which that pattern is
  // tried next. An earlier "*" need not be tried again.
  std::string_view retry_pattern;
  std::string_view retry_text;
  bool has_star = false;
  while (true) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      retry_pattern = pattern;
      retry_text = text;
      has_star = true;
      continue;
    }
    if (text.empty()) {
      if (pattern.empty()) return true;
    } else if (!pattern.empty() && TakeByte(pattern, text.front())) {
      text.remove_prefix(1);
      continue;
    }
    if (!has_star || retry_text.empty()) return false;
    retry_text.remove_prefix(1);
    pattern = retry_pattern;
    text = retry_text;
  }
}

}  // namespace mini_redis
