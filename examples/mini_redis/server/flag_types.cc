// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/flag_types.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/net/socket_addr.h"

namespace mini_redis {
namespace {

constexpr std::array<std::pair<std::string_view, size_t>, 4> kUnits = {{
    {"gb", size_t{1} << 30},
    {"mb", size_t{1} << 20},
    {"kb", size_t{1} << 10},
    {"b", 1},
}};

// Smallest and largest size. The codec has room for 4 GiB in a request.
constexpr size_t kMinSize = size_t{1} << 10;
constexpr size_t kMaxSize = (size_t{4} << 30) - 1;

}  // namespace

bool ParseNumber(std::string_view text, uint32_t min, uint32_t max,
                 uint32_t& number, std::string& error) {
  if (absl::SimpleAtoi(text, &number) && number >= min && number <= max) {
    return true;
  }
  error = absl::StrCat("choose a number from ", min, " to ", max);
  return false;
}

bool AbslParseFlag(std::string_view text, Size* size, std::string* error) {
  const std::string lower = absl::AsciiStrToLower(text);
  std::string_view number = lower;
  size_t unit = 1;
  for (const auto& [suffix, bytes] : kUnits) {
    if (absl::ConsumeSuffix(&number, suffix)) {
      unit = bytes;
      break;
    }
  }
  uint32_t count;
  if (absl::SimpleAtoi(number, &count) && count * unit >= kMinSize &&
      count * unit <= kMaxSize) {
    size->bytes = count * unit;
    return true;
  }
  *error = "choose a size from 1kb to 4095mb, such as 64mb";
  return false;
}

std::string AbslUnparseFlag(Size size) {
  for (const auto& [suffix, bytes] : kUnits) {
    if (size.bytes % bytes == 0) {
      return absl::StrCat(size.bytes / bytes, suffix);
    }
  }
  return absl::StrCat(size.bytes);
}

bool AbslParseFlag(std::string_view text, Limit* limit, std::string* error) {
  if (absl::ParseDuration(text, &limit->value) &&
      limit->value >= absl::ZeroDuration()) {
    if (limit->value == absl::ZeroDuration()) {
      limit->value = absl::InfiniteDuration();
    }
    return true;
  }
  *error =
      "choose a duration that is not negative, such as 200ms, 30s or 1h; 0 "
      "means forever";
  return false;
}

std::string AbslUnparseFlag(Limit limit) {
  if (limit.value == absl::InfiniteDuration()) return "0";
  return absl::FormatDuration(limit.value);
}

bool AbslParseFlag(std::string_view text, Address* address,
                   std::string* error) {
  const absl::StatusOr<rouse::SocketAddr> parsed =
      rouse::SocketAddr::Parse(text);
  if (parsed.ok()) {
    address->value = *parsed;
    return true;
  }
  *error =
      "choose a numeric address and a port, such as 127.0.0.1:6379 or "
      "[::1]:6379";
  return false;
}

std::string AbslUnparseFlag(const Address& address) {
  return address.value.ToString();
}

bool AbslParseFlag(std::string_view text, Fsync* fsync, std::string* error) {
  if (text == "always") {
    *fsync = Fsync::kAlways;
  } else if (text == "everysec") {
    *fsync = Fsync::kEverySecond;
  } else if (text == "no") {
    *fsync = Fsync::kNever;
  } else {
    *error = "choose always, everysec or no";
    return false;
  }
  return true;
}

std::string AbslUnparseFlag(Fsync fsync) {
  switch (fsync) {
    case Fsync::kAlways:
      return "always";
    case Fsync::kEverySecond:
      return "everysec";
    case Fsync::kNever:
      return "no";
  }
  return "";
}

}  // namespace mini_redis
