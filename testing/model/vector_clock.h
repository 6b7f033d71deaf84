// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: vector_clock.h
// -----------------------------------------------------------------------------
//
// Vector clocks and sets over the few threads of a model. Internal.

#ifndef ROUSE_TESTING_MODEL_VECTOR_CLOCK_H_
#define ROUSE_TESTING_MODEL_VECTOR_CLOCK_H_

#include "rouse/base/cxx20.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace rouse::model {

// The main body is thread 0.
inline constexpr int kMaxThreads = 8;

// VectorClock
//
// The number of events of each thread that come before a point.
struct VectorClock {
  std::array<uint16_t, kMaxThreads> at{};

  uint16_t& operator[](int thread) { return at[thread]; }
  uint16_t operator[](int thread) const { return at[thread]; }

  void Join(const VectorClock& other) {
    for (int i = 0; i < kMaxThreads; ++i) at[i] = std::max(at[i], other.at[i]);
  }

  // Returns whether this clock includes every event of `other`.
  bool Covers(const VectorClock& other) const {
    for (int i = 0; i < kMaxThreads; ++i) {
      if (other.at[i] > at[i]) return false;
    }
    return true;
  }
};

// ThreadSet
class ThreadSet {
 public:
  constexpr ThreadSet() = default;
  static constexpr ThreadSet Of(int thread) { return ThreadSet(1u << thread); }

  bool empty() const { return bits_ == 0; }
  int size() const { return std::popcount(bits_); }
  bool Contains(int thread) const { return (bits_ >> thread & 1) != 0; }
  // Returns the smallest thread number in the set.
  //
  // REQUIRES: the set is not empty.
  int First() const { return std::countr_zero(bits_); }
  void Insert(int thread) { bits_ |= 1u << thread; }

  friend ThreadSet operator|(ThreadSet a, ThreadSet b) {
    return ThreadSet(a.bits_ | b.bits_);
  }
  friend ThreadSet operator&(ThreadSet a, ThreadSet b) {
    return ThreadSet(a.bits_ & b.bits_);
  }
  // Returns the threads that are in `a` and not in `b`.
  friend ThreadSet operator-(ThreadSet a, ThreadSet b) {
    return ThreadSet(a.bits_ & ~b.bits_);
  }
  friend bool operator==(ThreadSet a, ThreadSet b) = default;

 private:
  explicit constexpr ThreadSet(uint32_t bits) : bits_(bits) {}

  uint32_t bits_ = 0;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_VECTOR_CLOCK_H_
