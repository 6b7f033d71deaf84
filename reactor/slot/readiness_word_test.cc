// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/slot/readiness_word.h"

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "gtest/gtest.h"
#include "rouse/base/atomic.h"
#include "rouse/reactor/ready.h"

namespace rouse::reactor::internal {
namespace {

// States for a test to keep in `Lower()`.
constexpr Ready kNothing;

bool Always() { return true; }

// Reports `ready` without any waiter.
void Post(ReadinessWord& word, Ready ready) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  EXPECT_FALSE(word.Post(ready, &Always));
}

bool IsRaised(const ReadinessWord& word, Direction direction) {
  return (word.Load() & ReadinessWord::EdgeOf(direction)) != 0;
}

TEST(ReadinessWord, NothingIsRaisedAtFirst) {
  const ReadinessWord word;
  EXPECT_FALSE(IsRaised(word, Direction::kRead));
  EXPECT_FALSE(IsRaised(word, Direction::kWrite));
  EXPECT_TRUE(ReadinessWord::ReadyOf(word.Load()).IsEmpty());
}

TEST(ReadinessWord, AnEventRaisesItsDirections) {
  ReadinessWord word;
  Post(word, Ready::kReadable);
  EXPECT_TRUE(IsRaised(word, Direction::kRead));
  EXPECT_FALSE(IsRaised(word, Direction::kWrite));
  EXPECT_EQ(ReadinessWord::ReadyOf(word.Load()), Ready::kReadable);
}

TEST(ReadinessWord, AnErrorRaisesBothDirections) {
  ReadinessWord word;
  Post(word, Ready::kError);
  EXPECT_TRUE(IsRaised(word, Direction::kRead));
  EXPECT_TRUE(IsRaised(word, Direction::kWrite));
}

TEST(ReadinessWord, IsClearedByACallerThatSawTheLatestEvent) {
  ReadinessWord word;
  Post(word, Ready::kReadable);
  word.Lower(Direction::kRead, word.Load(), kNothing);
  EXPECT_FALSE(IsRaised(word, Direction::kRead));
  EXPECT_TRUE(ReadinessWord::ReadyOf(word.Load()).IsEmpty());
}

// R4, D28: the result of an attempt does not undo events that came after the
// attempt began.
TEST(ReadinessWord, IsNotClearedByACallerThatSawAnEarlierEvent) {
  ReadinessWord word;
  Post(word, Ready::kReadable);
  const uint64_t seen = word.Load();
  Post(word, Ready::kReadable);
  word.Lower(Direction::kRead, seen, kNothing);
  EXPECT_TRUE(IsRaised(word, Direction::kRead));
}

// R9, R10: no number of events between an attempt and its result is mistaken
// for zero, up to and beyond the widths at which other implementations wrap.
TEST(ReadinessWord, IsNotClearedAfterAnyRoundNumberOfEvents) {
  for (const int events : {1 << 8, 1 << 12, 1 << 15, 1 << 16}) {
    ReadinessWord word;
    Post(word, Ready::kReadable);
    const uint64_t seen = word.Load();
    for (int i = 0; i < events; ++i) Post(word, Ready::kReadable);
    word.Lower(Direction::kRead, seen, kNothing);
    EXPECT_TRUE(IsRaised(word, Direction::kRead)) << events;
  }
}

// R11 (tokio #8054): a reader and a writer do not prevent each other from
// lowering an edge.
TEST(ReadinessWord, DirectionsAreIndependent) {
  ReadinessWord word;
  Post(word, Ready::kReadable | Ready::kWritable);
  const uint64_t seen = word.Load();
  Post(word, Ready::kWritable);
  word.Lower(Direction::kRead, seen, kNothing);
  EXPECT_FALSE(IsRaised(word, Direction::kRead));
  EXPECT_TRUE(IsRaised(word, Direction::kWrite));
}

TEST(ReadinessWord, ClosedAndErrorStatesAreNotCleared) {
  ReadinessWord word;
  Post(word, Ready::kReadable | Ready::kReadClosed | Ready::kError);
  word.Lower(Direction::kRead, word.Load(), kNothing);
  EXPECT_EQ(ReadinessWord::ReadyOf(word.Load()),
            Ready::kReadClosed | Ready::kError);
}

TEST(ReadinessWord, IsNotClearedWhileAStateMustBeKept) {
  ReadinessWord word;
  Post(word, Ready::kReadable | Ready::kReadClosed);
  word.Lower(Direction::kRead, word.Load(), Ready::kReadClosed);
  EXPECT_TRUE(IsRaised(word, Direction::kRead));
}

TEST(ReadinessWord, TheTicksWrapWithoutTouchingOtherBits) {
  constexpr uint64_t kReadTick = uint64_t{1} << 12;
  constexpr uint64_t kWriteTick = uint64_t{1} << 38;
  EXPECT_EQ(ReadinessWord::Forgotten(0), kReadTick | kWriteTick);
  EXPECT_EQ(ReadinessWord::Forgotten(0xfff), kReadTick | kWriteTick);
  // All bits of one tick are set. The tick of reading carries.
  EXPECT_EQ(ReadinessWord::Forgotten(kWriteTick - kReadTick), 2 * kWriteTick);
  EXPECT_EQ(ReadinessWord::Forgotten(~uint64_t{0} << 38), kReadTick);
}

// R2: an event of a deregistered source changes nothing.
TEST(ReadinessWord, AStaleEventIsDropped)
ABSL_NO_THREAD_SAFETY_ANALYSIS {
  ReadinessWord word;
  const uint64_t before = word.Load();
  EXPECT_FALSE(word.Post(Ready::kReadable, [] { return false; }));
  EXPECT_EQ(word.Load(), before);
}

TEST(ReadinessWord, AnEventWithAWaiterTakesTheLock)
ABSL_NO_THREAD_SAFETY_ANALYSIS {
  ReadinessWord word;
  word.Lock();
  word.Unlock(word.Held() | ReadinessWord::WaitersOf(Direction::kWrite));
  EXPECT_FALSE(word.Post(Ready::kReadable, &Always));
  ASSERT_TRUE(word.Post(Ready::kWritable, &Always));
  EXPECT_NE(word.Held() & ReadinessWord::EdgeOf(Direction::kWrite), 0u);
  word.Unlock(word.Held());
}

// Each thread adds to a plain number under the lock while events arrive.
TEST(ReadinessWordStress, TheLockExcludesOtherThreads) {
  constexpr int kRounds = 20000;
  ReadinessWord word;
  int number = 0;
  Atomic<bool> done{false};
  std::thread posting([&] {
    while (!done.load(std::memory_order_relaxed)) Post(word, Ready::kReadable);
  });
  const auto add = [&] {
    for (int i = 0; i < kRounds; ++i) {
      word.Lock();
      ++number;
      word.Unlock(word.Held());
      word.Lower(Direction::kRead, word.Load(), kNothing);
    }
  };
  std::thread a(add), b(add);
  a.join();
  b.join();
  done.store(true, std::memory_order_relaxed);
  posting.join();
  EXPECT_EQ(number, 2 * kRounds);
}

}  // namespace
}  // namespace rouse::reactor::internal
