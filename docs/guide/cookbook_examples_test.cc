// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The recipes of cookbook.md, word for word (cookbook_quotes_test sees to
// that), and tests that run them.

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/rouse.h"
#include "rouse/testing/paused_time.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

rouse::Runtime MakeRuntime() {
  return *rouse::Builder::MultiThread().WorkerThreads(2).Build();
}

// -----------------------------------------------------------------------------
// Bound the concurrency

std::atomic<int> fetches_in_progress;
std::atomic<int> most_fetches_in_progress;

rouse::Co<absl::StatusOr<int>> Fetch(int page) {
  const int now = ++fetches_in_progress;
  int most = most_fetches_in_progress;
  while (now > most &&
         !most_fetches_in_progress.compare_exchange_weak(most, now)) {
  }
  co_await rouse::Sleep(absl::Milliseconds(1));
  --fetches_in_progress;
  if (page < 0) co_return absl::NotFoundError("no such page");
  co_return page * 10;
}

rouse::Co<std::vector<int>> FetchAll(std::vector<int> pages, size_t limit) {
  rouse::JoinSet<absl::StatusOr<int>> fetches;
  std::vector<int> found;
  auto take = [&found](absl::StatusOr<int> page) {
    if (page.ok()) found.push_back(*page);
  };
  for (int page : pages) {
    if (fetches.size() == limit) take(*co_await fetches.Next());
    fetches.Spawn(Fetch(page));
  }
  while (auto page = co_await fetches.Next()) take(*page);
  co_return found;
}

rouse::Co<absl::StatusOr<int>> FetchWithPermit(rouse::Semaphore& permits,
                                               int page) {
  rouse::Semaphore::Permit permit = co_await rouse::OrReturn(permits.Acquire());
  co_return co_await Fetch(page);  // the permit is released afterwards
}

TEST(Bound, LimitsTheFetchesInProgress) {
  rouse::Runtime runtime = MakeRuntime();
  most_fetches_in_progress = 0;
  EXPECT_THAT(runtime.BlockOn(FetchAll({1, 2, -1, 3, 4, 5}, 2)),
              UnorderedElementsAre(10, 20, 30, 40, 50));
  EXPECT_LE(most_fetches_in_progress, 2);
}

TEST(Bound, LimitsAllCallersWithASemaphore) {
  rouse::Runtime runtime = MakeRuntime();
  rouse::Semaphore permits(2);
  most_fetches_in_progress = 0;
  auto test = [&permits]() -> rouse::Co<> {
    std::vector<rouse::Co<absl::StatusOr<int>>> fetches;
    for (int page = 0; page < 6; ++page) {
      fetches.push_back(FetchWithPermit(permits, page));
    }
    auto pages = co_await rouse::JoinAll(std::move(fetches));
    for (auto& page : pages) EXPECT_THAT(page, IsOk());
  };
  runtime.BlockOn(test);
  EXPECT_LE(most_fetches_in_progress, 2);
}

// -----------------------------------------------------------------------------
// Retry

// Calls `call` until it succeeds, fails permanently, or has failed `tries`
// times.
template <class Call>
std::invoke_result_t<Call&> Retry(Call call, int tries) {
  std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> jitter(0.5, 1.0);
  absl::Duration backoff = absl::Milliseconds(100);
  for (;;) {
    auto result = co_await call();
    if (result.ok() || --tries == 0) co_return result;
    if (!absl::IsUnavailable(result.status())) co_return result;
    co_await rouse::Sleep(backoff * jitter(random));
    backoff = std::min(2 * backoff, absl::Seconds(5));
  }
}

TEST(Retry, WaitsLongerAfterEachFailure) {
  rouse::Runtime runtime = rouse::PausedRuntime();
  auto test = []() -> rouse::Co<> {
    int calls = 0;
    auto call = [&calls]() -> rouse::Co<absl::StatusOr<int>> {
      if (++calls < 4) co_return absl::UnavailableError("busy");
      co_return 42;
    };
    auto task = rouse::Spawn(Retry(call, 10));
    // At most 100, 200 and 400 ms, and at least half of that.
    co_await rouse::Advance(absl::Milliseconds(349));
    EXPECT_FALSE(task.IsFinished());
    co_await rouse::Advance(absl::Milliseconds(354));
    EXPECT_TRUE(task.IsFinished());
    const absl::StatusOr<int> result = co_await task;
    EXPECT_THAT(result, IsOkAndHolds(42));
    EXPECT_EQ(calls, 4);
  };
  runtime.BlockOn(test);
}

