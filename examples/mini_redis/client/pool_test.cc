// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/pool.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/client/client.h"
#include "rouse/examples/mini_redis/client/fake_server.h"
#include "rouse/future/co.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace mini_redis {
namespace {

using ::rouse::Co;
using ::rouse::Spawn;

// A pool of connections to servers that the test plays.
class PoolTest : public ::testing::Test {
 protected:
  Pool MakePool(size_t max_connections) {
    PoolOptions options;
    options.max_connections = max_connections;
    options.acquire_timeout = absl::Seconds(2);
    return Pool("host:1", options, [this] { return Connect(); });
  }

  Co<absl::StatusOr<Client>> Connect() {
    if (!error_.ok()) co_return error_;
    if (hang_) co_await rouse::Sleep(absl::InfiniteDuration());
    auto [near, far] = rouse::Duplex(4096);
    servers_.emplace_back(std::move(far));
    co_return Client::FromStream(std::move(near), "host:1");
  }

  rouse::Runtime runtime_ = rouse::PausedRuntime();
  absl::Status error_;
  bool hang_ = false;
  std::vector<FakeServer> servers_;
};

Co<> Settle() { (void)co_await rouse::Advance(absl::ZeroDuration()); }

TEST_F(PoolTest, AConnectionThatComesBackIsUsedAgain) {
  auto test = [&]() -> Co<> {
    const Pool pool = MakePool(2);
    EXPECT_EQ(pool.available(), 2u);
    for (int i = 0; i < 3; ++i) {
      const Pool::Lease lease = (co_await pool.Acquire()).value();
      EXPECT_EQ(pool.available(), 1u);
      auto ping = Spawn(lease->Ping());
      EXPECT_EQ(co_await servers_.at(0).Next(), "PING");
      EXPECT_TRUE((co_await servers_.at(0).Reply("+PONG\r\n")).ok());
      EXPECT_TRUE((co_await ping).ok());
    }
    EXPECT_EQ(servers_.size(), 1u);
    EXPECT_EQ(pool.idle(), 1u);
    EXPECT_EQ(pool.available(), 2u);
  };
  runtime_.BlockOn(test);
}

TEST_F(PoolTest, TheLimitHoldsAndAWaiterGetsTheConnection) {
  auto test = [&]() -> Co<> {
    const Pool pool = MakePool(1);
    std::optional<Pool::Lease> lease = (co_await pool.Acquire()).value();
    auto waiter = Spawn(pool.Acquire());
    co_await Settle();
    EXPECT_FALSE(waiter.IsFinished());
    lease.reset();
    EXPECT_TRUE((co_await waiter).ok());
    EXPECT_EQ(servers_.size(), 1u);
  };
  runtime_.BlockOn(test);
}

TEST_F(PoolTest, AWaitHasALimit) {
  auto test = [&]() -> Co<> {
    const Pool pool = MakePool(1);
    const Pool::Lease lease = (co_await pool.Acquire()).value();
    auto waiter = Spawn(pool.Acquire());
    (void)co_await rouse::Advance(absl::Seconds(3));
    const absl::Status error = (co_await waiter).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(error));
    EXPECT_EQ(error.message(),
              "host:1: all 1 connections of the pool stayed in use for 2s");
  };
  runtime_.BlockOn(test);
}

TEST_F(PoolTest, ConnectingHasALimit) {
  auto test = [&]() -> Co<> {
    const Pool pool = MakePool(1);
    hang_ = true;
    auto waiter = Spawn(pool.Acquire());
    (void)co_await rouse::Advance(absl::Seconds(3));
    const absl::Status error = (co_await waiter).status();
    EXPECT_EQ(error.message(), "host:1: no connection within 2s");
    EXPECT_EQ(pool.available(), 1u);
  };
  runtime_.BlockOn(test);
}

TEST_F(PoolTest, AnErrorOfConnectingGivesThePermitBack) {
  auto test = [&]() -> Co<> {
    const Pool pool = MakePool(1);
    error_ = absl::UnavailableError("refused");
    const absl::Status error = (co_await pool.Acquire()).status();
    EXPECT_EQ(error, error_);
    error_ = absl::OkStatus();
    EXPECT_TRUE((co_await pool.Acquire()).ok());
  };
  runtime_.BlockOn(test);
}

TEST_F(PoolTest, AConnectionThatEndedWhileIdleIsReplaced) {
  auto test = [&]() -> Co<> {
    const Pool pool = MakePool(1);
    (void)(co_await pool.Acquire()).value();
    EXPECT_EQ(pool.idle(), 1u);
    servers_.clear();
    co_await Settle();
    const Pool::Lease lease = (co_await pool.Acquire()).value();
    EXPECT_TRUE(lease->IsIdle());
    EXPECT_EQ(servers_.size(), 1u);
  };
  runtime_.BlockOn(test);
}

TEST_F(PoolTest, AConnectionWithAReplyMissingIsNotUsedAgain) {
  auto test = [&]() -> Co<> {
    const Pool pool = MakePool(1);
    {
      const Pool::Lease lease = (co_await pool.Acquire()).value();
      auto get = Spawn(lease->Get("a"));
      EXPECT_EQ(co_await servers_.at(0).Next(), "GET a");
      get.Abort();
      EXPECT_FALSE((co_await get).ok());
    }
    EXPECT_EQ(pool.idle(), 0u);
    EXPECT_EQ(co_await servers_.at(0).Next(), "end");
    const Pool::Lease lease = (co_await pool.Acquire()).value();
    EXPECT_EQ(servers_.size(), 2u);
  };
  runtime_.BlockOn(test);
}

TEST_F(PoolTest, ALeaseOutlivesThePool) {
  auto test = [&]() -> Co<> {
    std::optional<Pool> pool(MakePool(2));
    std::optional<Pool::Lease> lease = (co_await pool->Acquire()).value();
    (void)(co_await pool->Acquire()).value();
    pool.reset();
    EXPECT_EQ(co_await servers_.at(1).Next(), "end");
    EXPECT_TRUE((*lease)->IsIdle());
    lease.reset();
    EXPECT_EQ(co_await servers_.at(0).Next(), "end");
  };
  runtime_.BlockOn(test);
}

TEST_F(PoolTest, ACancelledWaitTakesNothing) {
  auto test = [&]() -> Co<> {
    const Pool pool = MakePool(1);
    std::optional<Pool::Lease> lease = (co_await pool.Acquire()).value();
    auto waiter = Spawn(pool.Acquire());
    co_await Settle();
    waiter.Abort();
    EXPECT_FALSE((co_await waiter).ok());
    lease.reset();
    EXPECT_EQ(pool.available(), 1u);
    EXPECT_EQ(pool.idle(), 1u);
  };
  runtime_.BlockOn(test);
}

}  // namespace
}  // namespace mini_redis
