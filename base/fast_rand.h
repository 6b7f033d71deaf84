// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fast_rand.h
// -----------------------------------------------------------------------------
//
// `FastRand` is a small seeded generator for choices that need no secrecy:
// which victim to steal from, which arm of a `Select` to poll first. The same
// seed gives the same sequence on every machine, so a run can be repeated.

#ifndef ROUSE_BASE_FAST_RAND_H_
#define ROUSE_BASE_FAST_RAND_H_

#include "rouse/base/cxx20.h"

#include <cstdint>

namespace rouse {

// FastRand
//
// Implements SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014). The state is a counter, and the output is a
// bijection of the state. The generator therefore cannot get stuck in any
// state: every seed, including 0, has the full period of 2^64.
//
// Eight bytes, copyable. Not thread-safe: each thread has a generator of its
// own, made by `Split()`.
class FastRand {
 public:
  explicit constexpr FastRand(uint64_t seed) : state_(seed) {}

  // Returns the next 64 bits, uniformly distributed.
  constexpr uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Returns a number in [0, bound), or 0 if `bound` is 0. No number is likelier
  // than another by more than 2^-32 (Lemire, "Fast random integer generation in
  // an interval", 2019, without the rejection step).
  constexpr uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>(((Next() >> 32) * bound) >> 32);
  }

  // Returns a generator for another thread or purpose. The sequence of the new
  // generator is independent of the numbers that this generator goes on to
  // produce.
  constexpr FastRand Split() { return FastRand(Next()); }

 private:
  uint64_t state_;
};

}  // namespace rouse

#endif  // ROUSE_BASE_FAST_RAND_H_
