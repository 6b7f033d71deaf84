// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_budget.h
// -----------------------------------------------------------------------------
//
// `FrameBudget` limits the frames with which a peer only causes work.

#ifndef ROUSE_HTTP_H2_SHARED_FRAME_BUDGET_H_
#define ROUSE_HTTP_H2_SHARED_FRAME_BUDGET_H_

#include "rouse/base/cxx20.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rouse/timer/instant.h"

namespace rouse::http::internal {

// FrameBudget
//
// A bucket of tokens. A frame of no use takes a token: PING, SETTINGS,
// PRIORITY, RST_STREAM, DATA without a byte, small CONTINUATION. Useful work
// gives a token back: an answer, or a KiB of bodies. Time gives some, too. An
// honest peer stays far from the end; a flood (CVE-2019-9512, -9515, -9518,
// CVE-2023-44487) reaches the end in a moment.
class FrameBudget {
 public:
  static constexpr int64_t kMost = 1000;
  static constexpr int64_t kPerSecond = 50;

  explicit FrameBudget(Instant now) : refilled_(now) {}

  // Takes a token. Returns false if none is left.
  bool Take(Instant now) {
    const int64_t passed = now.nanoseconds() - refilled_.nanoseconds();
    constexpr int64_t kPeriod = 1'000'000'000 / kPerSecond;
    if (passed >= kPeriod) {
      tokens_ = std::min(kMost, tokens_ + std::min(kMost, passed / kPeriod));
      refilled_ = refilled_.PlusNanoseconds(passed / kPeriod * kPeriod);
    }
    if (tokens_ == 0) return false;
    --tokens_;
    return true;
  }

  // Gives a token back.
  void Give() { GiveTokens(1); }
  // Gives a token back for each KiB of the bodies that were received. Frames do
  // not count, because a peer can send a body in frames of one byte.
  void GiveForBody(size_t bytes) {
    constexpr size_t kBytesPerToken = 1024;
    body_bytes_ += bytes;
    GiveTokens(static_cast<int64_t>(body_bytes_ / kBytesPerToken));
    body_bytes_ %= kBytesPerToken;
  }

 private:
  void GiveTokens(int64_t tokens) {
    tokens_ = std::min(kMost, tokens_ + tokens);
  }

  int64_t tokens_ = kMost;
  size_t body_bytes_ = 0;  // that have given no token yet
  Instant refilled_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SHARED_FRAME_BUDGET_H_
