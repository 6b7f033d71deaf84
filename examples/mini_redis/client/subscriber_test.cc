// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/subscriber.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/client/client.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/testing/scripted_io.h"

namespace mini_redis {
namespace {

// g++ 12 takes no initializer list in a full expression with `co_await`.
template <class... T>
std::vector<std::string> Texts(const T&... texts) {
  std::vector<std::string> all;
  (all.emplace_back(texts), ...);
  return all;
}

using ::rouse::Co;
using ::rouse::ScriptedIo;
using ::testing::HasSubstr;

using TestSubscriber = BasicSubscriber<ScriptedIo&>;

constexpr std::string_view kSubscribe =
    "*2\r\n$9\r\nSUBSCRIBE\r\n$4\r\nnews\r\n";
constexpr std::string_view kSubscribed =
    "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n";
constexpr std::string_view kMessage =
    "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n";

class SubscriberTest : public ::testing::Test {
 protected:
  rouse::Runtime runtime_ = rouse::PausedRuntime();
};

TEST_F(SubscriberTest, MessagesOfChannelsAndPatterns) {
  ScriptedIo io;
  io.Write(kSubscribe)
      .Read(kSubscribed)
      .Write("*2\r\n$10\r\nPSUBSCRIBE\r\n$2\r\nn*\r\n")
      .Read(kMessage)
      .Read("*3\r\n$10\r\npsubscribe\r\n$2\r\nn*\r\n:2\r\n")
      .Read("*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$2\r\nhi\r\n");
  auto test = [&]() -> Co<> {
    TestSubscriber news(io, "host:1");
    EXPECT_TRUE((co_await news.Subscribe(Texts("news"))).ok());
    EXPECT_EQ(news.subscriptions(), 1);
    // The message that comes before the confirmation is not lost.
    EXPECT_TRUE((co_await news.PSubscribe(Texts("n*"))).ok());
    EXPECT_EQ(news.subscriptions(), 2);
    const Message first = (co_await news.Next()).value();
    EXPECT_EQ(first, (Message{{}, "news", "hi"}));
    const Message second = (co_await news.Next()).value();
    EXPECT_EQ(second, (Message{"n*", "news", "hi"}));
    const absl::Status end = (co_await news.Next()).status();
    EXPECT_TRUE(absl::IsUnavailable(end));
    EXPECT_EQ(end.message(), "host:1: the server closed the connection");
  };
  runtime_.BlockOn(test);
}

TEST_F(SubscriberTest, Version3PushesMessages) {
  ScriptedIo io;
  io.Read(">3\r\n+message\r\n$4\r\nnews\r\n$2\r\nhi\r\n");
  auto test = [&]() -> Co<> {
    TestSubscriber news(io, "host:1");
    const Message message = (co_await news.Next()).value();
    EXPECT_EQ(message, (Message{{}, "news", "hi"}));
  };
  runtime_.BlockOn(test);
}

TEST_F(SubscriberTest, UnsubscribingIsConfirmedForEachChannel) {
  ScriptedIo io;
  io.Write("*3\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n")
      .Read("*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n")
      .Read("*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:0\r\n")
      .Write("*2\r\n$12\r\nPUNSUBSCRIBE\r\n$1\r\nc\r\n")
      .Read("*3\r\n$12\r\npunsubscribe\r\n$1\r\nc\r\n:0\r\n");
  auto test = [&]() -> Co<> {
    TestSubscriber news(io, "host:1");
    EXPECT_TRUE((co_await news.Unsubscribe(Texts("a", "b"))).ok());
    EXPECT_TRUE((co_await news.PUnsubscribe(Texts("c"))).ok());
    EXPECT_EQ(news.subscriptions(), 0);
    const absl::Status error = co_await news.Unsubscribe(Texts());
    EXPECT_TRUE(absl::IsInvalidArgument(error));
  };
  runtime_.BlockOn(test);
}

TEST_F(SubscriberTest, AConfirmationThatDoesNotComeIsATimeout) {
  ScriptedIo io;
  io.Write(kSubscribe).Wait(absl::Seconds(3)).Read(kSubscribed).Read(kMessage);
  auto test = [&]() -> Co<> {
    ClientOptions options;
    options.request_timeout = absl::Seconds(2);
    TestSubscriber news(io, "host:1", options);
    const absl::Status error = co_await news.Subscribe(Texts("news"));
    EXPECT_TRUE(absl::IsDeadlineExceeded(error));
    EXPECT_EQ(error.message(), "host:1: SUBSCRIBE: no confirmation within 2s");
    // The late confirmation is not a message.
    const Message message = (co_await news.Next()).value();
    EXPECT_EQ(message, (Message{{}, "news", "hi"}));
    EXPECT_EQ(news.subscriptions(), 1);
  };
  auto task = [&]() -> Co<> {
    auto done = rouse::Spawn(test);
    while (!done.IsFinished()) (void)co_await rouse::AdvanceToNext();
    EXPECT_TRUE((co_await done).ok());
  };
  runtime_.BlockOn(task);
}

TEST_F(SubscriberTest, AnErrorOfTheServerIsReturned) {
  ScriptedIo io;
  io.Write(kSubscribe).Read("-NOPERM no\r\n").Read("+what\r\n");
  auto test = [&]() -> Co<> {
    TestSubscriber news(io, "host:1");
    const absl::Status error = co_await news.Subscribe(Texts("news"));
    EXPECT_TRUE(absl::IsPermissionDenied(error));
    EXPECT_EQ(error.message(), "host:1: NOPERM no");
    const absl::Status odd = (co_await news.Next()).status();
    EXPECT_TRUE(absl::IsInternal(odd));
    EXPECT_THAT(odd.message(), HasSubstr("host:1: neither a message"));
  };
  runtime_.BlockOn(test);
}

}  // namespace
}  // namespace mini_redis
