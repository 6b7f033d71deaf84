// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/server/tests/service_test_base.h"

namespace mini_redis {
namespace {

using BlockingTest = ServiceTest;

TEST_F(BlockingTest, ServesClientsInTheOrderInWhichTheyBeganToWait) {
  TestClient first = Connect();
  TestClient second = Connect();
  TestClient third = Connect();
  first.Send("BLPOP list 0\r\n");
  second.Send("BRPOP other list 0\r\n");
  third.Send("BLPOP list 0\r\n");
  TestClient client = Connect();
  EXPECT_EQ(client.Ask("RPUSH list a b c e"), ":4\r\n");
  EXPECT_EQ(first.Read(), "*2\r\n$4\r\nlist\r\n$1\r\na\r\n");
  EXPECT_EQ(second.Read(), "*2\r\n$4\r\nlist\r\n$1\r\ne\r\n");
  EXPECT_EQ(third.Read(), "*2\r\n$4\r\nlist\r\n$1\r\nb\r\n");
  EXPECT_EQ(client.Ask("LRANGE list 0 -1"), "*1\r\n$1\r\nc\r\n");
}

TEST_F(BlockingTest, GivesUpAfterTheTimeout) {
  TestClient client = Connect();
  client.Send("BLPOP list 1.5\r\nPING\r\n");
  Advance(absl::Milliseconds(1499));
  EXPECT_EQ(client.ReadIfAny(), "");
  Advance(absl::Milliseconds(1));
  EXPECT_EQ(client.ReadIfAny(), "*-1\r\n+PONG\r\n");
  // The client no longer waits: the element stays.
  TestClient other = Connect();
  other.Ask("RPUSH list x");
  EXPECT_EQ(other.Ask("LLEN list"), ":1\r\n");
}

TEST_F(BlockingTest, SkipsAClientThatHasLeft) {
  std::optional<TestClient> first(Connect());
  first->Send("BLPOP list 0\r\n");
  TestClient second = Connect();
  second.Send("BLPOP list 0\r\n");
  first->Close();
  EXPECT_TRUE(first->HasEnded());
  TestClient client = Connect();
  client.Ask("RPUSH list x");
  EXPECT_EQ(second.Read(), "*2\r\n$4\r\nlist\r\n$1\r\nx\r\n");
}

TEST_F(BlockingTest, RunsLaterRequestsAfterwardsAndSendsEarlierRepliesBefore) {
  TestClient client = Connect();
  client.Send("PING\r\nBLPOP list 0\r\nLLEN list\r\nGET k\r\n");
  EXPECT_EQ(client.ReadIfAny(), "+PONG\r\n");
  client.Send("ECHO last\r\n");
  EXPECT_EQ(client.ReadIfAny(), "");
  TestClient other = Connect();
  other.Ask("RPUSH list x y");
  EXPECT_EQ(client.ReadIfAny(),
            "*2\r\n$4\r\nlist\r\n$1\r\nx\r\n:1\r\n$-1\r\n$4\r\nlast\r\n");
}

TEST_F(BlockingTest, EndsWhenTheClientIsKilledOrTheServerStops) {
  TestClient first = Connect();
  TestClient second = Connect();
  first.Send("BLPOP list 0\r\n");
  second.Send("BLPOP list 0\r\n");
  TestClient client = Connect();
  EXPECT_EQ(client.Ask("CLIENT KILL ID 1"), ":1\r\n");
  EXPECT_TRUE(first.HasEnded());
  EXPECT_FALSE(second.HasEnded());
  service_->stop.Cancel();
  EXPECT_TRUE(second.HasEnded());
}

}  // namespace
}  // namespace mini_redis
