// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares a `Heap` with a `std::multimap` after each of millions of random
// operations. Then runs ten million operations as a timer performs them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/timer/heap/heap.h"
#include "rouse/timer/instant.h"

namespace rouse::heap {
namespace {

// The entries of both heaps, by number.
class Pair {
 public:
  explicit Pair(uint32_t keys) : keys_(keys) {}

  size_t size() const { return live_.size(); }

  void Push(FastRand& rand) {
    const Instant key = RandomKey(rand);
    const size_t number = entries_.size();
    entries_.push_back({.slot = heap_.Push(key, number),
                        .expected = expected_.emplace(key, number)});
    AddLive(number);
  }

  void Remove(FastRand& rand) {
    if (live_.empty()) return;
    const size_t number = live_[rand.Below(static_cast<uint32_t>(size()))];
    const auto removed = heap_.Remove(entries_[number].slot);
    ASSERT_EQ(removed.value, number);
    ASSERT_EQ(removed.key, entries_[number].expected->first);
    Forget(number);
  }

  void Update(FastRand& rand) {
    if (live_.empty()) return;
    const size_t number = live_[rand.Below(static_cast<uint32_t>(size()))];
    const Instant key = RandomKey(rand);
    heap_.Update(entries_[number].slot, key);
    expected_.erase(entries_[number].expected);
    entries_[number].expected = expected_.emplace(key, number);
    ASSERT_EQ(heap_.key(entries_[number].slot), key);
  }

  // Pops up to `count` entries. Entries with the same key may come in any
  // order.
  void Pop(uint32_t count) {
    for (; count > 0 && !live_.empty(); --count) {
      const auto popped = heap_.Pop();
      ASSERT_EQ(popped.key, expected_.begin()->first);
      ASSERT_EQ(popped.key, entries_[popped.value].expected->first);
      Forget(popped.value);
    }
  }

  void Compare() const {
    ASSERT_EQ(heap_.size(), expected_.size());
    if (expected_.empty()) {
      ASSERT_EQ(heap_.Peek(), nullptr);
    } else {
      ASSERT_EQ(*heap_.Peek(), expected_.begin()->first);
    }
  }

  bool IsConsistent() const { return heap_.IsConsistent(); }

 private:
  using Expected = std::multimap<Instant, size_t>;

  struct Known {
    Heap<Instant, size_t>::Slot slot;
    Expected::iterator expected;
    size_t in_live = 0;
  };

  Instant RandomKey(FastRand& rand) const {
    return Instant::FromNanoseconds(rand.Below(keys_));
  }

  void AddLive(size_t number) {
    entries_[number].in_live = live_.size();
    live_.push_back(number);
  }

  void Forget(size_t number) {
    expected_.erase(entries_[number].expected);
    const size_t place = entries_[number].in_live;
    live_[place] = live_.back();
    entries_[live_[place]].in_live = place;
    live_.pop_back();
  }

