// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of sync.md, word for word (sync_quotes_test sees to that), and
// tests that run them.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/barrier.h"
#include "rouse/sync/broadcast.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/mpmc.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/mutex.h"
#include "rouse/sync/mutex_map.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/once_cell.h"
#include "rouse/sync/oneshot.h"
#include "rouse/sync/rate_limiter.h"
#include "rouse/sync/rw_lock.h"
#include "rouse/sync/semaphore.h"
#include "rouse/sync/set_once.h"
#include "rouse/sync/single_flight.h"
#include "rouse/sync/watch.h"

namespace {

rouse::Runtime MakeRuntime() {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::MultiThread().WorkerThreads(2).Build();
  EXPECT_TRUE(runtime.ok()) << runtime.status();
  return *std::move(runtime);
}

struct Request {
  std::string key;
  rouse::oneshot::Sender<int> answer;
};

rouse::Co<> Serve(rouse::mpsc::Receiver<Request> requests) {
  while (std::optional<Request> request = co_await requests.Receive()) {
    request->answer.Send(static_cast<int>(request->key.size()));
  }
}

rouse::Co<absl::StatusOr<int>> Ask(rouse::mpsc::Sender<Request> server,
                                   std::string key) {
  auto [tx, rx] = rouse::oneshot::Channel<int>();
  Request request{std::move(key), std::move(tx)};
  absl::Status sent = co_await server.Send(std::move(request));
  if (!sent.ok()) co_return sent;
  co_return co_await rx;
}

TEST(Sync, OneAnswer) {
  rouse::Runtime runtime = MakeRuntime();
  auto [tx, rx] = rouse::mpsc::Channel<Request>(8);
  runtime.Spawn(Serve(std::move(rx))).Detach();
  EXPECT_EQ(runtime.BlockOn(Ask(tx, "apple")).value(), 5);
}

rouse::Co<> Produce(rouse::mpsc::Sender<std::string> tx, int count) {
  for (int i = 0; i < count; ++i) {
    // Waits while the channel is full.
    absl::Status sent = co_await tx.Send(absl::StrCat("line ", i));
    if (!sent.ok()) co_return;  // the receiver was destroyed
  }
}

rouse::Co<std::vector<std::string>> Collect() {
  auto [tx, rx] = rouse::mpsc::Channel<std::string>(16);
  for (int i = 0; i < 3; ++i) rouse::Spawn(Produce(tx, 10)).Detach();
  {
    // Destroying the last sender closes the channel.
    const rouse::mpsc::Sender<std::string> mine = std::move(tx);
  }
  std::vector<std::string> lines;
  while (std::optional<std::string> line = co_await rx.Receive()) {
    lines.push_back(*std::move(line));
  }
  co_return lines;
}

rouse::Co<absl::Status> SendWhole(rouse::mpsc::Sender<std::string> tx) {
  // Waits until there is room for all three.
  absl::StatusOr<rouse::mpsc::PermitBatch<std::string>> room =
      co_await tx.ReserveMany(3);
  if (!room.ok()) co_return room.status();
  for (const char* part : {"head", "body", "end"}) room->Send(part);
  co_return absl::OkStatus();
}

TEST(Sync, Queue) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(Collect()).size(), 30u);
  auto [tx, rx] = rouse::mpsc::Channel<std::string>(4);
  EXPECT_EQ(runtime.BlockOn(SendWhole(tx)), absl::OkStatus());
  EXPECT_EQ(rx.TryReceive().value(), "head");
}

rouse::Co<int> Measure(rouse::mpmc::Receiver<std::string> jobs) {
  int letters = 0;
  // Ends when all senders are destroyed and no job is left.
  while (std::optional<std::string> job = co_await jobs.Receive()) {
    letters += static_cast<int>(job->size());
  }
  co_return letters;
}

rouse::Co<int> MeasureTogether() {
  auto [tx, rx] = rouse::mpmc::Channel<std::string>(16);
  rouse::JoinHandle<int> first = rouse::Spawn(Measure(rx));
  rouse::JoinHandle<int> second = rouse::Spawn(Measure(std::move(rx)));
  for (const char* job : {"one", "three", "eleven"}) {
    absl::Status sent = co_await tx.Send(job);
    if (!sent.ok()) break;  // all receivers were destroyed
  }
  {
    const rouse::mpmc::Sender<std::string> mine = std::move(tx);
  }
  absl::StatusOr<int> letters = co_await first;
  absl::StatusOr<int> others = co_await second;
  co_return letters.value_or(0) + others.value_or(0);
}

TEST(SyncExamples, Mpmc) {
  rouse::Runtime runtime = MakeRuntime();
  EXPECT_EQ(runtime.BlockOn(MeasureTogether()), 14);
}

rouse::Co<std::vector<int>> Listen(rouse::broadcast::Receiver<int> news) {
  std::vector<int> values;
  for (;;) {
    rouse::broadcast::Received<int> received = co_await news.Receive();
    if (received.IsClosed()) co_return values;
    if (received.lagged() > 0) continue;  // that many values were overwritten
    values.push_back(*received);
  }
}