TEST(Retry, ReturnsTheLastErrorAndPermanentErrors) {
  rouse::Runtime runtime = rouse::PausedRuntime();
  auto test = []() -> rouse::Co<> {
    int calls = 0;
    auto busy = [&calls]() -> rouse::Co<absl::StatusOr<int>> {
      ++calls;
      co_return absl::UnavailableError("busy");
    };
    auto task = rouse::Spawn(Retry(busy, 3));
    co_await rouse::Advance(absl::Seconds(1));
    const absl::StatusOr<int> last = co_await task;
    EXPECT_THAT(last, StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_EQ(calls, 3);
    auto missing = []() -> rouse::Co<absl::StatusOr<int>> {
      co_return absl::NotFoundError("no such page");
    };
    const absl::StatusOr<int> permanent = co_await Retry(missing, 3);
    EXPECT_THAT(permanent, StatusIs(absl::StatusCode::kNotFound));
  };
  runtime.BlockOn(test);
}

// -----------------------------------------------------------------------------
// A connection pool

class Pool {
 public:
  Pool(rouse::SocketAddr server, size_t size)
      : server_(server), permits_(size) {}

  // Calls `use` with a connection that no other task uses meanwhile.
  template <class Use>
  rouse::Co<absl::Status> With(Use use) {
    rouse::Semaphore::Permit permit =
        co_await rouse::OrReturn(permits_.Acquire());
    std::optional<rouse::TcpStream> stream = TakeIdle();
    if (!stream.has_value()) {
      stream = co_await rouse::OrReturn(rouse::TcpStream::Connect(server_));
    }
    co_await rouse::OrReturn(use(*stream));  // closes the stream on an error
    PutIdle(*std::move(stream));
    co_return absl::OkStatus();
  }

 private:
  std::optional<rouse::TcpStream> TakeIdle() {
    absl::MutexLock lock(&mu_);
    if (idle_.empty()) return std::nullopt;
    rouse::TcpStream stream = std::move(idle_.back());
    idle_.pop_back();
    return stream;
  }
  void PutIdle(rouse::TcpStream stream) {
    absl::MutexLock lock(&mu_);
    idle_.push_back(std::move(stream));
  }

  const rouse::SocketAddr server_;
  rouse::Semaphore permits_;
  absl::Mutex mu_;
  std::vector<rouse::TcpStream> idle_ ABSL_GUARDED_BY(mu_);
};

// Sends each line back.
rouse::Co<absl::Status> EchoLines(rouse::TcpStream stream) {
  rouse::Framed lines(std::move(stream), rouse::LineCodec());
  while (auto line = co_await rouse::Next(lines)) {
    co_await rouse::OrReturn(line->status());
    co_await rouse::OrReturn(lines.Send(**std::move(line)));
  }
  co_return absl::OkStatus();
}

rouse::Co<absl::Status> EchoServer(rouse::TcpListener listener,
                                   int& connections) {
  for (;;) {
    rouse::TcpListener::Accepted accepted =
        co_await rouse::OrReturn(listener.Accept());
    ++connections;
    rouse::Spawn(EchoLines(std::move(accepted.stream))).Detach();
  }
}

TEST(PoolTest, UsesAConnectionAgainUnlessTheUseFailed) {
  rouse::Runtime runtime = *rouse::Builder::CurrentThread().Build();
  int connections = 0;
  auto test = [&connections]() -> rouse::Co<> {
    absl::StatusOr<rouse::TcpListener> listener =
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0));
    Pool pool(*listener->local_addr(), 1);
    rouse::Spawn(EchoServer(*std::move(listener), connections)).Detach();
    auto ping = [](rouse::TcpStream& stream) -> rouse::Co<absl::Status> {
      co_await rouse::OrReturn(rouse::WriteAll(stream, "ping\n"));
      std::array<char, 5> buffer;
      co_return (co_await rouse::ReadExact(stream, absl::MakeSpan(buffer)));
    };
    auto fail = [](rouse::TcpStream&) -> rouse::Co<absl::Status> {
      co_return absl::AbortedError("out of step");
    };
    const auto first = co_await rouse::Join(pool.With(ping), pool.With(ping));
    EXPECT_THAT(std::get<0>(first), IsOk());
    EXPECT_THAT(std::get<1>(first), IsOk());
    EXPECT_EQ(connections, 1);
    const absl::Status failed = co_await pool.With(fail);
    EXPECT_THAT(failed, StatusIs(absl::StatusCode::kAborted));
    const absl::Status again = co_await pool.With(ping);
    EXPECT_THAT(again, IsOk());
    EXPECT_EQ(connections, 2);
  };
  runtime.BlockOn(test);
}

