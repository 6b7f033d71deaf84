// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/wheel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/timer/wheel/entry.h"

namespace rouse::wheel {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Optional;

// Returns the entries that come due on the way to `now`.
std::vector<Entry*> AdvanceTo(Wheel& wheel, uint64_t now) {
  std::vector<Entry*> due;
  for (;;) {
    const Wheel::Step step = wheel.Advance(now);
    if (step.due != nullptr) due.push_back(step.due);
    if (!step.more) return due;
  }
}

// Advances from one expiration to the next, like a driver that sleeps in
// between. Returns the tick at which `entry` comes due.
uint64_t SleepUntilDue(Wheel& wheel, Entry& entry) {
  while (const std::optional<uint64_t> next = wheel.NextExpiration()) {
    for (Entry* due : AdvanceTo(wheel, *next)) {
      if (due == &entry) return *next;
    }
  }
  ADD_FAILURE() << "the entry is not in the wheel";
  return 0;
}

TEST(Wheel, IsEmptyAtFirst) {
  Wheel wheel(5);
  EXPECT_EQ(wheel.elapsed(), 5);
  EXPECT_EQ(wheel.NextExpiration(), std::nullopt);
  EXPECT_THAT(AdvanceTo(wheel, 100), IsEmpty());
  EXPECT_EQ(wheel.elapsed(), 100);
}

TEST(Wheel, RefusesDueEntries) {
  Wheel wheel(5);
  Entry entry;
  EXPECT_FALSE(wheel.Insert(entry, 4));
  EXPECT_FALSE(wheel.Insert(entry, 5));
  EXPECT_FALSE(entry.IsLinked());
  EXPECT_TRUE(wheel.Insert(entry, 6));
  EXPECT_EQ(entry.when(), 6);
  wheel.Remove(entry);
}

TEST(Wheel, AnEntryIsDueExactlyOnItsTick) {
  // At the edges of each level, and from a present that is not a round number.
  for (const uint64_t now : {uint64_t{0}, uint64_t{61}, uint64_t{1'234'567}}) {
    for (int bit = 0; bit <= 40; ++bit) {
      for (const int64_t around : {-1, 0, 1}) {
        const uint64_t when = now + (uint64_t{1} << bit) + around;
        if (when <= now) continue;
        Wheel wheel(now);
        Entry entry;
        ASSERT_TRUE(wheel.Insert(entry, when));
        ASSERT_THAT(AdvanceTo(wheel, when - 1), IsEmpty()) << when;
        ASSERT_THAT(AdvanceTo(wheel, when), ElementsAre(&entry)) << when;
        ASSERT_FALSE(entry.IsLinked());
      }
    }
  }
}

TEST(Wheel, EntriesExpireInOrder) {
  Wheel wheel;
  Entry entries[5];
  const uint64_t when[5] = {5'000, 3, 70, 1 << 20, 4};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(wheel.Insert(entries[i], when[i]));
  EXPECT_THAT(AdvanceTo(wheel, 1 << 21),
              ElementsAre(&entries[1], &entries[4], &entries[2], &entries[0],
                          &entries[3]));
}

TEST(Wheel, NextExpirationIsTheTickInTheFinestLevel) {
  Wheel wheel;
  Entry entry;
  ASSERT_TRUE(wheel.Insert(entry, 42));
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(42u)));
  wheel.Remove(entry);
}

TEST(Wheel, NextExpirationIsTheStartOfTheSlotInCoarserLevels) {
  Wheel wheel(10);
  Entry entry;
  ASSERT_TRUE(wheel.Insert(entry, 64 * 3 + 5));
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(192u)));
  EXPECT_THAT(AdvanceTo(wheel, 192), IsEmpty());
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(197u)));
  wheel.Remove(entry);
}

TEST(Wheel, NextExpirationIsNowWhileStepsAreLeft) {
  Wheel wheel;
  Entry a;
  Entry b;
  ASSERT_TRUE(wheel.Insert(a, 7));
  ASSERT_TRUE(wheel.Insert(b, 7));
  while (wheel.Advance(7).due == nullptr) {
  }
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(7u)));
  EXPECT_EQ(wheel.Advance(7).due, &b);
  EXPECT_EQ(wheel.NextExpiration(), std::nullopt);
}

TEST(Wheel, RemovedEntriesDoNotExpire) {
  Wheel wheel;
  Entry a;
  Entry b;
  ASSERT_TRUE(wheel.Insert(a, 70));
  ASSERT_TRUE(wheel.Insert(b, 70));
  wheel.Remove(a);
  wheel.Remove(a);
  EXPECT_THAT(AdvanceTo(wheel, 100), ElementsAre(&b));
}

TEST(Wheel, IsEmptyWhenAllAreRemoved) {
  Wheel wheel;
  Entry near;
  Entry far;
  Entry beyond;
  ASSERT_TRUE(wheel.Insert(near, 1));
  ASSERT_TRUE(wheel.Insert(far, Wheel::kReach - 1));
  ASSERT_TRUE(wheel.Insert(beyond, Wheel::kReach));
  for (Entry* entry : {&near, &far, &beyond}) wheel.Remove(*entry);
  EXPECT_EQ(wheel.NextExpiration(), std::nullopt);
}

