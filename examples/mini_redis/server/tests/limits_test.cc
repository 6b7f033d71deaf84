// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of the ends of connections: errors, limits, timeouts and the stop.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/server/tests/service_test_base.h"

namespace mini_redis {
namespace {

ServiceOptions Options() {
  ServiceOptions options;
  options.output_limit = 100'000;
  options.request_limits.max_bulk_size = 200'000;
  options.idle_timeout = absl::Minutes(5);
  options.request_timeout = absl::Seconds(30);
  return options;
}

class LimitsTest : public ServiceTest {
 protected:
  LimitsTest() : ServiceTest(Options()) {}
};

TEST_F(LimitsTest, SendsAllRepliesBeforeAProtocolError) {
  TestClient client = Connect();
  client.Send("PING\r\n*1\r\n$4\r\nPING\r\n*1\r\n!4\r\nPING\r\n");
  EXPECT_EQ(client.Read(),
            "+PONG\r\n+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n");
  EXPECT_EQ(client.Read(), "");
}

TEST_F(LimitsTest, RefusesALongArgumentBeforeItArrives) {
  TestClient client = Connect();
  EXPECT_EQ(client.Ask("*2\r\n$3\r\nGET\r\n$200001"),
            "-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(client.HasEnded());
}

TEST_F(LimitsTest, DisconnectsAClientWhoseReplyIsTooLarge) {
  TestClient client = Connect();
  client.Ask(absl::StrCat("SET k ", std::string(60'000, 'x')));
  client.Send("MGET k k\r\n");
  EXPECT_EQ(client.ReadIfAny(), "");
  EXPECT_TRUE(client.HasEnded());
}

// Replies that fit are all sent, however many requests were sent at once.
TEST_F(LimitsTest, WaitsForAClientThatSendsBeforeReading) {
  TestClient client = Connect(/*capacity=*/10'000);
  client.Ask(absl::StrCat("SET k ", std::string(5'000, 'x')));
  std::string requests;
  constexpr int kRequests = 100;
  for (int i = 0; i < kRequests; ++i) requests += "GET k\r\n";
  client.Send(requests);
  EXPECT_FALSE(client.HasEnded());
  EXPECT_EQ(client.ReadIfAny().size(), kRequests * (5'000u + 9u));
}

TEST_F(LimitsTest, DisconnectsASilentClient) {
  TestClient client = Connect();
  TestClient subscriber = Connect();
  subscriber.Ask("SUBSCRIBE a");
  Advance(absl::Minutes(4));
  client.Ask("PING");
  Advance(absl::Minutes(5) - absl::Milliseconds(1));
  EXPECT_FALSE(client.HasEnded());
  Advance(absl::Milliseconds(1));
  EXPECT_TRUE(client.HasEnded());
  EXPECT_FALSE(subscriber.HasEnded());
}

TEST_F(LimitsTest, DisconnectsAClientThatSendsARequestTooSlowly) {
  TestClient client = Connect();
  for (const char c : std::string("*1\r\n$400\r\nxx")) {
    client.Send(std::string(1, c));
    Advance(absl::Seconds(2));
  }
  EXPECT_FALSE(client.HasEnded());
  client.Send("x");
  Advance(absl::Seconds(8));
  EXPECT_TRUE(client.HasEnded());
}

TEST_F(LimitsTest, DisconnectsAClientThatDoesNotReadItsReply) {
  TestClient client = Connect(/*capacity=*/1'000);
  client.Send(absl::StrCat("ECHO ", std::string(900, 'x'), "\r\n"));
  client.Send(absl::StrCat("ECHO ", std::string(900, 'x'), "\r\n"));
  Advance(absl::Minutes(5) - absl::Milliseconds(1));
  EXPECT_FALSE(client.HasEnded());
  Advance(absl::Milliseconds(1));
  EXPECT_TRUE(client.HasEnded());
}

TEST_F(LimitsTest, StopsAfterTheRequestsThatHaveArrived) {
  TestClient client = Connect();
  TestClient silent = Connect();
  EXPECT_EQ(silent.Ask("PING"), "+PONG\r\n");
  client.Send("SHUTDOWN nonsense\r\nSET k v\r\nSHUTDOWN NOSAVE\r\n");
  EXPECT_EQ(client.Read(), "-ERR syntax error\r\n+OK\r\n");
  EXPECT_EQ(client.Read(), "");
  EXPECT_TRUE(silent.HasEnded());
  EXPECT_TRUE(service_->clients.empty());
}

}  // namespace
}  // namespace mini_redis