// -----------------------------------------------------------------------------
// A codec

// Frames such as "5:hello,", of up to 99999 bytes.
class Netstrings {
 public:
  using Frame = std::string;

  absl::StatusOr<std::optional<std::string>> Decode(std::string_view& bytes) {
    const size_t colon = bytes.substr(0, 6).find(':');
    if (colon == bytes.npos && bytes.size() < 6) return std::nullopt;
    size_t size = 0;
    if (colon == bytes.npos ||
        !absl::SimpleAtoi(bytes.substr(0, colon), &size)) {
      return Malformed(bytes);
    }
    const size_t end = colon + 1 + size;
    if (bytes.size() <= end) return std::nullopt;
    if (bytes[end] != ',') return Malformed(bytes);
    std::string frame(bytes.substr(colon + 1, size));
    bytes.remove_prefix(end + 1);
    return frame;
  }
  absl::StatusOr<std::optional<std::string>> DecodeEnd(
      std::string_view& bytes) {
    if (bytes.empty()) return std::nullopt;
    bytes = {};
    return absl::OutOfRangeError("the stream ended within a netstring");
  }
  absl::Status Encode(const std::string& frame, std::string& out) {
    absl::StrAppend(&out, frame.size(), ":", frame, ",");
    return absl::OkStatus();
  }

 private:
  static absl::Status Malformed(std::string_view& bytes) {
    bytes = {};  // where the next frame begins is unknown
    return absl::InvalidArgumentError("not a netstring");
  }
};

TEST(NetstringsTest, ReadsWhatItWrites) {
  auto [client, server] =
      rouse::Duplex(4);  // so small that frames arrive in parts
  rouse::Framed writer(std::move(client), Netstrings());
  rouse::Framed reader(std::move(server), Netstrings());
  auto test = [&writer, &reader]() -> rouse::Co<> {
    auto both =
        co_await rouse::Join(writer.Send("hello, world"), rouse::Next(reader));
    EXPECT_THAT(std::get<0>(both), IsOk());
    EXPECT_THAT(std::get<1>(both).value(), IsOkAndHolds("hello, world"));
  };
  rouse::BlockOn(test());
}