// T5: tokio #3229.
TEST(Wheel, EntriesCanBeRemovedBetweenSteps) {
  Wheel wheel;
  std::vector<Entry> entries(200);
  for (Entry& entry : entries) ASSERT_TRUE(wheel.Insert(entry, 4096));
  // Half of the entries have moved, and all wait to be moved or taken out.
  ASSERT_TRUE(wheel.Advance(4096).more);
  ASSERT_TRUE(wheel.Advance(4096).more);
  for (int i = 0; i < 200; ++i) {
    if (i % 10 != 0) wheel.Remove(entries[i]);
  }
  EXPECT_EQ(AdvanceTo(wheel, 4096).size(), 20);
  EXPECT_EQ(wheel.NextExpiration(), std::nullopt);
}

TEST(Wheel, EntriesCanBeInsertedBetweenSteps) {
  Wheel wheel;
  std::vector<Entry> entries(200);
  for (Entry& entry : entries) ASSERT_TRUE(wheel.Insert(entry, 130));
  ASSERT_TRUE(wheel.Advance(200).more);
  EXPECT_EQ(wheel.elapsed(), 128);
  Entry late;
  ASSERT_TRUE(wheel.Insert(late, 129));
  const std::vector<Entry*> due = AdvanceTo(wheel, 200);
  EXPECT_EQ(due.size(), 201);
  EXPECT_EQ(due.front(), &late);
}

TEST(Wheel, AStepMovesALimitedNumberOfEntries) {
  Wheel wheel;
  std::vector<Entry> entries(1000);
  for (Entry& entry : entries) ASSERT_TRUE(wheel.Insert(entry, 100));
  int steps = 0;
  while (wheel.Advance(64).more) ++steps;
  EXPECT_GE(steps, 1000 / Wheel::kMovesPerStep);
  EXPECT_EQ(AdvanceTo(wheel, 100).size(), 1000);
}

// Takes each turn that the wheel asks for, until the wheel is empty. Returns
// how many steps the longest turn had in addition to one step for each entry
// that came due.
int LongestTurn(Wheel& wheel) {
  int longest = 0;
  while (const std::optional<uint64_t> turn = wheel.NextTurn()) {
    int steps = 0;
    for (;;) {
      const Wheel::Step step = wheel.Advance(*turn);
      if (!step.more) break;
      if (step.due == nullptr) ++steps;
    }
    longest = std::max(longest, steps);
    wheel.Prepare();
  }
  return longest;
}

TEST(Wheel, ManyEntriesMoveInSeveralSteps) {
  // For each of the levels above the finest.
  for (int level = 1; level < Wheel::kLevels; ++level) {
    const uint64_t slot = uint64_t{1} << (level * Wheel::kBitsPerLevel);
    Wheel wheel;
    std::vector<Entry> entries(5'000);
    for (size_t i = 0; i < entries.size(); ++i) {
      ASSERT_TRUE(wheel.Insert(entries[i], 3 * slot + slot * i / 5'000));
    }
    // Moved all at once, the entries would take 79 steps for the first move
    // alone.
    EXPECT_LE(LongestTurn(wheel), 5) << level;
  }
}

TEST(Wheel, OnlyACrowdedSlotAsksForATurnAhead) {
  Wheel wheel;
  std::vector<Entry> entries(Wheel::kCrowd);
  for (Entry& entry : entries) {
    EXPECT_EQ(wheel.NextTurn(), wheel.NextExpiration());
    ASSERT_TRUE(wheel.Insert(entry, 200));
  }
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(192u)));
  EXPECT_THAT(wheel.NextTurn(), Optional(Eq(176u)));
  EXPECT_THAT(AdvanceTo(wheel, 176), IsEmpty());
  wheel.Prepare();
  // The entries have moved to the level at which their tick is known: nothing
  // has to be done at 192.
  EXPECT_THAT(wheel.NextTurn(), Optional(Eq(200u)));
  EXPECT_EQ(AdvanceTo(wheel, 200).size(), Wheel::kCrowd);
}

TEST(Wheel, EntriesMovedAheadCanBeRemoved) {
  Wheel wheel;
  std::vector<Entry> entries(100);
  for (Entry& entry : entries) ASSERT_TRUE(wheel.Insert(entry, 70));
  EXPECT_THAT(AdvanceTo(wheel, 50), IsEmpty());
  wheel.Prepare();  // 64 entries have moved
  for (int i = 0; i < 64; ++i) wheel.Remove(entries[i]);
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(64u)));
  wheel.Prepare();
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(70u)));
  for (int i = 64; i < 100; ++i) wheel.Remove(entries[i]);
  EXPECT_EQ(wheel.NextExpiration(), std::nullopt);
  EXPECT_EQ(wheel.NextTurn(), std::nullopt);
}

