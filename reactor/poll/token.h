// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: token.h
// -----------------------------------------------------------------------------
//
// A `Token` identifies a source in the events of a `Poller`: the caller chooses
// a number when registering the source, and each event contains this number.

#ifndef ROUSE_REACTOR_POLL_TOKEN_H_
#define ROUSE_REACTOR_POLL_TOKEN_H_

#include "rouse/base/cxx20.h"

#include <cstdint>
#include <string>

namespace rouse::reactor {

// Token
//
// Any 64 bits. The poller does not interpret tokens, and does not require
// tokens to be distinct.
class Token {
 public:
  Token() = default;
  explicit constexpr Token(uint64_t value) : value_(value) {}

  // Returns the 64 bits.
  constexpr uint64_t value() const { return value_; }

  friend constexpr bool operator==(Token, Token) = default;

  // Formats the number, for logs.
  template <class Sink>
  friend void AbslStringify(Sink& sink, Token token) {
    sink.Append(std::to_string(token.value_));
  }

 private:
  uint64_t value_ = 0;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_TOKEN_H_