TEST(NetstringsTest, RefusesWhatIsNoLength) {
  for (std::string_view bytes : {"x:a,", "000001", "3:abcd"}) {
    EXPECT_THAT(Netstrings().Decode(bytes),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  std::string_view partial = "3:ab";
  EXPECT_THAT(Netstrings().Decode(partial), IsOkAndHolds(std::nullopt));
  EXPECT_THAT(Netstrings().DecodeEnd(partial),
              StatusIs(absl::StatusCode::kOutOfRange));
}

// -----------------------------------------------------------------------------
// Requests and responses over one connection

using Reply = rouse::oneshot::Sender<std::string>;

struct Call {
  std::string request;
  Reply reply;
};

rouse::Co<absl::Status> SendRequests(
    rouse::OwnedWriteHalf<rouse::TcpStream> half,
    rouse::mpsc::Receiver<Call> calls, rouse::mpsc::Sender<Reply> waiting) {
  rouse::Framed requests(std::move(half), rouse::LineCodec());
  while (std::optional<Call> call = co_await calls.Receive()) {
    co_await rouse::OrReturn(waiting.Send(std::move(call->reply)));
    co_await rouse::OrReturn(requests.Send(std::move(call->request)));
  }
  co_return absl::OkStatus();
}

rouse::Co<absl::Status> ReceiveReplies(
    rouse::OwnedReadHalf<rouse::TcpStream> half,
    rouse::mpsc::Receiver<Reply> waiting) {
  rouse::Framed replies(std::move(half), rouse::LineCodec());
  while (std::optional<Reply> reply = co_await waiting.Receive()) {
    auto line = co_await rouse::Next(replies);
    if (!line.has_value()) co_return absl::OutOfRangeError("no reply");
    reply->Send(co_await rouse::OrReturn(*std::move(line)));
  }
  co_return absl::OkStatus();
}

rouse::Co<absl::Status> RunClient(rouse::TcpStream stream,
                                  rouse::mpsc::Receiver<Call> calls) {
  auto [reader, writer] = rouse::IntoSplit(std::move(stream));
  auto [waiting, replies] = rouse::mpsc::Channel<Reply>(64);
  co_await rouse::OrReturn(rouse::TryJoin(
      SendRequests(std::move(writer), std::move(calls), std::move(waiting)),
      ReceiveReplies(std::move(reader), std::move(replies))));
  co_return absl::OkStatus();
}

rouse::Co<absl::StatusOr<std::string>> Ask(rouse::mpsc::Sender<Call> client,
                                           std::string request) {
  auto [reply, answer] = rouse::oneshot::Channel<std::string>();
  Call call{std::move(request), std::move(reply)};
  co_await rouse::OrReturn(client.Send(std::move(call)));
  co_return co_await answer;
}

TEST(Pipelining, GivesEachCallerTheReplyToItsRequest) {
  rouse::Runtime runtime = MakeRuntime();
  auto test = []() -> rouse::Co<> {
    absl::StatusOr<rouse::TcpListener> listener =
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0));
    const rouse::SocketAddr addr = *listener->local_addr();
    auto server = [listener =
                       *std::move(listener)]() -> rouse::Co<absl::Status> {
      rouse::TcpListener::Accepted accepted =
          co_await rouse::OrReturn(listener.Accept());
      co_return co_await EchoLines(std::move(accepted.stream));
    };
    rouse::Spawn(std::move(server)).Detach();
    absl::StatusOr<rouse::TcpStream> stream =
        co_await rouse::TcpStream::Connect(addr);
    auto [client, calls] = rouse::mpsc::Channel<Call>(16);
    auto running =
        rouse::Spawn(RunClient(*std::move(stream), std::move(calls)));
    std::vector<rouse::Co<absl::StatusOr<std::string>>> asks;
    for (int i = 0; i < 100; ++i)
      asks.push_back(Ask(client, absl::StrCat("q", i)));
    const auto answers = co_await rouse::JoinAll(std::move(asks));
    for (int i = 0; i < 100; ++i) {
      EXPECT_THAT(answers[i], IsOkAndHolds(absl::StrCat("q", i)));
    }
    {
      const rouse::mpsc::Sender<Call> last = std::move(client);
    }
    const absl::Status end = co_await running;
    EXPECT_THAT(end, IsOk());
  };
  runtime.BlockOn(test);
}

// -----------------------------------------------------------------------------
// Fan out and in

rouse::Co<absl::StatusOr<int>> SumOfPages(std::vector<int> pages) {
  rouse::JoinSet<absl::StatusOr<int>> fetches;
  for (int page : pages) fetches.Spawn(Fetch(page));
  int sum = 0;
  while (auto page = co_await fetches.Next()) {
    sum += co_await rouse::OrReturn(*page);  // an error ends all fetches
  }
  co_return sum;
}

TEST(FanIn, AddsUpOrReturnsTheFirstError) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(SumOfPages({1, 2, 3})), IsOkAndHolds(60));
  EXPECT_THAT(runtime.BlockOn(SumOfPages({1, -1, 3})),
              StatusIs(absl::StatusCode::kNotFound));
}

// -----------------------------------------------------------------------------
// Rate limit

class RateLimit {
 public:
  explicit RateLimit(absl::Duration period)
      : ticks_(period, rouse::IntervalOptions{.missed_ticks =
                                                  rouse::MissedTicks::kDelay}) {
  }

  // Waits for the caller's turn. Callers take turns in the order of their
  // calls.
  rouse::Co<absl::Status> Wait() {
    auto ticks = co_await ticks_.Lock();
    co_await rouse::OrReturn(ticks->Tick());
    co_return absl::OkStatus();
  }

