// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests how much Check() explores, and how it reports that. litmus_test tests
// the outcomes, and failures_test tests the failures.

#include "rouse/testing/model/check.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;
using testing::ElementsAre;
using testing::IsEmpty;

using Pairs = std::set<std::pair<int, int>>;

// Store buffering.
void Cross(Pairs& outcomes) {
  Atomic<int> x = 0;
  Atomic<int> y = 0;
  int a = -1;
  int b = -1;
  {
    const Thread one([&] {
      x.store(1, relaxed);
      a = y.load(relaxed);
    });
    const Thread two([&] {
      y.store(1, relaxed);
      b = x.load(relaxed);
    });
  }
  outcomes.insert({a, b});
}

TEST(CheckTest, ExploresEveryOutcome) {
  for (const Options& options :
       {Options{.mode = Mode::kExhaustive}, Options{.mode = Mode::kNaive},
        Options{.system_threads = true}}) {
    Pairs outcomes;
    const Result result = Check(options, [&] { Cross(outcomes); });
    EXPECT_FALSE(result.failed) << result.message << result.trace;
    EXPECT_TRUE(result.complete);
    EXPECT_THAT(result.message, IsEmpty());
    EXPECT_THAT(result.trace, IsEmpty());
    EXPECT_THAT(result.replay, IsEmpty());
    EXPECT_THAT(outcomes, ElementsAre(std::pair(0, 0), std::pair(0, 1),
                                      std::pair(1, 0), std::pair(1, 1)));
  }
}

TEST(CheckTest, ReductionSavesExecutions) {
  Pairs outcomes;
  const auto body = [&] { Cross(outcomes); };
  const Result reduced = Check({}, body);
  const Result naive = Check({.mode = Mode::kNaive}, body);
  EXPECT_LT(reduced.executions + reduced.pruned, naive.executions / 4);
  EXPECT_EQ(naive.pruned, 0);
}