rouse::Co<absl::StatusOr<std::vector<int>>> Announce() {
  // The channel keeps the latest 4 values.
  auto [tx, rx] = rouse::broadcast::Channel<int>(4);
  rouse::JoinHandle<std::vector<int>> listener =
      rouse::Spawn(Listen(std::move(rx)));
  for (int i = 0; i < 10; ++i) {
    if (!tx.Send(int{i}).ok()) break;  // there is no receiver
  }
  {
    // Destroying the last sender closes the channel.
    const rouse::broadcast::Sender<int> last = std::move(tx);
  }
  co_return co_await listener;
}

TEST(Sync, BroadcastToAll) {
  rouse::Runtime runtime = MakeRuntime();
  // The listener may run before the last value is sent, or after.
  EXPECT_EQ(runtime.BlockOn(Announce()).value().back(), 9);
  // One that is too slow misses the values before the latest 4.
  auto [tx, rx] = rouse::broadcast::Channel<int>(4);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(tx.Send(int{i}).ok());
  }
  {
    const rouse::broadcast::Sender<int> last = std::move(tx);
  }
  const std::vector<int> latest = {6, 7, 8, 9};
  EXPECT_EQ(runtime.BlockOn(Listen(std::move(rx))), latest);
}

struct Config {
  int limit = 1;
};

rouse::Co<int> Follow(rouse::watch::Receiver<Config> config) {
  int limit = config.BorrowAndUpdate()->limit;
  // Returns an error after the last sender has been destroyed.
  while ((co_await config.Changed()).ok()) {
    limit = config.BorrowAndUpdate()->limit;
  }
  co_return limit;
}

TEST(Sync, TheLatestValue) {
  rouse::Runtime runtime = MakeRuntime();
  auto [tx, rx] = rouse::watch::Channel<Config>(Config());
  rouse::JoinHandle<int> follower = runtime.Spawn(Follow(std::move(rx)));
  for (int i = 2; i < 6; ++i) tx.SendReplace(Config{i});
  {
    const rouse::watch::Sender<Config> dropped = std::move(tx);
  }
  EXPECT_EQ(runtime.BlockOn(std::move(follower)).value(), 5);
}

class Mailbox {
 public:
  void Post(std::string letter) {
    {
      const absl::MutexLock lock(&mu_);
      letters_.push_back(std::move(letter));
    }
    posted_.NotifyOne();
  }

  // For one task at a time.
  rouse::Co<std::vector<std::string>> TakeAll() {
    for (;;) {
      {
        const absl::MutexLock lock(&mu_);
        if (!letters_.empty()) co_return std::move(letters_);
      }
      co_await posted_.Notified();
    }
  }

 private:
  absl::Mutex mu_;
  std::vector<std::string> letters_ ABSL_GUARDED_BY(mu_);
  rouse::Notify posted_;
};

TEST(Sync, WakeUpSignal) {
  rouse::Runtime runtime = MakeRuntime();
  Mailbox mailbox;
  rouse::JoinHandle<std::vector<std::string>> reader =
      runtime.Spawn(mailbox.TakeAll());
  mailbox.Post("hello");
  EXPECT_EQ(runtime.BlockOn(std::move(reader)).value().size(), 1u);
}

rouse::Co<absl::StatusOr<int>> Fetch(rouse::Semaphore& connections, int page) {
  absl::StatusOr<rouse::Semaphore::Permit> permit =
      co_await connections.Acquire();
  if (!permit.ok()) co_return permit.status();
  co_return page * 2;  // the permit is released here
}

TEST(Sync, LimitedConcurrency) {
  rouse::Runtime runtime = MakeRuntime();
  rouse::Semaphore connections(2);
  EXPECT_EQ(runtime.BlockOn(Fetch(connections, 21)).value(), 42);
  EXPECT_EQ(connections.available_permits(), 2u);
}

rouse::Co<absl::Status> SendAll(rouse::RateLimiter& limiter,
                                rouse::mpsc::Sender<int> requests, int count) {
  for (int i = 0; i < count; ++i) {
    co_await rouse::OrReturn(limiter.Acquire());
    co_await rouse::OrReturn(requests.Send(i));
  }
  co_return absl::OkStatus();
}

TEST(Sync, LimitTheRate) {
  rouse::Runtime runtime = MakeRuntime();
  rouse::RateLimiter limiter(absl::Milliseconds(1), 2);
  auto [tx, rx] = rouse::mpsc::Channel<int>(4);
  EXPECT_TRUE(runtime.BlockOn(SendAll(limiter, std::move(tx), 4)).ok());
  EXPECT_EQ(rx.size(), 4u);
}

rouse::Co<> Append(rouse::Mutex<std::string>& log, std::string line) {
  auto guard = co_await log.Lock();
  *guard += line;
}