 private:
  rouse::Mutex<rouse::Interval> ticks_;
};

TEST(RateLimitTest, LetsOneCallerThroughInEachPeriod) {
  rouse::Runtime runtime = rouse::PausedRuntime();
  auto test = []() -> rouse::Co<> {
    RateLimit limit(absl::Milliseconds(100));
    rouse::JoinSet<absl::Status> waits;
    for (int i = 0; i < 5; ++i) waits.Spawn(limit.Wait());
    auto passed = [&waits] {
      int count = 0;
      while (waits.TryNext().has_value()) ++count;
      return count;
    };
    co_await rouse::Advance(absl::ZeroDuration());
    EXPECT_EQ(passed(), 1);
    co_await rouse::Advance(absl::Milliseconds(99));
    EXPECT_EQ(passed(), 0);
    co_await rouse::Advance(absl::Milliseconds(201));
    EXPECT_EQ(passed(), 3);
    co_await waits.Shutdown();
  };
  runtime.BlockOn(test);
}

// -----------------------------------------------------------------------------
// A callback as a future

// A library with threads of its own.
void ReadLater(int key, std::function<void(std::string)> done) {
  std::thread([key, done = std::move(done)] {
    done(absl::StrCat("value ", key));
  }).detach();
}

rouse::Co<absl::StatusOr<std::string>> ReadValue(int key) {
  auto [sender, value] = rouse::oneshot::Channel<std::string>();
  // A std::function must be copyable, and a sender is not.
  auto shared =
      std::make_shared<rouse::oneshot::Sender<std::string>>(std::move(sender));
  ReadLater(key, [shared](std::string text) { shared->Send(std::move(text)); });
  co_return co_await value;
}

TEST(Callback, BecomesAFuture) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(ReadValue(7)), IsOkAndHolds("value 7"));
}

// A counter that another thread increments, and for which one task waits.
class Progress {
 public:
  void Add(int steps) {
    done_.fetch_add(steps);
    waker_.Wake();
  }

  rouse::Co<int> WaitFor(int steps) {
    auto poll = [this, steps](rouse::Context& cx) -> rouse::PollResult<int> {
      waker_.Register(cx.waker());  // first, so that no wake is lost
      const int done = done_.load();
      if (done < steps) return rouse::kPending;
      return done;
    };
    co_return co_await rouse::PollFn(std::move(poll));
  }

 private:
  std::atomic<int> done_ = 0;
  rouse::AtomicWaker waker_;
};

TEST(ProgressTest, WakesTheTask) {
  rouse::Runtime runtime = MakeRuntime();
  Progress progress;
  std::thread worker([&progress] {
    for (int i = 0; i < 10; ++i) progress.Add(1);
  });
  EXPECT_EQ(runtime.BlockOn(progress.WaitFor(10)), 10);
  worker.join();
}

// -----------------------------------------------------------------------------
// From a plain thread

// Called on a thread that is not a thread of the runtime.
absl::StatusOr<int> FetchAndWait(const rouse::Handle& handle, int page) {
  return rouse::BlockOn(handle.Spawn(Fetch(page)));
}

void SendFromThread(rouse::mpsc::Sender<std::string> lines) {
  // Blocks the thread while the channel is full.
  absl::Status sent = lines.BlockingSend("from a thread");
  if (!sent.ok()) return;  // the receiver was destroyed
}

TEST(PlainThread, CallsTheRuntime) {
  rouse::Runtime runtime = MakeRuntime();
  absl::StatusOr<int> page;
  std::thread thread(
      [&page, handle = runtime.handle()] { page = FetchAndWait(handle, 4); });
  thread.join();
  EXPECT_THAT(page, IsOkAndHolds(40));
}

TEST(PlainThread, SendsToATask) {
  rouse::Runtime runtime = MakeRuntime();
  auto [sender, receiver] = rouse::mpsc::Channel<std::string>(1);
  std::thread thread(SendFromThread, std::move(sender));
  EXPECT_EQ(runtime.BlockOn(receiver.Receive()), "from a thread");
  thread.join();
}

// -----------------------------------------------------------------------------
// From another event loop