// Slots of three levels begin together, and all are partly moved ahead.
TEST(Wheel, SlotsThatStartTogetherKeepTheOrder) {
  const uint64_t begin = uint64_t{64} * 64;
  Wheel wheel(begin - 1);
  std::vector<Entry> entries(300);
  for (size_t i = 0; i < entries.size(); ++i) {
    ASSERT_TRUE(wheel.Insert(entries[i], begin + i * 7 % 130));
    if (i % 100 == 99) {
      ASSERT_THAT(AdvanceTo(wheel, begin - 1), IsEmpty());
      wheel.NextTurn();
      wheel.Prepare();
    }
  }
  const std::vector<Entry*> due = AdvanceTo(wheel, begin + 130);
  ASSERT_EQ(due.size(), entries.size());
  for (size_t i = 1; i < due.size(); ++i) {
    ASSERT_LE(due[i - 1]->when(), due[i]->when());
  }
}

TEST(Wheel, AnEarlierPresentIsIgnored) {
  Wheel wheel(1000);
  Entry entry;
  ASSERT_TRUE(wheel.Insert(entry, 1001));
  EXPECT_THAT(AdvanceTo(wheel, 5), IsEmpty());
  EXPECT_EQ(wheel.elapsed(), 1000);
  EXPECT_THAT(AdvanceTo(wheel, 1001), ElementsAre(&entry));
}

// T1: tokio #8334.
TEST(Wheel, EntriesBeyondTheRangeHideNoNearerEntry) {
  const uint64_t top_slot = uint64_t{1} << 30;  // 12 days, at a tick of 1 ms
  for (const uint64_t now : {uint64_t{0}, top_slot + 5, 63 * top_slot + 7}) {
    Wheel wheel(now);
    Entry beyond;
    Entry near;
    Entry far;
    ASSERT_TRUE(wheel.Insert(beyond, now + Wheel::kReach + 3));
    ASSERT_TRUE(wheel.Insert(near, now + 1'300));
    ASSERT_TRUE(wheel.Insert(far, now + 3 * top_slot));
    EXPECT_EQ(SleepUntilDue(wheel, near), now + 1'300);
    EXPECT_EQ(SleepUntilDue(wheel, far), now + 3 * top_slot);
    EXPECT_EQ(SleepUntilDue(wheel, beyond), now + Wheel::kReach + 3);
  }
}

TEST(Wheel, AnEntryForNeverStaysUntilItIsRemoved) {
  Wheel wheel(3);
  Entry never;
  Entry other;
  ASSERT_TRUE(wheel.Insert(never, Wheel::kNever));
  EXPECT_EQ(wheel.NextExpiration(), std::nullopt);
  ASSERT_TRUE(wheel.Insert(other, 5));
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(uint64_t{5})));
  EXPECT_THAT(AdvanceTo(wheel, Wheel::kNever - 1), ElementsAre(&other));
  EXPECT_TRUE(never.IsLinked());
  wheel.Remove(never);
  EXPECT_EQ(wheel.PopAny(), nullptr);
  ASSERT_TRUE(wheel.Insert(never, Wheel::kNever));
  EXPECT_EQ(wheel.PopAny(), &never);
}

// T7: tokio #5710. No tick except kNever has a special meaning.
TEST(Wheel, TheLastTicksAreNotSpecial) {
  constexpr uint64_t kLast = Wheel::kNever - 1;
  Wheel wheel(3);
  Entry last;
  Entry last_but_one;
  ASSERT_TRUE(wheel.Insert(last, kLast));
  ASSERT_TRUE(wheel.Insert(last_but_one, kLast - 1));
  EXPECT_THAT(wheel.NextExpiration(), Optional(Eq(Wheel::kReach)));
  // Does not visit all the multiples of the reach in between.
  wheel.Remove(last);
  wheel.Remove(last_but_one);
  AdvanceTo(wheel, kLast - 70);
  ASSERT_TRUE(wheel.Insert(last, kLast));
  ASSERT_TRUE(wheel.Insert(last_but_one, kLast - 1));
  EXPECT_EQ(SleepUntilDue(wheel, last_but_one), kLast - 1);
  EXPECT_EQ(SleepUntilDue(wheel, last), kLast);
}

TEST(Wheel, PopAnyEmptiesTheWheel) {
  Wheel wheel;
  std::vector<Entry> entries(100);
  uint64_t when = 1;
  for (Entry& entry : entries) {
    ASSERT_TRUE(wheel.Insert(entry, when));
    when += when / 3 + 1;
  }
  ASSERT_TRUE(wheel.Advance(5).more);
  int popped = 0;
  while (Entry* entry = wheel.PopAny()) {
    EXPECT_FALSE(entry->IsLinked());
    ++popped;
  }
  EXPECT_EQ(popped, 100);
  EXPECT_EQ(wheel.NextExpiration(), std::nullopt);
}

}  // namespace
}  // namespace rouse::wheel
