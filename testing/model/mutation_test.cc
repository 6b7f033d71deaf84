// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which mutants are made, and which models kill a mutant: models that see
// the change kill the mutant, and other models do not.

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/mutable_step.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/mutable_step.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr char kThisFile[] = "model/mutation_test.cc";

using Body = void (*)();

std::vector<Mutant> MutantsOf(const std::vector<Body>& bodies,
                              std::string_view files = kThisFile) {
  std::vector<Model> models;
  for (const Body body : bodies) {
    models.push_back({.options = {.max_steps = 1'000}, .body = body});
  }
  return CheckMutants(models, files, "", [] { return false; });
}

// Returns which mutants of this file's operations in `bodies` are killed.
std::map<std::string, bool> KilledOf(const std::vector<Body>& bodies) {
  std::map<std::string, bool> killed;
  for (const Mutant& mutant : MutantsOf(bodies)) {
    killed[mutant.name.substr(mutant.name.rfind(':') + 2)] = mutant.killed;
  }
  return killed;
}

// ---- Orders.

TEST(MutantsTest, ATornCompareExchangeKeepsItsOrders) {
  EXPECT_THAT(
      KilledOf({+[] {
        Cell<int> data(0);
        Atomic<int> flag = 0;
        const Thread other([&] {
          data.Write() = 1;
          flag.store(1, release);
        });
        int expected = 1;
        if (flag.compare_exchange_strong(expected, 2, acquire, relaxed)) {
          data.Read();
        }
      }}),
      ElementsAre(Pair("modify acquire -> relaxed", true),
                  Pair("modify skipped", false),
                  Pair("store release -> relaxed", true),
                  Pair("store skipped", false), Pair("torn", false)));
}

TEST(MutantsTest, EveryMemoryOrderIsWeakened) {
  EXPECT_THAT(KilledOf({+[] {
                Cell<int> data(0);
                Atomic<bool> flag = false;
                const auto load = [&](std::memory_order order) {
                  return flag.load(order);
                };
                load(relaxed);
                const Thread other([&] {
                  data.Write() = 1;
                  flag.store(true, release);
                });
                if (load(acquire)) data.Read();
              }}),
              ElementsAre(Pair("load acquire -> relaxed", true),
                          Pair("store release -> relaxed", true),
                          Pair("store skipped", false)));
}

// ---- Steps that are skipped.

TEST(MutantsTest, AStoreIsSkipped) {
  EXPECT_THAT(KilledOf({+[] {
                Atomic<int> number = 0;
                number.store(1, relaxed);
                Require(number.load(relaxed) == 1);
              }}),
              ElementsAre(Pair("store skipped", true)));
  EXPECT_THAT(KilledOf({+[] {
                Atomic<int> number = 0;
                number.store(1, relaxed);
              }}),
              ElementsAre(Pair("store skipped", false)));
}

TEST(MutantsTest, TheStoreOfAReadModifyWriteIsSkipped) {
  EXPECT_THAT(KilledOf({+[] {
                Atomic<int> number = 0;
                Require(number.fetch_add(1, relaxed) == 0);
                Require(number.load(relaxed) == 1);
              }}),
              ElementsAre(Pair("modify skipped", true), Pair("torn", false)));
  // The mutants do not change the value that is read.
  EXPECT_THAT(KilledOf({+[] {
                Atomic<int> number = 3;
                Require(number.exchange(4, relaxed) == 3);
              }}),
              ElementsAre(Pair("modify skipped", false), Pair("torn", false)));
}

// The operation reports success if it would have succeeded.
TEST(MutantsTest, TheStoreOfACompareExchangeIsSkipped) {
  const std::vector<Mutant> mutants = MutantsOf({+[] {
    Atomic<int> number = 0;
    int expected = 0;
    Require(number.compare_exchange_strong(expected, 1, relaxed));
    Require(number.load(relaxed) == 1);
  }});
  ASSERT_EQ(mutants.size(), 2);
  EXPECT_FALSE(mutants[0].killed);  // torn
  EXPECT_TRUE(mutants[1].killed);
  EXPECT_THAT(mutants[1].message, testing::StartsWith("requirement failed at"));
}

TEST(MutantsTest, AWakeOfAFutexIsSkipped) {
  EXPECT_THAT(
      KilledOf({+[] {
        Atomic<uint32_t> word = 0;
        const Thread other([&] {
          while (word.load(relaxed) == 0) FutexWait(word, 0);
        });
        word.store(1, relaxed);
        FutexWakeOne(word);
      }}),
      ElementsAre(Pair("store skipped", true), Pair("wake skipped", true)));
  EXPECT_THAT(KilledOf({+[] {
                Atomic<uint32_t> word = 0;
                FutexWakeOne(word);
              }}),
              ElementsAre(Pair("wake skipped", false)));
}

TEST(MutantsTest, AWakeOfAConditionVariableIsSkipped) {
  EXPECT_THAT(KilledOf({+[] {
                Mutex mu;
                CondVar changed;
                Cell<bool> done(false);
                const Thread other([&] {
                  const MutexLock lock(&mu);
                  while (!done.Read()) changed.Wait(&mu);
                });
                const MutexLock lock(&mu);
                done.Write() = true;
                changed.Signal();
              }}),
              ElementsAre(Pair("wake skipped", true)));
}

TEST(MutantsTest, ACallIsSkipped) {
  EXPECT_THAT(KilledOf({+[] {
                int count = 0;
                const auto add = [&count] { ++count; };
                ROUSE_MUTABLE_CALL(add());
                Require(count == 1);
              }}),
              ElementsAre(Pair("call skipped", true)));
  EXPECT_THAT(KilledOf({+[] {
                int count = 0;
                const auto add = [&count] { ++count; };
                ROUSE_MUTABLE_CALL(add());
                Require(count <= 1);
              }}),
              ElementsAre(Pair("call skipped", false)));
}

// ---- Conditions.

int Half(int number) {
  return MutableCondition(number % 2 == 0) ? number / 2 : number;
}

TEST(MutantsTest, AConditionIsNegated) {
  EXPECT_THAT(KilledOf({+[] {
                Require(Half(4) == 2);
                Require(Half(3) == 3);
              }}),
              ElementsAre(Pair("condition always false", true),
                          Pair("condition always true", true),
                          Pair("condition negated", true)));
}

// Each surviving mutant shows that the model has only one case.
TEST(MutantsTest, AConditionIsMadeConstant) {
  EXPECT_THAT(KilledOf({+[] { Require(Half(4) == 2); }}),
              ElementsAre(Pair("condition always false", true),
                          Pair("condition always true", false),
                          Pair("condition negated", true)));
  EXPECT_THAT(KilledOf({+[] { Require(Half(3) == 3); }}),
              ElementsAre(Pair("condition always false", false),
                          Pair("condition always true", true),
                          Pair("condition negated", true)));
}

TEST(MutantsTest, AConditionIsEvaluatedInEachMutant) {
  EXPECT_THAT(
      KilledOf({+[] {
        Atomic<int> number = 0;
        static_cast<void>(MutableCondition(number.fetch_add(1, relaxed) == 0));
        Require(number.load(relaxed) == 1);
      }}),
      ElementsAre(Pair("condition always false", false),
                  Pair("condition always true", false),
                  Pair("condition negated", false),
                  Pair("modify skipped", true), Pair("torn", false)));
}

// ---- Steps in another order.

TEST(MutantsTest, TwoStepsAreSwapped) {
  EXPECT_THAT(KilledOf({+[] {
                Cell<int> data(0);
                Atomic<bool> ready = false;
                const Thread other([&] {
                  ROUSE_MUTABLE_ORDER(data.Write() = 1,
                                      ready.store(true, release));
                });
                if (ready.load(acquire)) Require(data.Read() == 1);
              }}),
              ElementsAre(Pair("load acquire -> relaxed", true),
                          Pair("steps swapped", true),
                          Pair("store release -> relaxed", true),
                          Pair("store skipped", false)));
  EXPECT_THAT(
      KilledOf({+[] {
        Cell<int> data(0);
        Atomic<bool> ready = false;
        Thread other([&] {
          ROUSE_MUTABLE_ORDER(data.Write() = 1, ready.store(true, relaxed));
        });
        other.Join();
        Require(data.Read() == 1);
        Require(ready.load(relaxed));
      }}),
      ElementsAre(Pair("steps swapped", false), Pair("store skipped", true)));
}

// ---- Marks without mutants.

TEST(MutantsTest, MarksChangeNothingOutsideOfMutants) {
  const auto body = [] {
    std::string steps;
    ROUSE_MUTABLE_CALL(steps += "a");
    ROUSE_MUTABLE_ORDER(steps += "b", steps += "c");
    if (MutableCondition(steps == "abc")) steps += "d";
    if (MutableCondition(steps == "abc")) steps += "e";
    return steps;
  };
  EXPECT_EQ(body(), "abcd");
  EXPECT_FALSE(Check({}, [&] { Require(body() == "abcd"); }).failed);
}

// ---- Effects of mutants.

struct Node {
  int number = 1;
};

// The program continues.
TEST(MutantsTest, AMutantThatCrashesIsKilled) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || \
    defined(ABSL_HAVE_THREAD_SANITIZER) ||  \
    ABSL_HAVE_FEATURE(undefined_behavior_sanitizer)
  GTEST_SKIP() << "a sanitizer ends the program";
#endif
  for (int round = 0; round < 2; ++round) {
    const std::vector<Mutant> mutants = MutantsOf({+[] {
      Node node;
      Atomic<Node*> pointer = nullptr;
      pointer.store(&node, relaxed);
      volatile Node* const read = pointer.load(relaxed);
      Require(read->number == 1);
    }});
    ASSERT_EQ(mutants.size(), 1);
    EXPECT_TRUE(mutants[0].killed);
    EXPECT_EQ(mutants[0].message, "the code under test crashed");
  }
}

// The other model has 3 executions for each of the mutants.
TEST(MutantsTest, AModelThatDoesNotReachAMutantIsNotTried) {
  const std::vector<Mutant> mutants = MutantsOf({+[] { Choose(3); },
                                                 +[] {
                                                   Choose(2);
                                                   Half(1);
                                                 }});
  ASSERT_EQ(mutants.size(), 3);
  for (const Mutant& mutant : mutants) {
    EXPECT_FALSE(mutant.killed);
    EXPECT_EQ(mutant.executions, 2);
  }
}

TEST(MutantsTest, TheModelWithTheFewestExecutionsIsTriedFirst) {
  const std::vector<Mutant> mutants = MutantsOf({+[] {
                                                   Choose(3);
                                                   Half(4);
                                                 },
                                                 +[] {
                                                   Choose(2);
                                                   Require(Half(4) == 2);
                                                 }});
  std::map<std::string, uint64_t> executions;
  for (const Mutant& mutant : mutants) {
    executions[mutant.name.substr(mutant.name.rfind(' ') + 1)] =
        mutant.executions;
  }
  EXPECT_THAT(executions, ElementsAre(Pair("false", 1), Pair("negated", 1),
                                      Pair("true", 2 + 3)));
}

// A mutant with too many executions is not explored forever.
TEST(MutantsTest, AMutantHasALimitOfExecutions) {
  const std::vector<Mutant> mutants = MutantsOf({+[] {
    if (!MutableCondition(true)) {
      for (int i = 0; i < 16; ++i) Choose(2);
    }
  }});
  ASSERT_EQ(mutants.size(), 3);
  for (const Mutant& mutant : mutants) {
    EXPECT_FALSE(mutant.killed);
    EXPECT_LE(mutant.executions, 10'010);
  }
}

TEST(MutantsTest, SeveralFilesCanBeMutated) {
  const Body body = +[] { Half(1); };
  EXPECT_THAT(MutantsOf({body}, "no_file.h"), IsEmpty());
  EXPECT_THAT(MutantsOf({body}, "no_file.h|mutation_test"), SizeIs(3));
}

TEST(MutantsTest, UnwantedMutantsAreSkipped) {
  const std::vector<Mutant> mutants = CheckMutants(
      {{.options = {}, .body = [] { Half(1); }}}, kThisFile, "",
      [] { return false; },
      [](std::string_view name) { return name.ends_with("negated"); });
  ASSERT_EQ(mutants.size(), 1);
  EXPECT_TRUE(mutants[0].name.ends_with("condition negated"));
}

bool is_busy = false;

// An execution that fails leaves this variable set.
TEST(MutantsTest, StateLeftByAMutantKillsNoOther) {
  is_busy = false;
  EXPECT_THAT(KilledOf({+[] {
                Require(!std::exchange(is_busy, true));
                {
                  Cell<int> data(0);
                  Atomic<bool> flag = false;
                  const Thread other([&] {
                    data.Write() = 1;
                    flag.store(true, release);
                  });
                  if (flag.load(acquire)) data.Read();
                }
                is_busy = false;
              }}),
              IsEmpty());
}

MODEL_TEST(Mutants, PassesAMessage) {
  Cell<int> data(0);
  Atomic<bool> ready = false;
  Thread other([&] {
    data.Write() = 42;
    ready.store(true, release);
  });
  if (ready.load(acquire)) {
    EXPECT_EQ(data.Read(), 42);
  }
  other.Join();
  Require(ready.load(relaxed));
}
MODEL_MUTANTS(Mutants, "model/mutation_test.cc");

MODEL_TEST(ListedMutants, HasOneCase) {
  Atomic<int> number = 0;
  number.store(1, relaxed);
  Require(Half(4) == 2);
}
MODEL_MUTANTS(ListedMutants, "model/mutation_test.cc",
              "condition always true: the other case is not modelled here",
              "store skipped: killed by a test that reads");

}  // namespace
}  // namespace rouse::model
