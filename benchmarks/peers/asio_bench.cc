// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// asio_bench WORKLOAD [WORKERS]: workloads of ../rouse_bench.cc on Asio's
// coroutines. Workloads of one thread, and those of timers, run on an
// io_context; the others run on a thread_pool. Asio has no handle to join a
// task, no oneshot and no locks, so that workloads of these do not exist here.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "harness.h"

namespace {

using asio::awaitable;
using asio::co_spawn;
using asio::detached;
using asio::use_awaitable;
using peers::Bench;
using peers::NowSeconds;
using peers::XorShift;
using Pool = asio::thread_pool::executor_type;
using std::chrono::steady_clock;

constexpr size_t kSpawns = 10'000;
constexpr size_t kYieldingTasks = 200;
constexpr size_t kYields = 1'000;
constexpr size_t kPairs = 1'000;
constexpr size_t kDepth = 1'000;
constexpr size_t kMessages = 200'000;
constexpr size_t kMillion = 1'000'000;

awaitable<void> CountDown(std::latch& done) {
  done.count_down();
  co_return;
}

awaitable<void> YieldTimes(size_t count) {
  for (size_t i = 0; i < count; ++i) co_await asio::post(use_awaitable);
}

// Spawns from a thread outside the pool.
void SpawnRemote(const Bench& bench, Pool pool) {
  bench.Measure(kSpawns, [&] {
    std::latch done(kSpawns);
    for (size_t i = 0; i < kSpawns; ++i) {
      co_spawn(pool, CountDown(done), detached);
    }
    done.wait();
  });
}

awaitable<void> SpawnCountDowns(Pool pool, std::latch& done) {
  for (size_t i = 0; i < kSpawns; ++i)
    co_spawn(pool, CountDown(done), detached);
  co_return;
}

// Spawns from a task.
void SpawnFromWorker(const Bench& bench, Pool pool) {
  bench.Measure(kSpawns, [&] {
    std::latch done(kSpawns);
    co_spawn(pool, SpawnCountDowns(pool, done), detached);
    done.wait();
  });
}

awaitable<void> YieldAndCount(std::latch& done) {
  co_await YieldTimes(kYields);
  done.count_down();
}

void YieldMany(const Bench& bench, Pool pool) {
  bench.Measure(kYieldingTasks * kYields, [&] {
    std::latch done(kYieldingTasks);
    for (size_t i = 0; i < kYieldingTasks; ++i) {
      co_spawn(pool, YieldAndCount(done), detached);
    }
    done.wait();
  });
}

// A channel of one message is the nearest to a oneshot that Asio has. (With a
// message that is an error code alone, Asio 1.22 does not compile.)
using Signal =
    asio::experimental::concurrent_channel<void(std::error_code, int)>;

awaitable<void> Pong(std::shared_ptr<Signal> ping,
                     std::shared_ptr<Signal> pong) {
  co_await ping->async_receive(use_awaitable);
  co_await pong->async_send(std::error_code(), 1, use_awaitable);
}

// Spawns a partner task, and exchanges two signals with the partner.
awaitable<void> Ping(Pool pool, std::latch& done) {
  auto ping = std::make_shared<Signal>(pool, 1);
  auto pong = std::make_shared<Signal>(pool, 1);
  co_spawn(pool, Pong(ping, pong), detached);
  co_await ping->async_send(std::error_code(), 1, use_awaitable);
  co_await pong->async_receive(use_awaitable);
  done.count_down();
}

awaitable<void> SpawnPairs(Pool pool, std::latch& done) {
  for (size_t i = 0; i < kPairs; ++i)
    co_spawn(pool, Ping(pool, done), detached);
  co_return;
}

void PingPong(const Bench& bench, Pool pool) {
  bench.Measure(kPairs, [&] {
    std::latch done(kPairs);
    co_spawn(pool, SpawnPairs(pool, done), detached);
    done.wait();
  });
}

awaitable<void> Chain(Pool pool, std::latch& done, size_t left) {
  if (left == 0) {
    done.count_down();
  } else {
    co_spawn(pool, Chain(pool, done, left - 1), detached);
  }
  co_return;
}

void ChainedSpawn(const Bench& bench, Pool pool) {
  bench.Measure(kDepth, [&] {
    std::latch done(1);
    co_spawn(pool, Chain(pool, done, kDepth), detached);
    done.wait();
  });
}

// Adds up the results of ten tasks, and resumes the task that waits.
class Children {
 public:
  explicit Children(Pool pool) : pool_(pool) {}