TEST(CheckTest, StopsAtTheLimitOfExecutions) {
  Pairs outcomes;
  const auto body = [&] { Cross(outcomes); };
  const Result cut = Check({.max_executions = 3}, body);
  EXPECT_EQ(cut.executions + cut.pruned, 3);
  EXPECT_FALSE(cut.complete);
  EXPECT_FALSE(cut.failed);
  const Result whole = Check({.max_executions = 1'000}, body);
  EXPECT_TRUE(whole.complete);
}

TEST(CheckTest, StopsAtTheTimeLimit) {
  Pairs outcomes;
  const Result cut =
      Check({.max_time = -absl::InfiniteDuration()}, [&] { Cross(outcomes); });
  EXPECT_EQ(cut.executions + cut.pruned, 1);
  EXPECT_FALSE(cut.complete);
}

TEST(CheckTest, RandomModeIsNeverComplete) {
  Pairs outcomes;
  const Result result = Check({.mode = Mode::kRandom, .max_executions = 1'000},
                              [&] { Cross(outcomes); });
  EXPECT_EQ(result.executions, 1'000);
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(outcomes.size(), 4);
}

TEST(CheckTest, TheSeedDeterminesRandomMode) {
  const auto first = [](uint64_t seed) {
    return Check({.mode = Mode::kRandom, .seed = seed, .max_executions = 1'000},
                 [] {
                   Atomic<int> x = 0;
                   const Thread one([&] { x.fetch_add(1); });
                   const Thread two([&] { x.fetch_add(1); });
                   Require(x.load() != 1);
                 })
        .replay;
  };
  EXPECT_EQ(first(1), first(1));
  std::set<std::string> replays;
  for (uint64_t seed = 1; seed <= 10; ++seed) replays.insert(first(seed));
  EXPECT_GT(replays.size(), 1);
}

// A thread takes three steps while the other thread is between two steps.
void NeedsPreemptions(int count) {
  Atomic<int> x = 0;
  const Thread other([&] {
    for (int i = 0; i < 4; ++i) x.fetch_add(1);
  });
  int between = 0;
  int last = x.load();
  for (int i = 0; i < 3; ++i) {
    const int now = x.load();
    if (now != last) ++between;
    last = now;
  }
  Require(between < count);
}

TEST(CheckTest, BoundedModeLimitsPreemptions) {
  // Each change except the first, at the spawn, takes one from each thread.
  const auto found = [](int count, int bound) {
    return Check({.mode = Mode::kBounded, .preemption_bound = bound},
                 [&] { NeedsPreemptions(count); });
  };
  EXPECT_TRUE(found(1, 0).complete);
  EXPECT_TRUE(found(1, 2).failed);
  EXPECT_TRUE(found(3, 2).complete);
  EXPECT_TRUE(found(3, 6).failed);
}

TEST(CheckTest, ChooseTriesEveryPossibility) {
  Pairs outcomes;
  const Result result = Check({}, [&] {
    const int first = Choose(3);
    outcomes.insert({first, first == 0 ? Choose(2) : -1});
  });
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.executions, 4);
  EXPECT_THAT(outcomes, ElementsAre(std::pair(0, 0), std::pair(0, 1),
                                    std::pair(1, -1), std::pair(2, -1)));
}

TEST(CheckTest, EarlierObjectsAreRestoredForEachExecution) {
  Atomic<int> x = 5;
  const Result result = Check({}, [&] {
    Require(x.load() == 5);
    const Thread other([&] { x.store(6); });
    x.store(7);
  });
  EXPECT_FALSE(result.failed) << result.message;
  EXPECT_EQ(x.load(), 5);
}

// The object is not a constant: the first thread that calls this constructs it.
Atomic<int>& Static() {
  static Atomic<int> atomic(ThreadNumber());
  return atomic;
}

TEST(CheckTest, AFunctionsStaticObjectIsRestored) {
  // Thread 1 constructs the object on the way to its first step, in the first
  // execution of the first round.
  for (int round = 0; round < 2; ++round) {
    const Result result = Check({}, [&] {
      Thread other([] { Static().fetch_add(1, relaxed); });
      Static().fetch_add(1, relaxed);
      other.Join();
      Require(Static().load(relaxed) == 3);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

TEST(CheckTest, AFunctionsStaticDataIsRestored) {
  for (int round = 0; round < 2; ++round) {
    const Result result = Check({}, [] {
      const auto read = [] {
        static const Cell<int> data(ThreadNumber());
        data.Read();
      };
      const Thread other(read);
      read();
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
}

// Under ThreadSanitizer, the heap may reuse one thread's address for another.
TEST(CheckTest, DataOnTheHeapHasADistinctLocation) {
  const Result result = Check({}, [] {
    Atomic<int> step = 0;
    const auto use = [&] {
      std::make_unique<Cell<int>>(1)->Write() = 2;
      step.fetch_add(1, relaxed);
    };
    const Thread other(use);
    use();
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
}

TEST(CheckTest, AFutexWakeDoesNotTouchTheWord) {
  const Result result = Check({}, [] {
    using Word = Atomic<uint32_t>;
    alignas(Word) std::array<std::byte, sizeof(Word)> storage;
    Word* word = new (storage.data()) Word(1);
    FutexWait(*word, 0);
    std::destroy_at(word);
    storage.fill(std::byte{0xEE});
    FutexWakeOne(*word);
    Require(std::ranges::count(storage, std::byte{0xEE}) == sizeof(Word));
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
}

// The word is destroyed after the wait, and the wake may come later.
TEST(CheckTest, AFutexWakeCanFollowTheWordsDestruction) {
  const Result result = Check({}, [] {
    auto word = std::make_unique<Atomic<uint32_t>>(0);
    Thread other([address = word.get()] {
      address->store(1, release);
      FutexWakeOne(*address);
    });
    while (word->load(acquire) == 0) FutexWait(*word, 0);
    word.reset();
    other.Join();
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
}

// The test takes the largest number of steps, of the kind that moves the clock
// most. If the clock wrapped, the second write would seem to precede the first.
TEST(CheckTest, ClocksDoNotWrap) {
  const Result result = Check({.max_steps = 16'000}, [] {
    Cell<int> data(0);
    Atomic<uint32_t> word = 0;
    Atomic<int> stage = 0;
    Thread other([&] {
      for (int i = 0; i < 7'000; ++i) FutexWait(word, 1);
      stage.store(1, release);
      for (int i = 0; i < 8'900; ++i) FutexWait(word, 1);
      data.Write() = 1;
      stage.store(2, relaxed);
    });
    while (stage.load(acquire) == 0) SpinHint();
    while (stage.load(relaxed) != 2) SpinHint();
    data.Read();
    other.Join();
  });
  EXPECT_THAT(result.message, testing::StartsWith("data race"));
}

TEST(CheckDeathTest, HasALimitOfSteps) {
  EXPECT_DEATH(Check({.max_steps = 16'001}, [] {}), "Options::max_steps");
}

TEST(CheckTest, AtomicsAreOrdinaryVariablesOutsideAModel) {
  Atomic<int> x = 1;
  EXPECT_EQ(x.exchange(2), 1);
  EXPECT_EQ(x.fetch_add(3), 2);
  int expected = 4;
  EXPECT_FALSE(x.compare_exchange_strong(expected, 9));
  EXPECT_EQ(expected, 5);
  EXPECT_TRUE(x.compare_exchange_weak(expected, 9));
  AtomicThreadFence(seq_cst);
  EXPECT_EQ(x.load(), 9);
}

TEST(CheckTest, AnExecutionEndsWithItsLastThread) {
  Pairs outcomes;
  Atomic<int> x = 0;
  const Result result = Check({}, [&] {
    Thread other([&] { outcomes.insert({x.load(), 0}); });
    other.Detach();
    x.store(1);
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
  EXPECT_THAT(outcomes, ElementsAre(std::pair(0, 0), std::pair(1, 0)));
}

MODEL_TEST(Gtest, Spins) {
  Atomic<int> turn(0);
  const Thread other([&] {
    while (turn.load(acquire) != 1) SpinHint();
    turn.store(2, release);
  });
  turn.store(1, release);
  while (turn.load(acquire) != 2) SpinHint();
}

MODEL_TEST(Gtest, IsBounded, .mode = Mode::kBounded, .preemption_bound = 1) {
  Atomic<int> x = 0;
  {
    const Thread one([&] { x.fetch_add(1, relaxed); });
    const Thread two([&] { x.fetch_add(1, relaxed); });
  }
  EXPECT_EQ(x.load(), 2);
}

}  // namespace
}  // namespace rouse::model
