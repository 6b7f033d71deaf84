// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace mini_redis::resp {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool ParseInteger(std::string_view text, int64_t& number) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  if (digits.empty() || !IsDigit(digits.front())) return false;
  if (digits.front() == '0') {
    number = 0;
    return digits.size() == 1 && !negative;
  }
  // Most numbers are short, and cannot overflow.
  if (digits.size() <= 18) {
    int64_t value = 0;
    for (const char c : digits) {
      if (!IsDigit(c)) return false;
      value = value * 10 + (c - '0');
    }
    number = negative ? -value : value;
    return true;
  }
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const std::from_chars_result result = std::from_chars(begin, end, number);
  return result.ec == std::errc() && result.ptr == end;
}

void AppendInteger(int64_t number, std::string& out) {
  char digits[std::numeric_limits<int64_t>::digits10 + 2];
  const std::to_chars_result result =
      std::to_chars(digits, digits + sizeof(digits), number);
  out.append(digits, result.ptr);
}

void AppendDouble(double number, std::string& out) {
  // The sign of a NaN means nothing.
  if (std::isnan(number)) {
    out += "nan";
    return;
  }
  char digits[32];
  const std::to_chars_result result =
      std::to_chars(digits, digits + sizeof(digits), number);
  out.append(digits, result.ptr);
}

bool ParseDouble(std::string_view text, double& number) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const std::from_chars_result result = std::from_chars(begin, end, number);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace mini_redis::resp
