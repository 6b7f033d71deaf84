// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the memory model of the checker is that of the standard, except
// for the two limits. Thousands of random programs have exactly the outcomes
// that the rules of the standard allow (axiomatic.h), and the checker finds a
// data race exactly in the programs that have a data race.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/axiomatic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/programs.h"

namespace rouse::model {
namespace {

using axiomatic::Allowed;
using axiomatic::Instruction;
using axiomatic::Outcome;
using axiomatic::Program;

constexpr int kAtomics = 2;
constexpr size_t kThreads = 3;
constexpr int kSpuriousFailures = 1;

// Most threads of a program go from one location to another, with or without a
// fence between, because an outcome depends on an order only in such threads.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed * 2654435761U + 1) {}

  Program Next() {
    Program program{.atomics = kAtomics, .plain = 1, .threads = {}};
    // In some programs every access is sequentially consistent, or no access
    // is, or only fences are more than relaxed.
    flavour_ = Below(6);
    const size_t threads = 2 + Below(kThreads - 1);
    for (size_t t = 0; t < threads; ++t) {
      std::vector<Instruction>& thread = program.threads.emplace_back();
      const int location = static_cast<int>(Below(kAtomics));
      thread.push_back(Access(location, t));
      if (Below(flavour_ <= 1 ? 6 : 2) == 0) thread.push_back(Fence());
      thread.push_back(Access(kAtomics - 1 - location, t));
      if (Below(threads == 2 ? 2 : 4) == 0) {
        thread.push_back(Access(static_cast<int>(Below(kAtomics)), t));
      }
    }
    return program;
  }

 private:
  size_t Below(size_t n) { return random_() % n; }

  template <size_t kCount>
  std::memory_order Pick(const std::array<std::memory_order, kCount>& orders) {
    if (flavour_ == 0) return std::memory_order_seq_cst;
    if (flavour_ == 1) return orders[Below(kCount - 1)];
    if (flavour_ <= 3) return std::memory_order_relaxed;
    return orders[Below(kCount)];
  }

  Instruction Fence() {
    return {.kind = Instruction::kFence,
            .order = kFenceOrders[Below(kFenceOrders.size())]};
  }

  Instruction Access(int location, size_t thread) {
    Instruction i{.kind = Instruction::kLoad,
                  .location = location,
                  // Few values, so that different stores have equal values.
                  .value = 1 + static_cast<int>(Below(3)),
                  .guarded = Below(8) == 0};
    switch (Below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        i.order = Pick(kLoadOrders);
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        i.kind = Instruction::kStore;
        i.order = Pick(kStoreOrders);
        break;
      case 9:
        i.kind = Instruction::kExchange;
        i.order = Pick(kModifyOrders);
        break;
      case 10:
        i.kind = Instruction::kAdd;
        i.order = Pick(kModifyOrders);
        break;
      case 11:
      case 12:
        i.kind = Below(4) == 0 ? Instruction::kWeakCompareExchange
                               : Instruction::kCompareExchange;
        i.expected = static_cast<int>(Below(2));
        i.order = Pick(kModifyOrders);
        i.failure = Pick(kLoadOrders);
        break;
      default:
        // The first thread hands plain data to others, which check for it.
        i.kind =
            thread == 0 ? Instruction::kWritePlain : Instruction::kReadPlain;
        i.location = 0;
        i.guarded = thread != 0 && Below(8) != 0;
        break;
    }
    return i;
  }