  // Returns the sum of the results of `make_child(i)` for each i below 10.
  template <class MakeChild>
  awaitable<uint64_t> Join(MakeChild make_child) {
    const auto start = [this, &make_child](auto parent) {
      auto resume = std::make_shared<decltype(parent)>(std::move(parent));
      for (uint64_t i = 0; i < 10; ++i) {
        co_spawn(pool_, make_child(i),
                 [this, resume](std::exception_ptr, uint64_t result) {
                   sum_.fetch_add(result, std::memory_order_relaxed);
                   if (running_.fetch_sub(1) == 1) {
                     asio::dispatch(pool_, std::move(*resume));
                   }
                 });
      }
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        start, use_awaitable);
    co_return sum_.load(std::memory_order_relaxed);
  }

 private:
  Pool pool_;
  std::atomic<int> running_{10};
  std::atomic<uint64_t> sum_{0};
};

// Sums [first, first + leaves) over a tree of tasks with ten children each.
awaitable<uint64_t> Skynet(Pool pool, uint64_t first, uint64_t leaves) {
  if (leaves == 1) co_return first;
  const uint64_t share = leaves / 10;
  const auto make_child = [=](uint64_t i) {
    return Skynet(pool, first + share * i, share);
  };
  Children children(pool);
  co_return co_await children.Join(make_child);
}

void CheckSkynet(const Bench& bench, Pool pool) {
  bench.Measure(1'111'111, [&] {
    const uint64_t sum =
        co_spawn(pool, Skynet(pool, 0, kMillion), asio::use_future).get();
    if (sum != 499'999'500'000) abort();
  });
}

template <class Channel>
awaitable<void> Send(Channel& channel, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    co_await channel.async_send(std::error_code(), i, use_awaitable);
  }
}

template <class Channel>
awaitable<void> Receive(Channel& channel, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += co_await channel.async_receive(use_awaitable);
  }
  peers::KeepAlive(sum);
}

// `producers` tasks send to a task.
void Bounded(const Bench& bench, Pool pool, size_t capacity, size_t producers,
             size_t each) {
  using Channel =
      asio::experimental::concurrent_channel<void(std::error_code, size_t)>;
  bench.Measure(producers * each, [&] {
    Channel channel(pool, capacity);
    std::vector<std::future<void>> tasks;
    for (size_t i = 0; i < producers; ++i) {
      tasks.push_back(co_spawn(pool, Send(channel, each), asio::use_future));
    }
    tasks.push_back(
        co_spawn(pool, Receive(channel, producers * each), asio::use_future));
    for (std::future<void>& task : tasks) task.get();
  });
}

void BoundedCurrentThread(const Bench& bench, asio::io_context& io,
                          size_t capacity) {
  using Channel = asio::experimental::channel<void(std::error_code, size_t)>;
  bench.Measure(kMessages, [&] {
    Channel channel(io.get_executor(), capacity);
    io.restart();
    co_spawn(io, Send(channel, kMessages), detached);
    co_spawn(io, Receive(channel, kMessages), detached);
    io.run();
  });
}

awaitable<void> Nothing() { co_return; }

awaitable<void> SpawnDetached(asio::io_context& io, size_t count) {
  for (size_t i = 0; i < count; ++i) co_spawn(io, Nothing(), detached);
  co_return;
}

void CurrentThreadSpawnDetached(const Bench& bench, asio::io_context& io) {
  constexpr size_t kCount = 1'000;
  bench.Measure(kCount, [&] {
    io.restart();
    co_spawn(io, SpawnDetached(io, kCount), detached);
    io.run();
  });
}

void CurrentThreadYield(const Bench& bench, asio::io_context& io, size_t tasks,
                        size_t yields) {
  bench.Measure(tasks * yields, [&] {
    io.restart();
    for (size_t i = 0; i < tasks; ++i)
      co_spawn(io, YieldTimes(yields), detached);
    io.run();
  });
}

// Runs everything on this thread and on `workers` - 1 others.
void Run(asio::io_context& io, int workers) {
  std::vector<std::thread> others;
  for (int i = 1; i < workers; ++i) others.emplace_back([&io] { io.run(); });
  io.run();
  for (std::thread& other : others) other.join();
}

awaitable<void> SleepTwoSeconds() {
  asio::steady_timer timer(co_await asio::this_coro::executor,
                           std::chrono::seconds(2));
  co_await timer.async_wait(use_awaitable);
}

awaitable<void> SpawnSleepers(asio::io_context& io) {
  for (size_t i = 0; i < kMillion; ++i)
    co_spawn(io, SleepTwoSeconds(), detached);
  co_return;
}

void MillionSleepers(const Bench& bench, asio::io_context& io, int workers) {
  const double resident_before = peers::StatusBytes("VmRSS:");
  const double start = NowSeconds();
  double spawned = 0;
  co_spawn(io, SpawnSleepers(io),
           [&](std::exception_ptr) { spawned = NowSeconds() - start; });
  Run(io, workers);
  bench.ReportSleepers(spawned, NowSeconds() - start, resident_before,
                       kMillion);
}