// Stands for the loop of a user interface or of another library.
class EventLoop {
 public:
  void Post(std::function<void()> event) {
    const std::lock_guard lock(mu_);
    events_.push_back(std::move(event));
    posted_.notify_one();
  }
  void RunOne() {
    std::unique_lock lock(mu_);
    posted_.wait(lock, [this] { return !events_.empty(); });
    std::function<void()> event = std::move(events_.front());
    events_.pop_front();
    lock.unlock();
    event();
  }

 private:
  std::mutex mu_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> events_;
};

// Calls `done` on the thread of the loop.
template <class F, class Done>
void RunFor(EventLoop& loop, const rouse::Handle& handle, F future, Done done) {
  auto run = [&loop, future = std::move(future),
              done]() mutable -> rouse::Co<> {
    auto result = co_await std::move(future);
    loop.Post([done, result] { done(result); });
  };
  handle.Spawn(std::move(run)).Detach();
}

TEST(EventLoopTest, GetsTheResultOnItsOwnThread) {
  rouse::Runtime runtime = MakeRuntime();
  EventLoop loop;
  absl::StatusOr<int> page;
  std::thread::id thread;
  auto show = [&page, &thread](absl::StatusOr<int> result) {
    page = result;
    thread = std::this_thread::get_id();
  };
  RunFor(loop, runtime.handle(), Fetch(5), show);
  loop.RunOne();
  EXPECT_THAT(page, IsOkAndHolds(50));
  EXPECT_EQ(thread, std::this_thread::get_id());
}

// -----------------------------------------------------------------------------
// Periodic work

rouse::Co<absl::Status> Report(absl::Duration period,
                               std::function<void()> report,
                               rouse::CancellationToken stop) {
  rouse::Interval interval(period, {.missed_ticks = rouse::MissedTicks::kSkip});
  for (;;) {
    std::optional<absl::StatusOr<rouse::Instant>> tick =
        co_await stop.RunUntilCancelled(interval.Tick());
    if (!tick.has_value()) co_return absl::OkStatus();
    co_await rouse::OrReturn(tick->status());
    report();
  }
}

TEST(Periodic, ReportsUntilItIsStopped) {
  rouse::Runtime runtime = rouse::PausedRuntime();
  auto test = []() -> rouse::Co<> {
    int reports = 0;
    rouse::CancellationToken stop;
    auto count = [&reports] { ++reports; };
    auto task = rouse::Spawn(Report(absl::Minutes(1), count, stop));
    co_await rouse::Advance(absl::Minutes(5));
    EXPECT_EQ(reports, 6);  // the first at once
    stop.Cancel();
    const absl::Status end = co_await task;
    EXPECT_THAT(end, IsOk());
  };
  runtime.BlockOn(test);
}

// -----------------------------------------------------------------------------
// Work that outlives a request

rouse::Co<> WriteAuditLog(std::string line, std::vector<std::string>& log) {
  co_await rouse::Sleep(absl::Seconds(1));
  log.push_back(std::move(line));
}

class Service {
 public:
  explicit Service(std::vector<std::string>& log) : log_(log) {}

  rouse::Co<std::string> Handle(std::string request) {
    // Continues even if the request is cancelled.
    background_.Spawn(WriteAuditLog(request, log_)).Detach();
    co_return absl::StrCat("done: ", request);
  }

  // Waits for all background work, at most for `grace`.
  rouse::Co<absl::Status> Finish(absl::Duration grace) {
    background_.Close();
    co_return co_await rouse::Timeout(grace, background_.Wait());
  }

 private:
  std::vector<std::string>& log_;
  rouse::TaskTracker background_;
};

TEST(Background, OutlivesTheRequest) {
  rouse::Runtime runtime = rouse::PausedRuntime();
  auto test = []() -> rouse::Co<> {
    std::vector<std::string> log;
    Service service(log);
    const std::string answer = co_await service.Handle("a");
    EXPECT_EQ(answer, "done: a");
    EXPECT_THAT(log, ElementsAre());
    auto finish = rouse::Spawn(service.Finish(absl::Minutes(1)));
    co_await rouse::Advance(absl::Seconds(1));
    EXPECT_TRUE(finish.IsFinished());
    const absl::Status end = co_await finish;
    EXPECT_THAT(end, IsOk());
    EXPECT_THAT(log, ElementsAre("a"));
  };
  runtime.BlockOn(test);
}

}  // namespace
