// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests how Check() reports and replays failures, and failures that are not
// those of the program.

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <source_location>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// The message names the race at the lowest address, in every execution.
TEST(FailureTest, FreeingABlockReportsItsFirstRace) {
#ifdef ABSL_HAVE_THREAD_SANITIZER
  GTEST_SKIP() << "the checker does not see what is freed";
#endif
  struct Block {
    std::array<Cell<int>, 8> cells;
  };
  const auto first = std::source_location::current();
  const auto others = std::source_location::current();
  const auto body = [&] {
    // Freed without destruction, which would go from the last to the first.
    void* const place = ::operator new(sizeof(Block));
    auto* const block = new (place) Block;
    Atomic<bool> written = false;
    Thread other([&] {
      for (size_t i = block->cells.size(); i-- > 0;) {
        block->cells[i].Write(i == 0 ? first : others) = 1;
      }
      written.store(true, relaxed);
    });
    const bool early = written.load(relaxed);
    if (early) ::operator delete(place);
    other.Join();
    if (!early) ::operator delete(place);
  };
  const Result result = Check({}, body);
  EXPECT_THAT(result.message, StartsWith("data race: "));
  EXPECT_THAT(result.message, HasSubstr(absl::StrCat("failure_reports_test.cc:",
                                                     first.line())));
}

TEST(FailureTest, AnyOtherFailureIsReported) {
  bool failed = false;
  const auto body = [&] {
    Atomic<int> x = 0;
    const Thread other([&] { x.store(1); });
    failed = x.load() != 0;  // as an EXPECT_ would
  };
  const auto failed_otherwise = [&] { return failed; };
  const Result result = Check({}, body, failed_otherwise);
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.message, HasSubstr("an expectation failed"));
  EXPECT_THAT(result.trace, Not(IsEmpty()));
  EXPECT_EQ(Check({.replay = result.replay}, body, failed_otherwise).message,
            result.message);
}

TEST(FailureTest, ABodyMustBeDeterministic) {
  int times = 0;
  const Result result = Check({}, [&] {
    Atomic<int> x = 0;
    ++times;
    const Thread other([&] { x.store(1); });
    if (times % 2 == 0) x.store(2);
    x.load();
  });
  EXPECT_TRUE(result.failed);
  EXPECT_FALSE(result.complete);
  EXPECT_THAT(result.message, HasSubstr("not deterministic"));
}

// One thread has ended, and the other does not know: the other thread's steps
// are decisions, both for the replay and for the search.
TEST(FailureTest, AReplayRunsTheSameExecution) {
  const auto body = [] {
    Atomic<int> x = 0;
    Atomic<int> y = 0;
    Atomic<int> z = 0;
    Thread other([&] {
      y.store(1, relaxed);
      x.store(1, relaxed);
      z.store(1, relaxed);
    });
    if (x.load(relaxed) == 1) Require(y.load(relaxed) == 1, "stale");
    other.Join();
  };
  for (const Mode mode : {Mode::kExhaustive, Mode::kNaive, Mode::kBounded}) {
    const Result found = Check({.mode = mode}, body);
    EXPECT_THAT(found.message, HasSubstr("stale"));
    const Result replayed = Check({.replay = found.replay}, body);
    EXPECT_EQ(replayed.message, found.message);
    EXPECT_EQ(replayed.trace, found.trace);
  }
}

TEST(FailureTest, AFailureWithoutAReplayHasNoTrace) {
  int times = 0;
  const Result result = Check({}, [&] {
    Choose(8);
    Require(++times != 3, "the third");
  });
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.message, HasSubstr("the third"));
  EXPECT_THAT(result.message, HasSubstr("not deterministic"));
  EXPECT_THAT(result.replay, IsEmpty());
  EXPECT_THAT(result.trace, IsEmpty());
}

TEST(FailureTest, AModelHasAtMostSevenThreadsBesidesItsBody) {
  const auto with = [](int count) {
    return Check({}, [count] {
      std::vector<Thread> threads;
      threads.reserve(count);
      for (int i = 0; i < count; ++i) threads.emplace_back([] {});
    });
  };
  EXPECT_FALSE(with(7).failed);
  EXPECT_THAT(with(8).message, HasSubstr("threads at most"));
}

// Two threads store once each.
void StoresTwice() {
  Atomic<int> x = 0;
  const Thread other([&] { x.store(1); });
  x.store(2);
}

TEST(FailureTest, AReplayStringMustBelongToTheModel) {
  const std::string message =
      "the replay string does not match the current model";
  // One string names a thread that does not exist; one has too many steps.
  for (const std::string replay : {"m2:7", "m2:0000000000000000000000"}) {
    const Result result = Check({.replay = replay}, &StoresTwice);
    EXPECT_TRUE(result.failed) << replay;
    EXPECT_THAT(result.message, HasSubstr(message)) << replay;
    EXPECT_FALSE(result.complete) << replay;
  }
}

TEST(FailureTest, AReplayOfAFixedModelPasses) {
  bool fixed = false;
  const auto body = [&] {
    Atomic<int> x = 0;
    const Thread other([&] { x.store(1); });
    const int seen = x.load();
    Require(fixed || seen == 0);
  };
  const Result found = Check({}, body);
  ASSERT_TRUE(found.failed);
  fixed = true;
  const Result replayed = Check({.replay = found.replay}, body);
  EXPECT_FALSE(replayed.failed) << replayed.message;
  EXPECT_FALSE(replayed.complete);
}

TEST(FailureDeathTest, AnInvalidReplayStringAborts) {
  EXPECT_DEATH(Check({.replay = "nonsense"}, &StoresTwice),
               "not a replay string");
  EXPECT_DEATH(Check({.replay = "m1:"}, &StoresTwice), "not a replay string");
}

TEST(FailureDeathTest, ARequirementOutsideOfAModelAborts) {
  Require(true);
  EXPECT_DEATH(Require(false, "the reason"), "the reason");
}

}  // namespace
}  // namespace rouse::model