// Arms and cancels one timer after another. Asio runs the handler of a
// cancelled timer later, in a turn of the loop, so the task lets handlers run
// after each thousand of timers.
awaitable<void> ArmAndCancel() {
  XorShift random;
  const auto executor = co_await asio::this_coro::executor;
  for (size_t i = 0; i < kMillion; ++i) {
    if (i % 1'000 == 0) co_await asio::post(use_awaitable);
    asio::steady_timer timer(
        executor, std::chrono::milliseconds(1 + random.Next() % 1000));
    timer.async_wait([](std::error_code) {});
  }
}

// Arms a million timers of 1 to 61 s, and then cancels all timers.
awaitable<void> ArmManyAndCancel() {
  XorShift random;
  const auto executor = co_await asio::this_coro::executor;
  std::deque<asio::steady_timer> timers;
  for (size_t i = 0; i < kMillion; ++i) {
    const std::chrono::milliseconds delay(1000 + random.Next() % 60'000);
    timers.emplace_back(executor, delay).async_wait([](std::error_code) {});
  }
}

void RunOnce(const Bench& bench, asio::io_context& io,
             awaitable<void> (*task)()) {
  bench.Measure(kMillion, [&] {
    io.restart();
    co_spawn(io, task(), detached);
    io.run();
  });
}

// Stores how late the task is woken, in microseconds.
awaitable<void> LateSleeper(steady_clock::time_point deadline, double& late) {
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline);
  co_await timer.async_wait(use_awaitable);
  late =
      std::chrono::duration<double, std::micro>(steady_clock::now() - deadline)
          .count();
}

void Lateness(const Bench& bench, asio::io_context& io, int workers) {
  std::vector<double> late(100'000);
  XorShift random;
  const auto base = steady_clock::now() + std::chrono::milliseconds(200);
  for (double& one : late) {
    const std::chrono::microseconds offset(random.Next() % 1'000'000);
    co_spawn(io, LateSleeper(base + offset, one), detached);
  }
  Run(io, workers);
  bench.ReportLateness(std::move(late));
}

bool RunOnContext(const Bench& bench) {
  const int workers = bench.IsCurrentThread() ? 1 : bench.workers();
  // The concurrency hint 1 lets Asio leave out locking.
  asio::io_context io(workers == 1 ? 1 : ASIO_CONCURRENCY_HINT_DEFAULT);
  if (bench.Is("ct_spawn_detached")) {
    CurrentThreadSpawnDetached(bench, io);
  } else if (bench.Is("ct_yield")) {
    CurrentThreadYield(bench, io, kYieldingTasks, kYields);
  } else if (bench.Is("ct_yield_single")) {
    CurrentThreadYield(bench, io, 1, 10'000);
  } else if (bench.Is("mpsc_bounded100_1p_ct")) {
    BoundedCurrentThread(bench, io, 100);
  } else if (bench.Is("mpsc_bounded1000_1p_ct")) {
    BoundedCurrentThread(bench, io, 1'000);
  } else if (bench.Is("timer_1m_tasks") || bench.Is("timer_1m_tasks_ct")) {
    MillionSleepers(bench, io, workers);
  } else if (bench.Is("timer_seq_cancel_ct")) {
    RunOnce(bench, io, &ArmAndCancel);
  } else if (bench.Is("timer_bulk_cancel_ct")) {
    RunOnce(bench, io, &ArmManyAndCancel);
  } else if (bench.Is("timer_lateness") || bench.Is("timer_lateness_ct")) {
    Lateness(bench, io, workers);
  } else {
    return false;
  }
  return true;
}

bool RunOnPool(const Bench& bench) {
  asio::thread_pool threads(bench.workers());
  const Pool pool = threads.get_executor();
  if (bench.Is("spawn_many_local") || bench.Is("spawn_many_remote_idle")) {
    SpawnRemote(bench, pool);
  } else if (bench.Is("spawn_many_worker")) {
    SpawnFromWorker(bench, pool);
  } else if (bench.Is("yield_many")) {
    YieldMany(bench, pool);
  } else if (bench.Is("ping_pong")) {
    PingPong(bench, pool);
  } else if (bench.Is("chained_spawn")) {
    ChainedSpawn(bench, pool);
  } else if (bench.Is("skynet")) {
    CheckSkynet(bench, pool);
  } else if (bench.Is("mpsc_bounded100_1p")) {
    Bounded(bench, pool, 100, 1, kMessages);
  } else if (bench.Is("mpsc_bounded1000_1p")) {
    Bounded(bench, pool, 1'000, 1, kMessages);
  } else if (bench.Is("mpsc_bounded1000_5p")) {
    Bounded(bench, pool, 1'000, 5, 40'000);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const Bench bench(argc, argv);
  if (RunOnContext(bench) || RunOnPool(bench)) return 0;
  return bench.UnknownWorkload("asio_bench");
}
