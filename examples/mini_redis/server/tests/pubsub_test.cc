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

using PubSubTest = ServiceTest;

TEST_F(PubSubTest, SendsMessagesToSubscribers) {
  TestClient a = Connect();
  TestClient b = Connect();
  EXPECT_EQ(a.Ask("SUBSCRIBE news sport"),
            "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"
            "*3\r\n$9\r\nsubscribe\r\n$5\r\nsport\r\n:2\r\n");
  EXPECT_EQ(b.Ask("PSUBSCRIBE n*"),
            "*3\r\n$10\r\npsubscribe\r\n$2\r\nn*\r\n:1\r\n");
  TestClient publisher = Connect();
  EXPECT_EQ(publisher.Ask("PUBLISH news hello"), ":2\r\n");
  EXPECT_EQ(publisher.Ask("PUBLISH other hello"), ":0\r\n");
  EXPECT_EQ(a.Read(), "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
  EXPECT_EQ(
      b.Read(),
      "*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
  EXPECT_EQ(publisher.Ask("PUBSUB NUMSUB news other"),
            "*4\r\n$4\r\nnews\r\n:1\r\n$5\r\nother\r\n:0\r\n");
  EXPECT_EQ(publisher.Ask("PUBSUB CHANNELS s*"), "*1\r\n$5\r\nsport\r\n");
  EXPECT_EQ(publisher.Ask("PUBSUB NUMPAT"), ":1\r\n");
}

TEST_F(PubSubTest, LimitsTheCommandsOfASubscriberOfVersion2) {
  TestClient client = Connect();
  client.Ask("SUBSCRIBE a");
  EXPECT_EQ(client.Ask("GET k"),
            "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE "
            "/ PING / QUIT / RESET are allowed in this context\r\n");
  EXPECT_EQ(client.Ask("PING"), "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  EXPECT_EQ(client.Ask("UNSUBSCRIBE a"),
            "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n");
  EXPECT_EQ(client.Ask("GET k"), "$-1\r\n");
  EXPECT_EQ(client.Ask("UNSUBSCRIBE"),
            "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n");
}

TEST_F(PubSubTest, PushesToASubscriberOfVersion3) {
  TestClient client = Connect();
  client.Ask("HELLO 3");
  EXPECT_EQ(client.Ask("SUBSCRIBE a"),
            ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
  EXPECT_EQ(client.Ask("GET k"), "_\r\n");
  const std::string both = client.Ask("PUBLISH a x");
  EXPECT_EQ(both, ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n:1\r\n");
}

TEST_F(PubSubTest, KeepsTheOrderAcrossChannels) {
  TestClient subscriber = Connect();
  subscriber.Ask("SUBSCRIBE a b c");
  TestClient publisher = Connect();
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    const std::string channel(1, static_cast<char>('a' + i * 7 % 3));
    const std::string text = absl::StrCat(10 + i);
    publisher.Ask(absl::StrCat("PUBLISH ", channel, " ", text));
    absl::StrAppend(&expected, "*3\r\n$7\r\nmessage\r\n$1\r\n", channel,
                    "\r\n$2\r\n", text, "\r\n");
  }
  EXPECT_EQ(subscriber.ReadIfAny(), expected);
}

TEST_F(PubSubTest, SendsNothingAfterUnsubscribe) {
  TestClient subscriber = Connect();
  subscriber.Ask("SUBSCRIBE a");
  TestClient publisher = Connect();
  publisher.Ask("PUBLISH a x");
  EXPECT_EQ(subscriber.Ask("UNSUBSCRIBE"),
            "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n"
            "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n");
  EXPECT_EQ(publisher.Ask("PUBLISH a x"), ":0\r\n");
}

TEST_F(PubSubTest, DisconnectsASubscriberThatDoesNotRead) {
  ServiceOptions options;
  options.output_limit = 100'000;
  service_ =
      std::make_shared<Service>(runtime_.handle().timer(), options, nullptr);
  TestClient slow = Connect(/*capacity=*/1000);
  slow.Ask("SUBSCRIBE a");
  TestClient publisher = Connect();
  const std::string text(1000, 'x');
  for (int i = 0; i < 90; ++i) publisher.Ask("PUBLISH a " + text);
  EXPECT_FALSE(slow.HasEnded());
  for (int i = 0; i < 200; ++i) publisher.Ask("PUBLISH a " + text);
  EXPECT_TRUE(slow.HasEnded());
  EXPECT_EQ(publisher.Ask("PUBLISH a x"), ":0\r\n");
}

TEST_F(PubSubTest, EndsSubscriptionsWithTheConnection) {
  TestClient subscriber = Connect();
  subscriber.Ask("SUBSCRIBE a");
  subscriber.Ask("PSUBSCRIBE *");
  subscriber.Close();
  EXPECT_TRUE(subscriber.HasEnded());
  TestClient publisher = Connect();
  EXPECT_EQ(publisher.Ask("PUBLISH a x"), ":0\r\n");
}

TEST_F(PubSubTest, ShowsCommandsToMonitors) {
  TestClient monitor = Connect();
  EXPECT_EQ(monitor.Ask("MONITOR"), "+OK\r\n");
  TestClient client = Connect();
  client.Ask("SET k \"a b\"");
  const std::string line = monitor.Read();
  EXPECT_NE(line.find("[0 test:2] \"SET\" \"k\" \"a b\"\r\n"),
            std::string::npos)
      << line;
  EXPECT_EQ(monitor.Ask("RESET"), "+RESET\r\n");
  client.Ask("SET k v");
  EXPECT_EQ(monitor.ReadIfAny(), "");
}

TEST_F(PubSubTest, DisconnectsAMonitorThatMissesCommands) {
  TestClient monitor = Connect(/*capacity=*/1000);
  monitor.Ask("MONITOR");
  TestClient client = Connect();
  std::string requests;
  for (int i = 0; i < 5000; ++i) requests += "PING\r\n";
  client.Send(requests);
  (void)client.ReadIfAny();
  (void)monitor.ReadIfAny();
  EXPECT_TRUE(monitor.HasEnded());
}

}  // namespace
}  // namespace mini_redis