TEST(Sync, MutualExclusion) {
  rouse::Runtime runtime = MakeRuntime();
  rouse::Mutex<std::string> log;
  rouse::JoinHandle<void> first = runtime.Spawn(Append(log, "a"));
  rouse::JoinHandle<void> second = runtime.Spawn(Append(log, "b"));
  EXPECT_TRUE(runtime.BlockOn(std::move(first)).ok());
  EXPECT_TRUE(runtime.BlockOn(std::move(second)).ok());
  EXPECT_EQ(log.BlockingLock()->size(), 2u);
}

rouse::Co<int> Raise(rouse::RwLock<int>& level) {
  auto writing = co_await level.Write();
  ++*writing;
  // No other task can write in between.
  auto reading = std::move(writing).Downgrade();
  co_return *reading;
}

TEST(Sync, ReadersAndWriters) {
  rouse::Runtime runtime = MakeRuntime();
  rouse::RwLock<int> level(1);
  EXPECT_EQ(runtime.BlockOn(Raise(level)), 2);
}

rouse::Co<bool> RunStep(rouse::Barrier& barrier) {
  rouse::BarrierWaitResult result = co_await barrier.Wait();
  // True for exactly one of the tasks.
  co_return result.is_leader();
}

TEST(Sync, WaitForAll) {
  rouse::Runtime runtime = MakeRuntime();
  rouse::Barrier barrier(2);
  rouse::JoinHandle<bool> other = runtime.Spawn(RunStep(barrier));
  const bool leads = runtime.BlockOn(RunStep(barrier));
  EXPECT_NE(leads, runtime.BlockOn(std::move(other)).value());
}

rouse::Co<std::string> Load() { co_return "settings"; }

rouse::Co<size_t> SettingsSize(rouse::OnceCell<std::string>& cell) {
  // The first task loads the value; the others wait for it.
  const std::string& settings = co_await cell.GetOrInit(Load);
  co_return settings.size();
}

rouse::Co<int> WaitForPort(rouse::SetOnce<int>& port) {
  co_return co_await port.Wait();
}

TEST(Sync, InitializeOnce) {
  rouse::Runtime runtime = MakeRuntime();
  rouse::OnceCell<std::string> cell;
  EXPECT_EQ(runtime.BlockOn(SettingsSize(cell)), 8u);
  rouse::SetOnce<int> port;
  rouse::JoinHandle<int> waiter = runtime.Spawn(WaitForPort(port));
  EXPECT_TRUE(port.Set(80).ok());
  EXPECT_EQ(runtime.BlockOn(std::move(waiter)).value(), 80);
}

rouse::Co<int> Deposit(rouse::MutexMap<std::string>& accounts,
                       std::map<std::string, int>& balances, std::string name) {
  auto guard = co_await accounts.Lock(name);
  const int before = balances.at(name);
  co_await rouse::Yield();  // Deposits to other accounts go on.
  balances.at(name) = before + 1;
  co_return balances.at(name);
}

TEST(Sync, LockAKey) {
  rouse::Runtime runtime = MakeRuntime();
  rouse::MutexMap<std::string> accounts;
  std::map<std::string, int> balances = {{"a", 0}, {"b", 0}};
  rouse::JoinHandle<int> first =
      runtime.Spawn(Deposit(accounts, balances, "a"));
  rouse::JoinHandle<int> other =
      runtime.Spawn(Deposit(accounts, balances, "b"));
  const int second = runtime.BlockOn(Deposit(accounts, balances, "a"));
  EXPECT_EQ(second + runtime.BlockOn(std::move(first)).value(), 3);
  EXPECT_EQ(runtime.BlockOn(std::move(other)).value(), 1);
}

using Pages = rouse::SingleFlight<std::string, absl::StatusOr<std::string>>;

rouse::Co<absl::StatusOr<std::string>> GetPage(Pages& pages, int& fetches,
                                               std::string url) {
  const auto fetch = [&]() -> rouse::Co<absl::StatusOr<std::string>> {
    ++fetches;
    co_await rouse::Yield();
    co_return "page of " + url;
  };
  co_return co_await pages.Run(url, fetch);
}

TEST(Sync, ShareARun) {
  rouse::Runtime runtime = MakeRuntime();
  Pages pages;
  int fetches = 0;
  auto both = [&]() -> rouse::Co<bool> {
    auto [one, other] = co_await rouse::Join(GetPage(pages, fetches, "a"),
                                             GetPage(pages, fetches, "a"));
    co_return one.ok() && other.ok() && *one == *other;
  };
  EXPECT_TRUE(runtime.BlockOn(both()));
  EXPECT_EQ(fetches, 1);
}

rouse::Co<bool> Work(rouse::CancellationToken stop) {
  auto [tx, rx] = rouse::oneshot::Channel<int>();
  std::optional<absl::StatusOr<int>> result =
      co_await stop.RunUntilCancelled(std::move(rx));
  co_return !result.has_value();
}

TEST(Sync, Cancellation) {
  rouse::Runtime runtime = MakeRuntime();
  const rouse::CancellationToken stop;
  rouse::JoinHandle<bool> worker = runtime.Spawn(Work(stop.ChildToken()));
  stop.Cancel();
  EXPECT_TRUE(runtime.BlockOn(std::move(worker)).value());
}

}  // namespace
