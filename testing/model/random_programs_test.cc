// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the reduction loses no outcome: for thousands of random programs,
// searches with and without the reduction find the same outcomes. It is easy to
// write a reduction that passes every litmus test but loses outcomes. This test
// finds such reductions.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/programs.h"

namespace rouse::model {
namespace {

constexpr int kLocations = 2;

struct Instruction {
  enum Kind {
    kLoad,
    kStore,
    kExchange,
    kAdd,
    kCompareExchange,
    kFence,
    kLocked,     // a load and a store under the mutex
    kTryLocked,  // like kLocked, if the mutex is free
    kWait,       // sleeps while the location is 0, or until time is up; loads
    kWake,
    kSleep,  // loads and stores under the mutex; in between, sleeps until time
             // is up, with the mutex unlocked
    kSignal,
  };
  Kind kind;
  int location;
  int value;
  std::memory_order order;
};
using Program = std::vector<std::vector<Instruction>>;
using Outcomes = std::set<std::vector<int>>;

Program RandomProgram(uint32_t seed) {
  std::minstd_rand random(seed * 2654435761u + 1);
  const auto below = [&](size_t n) { return random() % n; };
  const size_t threads = 2 + below(2);
  Program program(threads);
  int value = 0;
  // In some programs every access is sequentially consistent, or no access is.
  const size_t flavour = below(4);
  const auto pick = [&](const auto& orders) {
    if (flavour == 0) return std::memory_order_seq_cst;
    if (flavour == 1) return orders[below(orders.size() - 1)];
    return orders[below(orders.size())];
  };
  for (auto& thread : program) {
    const size_t length = threads == 2 ? 2 + below(2) : 1 + below(2);
    for (size_t i = 0; i < length; ++i) {
      Instruction instruction{};
      instruction.location = static_cast<int>(below(kLocations));
      instruction.value = ++value;
      switch (below(18)) {
        case 0:
        case 1:
        case 2:
        case 3:
          instruction.kind = Instruction::kLoad;
          instruction.order = pick(kLoadOrders);
          break;
        case 4:
        case 5:
        case 6:
        case 7:
          instruction.kind = Instruction::kStore;
          instruction.order = pick(kStoreOrders);
          break;
        case 8:
          instruction.kind = Instruction::kExchange;
          instruction.order = pick(kModifyOrders);
          break;
        case 9:
          instruction.kind = Instruction::kAdd;
          instruction.order = pick(kModifyOrders);
          break;
        case 10:
          instruction.kind = Instruction::kCompareExchange;
          instruction.order = pick(kModifyOrders);
          break;
        case 11:
          instruction.kind = Instruction::kFence;
          instruction.order = pick(kFenceOrders);
          break;
        case 12:
          instruction.kind = Instruction::kLocked;
          break;
        case 13:
          instruction.kind = Instruction::kWait;
          break;
        case 14:
          instruction.kind = Instruction::kWake;
          break;
        case 15:
          instruction.kind = Instruction::kSleep;
          break;
        case 16:
          instruction.kind = Instruction::kSignal;
          break;
        default:
          instruction.kind = Instruction::kTryLocked;
          break;
      }
      thread.push_back(instruction);
    }
  }
  return program;
}

std::string Describe(const Program& program) {
  constexpr std::array kNames = {"load", "store", "exchange", "add",
                                 "cas",  "fence", "locked",   "try_locked",
                                 "wait", "wake",  "sleep",    "signal"};
  std::string text;
  for (const auto& thread : program) {
    for (const Instruction& i : thread) {
      absl::StrAppend(&text, kNames[i.kind], "(", i.location, ", ", i.value,
                      ", ", static_cast<int>(i.order), "); ");
    }
    text += "\n";
  }
  return text;
}

struct Shared {
  std::array<Atomic<uint32_t>, kLocations> locations;
  Mutex mutex;
  CondVar changed;
};

// Returns the value that the instruction reads, or -1.
int Run(const Instruction& i, Shared& shared) {
  Atomic<uint32_t>& location = shared.locations[i.location];
  switch (i.kind) {
    case Instruction::kLoad:
      return static_cast<int>(location.load(i.order));
    case Instruction::kStore:
      location.store(i.value, i.order);
      return -1;
    case Instruction::kExchange:
      return static_cast<int>(location.exchange(i.value, i.order));
    case Instruction::kAdd:
      return static_cast<int>(location.fetch_add(100, i.order));
    case Instruction::kCompareExchange: {
      uint32_t expected = 0;
      location.compare_exchange_strong(expected, i.value, i.order);
      return static_cast<int>(expected);
    }
    case Instruction::kFence:
      AtomicThreadFence(i.order);
      return -1;
    case Instruction::kLocked:
    case Instruction::kTryLocked: {
      if (i.kind == Instruction::kLocked) {
        shared.mutex.Lock();
      } else if (!shared.mutex.TryLock()) {
        return -2;
      }
      const uint32_t value = location.load(std::memory_order_relaxed);
      location.store(i.value, std::memory_order_relaxed);
      shared.mutex.Unlock();
      return static_cast<int>(value);
    }
    case Instruction::kWait:
      FutexWait(location, 0, absl::Milliseconds(1));
      return static_cast<int>(location.load(std::memory_order_relaxed));
    case Instruction::kWake:
      FutexWakeOne(location);
      return -1;
    case Instruction::kSleep: {
      const MutexLock lock(&shared.mutex);
      const uint32_t value = location.load(std::memory_order_relaxed);
      const bool timed_out =
          shared.changed.WaitWithTimeout(&shared.mutex, absl::Milliseconds(1));
      location.store(i.value, std::memory_order_relaxed);
      return static_cast<int>(value) + (timed_out ? 1000 : 0);
    }
    case Instruction::kSignal:
      shared.changed.Signal();
      return -1;
  }
  return -1;
}

// Returns nothing if the program has more executions than `limit`.
std::optional<Outcomes> OutcomesOf(const Program& program,
                                   int spurious_failures, Mode mode,
                                   uint64_t limit, uint64_t& executions) {
  Outcomes outcomes;
  std::vector<int> outcome;
  const Options options{.mode = mode,
                        .max_executions = limit,
                        .spurious_failures = spurious_failures};
  const Result result = Check(options, [&] {
    Shared shared;
    outcome = RunThreads(program.size(), [&](size_t t, std::vector<int>& read) {
      for (const Instruction& instruction : program[t]) {
        read.push_back(Run(instruction, shared));
      }
    });
    for (const auto& location : shared.locations) {
      outcome.push_back(static_cast<int>(location.load()));
    }
    // Outside the body of a thread, because a set allocates and keeps memory.
    outcomes.insert(outcome);
  });
  executions += result.executions + result.pruned;
  EXPECT_FALSE(result.failed) << result.message << "\n" << Describe(program);
  if (!result.complete) return std::nullopt;
  return outcomes;
}

// The seeds are shared out among the test's shards.
class RandomPrograms : public testing::TestWithParam<int> {};

TEST_P(RandomPrograms, HaveTheSameOutcomesWithAndWithoutReduction) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  constexpr int kPrograms = 50;
#else
  constexpr int kPrograms = 300;
#endif
  constexpr uint64_t kNaiveLimit = 10'000;
  uint64_t naive_executions = 0;
  uint64_t reduced_executions = 0;
  int compared = 0;
  for (uint32_t seed = GetParam() * 1'000'000; compared < kPrograms; ++seed) {
    const Program program = RandomProgram(seed);
    // In every second program, nothing fails or returns for no reason.
    const auto naive = OutcomesOf(program, seed % 2, Mode::kNaive, kNaiveLimit,
                                  naive_executions);
    if (!naive.has_value()) continue;  // too large
    ++compared;
    const auto reduced = OutcomesOf(program, seed % 2, Mode::kExhaustive,
                                    kNaiveLimit, reduced_executions);
    ASSERT_TRUE(reduced.has_value()) << Describe(program);
    ASSERT_EQ(*naive, *reduced) << "seed " << seed << "\n" << Describe(program);
  }
  RecordProperty("naive_executions", absl::StrCat(naive_executions));
  RecordProperty("reduced_executions", absl::StrCat(reduced_executions));
  std::cout << compared << " programs, " << naive_executions
            << " executions without reduction, " << reduced_executions
            << " with\n";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range(0, 8));

}  // namespace
}  // namespace rouse::model
