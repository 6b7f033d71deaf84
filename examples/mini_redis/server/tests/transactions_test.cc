// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/server/tests/service_test_base.h"
#include "rouse/runtime/handle.h"

namespace mini_redis {
namespace {

using TransactionsTest = ServiceTest;

TEST_F(TransactionsTest, RunsTheQueuedCommandsAtExec) {
  TestClient a = Connect();
  TestClient b = Connect();
  EXPECT_EQ(a.Ask("MULTI"), "+OK\r\n");
  EXPECT_EQ(a.Ask("SET k 1"), "+QUEUED\r\n");
  EXPECT_EQ(a.Ask("INCR k"), "+QUEUED\r\n");
  EXPECT_EQ(a.Ask("LPUSH k x"), "+QUEUED\r\n");
  EXPECT_EQ(a.Ask("SELECT 1"), "+QUEUED\r\n");
  EXPECT_EQ(a.Ask("GET k"), "+QUEUED\r\n");
  EXPECT_EQ(b.Ask("GET k"), "$-1\r\n");
  EXPECT_EQ(a.Ask("EXEC"),
            "*5\r\n+OK\r\n:2\r\n-WRONGTYPE Operation against a key holding the "
            "wrong kind of value\r\n+OK\r\n$-1\r\n");
  EXPECT_EQ(b.Ask("GET k"), "$1\r\n2\r\n");
  EXPECT_EQ(a.Ask("EXEC"), "-ERR EXEC without MULTI\r\n");
}

TEST_F(TransactionsTest, DiscardsTheQueue) {
  TestClient client = Connect();
  EXPECT_EQ(client.Ask("DISCARD"), "-ERR DISCARD without MULTI\r\n");
  client.Ask("MULTI");
  EXPECT_EQ(client.Ask("MULTI"), "-ERR MULTI calls can not be nested\r\n");
  client.Ask("SET k 1");
  EXPECT_EQ(client.Ask("DISCARD"), "+OK\r\n");
  EXPECT_EQ(client.Ask("GET k"), "$-1\r\n");
  client.Ask("MULTI");
  EXPECT_EQ(client.Ask("EXEC"), "*0\r\n");
}

TEST_F(TransactionsTest, AbortsAfterAnErrorWhileQueuing) {
  TestClient client = Connect();
  for (const std::string bad : {"nosuch", "GET", "MONITOR"}) {
    client.Ask("MULTI");
    client.Ask("SET k 1");
    EXPECT_EQ(client.Ask(bad).substr(0, 5), "-ERR ");
    EXPECT_EQ(
        client.Ask("EXEC"),
        "-EXECABORT Transaction discarded because of previous errors.\r\n");
    EXPECT_EQ(client.Ask("GET k"), "$-1\r\n");
  }
}

TEST_F(TransactionsTest, EndsWithAnExecThatIsRefused) {
  TestClient client = Connect();
  client.Ask("MULTI");
  EXPECT_EQ(client.Ask("EXEC now"),
            "-EXECABORT Transaction discarded because of: wrong number of "
            "arguments for 'exec' command\r\n");
  EXPECT_EQ(client.Ask("GET k"), "$-1\r\n");
}

TEST_F(TransactionsTest, NeverBlocks) {
  TestClient client = Connect();
  client.Ask("MULTI");
  client.Ask("BLPOP list 0");
  client.Ask("RPUSH list x y");
  client.Ask("BLPOP list 0");
  EXPECT_EQ(client.Ask("EXEC"),
            "*3\r\n*-1\r\n:2\r\n*2\r\n$4\r\nlist\r\n$1\r\nx\r\n");
}

// A client that waits sees the list as the whole transaction leaves it.
TEST_F(TransactionsTest, ServesBlockedClientsAfterExec) {
  TestClient waiting = Connect();
  waiting.Send("BLPOP list 0\r\n");
  TestClient client = Connect();
  client.Ask("MULTI");
  client.Ask("RPUSH list x");
  client.Ask("LPOP list");
  client.Ask("RPUSH list y");
  client.Ask("EXEC");
  EXPECT_EQ(waiting.Read(), "*2\r\n$4\r\nlist\r\n$1\r\ny\r\n");
}

TEST_F(TransactionsTest, LimitsTheQueue) {
  ServiceOptions options;
  options.output_limit = 4096;
  service_ =
      std::make_shared<Service>(runtime_.handle().timer(), options, nullptr);
  TestClient client = Connect();
  client.Ask("MULTI");
  const std::string value(1000, 'x');
  std::string reply;
  for (int i = 0; i < 10; ++i) {
    reply = client.Ask(absl::StrCat("SET k", i, " ", value));
  }
  EXPECT_EQ(reply, "-ERR the transaction is too large\r\n");
  EXPECT_EQ(client.Ask("EXEC").substr(0, 10), "-EXECABORT");
}

}  // namespace
}  // namespace mini_redis