  std::minstd_rand random_;
  size_t flavour_ = 0;
};

struct Shared {
  std::array<Atomic<int>, kAtomics> atomics;
  Cell<int> plain;
};

void Run(const Instruction& i, Shared& shared, int& last, int& result) {
  if (i.guarded && last == 0) {
    result = axiomatic::kLeftOut;
    return;
  }
  result = axiomatic::kReadsNothing;
  Atomic<int>& atomic = shared.atomics[i.location];
  switch (i.kind) {
    case Instruction::kLoad:
      result = last = atomic.load(i.order);
      break;
    case Instruction::kStore:
      atomic.store(i.value, i.order);
      break;
    case Instruction::kExchange:
      result = last = atomic.exchange(i.value, i.order);
      break;
    case Instruction::kAdd:
      result = last = atomic.fetch_add(i.value, i.order);
      break;
    case Instruction::kCompareExchange:
    case Instruction::kWeakCompareExchange: {
      int expected = i.expected;
      if (i.kind == Instruction::kCompareExchange) {
        atomic.compare_exchange_strong(expected, i.value, i.order, i.failure);
      } else {
        atomic.compare_exchange_weak(expected, i.value, i.order, i.failure);
      }
      result = last = expected;
      break;
    }
    case Instruction::kFence:
      AtomicThreadFence(i.order);
      break;
    case Instruction::kReadPlain:
      result = shared.plain.Read();
      break;
    case Instruction::kWritePlain:
      shared.plain.Write() = i.value;
      break;
  }
}

struct Found {
  std::set<Outcome> outcomes;
  Result result;
};

Found RunChecker(const Program& program, uint64_t max_executions) {
  Found found;
  const Options options{.max_executions = max_executions,
                        .spurious_failures = kSpuriousFailures};
  Outcome outcome;
  found.result = Check(options, [&] {
    Shared shared;
    outcome = RunThreads(program.threads.size(), [&](size_t t, Outcome& read) {
      int last = 0;
      for (const Instruction& i : program.threads[t]) {
        int result = 0;
        Run(i, shared, last, result);
        read.push_back(result);
      }
    });
    for (const auto& atomic : shared.atomics) {
      outcome.push_back(atomic.load(std::memory_order_relaxed));
    }
    // Outside the body of a thread, because a set allocates and keeps memory.
    found.outcomes.insert(outcome);
  });
  return found;
}

// Returns the outcomes in `a` that are not in `b`, one on each line.
std::string Difference(const std::set<Outcome>& a, const std::set<Outcome>& b) {
  std::string text;
  for (const Outcome& outcome : a) {
    if (!b.contains(outcome)) {
      absl::StrAppend(&text, "  ", absl::StrJoin(outcome, " "), "\n");
    }
  }
  return text;
}

// The seeds are shared out among the test's shards.
class AxiomaticPrograms : public testing::TestWithParam<uint32_t> {};

TEST_P(AxiomaticPrograms, HaveOnlyAllowedOutcomes) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  constexpr int kPrograms = 100;
#else
  constexpr int kPrograms = 7'000;
#endif
  constexpr uint64_t kMostExecutions = 4'000;
  const uint32_t first = GetParam() * 1'000'000;
  int compared = 0;
  int races = 0;
  int weaker = 0;
  uint64_t executions = 0;
  uint64_t graphs = 0;
  uint32_t seed = first;
  for (; compared < kPrograms; ++seed) {
    const Program program = Generator(seed).Next();
    const std::string text =
        absl::StrCat("seed ", seed, "\n", axiomatic::ToString(program));
    const Found found = RunChecker(program, kMostExecutions);
    executions += found.result.executions + found.result.pruned;
    const bool found_race = absl::StartsWith(found.result.message, "data race");
    ASSERT_TRUE(!found.result.failed || found_race)
        << found.result.message << "\n"
        << text;
    if (!found_race && !found.result.complete) continue;  // too large
    ++compared;

    const Allowed allowed = axiomatic::Enumerate(program, kSpuriousFailures,
                                                 axiomatic::SOrder::kExecution);
    graphs += allowed.graphs;
    ASSERT_EQ(found_race, allowed.race)
        << "(whether there is a race: found, true) after " << compared
        << " programs\n"
        << text << found.result.message << "\n"
        << found.result.trace;
    if (found_race) {
      ++races;
      continue;
    }
    ASSERT_EQ(Difference(found.outcomes, allowed.outcomes), "")
        << "are forbidden, after " << compared << " programs\n"
        << text;
    ASSERT_EQ(Difference(allowed.outcomes, found.outcomes), "")
        << "are missing, after " << compared << " programs\n"
        << text;
    // Counts the outcomes that the limit of S takes away.
    if (axiomatic::Enumerate(program, kSpuriousFailures,
                             axiomatic::SOrder::kStandard)
            .outcomes != allowed.outcomes) {
      ++weaker;
    }
  }
  std::cout << "seeds " << first << " to " << seed - 1 << ": " << compared
            << " programs, " << races << " with a race, " << weaker
            << " for which an S that is not the order of execution gives more "
               "outcomes; "
            << executions << " executions, " << graphs << " graphs\n";
}

INSTANTIATE_TEST_SUITE_P(Seeds, AxiomaticPrograms, testing::Range(0U, 4U));

}  // namespace
}  // namespace rouse::model