  uint32_t keys_;
  Heap<Instant, size_t> heap_;
  Expected expected_;
  std::vector<Known> entries_;
  std::vector<size_t> live_;
};

// `keys` is the number of different keys, and `limit` is about the number of
// entries.
void Try(uint64_t seed, int operations, uint32_t keys, size_t limit) {
  SCOPED_TRACE(seed);
  FastRand rand(seed);
  Pair pair(keys);
  for (int i = 0; i < operations; ++i) {
    switch (rand.Below(8)) {
      case 0:
      case 1:
      case 2:
        if (pair.size() < limit) {
          pair.Push(rand);
          break;
        }
        [[fallthrough]];
      case 3:
        pair.Remove(rand);
        break;
      case 4:
      case 5:
      case 6:
        pair.Update(rand);
        break;
      default:
        pair.Pop(rand.Below(3));
        break;
    }
    pair.Compare();
    if (testing::Test::HasFatalFailure()) return;
    if (i % 4096 == 0) {
      ASSERT_TRUE(pair.IsConsistent());
    }
  }
  ASSERT_TRUE(pair.IsConsistent());
  pair.Pop(static_cast<uint32_t>(pair.size()));
  pair.Compare();
}

// Fewer where each operation is ten times as slow.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr int kOperations = 100'000;
#else
constexpr int kOperations = 1'000'000;
#endif

TEST(HeapProperty, AFewEntries) { Try(1, kOperations, 1u << 30, 8); }

TEST(HeapProperty, ManyEntries) { Try(2, kOperations, 1u << 30, 10'000); }

TEST(HeapProperty, ManyEqualKeys) { Try(3, kOperations, 16, 1'000); }

TEST(HeapProperty, SmallHeapsAreConsistentAfterEveryOperation) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    FastRand rand(seed);
    Pair pair(10);
    for (int i = 0; i < 50; ++i) {
      switch (rand.Below(4)) {
        case 0:
        case 1:
          pair.Push(rand);
          break;
        case 2:
          pair.Remove(rand);
          break;
        default:
          pair.Update(rand);
          break;
      }
      pair.Compare();
      ASSERT_TRUE(pair.IsConsistent());
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

// A heap of alarms, as used by a timer, and the expected contents.
class Alarms {
 public:
  Alarms(uint64_t seed, size_t count) : rand_(seed), alarms_(count) {}

  uint32_t Below(uint32_t bound) { return rand_.Below(bound); }

  // Returns a number up to 2^bits, with every magnitude equally likely.
  uint64_t Magnitude(int bits) {
    const uint32_t shift = 64 - rand_.Below(static_cast<uint32_t>(bits) + 1);
    return shift == 64 ? 0 : rand_.Next() >> shift;
  }

  // Sets an alarm up to 2^38 ticks from now, again if it was set.
  void Set() {
    const size_t number = Any();
    Alarm& alarm = alarms_[number];
    const uint64_t when = now_ + Magnitude(38);
    if (alarm.slot.has_value()) {
      heap_.Update(*alarm.slot, when);
      expected_.erase(alarm.expected);
    } else {
      alarm.slot = heap_.Push(when, number);
    }
    alarm.expected = expected_.emplace(when, number);
  }

  void Cancel() {
    const size_t number = Any();
    Alarm& alarm = alarms_[number];
    if (!alarm.slot.has_value()) return;
    const auto removed = heap_.Remove(*alarm.slot);
    ASSERT_EQ(removed.value, number);
    ASSERT_EQ(removed.key, alarm.expected->first);
    Forget(alarm);
  }

  // All alarms that are due by then come out: each once, not before its time,
  // and in order.
  void Advance() {
    now_ += Magnitude(37);
    while (!heap_.IsEmpty() && *heap_.Peek() <= now_) {
      const auto popped = heap_.Pop();
      Alarm& alarm = alarms_[popped.value];
      ASSERT_TRUE(alarm.slot.has_value()) << "came twice";
      ASSERT_EQ(popped.key, alarm.expected->first) << "at another time";
      ASSERT_EQ(popped.key, expected_.begin()->first) << "out of order";
      Forget(alarm);
    }
    ASSERT_TRUE(expected_.empty() || expected_.begin()->first > now_)
        << "late, or lost";
  }

  void Compare() const {
    ASSERT_EQ(heap_.size(), expected_.size());
    if (expected_.empty()) return;
    ASSERT_EQ(*heap_.Peek(), expected_.begin()->first);
  }

  bool IsConsistent() const { return heap_.IsConsistent(); }

 private:
  using Expected = std::multimap<uint64_t, size_t>;
  using AlarmHeap = Heap<uint64_t, size_t>;

  struct Alarm {
    std::optional<AlarmHeap::Slot> slot;  // exists while the alarm is set
    Expected::iterator expected;          // exists while the alarm is set
  };

  size_t Any() { return rand_.Below(static_cast<uint32_t>(alarms_.size())); }

  void Forget(Alarm& alarm) {
    expected_.erase(alarm.expected);
    alarm.slot.reset();
  }

  FastRand rand_;
  uint64_t now_ = 0;
  AlarmHeap heap_;
  Expected expected_;
  std::vector<Alarm> alarms_;
};

TEST(HeapProperty, TenMillionOperationsOfATimer) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    // From a handful of alarms to many.
    Alarms alarms(seed, size_t{5} << seed);
    for (int i = 0; i < kOperations; ++i) {
      if (alarms.Below(3) == 0) {
        alarms.Advance();
      } else if (alarms.Below(4) == 0) {
        alarms.Cancel();
      } else {
        alarms.Set();
      }
      alarms.Compare();
      if (HasFatalFailure()) return;
    }
    ASSERT_TRUE(alarms.IsConsistent());
  }
}

}  // namespace
}  // namespace rouse::heap
