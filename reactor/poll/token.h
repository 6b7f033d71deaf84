// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: token.h
// -----------------------------------------------------------------------------
//
// A `Token` is what a `Poller` gives back with each event of a source: a number
// that the caller chose when it registered the source.

#ifndef ROUSE_REACTOR_POLL_TOKEN_H_
#define ROUSE_REACTOR_POLL_TOKEN_H_

#include <cstdint>

namespace rouse::reactor {

// Token
//
// Any 64 bits. The poller does not interpret them, and does not require that
// they differ.
class Token {
 public:
  Token() = default;
  explicit constexpr Token(uint64_t value) : value_(value) {}

  constexpr uint64_t value() const { return value_; }

  friend constexpr bool operator==(Token, Token) = default;

 private:
  uint64_t value_ = 0;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_TOKEN_H_
