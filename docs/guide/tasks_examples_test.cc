// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of tasks.md and of docs/reference/errors.md, word for word
// (tasks_quotes_test and errors_quotes_test see to that), and tests that run
// them.

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/race.h"
#include "rouse/future/task_local.h"
#include "rouse/future/yield.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/abort_on_drop_handle.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/fork.h"
#include "rouse/scheduler/fork_all.h"
#include "rouse/scheduler/join_map.h"
#include "rouse/scheduler/join_queue.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/parallel_reduce.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task_tracker.h"
#include "rouse/signal/shutdown_signal.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"

namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

rouse::Runtime MakeRuntime() {
  return *rouse::Builder::MultiThread().WorkerThreads(2).Build();
}

rouse::Co<absl::StatusOr<std::string>> Fetch(std::string url) {
  co_await rouse::Yield();
  if (url.empty()) co_return absl::InvalidArgumentError("no URL");
  co_return absl::StrCat("page ", url);
}

rouse::Co<std::vector<std::string>> FetchAll(std::vector<std::string> urls) {
  rouse::JoinSet<absl::StatusOr<std::string>> fetches;
  for (std::string& url : urls) fetches.Spawn(Fetch(std::move(url)));
  std::vector<std::string> pages;
  while (auto page = co_await fetches.Next()) {
    if (page->ok()) pages.push_back(**std::move(page));
  }
  co_return pages;
}

rouse::Co<int> Session(int number) {
  co_await rouse::Yield();
  co_return number;
}

rouse::Co<int> ServeOneUser() {
  rouse::JoinMap<std::string, int> sessions;
  sessions.Spawn("ann", Session(1));
  sessions.Spawn("ann", Session(2));  // replaces the first session
  sessions.Spawn("bob", Session(3));
  sessions.Abort("bob");
  int sum = 0;
  while (auto ended = co_await sessions.Next()) {
    if (ended->result.ok()) sum += *ended->result;
  }
  co_return sum;
}

rouse::Co<std::vector<std::string>> FetchInOrder(
    std::vector<std::string> urls) {
  rouse::JoinQueue<absl::StatusOr<std::string>> fetches;
  for (std::string& url : urls) fetches.Spawn(Fetch(std::move(url)));
  std::vector<std::string> pages;
  while (auto page = co_await fetches.Next()) {
    if (page->ok()) pages.push_back(**std::move(page));
  }
  co_return pages;  // in the order of `urls`
}

rouse::Co<> Heartbeat() {
  for (;;) co_await rouse::Sleep(absl::Milliseconds(1));
}

rouse::Co<int> WorkWithHeartbeat() {
  const rouse::AbortOnDropHandle heartbeat(rouse::Spawn(Heartbeat()));
  co_return co_await Session(1);
}  // The heartbeat ends here, and also if this future is destroyed earlier.

TEST(Tasks, MapsQueuesAndHandlesThatAbort) {
  rouse::Runtime runtime = MakeRuntime();
  // The session of Bob may have ended before it is aborted.
  EXPECT_THAT(runtime.BlockOn(ServeOneUser()), testing::AnyOf(2, 5));
  EXPECT_THAT(runtime.BlockOn(FetchInOrder({"a", "b"})),
              testing::ElementsAre("page a", "page b"));
  EXPECT_EQ(runtime.BlockOn(WorkWithHeartbeat()), 1);
}

rouse::Co<bool> StartAndAbort() {
  auto task = rouse::Spawn(rouse::Sleep(absl::InfiniteDuration()));
  const rouse::AbortHandle abort = task.abort_handle();
  abort.Abort();  // from any thread, any number of times
  const absl::StatusOr<rouse::SleepResult> end = co_await task;
  co_return absl::IsCancelled(end.status());
}

rouse::Co<int> CountLocally() {
  // Needs no lock and no atomic: the tasks take turns on one thread.
  auto count = std::make_shared<int>(0);
  auto increment = [count]() -> rouse::Co<> {
    co_await rouse::Yield();
    ++*count;
  };
  std::vector<rouse::JoinHandle<void>> tasks;
  for (int i = 0; i < 10; ++i) tasks.push_back(rouse::SpawnLocal(increment));
  for (rouse::JoinHandle<void>& task : tasks) (void)co_await task;
  co_return *count;
}

