// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the reference itself, with programs whose outcomes are in the text of
// the standard or in the literature.

#include "rouse/testing/model/axiomatic.h"

#include <atomic>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace rouse::model::axiomatic {
namespace {

using enum std::memory_order;

constexpr int x = 0;
constexpr int y = 1;
constexpr int z = 2;

Instruction Load(int location, std::memory_order order) {
  return {.kind = Instruction::kLoad, .location = location, .order = order};
}
Instruction Store(int location, int value, std::memory_order order) {
  return {.kind = Instruction::kStore,
          .location = location,
          .value = value,
          .order = order};
}
Instruction Add(int location, int value, std::memory_order order) {
  return {.kind = Instruction::kAdd,
          .location = location,
          .value = value,
          .order = order};
}
Instruction Cas(Instruction::Kind kind, int location, int expected, int value) {
  return {
      .kind = kind, .location = location, .value = value, .expected = expected};
}
Instruction Fence(std::memory_order order) {
  return {.kind = Instruction::kFence, .order = order};
}
Instruction WritePlain(int value) {
  return {.kind = Instruction::kWritePlain, .value = value};
}
Instruction ReadPlainIfRead() {
  return {.kind = Instruction::kReadPlain, .guarded = true};
}

using Threads = std::vector<std::vector<Instruction>>;

Allowed Of(Threads threads, SOrder s = SOrder::kExecution,
           int spurious_failures = 1) {
  return Enumerate({.atomics = 3, .plain = 1, .threads = std::move(threads)},
                   spurious_failures, s);
}

// Returns the values that the program's loads and similar operations have read,
// in the order of the program's text.
std::set<std::vector<int>> Reads(const Allowed& allowed) {
  EXPECT_FALSE(allowed.race);
  std::set<std::vector<int>> all;
  for (const Outcome& outcome : allowed.outcomes) {
    std::vector<int> reads;
    for (auto value = outcome.begin(); value != outcome.end() - 3; ++value) {
      if (*value >= 0) reads.push_back(*value);
    }
    all.insert(reads);
  }
  return all;
}

using Set = std::set<std::vector<int>>;

TEST(AxiomaticTest, StoreBuffering) {
  const auto of = [](std::memory_order order, SOrder s) {
    return Reads(Of({{Store(x, 1, order), Load(y, order)},
                     {Store(y, 1, order), Load(x, order)}},
                    s));
  };
  for (const SOrder s : {SOrder::kExecution, SOrder::kStandard}) {
    EXPECT_EQ(of(relaxed, s), (Set{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
    EXPECT_EQ(of(seq_cst, s), (Set{{0, 1}, {1, 0}, {1, 1}}));
    EXPECT_EQ(
        Reads(Of({{Store(x, 1, relaxed), Fence(seq_cst), Load(y, relaxed)},
                  {Store(y, 1, relaxed), Fence(seq_cst), Load(x, relaxed)}},
                 s)),
        (Set{{0, 1}, {1, 0}, {1, 1}}));
  }
}

TEST(AxiomaticTest, MessagePassing) {
  const auto of = [](std::memory_order store, std::memory_order load) {
    return Reads(Of({{Store(x, 1, relaxed), Store(y, 1, store)},
                     {Load(y, load), Load(x, relaxed)}}))
        .contains({1, 0});
  };
  EXPECT_TRUE(of(relaxed, acquire));
  EXPECT_TRUE(of(release, relaxed));
  EXPECT_FALSE(of(release, acquire));
  const auto fences = [](std::memory_order first, std::memory_order second) {
    return Reads(Of({{Store(x, 1, relaxed), Fence(first), Store(y, 1, relaxed)},
                     {Load(y, relaxed), Fence(second), Load(x, relaxed)}}))
        .contains({1, 0});
  };
  EXPECT_FALSE(fences(release, acquire));
  EXPECT_FALSE(fences(acq_rel, seq_cst));
  EXPECT_TRUE(fences(acquire, acquire));
  EXPECT_TRUE(fences(release, release));
}

// Program order and reads-from form a circle.
TEST(AxiomaticTest, LoadBuffering) {
  EXPECT_EQ(Reads(Of({{Load(x, relaxed), Store(y, 1, relaxed)},
                      {Load(y, relaxed), Store(x, 1, relaxed)}},
                     SOrder::kStandard)),
            (Set{{0, 0}, {0, 1}, {1, 0}}));
}

TEST(AxiomaticTest, Coherence) {
  EXPECT_EQ(Reads(Of({{Store(x, 1, relaxed), Store(x, 2, relaxed)},
                      {Load(x, relaxed), Load(x, relaxed)}})),
            (Set{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
  // Two threads agree on the order of two stores.
  EXPECT_FALSE(Reads(Of({{Store(x, 1, relaxed)},
                         {Store(x, 2, relaxed)},
                         {Load(x, relaxed), Load(x, relaxed)},
                         {Load(x, relaxed), Load(x, relaxed)}}))
                   .contains({1, 2, 2, 1}));
}

TEST(AxiomaticTest, Atomicity) {
  EXPECT_EQ(
      Reads(Of(
          {{Add(x, 1, relaxed)}, {Add(x, 1, relaxed)}, {Add(x, 1, relaxed)}})),
      (Set{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}));
  EXPECT_EQ(Reads(Of({{Cas(Instruction::kCompareExchange, x, 0, 1)},
                      {Cas(Instruction::kCompareExchange, x, 0, 2)}})),
            (Set{{0, 1}, {2, 0}}));
}

TEST(AxiomaticTest, AWeakCompareExchangeFailsALimitedNumberOfTimes) {
  const auto of = [](int spurious_failures) {
    std::set<std::vector<int>> last;
    for (const Outcome& outcome :
         Of({{Cas(Instruction::kWeakCompareExchange, x, 0, 1),
              Cas(Instruction::kWeakCompareExchange, y, 0, 1)}},
            SOrder::kExecution, spurious_failures)
             .outcomes) {
      last.insert({outcome[2], outcome[3]});
    }
    return last;
  };
  EXPECT_EQ(of(0), (Set{{1, 1}}));
  EXPECT_EQ(of(1), (Set{{1, 1}, {0, 1}, {1, 0}}));
  EXPECT_EQ(of(2), (Set{{1, 1}, {0, 1}, {1, 0}, {0, 0}}));
}

// A read-modify-write of any thread and any order continues a release sequence.
// A store does not, even if it is of the thread that began the sequence.
TEST(AxiomaticTest, ReleaseSequences) {
  const auto races = [](std::vector<Instruction> after,
                        std::vector<Instruction> other) {
    std::vector<Instruction> first = {WritePlain(1), Store(x, 1, release)};
    first.insert(first.end(), after.begin(), after.end());
    return Of({std::move(first),
               std::move(other),
               {Load(x, acquire), ReadPlainIfRead()}})
        .race;
  };
  EXPECT_FALSE(races({}, {}));
  EXPECT_FALSE(races({Add(x, 1, relaxed)}, {}));
  // The other thread's addition may come first, and begins no sequence.
  EXPECT_TRUE(races({}, {Add(x, 1, relaxed)}));
  EXPECT_FALSE(races({}, {Cas(Instruction::kCompareExchange, x, 1, 2)}));
  EXPECT_TRUE(races({Store(x, 2, relaxed)}, {}));
  EXPECT_TRUE(races({}, {Store(x, 2, relaxed)}));
}

TEST(AxiomaticTest, DataPassedOnDoesNotRace) {
  const auto of = [](std::memory_order store, std::memory_order load) {
    return Of({{WritePlain(5), Store(x, 1, store)},
               {Load(x, load), ReadPlainIfRead()}});
  };
  EXPECT_TRUE(of(relaxed, acquire).race);
  EXPECT_TRUE(of(release, relaxed).race);
  EXPECT_EQ(Reads(of(release, acquire)), (Set{{0}, {1, 5}}));
  // A sequentially consistent fence does not synchronize by itself.
  EXPECT_TRUE(Of({{WritePlain(5), Fence(seq_cst), Load(x, relaxed)},
                  {Load(y, relaxed), Fence(seq_cst), ReadPlainIfRead()},
                  {Store(y, 1, relaxed)}})
                  .race);
}

TEST(AxiomaticTest, IndependentReadsOfIndependentWrites) {
  const auto of = [](std::memory_order store, std::memory_order load) {
    return Reads(Of({{Store(x, 1, store)},
                     {Store(y, 1, store)},
                     {Load(x, load), Load(y, load)},
                     {Load(y, load), Load(x, load)}}))
        .contains({1, 0, 1, 0});
  };
  EXPECT_TRUE(of(release, acquire));
  EXPECT_FALSE(of(seq_cst, seq_cst));
  EXPECT_FALSE(of(relaxed, seq_cst));
  EXPECT_TRUE(of(seq_cst, acquire));
}

// The second limit, with an access.
TEST(AxiomaticTest, TheOrderSCanDifferFromTheOrderOfExecution) {
  const Threads threads = {{Store(x, 1, seq_cst), Store(y, 1, relaxed)},
                           {Load(y, relaxed), Load(x, seq_cst)}};
  EXPECT_TRUE(Reads(Of(threads, SOrder::kStandard)).contains({1, 0}));
  EXPECT_FALSE(Reads(Of(threads, SOrder::kExecution)).contains({1, 0}));
}

// The second limit, with fences.
TEST(AxiomaticTest, TheOrderOfFencesCanDifferFromTheOrderOfExecution) {
  const Threads threads = {
      {Store(x, 1, relaxed), Fence(seq_cst), Store(y, 1, relaxed)},
      {Load(y, relaxed), Store(z, 1, relaxed)},
      {Load(z, relaxed), Fence(seq_cst), Load(x, relaxed)}};
  EXPECT_TRUE(Reads(Of(threads, SOrder::kStandard)).contains({1, 1, 0}));
  EXPECT_FALSE(Reads(Of(threads, SOrder::kExecution)).contains({1, 1, 0}));
}

// "Repairing Sequential Consistency in C/C++11", section 2: W+RWC, and Z6.U.
TEST(AxiomaticTest, RepairedSequentialConsistency) {
  const Threads z6u = {{Store(x, 1, seq_cst), Store(y, 1, release)},
                       {Add(y, 1, seq_cst), Load(y, relaxed)},
                       {Store(y, 3, seq_cst), Load(x, seq_cst)}};
  const auto outcome = [](const Allowed& allowed) {
    // The addition finds 1, the load after it 3, and the last load 0.
    return Reads(allowed).contains({1, 3, 0});
  };
  EXPECT_TRUE(outcome(Of(z6u, SOrder::kStandard)));
  EXPECT_FALSE(outcome(Of(z6u, SOrder::kExecution)));
  EXPECT_FALSE(
      Reads(Of({{Store(x, 1, relaxed), Store(y, 1, release)},
                {Load(y, acquire), Fence(seq_cst), Load(z, relaxed)},
                {Store(z, 1, relaxed), Fence(seq_cst), Load(x, relaxed)}},
               SOrder::kStandard))
          .contains({1, 0, 0}));
}

}  // namespace
}  // namespace rouse::model::axiomatic
