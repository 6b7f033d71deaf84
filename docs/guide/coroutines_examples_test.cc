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
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/abortable.h"
#include "rouse/future/any_future.h"
#include "rouse/future/catch_exception.h"
#include "rouse/future/co.h"
#include "rouse/future/collect.h"
#include "rouse/future/filter.h"
#include "rouse/future/gen.h"
#include "rouse/future/iter.h"
#include "rouse/future/many/buffered.h"
#include "rouse/future/map.h"
#include "rouse/future/or_return.h"
#include "rouse/future/ready.h"
#include "rouse/future/select.h"
#include "rouse/future/select_loop.h"
#include "rouse/future/shared.h"
#include "rouse/future/stream.h"
#include "rouse/future/take.h"
#include "rouse/future/try_join.h"
#include "rouse/future/yield.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/with_cancellation.h"
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

rouse::Co<absl::Status> Talk(rouse::TcpStream stream,
                             rouse::mpsc::Receiver<std::string> replies,
                             std::string& heard) {
  char buffer[512];
  std::string sending;
  rouse::Sleep idle(absl::Minutes(1));
  auto read = [&] { return stream.Read(absl::MakeSpan(buffer)); };
  auto write = [&] { return stream.Write(sending); };
  auto has_text = [&] { return !sending.empty(); };
  auto has_room = [&] { return sending.empty(); };
  auto on_read = [&](absl::StatusOr<size_t> size) -> rouse::Flow<absl::Status> {
    if (!size.ok() || *size == 0) return rouse::Break(size.status());
    heard.append(buffer, *size);
    idle.Reset(absl::Minutes(1));
    return rouse::Continue();
  };
  auto on_written =
      [&](absl::StatusOr<size_t> size) -> rouse::Flow<absl::Status> {
    if (!size.ok()) return rouse::Break(size.status());
    sending.erase(0, *size);
    return rouse::Continue();
  };
  auto on_reply = [&](std::string reply) { sending = std::move(reply); };
  auto on_idle = [] {
    return rouse::Break(absl::DeadlineExceededError("idle for a minute"));
  };
  auto loop = rouse::SelectLoop(rouse::On(read, on_read),
                                rouse::On(write, on_written).When(has_text),
                                rouse::OnEach(replies, on_reply).When(has_room),
                                rouse::On(idle, on_idle));
  co_return co_await loop;
}

rouse::Co<int> DoJobs(rouse::mpsc::Receiver<int> jobs,
                      rouse::CancellationToken stop) {
  int sum = 0;
  auto next = [&] { return rouse::Next(jobs); };
  auto on_job = [&](std::optional<int> job) -> rouse::Co<rouse::Flow<int>> {
    if (!job.has_value()) co_return rouse::Break(sum);
    co_await rouse::Yield();
    sum += *job;
    co_return rouse::Continue();
  };
  // Takes no new jobs, and does those that are in the channel.
  auto on_stop = [&] { jobs.Close(); };
  auto loop = rouse::SelectLoopBiased(rouse::On(stop.Cancelled(), on_stop),
                                      rouse::On(next, on_job));
  co_return co_await loop;
}

rouse::Co<int> DoubledInTasks(rouse::Co<int> number) {
  rouse::Shared shared(std::move(number));
  auto doubled = [](auto copy) -> rouse::Co<int> {
    co_return 2 * co_await copy;
  };
  auto first = rouse::Spawn(doubled(shared));
  auto second = rouse::Spawn(doubled(shared));
  co_return *co_await first + *co_await second;
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
rouse::AnyFuture<absl::StatusOr<int>> AskOrGuess(std::string what,
                                                 bool may_ask) {
  if (!may_ask) return rouse::Ready(absl::StatusOr<int>(0));
  return Ask(std::move(what));
}

// Asks until the answer comes, the token is cancelled, or an exception is
// thrown.
rouse::Co<absl::StatusOr<int>> AskSafely(std::string what,
                                         rouse::CancellationToken stop) {
  auto ask = [&] { return AskOrGuess(what, !what.empty()); };
  auto safe = rouse::CatchException(std::move(ask));
  co_return co_await rouse::WithCancellation(stop, std::move(safe));
}

rouse::Co<absl::StatusOr<int>> AskAndAbort() {
  auto [answer, aborter] = rouse::Abortable(Never());
  aborter.Abort();  // from any thread, any number of times
  const absl::Status aborted = co_await answer;
  co_return aborted;
}

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

TEST(CoroutinesPage, SelectLoopOfAConnection) {
  rouse::Runtime runtime = *rouse::Builder::CurrentThread().Build();
  auto client = [](rouse::SocketAddr addr,
                   rouse::mpsc::Sender<std::string> replies)
      -> rouse::Co<absl::StatusOr<std::string>> {
    rouse::TcpStream stream =
        co_await rouse::OrReturn(rouse::TcpStream::Connect(addr));
    co_await rouse::OrReturn(stream.WriteAll("hello"));
    (void)co_await replies.Send("good ");
    (void)co_await replies.Send("bye");
    std::string heard;
    while (heard.size() < 8) {
      char buffer[8];
      size_t size =
          co_await rouse::OrReturn(stream.Read(absl::MakeSpan(buffer)));
      heard.append(buffer, size);
    }
    co_return heard;
  };
  std::string heard;
  auto both = [&]() -> rouse::Co<absl::StatusOr<std::string>> {
    rouse::TcpListener listener = co_await rouse::OrReturn(
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)));
    auto [sender, receiver] = rouse::mpsc::Channel<std::string>(4);
    auto task = rouse::Spawn(client(*listener.local_addr(), std::move(sender)));
    rouse::TcpListener::Accepted accepted =
        co_await rouse::OrReturn(listener.Accept());
    co_await rouse::OrReturn(
        Talk(std::move(accepted.stream), std::move(receiver), heard));
    co_return co_await task;
  };
  EXPECT_THAT(runtime.BlockOn(both()), IsOkAndHolds("good bye"));
  EXPECT_EQ(heard, "hello");
}

TEST(CoroutinesPage, SelectLoopOfAWorker) {
  rouse::Runtime runtime = MakeRuntime();
  auto run = []() -> rouse::Co<int> {
    auto [sender, receiver] = rouse::mpsc::Channel<int>(4);
    rouse::CancellationToken stop;
    (void)co_await sender.Send(1);
    (void)co_await sender.Send(2);
    stop.Cancel();
    const int sum = co_await DoJobs(std::move(receiver), stop);
    EXPECT_FALSE((co_await sender.Send(3)).ok());
    co_return sum;
  };
  EXPECT_EQ(runtime.BlockOn(run()), 3);
}

TEST(CoroutinesPage, Shared) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(DoubledInTasks(Number())), 28);
}

TEST(CoroutinesPage, Adapters) {
  rouse::Runtime runtime = MakeRuntime();
  const rouse::CancellationToken stop;
  EXPECT_THAT(runtime.BlockOn(AskSafely("7", stop)), IsOkAndHolds(7));
  EXPECT_THAT(runtime.BlockOn(AskSafely("", stop)), IsOkAndHolds(0));
  stop.Cancel();
  EXPECT_THAT(runtime.BlockOn(AskSafely("7", stop)),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(runtime.BlockOn(AskAndAbort()),
              StatusIs(absl::StatusCode::kCancelled));
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
