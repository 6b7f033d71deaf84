// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Types of flags whose error messages name the valid values.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_FLAG_TYPES_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_FLAG_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/net/socket_addr.h"

namespace mini_redis {

// A number from `kMin` to `kMax`.
template <uint32_t kMin, uint32_t kMax>
struct Number {
  uint32_t value = kMin;
};

// Parses a number from `min` to `max`.
bool ParseNumber(std::string_view text, uint32_t min, uint32_t max,
                 uint32_t& number, std::string& error);

template <uint32_t kMin, uint32_t kMax>
bool AbslParseFlag(std::string_view text, Number<kMin, kMax>* number,
                   std::string* error) {
  return ParseNumber(text, kMin, kMax, number->value, *error);
}

template <uint32_t kMin, uint32_t kMax>
std::string AbslUnparseFlag(Number<kMin, kMax> number) {
  return std::to_string(number.value);
}

using Threads = Number<0, 1024>;
using MaxClients = Number<1, 1'000'000>;

// A size, such as "64mb".
struct Size {
  size_t bytes = 0;
};

bool AbslParseFlag(std::string_view text, Size* size, std::string* error);
std::string AbslUnparseFlag(Size size);

// A duration that is not negative. Zero means forever.
struct Limit {
  absl::Duration value;  // infinite if the flag is zero
};

bool AbslParseFlag(std::string_view text, Limit* limit, std::string* error);
std::string AbslUnparseFlag(Limit limit);

// An address and a port.
struct Address {
  rouse::SocketAddr value;
};

bool AbslParseFlag(std::string_view text, Address* address, std::string* error);
std::string AbslUnparseFlag(const Address& address);

bool AbslParseFlag(std::string_view text, Fsync* fsync, std::string* error);
std::string AbslUnparseFlag(Fsync fsync);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_FLAG_TYPES_H_
