// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: litmus.h
// -----------------------------------------------------------------------------
//
// The vocabulary of litmus tests: small programs that must have exactly the
// outcomes that C++20 allows. Internal to the model checker's tests.
//
//   INSTANTIATE_TEST_SUITE_P(
//       Coherence, LitmusTest,
//       testing::Values(
//           Litmus{.name = "CoRR",
//                  .threads = {Do(Store(x, 1, relaxed)),
//                              Do(Load(a, x, relaxed), Load(b, x, relaxed))},
//                  .observed = "ab",
//                  .outcomes = Only("00 01 11")}),
//       NameOf);
//
// litmus.cc has the tests that each instantiation runs.

#ifndef ROUSE_TESTING_MODEL_LITMUS_H_
#define ROUSE_TESTING_MODEL_LITMUS_H_

#include <atomic>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"

namespace rouse::model::litmus {

using enum std::memory_order;

// The data of a program: three locations, and registers. One thread writes each
// register.
struct Shared {
  Atomic<int> x = 0;
  Atomic<int> y = 0;
  Atomic<int> z = 0;
  int a = 0;
  int b = 0;
  int c = 0;
  int d = 0;

  // Returns the value of a register or the last value of a location, by name.
  int Value(char name) const {
    switch (name) {
      case 'a':
        return a;
      case 'b':
        return b;
      case 'c':
        return c;
      case 'd':
        return d;
      case 'x':
        return x.load();
      case 'y':
        return y.load();
      default:
        return z.load();
    }
  }
};

using Body = std::function<void(Shared&)>;
// Each outcome has a digit for each of the observed names.
using Outcomes = std::set<std::string>;

struct Litmus {
  std::string name;
  std::vector<Body> threads;
  std::string observed;  // names of registers and locations, as in "abx"
  Outcomes outcomes;     // all possible outcomes
  int spurious_failures = 1;
};

void PrintTo(const Litmus& litmus, std::ostream* out);

// Splits a list such as "00 01 11".
Outcomes Only(std::string_view outcomes);

// Returns all outcomes of `count` digits below `base`, except `forbidden`.
Outcomes AllBut(std::string_view forbidden, int count, int base = 2);

inline Outcomes All(int count, int base = 2) { return AllBut("", count, base); }

// The name of an instantiation's test: "CoRR of two readers" becomes
// "CoRROfTwoReaders".
std::string NameOf(const testing::TestParamInfo<Litmus>& info);

class LitmusTest : public testing::TestWithParam<Litmus> {};

// The programs are passed by value.
// NOLINTBEGIN(performance-unnecessary-value-param)

// Returns the body of a thread, which consists of small steps.
template <class... Steps>
Body Do(Steps... steps) {
  return [=](Shared& s) { (steps(s), ...); };
}

using Location = Atomic<int> Shared::*;
using Register = int Shared::*;
inline constexpr Location x = &Shared::x;
inline constexpr Location y = &Shared::y;
inline constexpr Location z = &Shared::z;
inline constexpr Register a = &Shared::a;
inline constexpr Register b = &Shared::b;
inline constexpr Register c = &Shared::c;
inline constexpr Register d = &Shared::d;

inline auto Store(Location location, int value, std::memory_order order) {
  return [=](Shared& s) { (s.*location).store(value, order); };
}
inline auto Load(Register into, Location location, std::memory_order order) {
  return [=](Shared& s) { s.*into = (s.*location).load(order); };
}
inline auto FenceAll() {
  return [](Shared&) { FenceAllThreads(); };
}
inline auto Fence(std::memory_order order) {
  return [=](Shared&) { AtomicThreadFence(order); };
}
inline auto Add(Location location, int value, std::memory_order order) {
  return [=](Shared& s) { (s.*location).fetch_add(value, order); };
}
inline auto Add(Register into, Location location, int value,
                std::memory_order order) {
  return [=](Shared& s) { s.*into = (s.*location).fetch_add(value, order); };
}
inline auto Exchange(Register into, Location location, int value,
                     std::memory_order order) {
  return [=](Shared& s) { s.*into = (s.*location).exchange(value, order); };
}
// Stores in `into` whether the exchange succeeded.
inline auto Cas(Register into, Location location, int expected, int desired,
                std::memory_order success = relaxed,
                std::memory_order failure = relaxed) {
  return [=](Shared& s) {
    int value = expected;
    s.*into =
        (s.*location).compare_exchange_strong(value, desired, success, failure);
  };
}
inline auto WeakCas(Register into, Location location, int expected,
                    int desired) {
  return [=](Shared& s) {
    int value = expected;
    s.*into =
        (s.*location).compare_exchange_weak(value, desired, relaxed, relaxed);
  };
}
// Stores in `into` the value that the exchange found.
inline auto CasFinds(Register into, Location location, int expected,
                     int desired, std::memory_order success,
                     std::memory_order failure) {
  return [=](Shared& s) {
    s.*into = expected;
    (s.*location).compare_exchange_strong(s.*into, desired, success, failure);
  };
}
inline auto Nothing() {
  return [](Shared&) {};
}

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace rouse::model::litmus

#endif  // ROUSE_TESTING_MODEL_LITMUS_H_