int RunLocally(rouse::Runtime& runtime) {
  rouse::LocalSet set;
  return runtime.BlockOn(set.RunUntil(CountLocally()));
}

constinit rouse::TaskLocal<std::string> request_id("request_id");

std::string Prefixed(const std::string& text) {
  const std::string* const id = request_id.Get();
  return id == nullptr ? text : absl::StrCat(*id, ": ", text);
}

rouse::Co<std::string> Handle() {
  co_await rouse::Yield();
  // The spawned task has a copy of the value.
  auto audit = []() -> rouse::Co<std::string> {
    co_return Prefixed("audited");
  };
  rouse::JoinHandle<std::string> task =
      rouse::Spawn(rouse::InheritTaskLocals(audit));
  co_return (co_await task).value_or("");
}

rouse::Co<std::string> Answer(std::string id) {
  co_return co_await request_id.Scope(std::move(id), Handle());
}

struct Tree {
  int64_t value = 0;
  const Tree* left = nullptr;
  const Tree* right = nullptr;
};

rouse::Co<int64_t> Sum(const Tree* tree) {
  if (tree == nullptr) co_return 0;
  auto [left, right] = co_await rouse::Fork(Sum(tree->left), Sum(tree->right));
  co_return tree->value + left + right;
}

rouse::Co<size_t> CountWordsOf(const std::string& page) {
  const std::vector<std::string_view> words =
      absl::StrSplit(page, ' ', absl::SkipEmpty());
  co_return words.size();
}

rouse::Co<std::vector<size_t>> CountWords(
    const std::vector<std::string>& pages) {
  auto parts = pages | std::views::transform(&CountWordsOf);
  std::vector<size_t> counts = co_await rouse::ForkAll(parts);
  co_return counts;
}

rouse::Co<double> SumOfSquares(const std::vector<double>& numbers) {
  auto square = [&numbers](size_t i) { return numbers[i] * numbers[i]; };
  co_return co_await rouse::ParallelReduce(size_t{0}, numbers.size(), 1000, 0.0,
                                           square, std::plus<>());
}

rouse::Co<> Talk(rouse::TcpStream stream, rouse::CancellationToken stop) {
  for (;;) {
    char buffer[512];
    std::optional<absl::StatusOr<size_t>> size =
        co_await stop.RunUntilCancelled(stream.Read(absl::MakeSpan(buffer)));
    if (!size.has_value() || !size->ok() || **size == 0) break;
    const absl::Status sent =
        co_await stream.WriteAll(std::string_view(buffer, **size));
    if (!sent.ok()) co_return;
  }
  (void)co_await stream.WriteAll("bye\n");
}

rouse::Co<absl::Status> Accept(rouse::TcpListener listener,
                               rouse::TaskTracker connections,
                               rouse::CancellationToken stop) {
  for (;;) {
    rouse::TcpListener::Accepted accepted =
        co_await rouse::OrReturn(listener.Accept());
    connections.Spawn(Talk(std::move(accepted.stream), stop)).Detach();
  }
}

rouse::Co<absl::Status> Main(rouse::TcpListener listener) {
  rouse::CancellationToken stop;
  rouse::TaskTracker connections;
  // 1. No new connections: the signal cancels `Accept()`, which closes the
  //    listener.
  absl::Status stopped = co_await rouse::Race(
      Accept(std::move(listener), connections, stop), rouse::ShutdownSignal());
  // 2. Tell the existing connections, too. Wait for them, but not forever.
  stop.Cancel();
  connections.Close();
  (void)co_await rouse::Timeout(absl::Minutes(1), connections.Wait());
  co_return stopped;
}

absl::Status Serve(rouse::Runtime runtime, rouse::TcpListener listener) {
  // As a spawned task, `Main()` runs on a worker, like the tasks it spawns.
  absl::Status status =
      runtime.BlockOn(runtime.Spawn(Main(std::move(listener))));
  // 3. Cancel all tasks that are left. Blocking calls get some time.
  if (!std::move(runtime).ShutdownTimeout(absl::Minutes(1)) && status.ok()) {
    status = absl::DeadlineExceededError("a blocking call did not end");
  }
  return status;
}

