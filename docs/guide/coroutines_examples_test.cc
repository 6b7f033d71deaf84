// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of coroutines.md, word for word (coroutines_quotes_test sees to
// that), and tests that run them.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/collect.h"
#include "rouse/future/filter.h"
#include "rouse/future/gen.h"
#include "rouse/future/iter.h"
#include "rouse/future/many/buffered.h"
#include "rouse/future/map.h"
#include "rouse/future/or_return.h"
#include "rouse/future/select.h"
#include "rouse/future/stream.h"
#include "rouse/future/take.h"
#include "rouse/future/try_join.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"

namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;

rouse::Runtime MakeRuntime() {
  return *rouse::Builder::CurrentThread().Build();
}

rouse::Co<size_t> CountWords(std::string text) {
  size_t words = 0;
  for (std::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (!word.empty()) ++words;
    co_await rouse::Yield();
  }
  co_return words;
}

rouse::Co<size_t> CountBoth(std::string a, std::string b) {
  const size_t first = co_await CountWords(std::move(a));
  co_return first + co_await CountWords(std::move(b));
}

rouse::Co<> Fill(std::vector<int>& numbers) {
  for (int i = 0; i < 3; ++i) {
    co_await rouse::Yield();
    numbers.push_back(i);
  }
}

rouse::Co<std::vector<int>> Numbers() {
  std::vector<int> numbers;
  co_await Fill(numbers);  // `numbers` is in this frame, which waits
  co_return numbers;
}

rouse::Co<size_t> CountInTask() {
  auto text = std::make_shared<const std::string>("one two three");
  auto count = [text]() -> rouse::Co<size_t> {
    co_await rouse::Yield();
    co_return co_await CountWords(*text);
  };
  rouse::JoinHandle<size_t> task = rouse::Spawn(std::move(count));
  co_return (co_await task).value_or(0);
}

rouse::Co<bool> CountsInTime(std::string text) {
  auto count = [&text]() -> rouse::Co<size_t> {
    co_return co_await CountWords(text);
  };
  absl::StatusOr<size_t> words =
      co_await rouse::Timeout(absl::Seconds(60), std::move(count));
  co_return words.ok();
}

absl::StatusOr<int> Parse(std::string_view text) {
  int number;
  if (absl::SimpleAtoi(text, &number)) return number;
  return absl::InvalidArgumentError(absl::StrCat("no number: ", text));
}

rouse::Co<absl::StatusOr<int>> Ask(std::string what) {
  co_await rouse::Yield();
  co_return Parse(what);
}

rouse::Co<absl::StatusOr<int>> Sum(std::string a, std::string b) {
  int x = co_await rouse::OrReturn(Ask(std::move(a)));
  int y = co_await rouse::OrReturn(Ask(std::move(b)));
  co_return x + y;
}

rouse::Co<absl::StatusOr<int>> SumAtOnce(std::string a, std::string b) {
  auto [x, y] = co_await rouse::OrReturn(
      rouse::TryJoin(Ask(std::move(a)), Ask(std::move(b))));
  co_return x + y;
}

rouse::Co<std::string> FirstOf(rouse::Co<int> number, rouse::Co<> stop) {
  auto first = co_await rouse::Select(std::move(number), std::move(stop));
  if (first.index() == 1) co_return "stopped";
  co_return absl::StrCat(std::get<0>(first));
}

// Asks at most eight questions at once.
rouse::Co<std::vector<absl::StatusOr<int>>> AskAll(
    std::vector<std::string> questions) {
  auto asked = rouse::Map(rouse::Iter(std::move(questions)), &Ask);
  auto answers = rouse::Buffered(std::move(asked), 8);
  co_return co_await rouse::Collect(std::move(answers));
}

rouse::Co<int> CountTicks(rouse::Co<> work) {
  int ticks = 0;
  for (;;) {
    auto first = co_await rouse::Select(work, rouse::Yield());
    if (first.index() == 0) co_return ticks;
    ++ticks;
  }
}

rouse::Gen<int> Countdown(int from) {
  for (int i = from; i > 0; --i) {
    co_await rouse::Yield();
    co_yield i;
  }
}

rouse::Co<int> SumOfCountdown(int from) {
  int sum = 0;
  rouse::Gen<int> numbers = Countdown(from);
  while (std::optional<int> number = co_await rouse::Next(numbers)) {
    sum += *number;
  }
  co_return sum;
}

rouse::Co<std::vector<std::string>> SomeSquares() {
  auto is_even = [](int i) { return i % 2 == 0; };
  auto square = [](int i) { return absl::StrCat(i * i); };
  auto even = rouse::Filter(Countdown(9), is_even);
  auto squares = rouse::Map(std::move(even), square);
  co_return co_await rouse::Collect(rouse::Take(std::move(squares), 3));
}

rouse::Co<> Work(bool& cleaned_up) {
  const absl::Cleanup clean_up = [&cleaned_up] { cleaned_up = true; };
  co_await rouse::Sleep(absl::InfiniteDuration());
}

rouse::Co<absl::Status> WorkForAMoment(bool& cleaned_up) {
  co_return co_await rouse::Timeout(absl::Milliseconds(1), Work(cleaned_up));
}

rouse::Co<int> Number() {
  co_await rouse::Yield();
  co_return 7;
}
rouse::Co<> Never() { co_await rouse::Sleep(absl::InfiniteDuration()); }
rouse::Co<> Rounds(int count) {
  for (int i = 0; i < count; ++i) co_await rouse::Yield();
}

TEST(CoroutinesPage, Parameters) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(CountBoth("one two", "three")), 3u);
  EXPECT_THAT(runtime.BlockOn(Numbers()), ElementsAre(0, 1, 2));
  EXPECT_EQ(runtime.BlockOn(CountInTask()), 3u);
  EXPECT_TRUE(runtime.BlockOn(CountsInTime("one two")));
}

TEST(CoroutinesPage, Errors) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(Sum("1", "2")), IsOkAndHolds(3));
  EXPECT_THAT(runtime.BlockOn(Sum("1", "two")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(runtime.BlockOn(SumAtOnce("1", "2")), IsOkAndHolds(3));
  EXPECT_THAT(runtime.BlockOn(SumAtOnce("one", "2")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CoroutinesPage, Select) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_THAT(
      runtime.BlockOn(AskAll({"1", "one", "2"})),
      ElementsAre(IsOkAndHolds(1), StatusIs(absl::StatusCode::kInvalidArgument),
                  IsOkAndHolds(2)));
  EXPECT_EQ(runtime.BlockOn(FirstOf(Number(), Never())), "7");
  EXPECT_GE(runtime.BlockOn(CountTicks(Rounds(3))), 0);
}

TEST(CoroutinesPage, Streams) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(SumOfCountdown(4)), 10);
  EXPECT_THAT(runtime.BlockOn(SomeSquares()), ElementsAre("64", "36", "16"));
}

TEST(CoroutinesPage, Cancelling) {
  bool cleaned_up = false;
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(WorkForAMoment(cleaned_up)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_TRUE(cleaned_up);
}

}  // namespace