std::string HowItEnded(const absl::Status& joined,
                       const std::exception_ptr& exception) {
  if (exception != nullptr) return "by an exception";
  return joined.ok() ? "well" : std::string(joined.message());
}

rouse::Co<std::string> Watch(rouse::JoinHandle<void> task) {
  const absl::Status joined = co_await task;
  // After the result is taken, `exception()` returns the exception, if any.
  co_return HowItEnded(joined, task.exception());
}

TEST(TasksPage, JoinSet) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(FetchAll({"a", "", "b"})),
              UnorderedElementsAre("page a", "page b"));
}

TEST(TasksPage, Abort) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_TRUE(runtime.BlockOn(StartAndAbort()));
}

TEST(TasksPage, Fork) {
  rouse::Runtime runtime = MakeRuntime();
  const Tree left = {.value = 2};
  const Tree right = {.value = 3};
  const Tree root = {.value = 1, .left = &left, .right = &right};
  EXPECT_EQ(runtime.BlockOn(Sum(&root)), 6);
  const std::vector<std::string> pages = {"a b c", "", "d e"};
  EXPECT_THAT(runtime.BlockOn(CountWords(pages)), ElementsAre(3, 0, 2));
  const std::vector<double> numbers(10000, 0.5);
  EXPECT_EQ(runtime.BlockOn(SumOfSquares(numbers)), 2500.0);
}

TEST(TasksPage, LocalSet) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_EQ(RunLocally(runtime), 10);
}

TEST(TasksPage, TaskLocal) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(Answer("r1")), "r1: audited");
  EXPECT_EQ(Prefixed("outside"), "outside");
}

TEST(TasksPage, GracefulShutdown) {
  rouse::Runtime runtime = MakeRuntime();
  absl::StatusOr<rouse::TcpListener> listener = [&] {
    const rouse::EnterGuard enter = runtime.Enter();
    return rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0));
  }();
  ASSERT_THAT(listener, IsOk());
  const rouse::SocketAddr addr = *listener->local_addr();

  // A client that hears its own words, asks for the end, and hears the last.
  auto client = [addr]() -> rouse::Co<absl::StatusOr<std::string>> {
    rouse::TcpStream stream =
        co_await rouse::OrReturn(rouse::TcpStream::Connect(addr));
    co_await rouse::OrReturn(stream.WriteAll("hello "));
    std::string heard;
    bool asked = false;
    for (;;) {
      char buffer[512];
      size_t size =
          co_await rouse::OrReturn(stream.Read(absl::MakeSpan(buffer)));
      if (size == 0) co_return heard;
      heard.append(buffer, size);
      if (!asked && heard == "hello ") {
        // The server listens for signals: it has accepted.
        asked = true;
        raise(SIGTERM);
      }
    }
  };
  absl::StatusOr<rouse::Runtime> elsewhere =
      rouse::Builder::MultiThread().WorkerThreads(1).Build();
  ASSERT_THAT(elsewhere, IsOk());
  rouse::JoinHandle<absl::StatusOr<std::string>> heard =
      elsewhere->Spawn(client);
  EXPECT_THAT(Serve(std::move(runtime), *std::move(listener)), IsOk());
  EXPECT_THAT(elsewhere->BlockOn(std::move(heard)),
              IsOkAndHolds("hello bye\n"));
}

TEST(ErrorsPage, HowItEnded) {
  rouse::Runtime runtime = MakeRuntime();
  auto good = []() -> rouse::Co<> { co_return; };
  EXPECT_EQ(runtime.BlockOn(Watch(runtime.Spawn(good))), "well");
#ifdef ABSL_HAVE_EXCEPTIONS
  auto throws = []() -> rouse::Co<> {
    co_await rouse::Yield();
    throw std::runtime_error("broken");
  };
  EXPECT_EQ(runtime.BlockOn(Watch(runtime.Spawn(throws))), "by an exception");
#endif
}

}  // namespace
