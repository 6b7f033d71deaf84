// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of the three clients with the server of examples/mini_redis, and with a
// server that the test plays.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/server/server.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/ports/redis_client/blocking_client.h"
#include "rouse/examples/ports/redis_client/buffered_client.h"
#include "rouse/examples/ports/redis_client/client.h"
#include "rouse/rouse.h"
#include "rouse/testing/paused_time.h"

namespace redis_client {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::rouse::Co;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

// A server of examples/mini_redis in a task of the runtime.
class RunningServer {
 public:
  explicit RunningServer(rouse::Runtime& runtime) {
    service_ = std::make_shared<mini_redis::Service>(
        runtime.handle().timer(), mini_redis::ServiceOptions(), nullptr);
    const rouse::EnterGuard enter = runtime.Enter();
    absl::StatusOr<rouse::TcpListener> listener =
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0));
    address_ = absl::StrCat(*listener->local_addr());
    server_ =
        runtime.Spawn(Run(mini_redis::Server(*std::move(listener), service_)));
  }

  const std::string& address() const { return address_; }

  // Ends the connections and the server.
  Co<> Stop() {
    service_->stop.Cancel();
    EXPECT_THAT(co_await *server_, IsOk());
  }

 private:
  static Co<absl::Status> Run(mini_redis::Server server) {
    co_return co_await std::move(server).Run(absl::Seconds(10));
  }

  std::shared_ptr<mini_redis::Service> service_;
  std::string address_;
  std::optional<rouse::JoinHandle<absl::Status>> server_;
};

// The server's end of connections, which a test plays by hand.
class FakeServer {
 public:
  FakeServer()
      : listener_(
            rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)).value()) {
  }

  std::string address() const { return absl::StrCat(*listener_.local_addr()); }

  Co<> Accept() {
    auto accepted = co_await listener_.Accept();
    stream_ = std::move(accepted->stream);
  }
  // Returns the next bytes of the client, as many as in `expected`.
  Co<> Expect(std::string_view expected) {
    std::string bytes(expected.size(), '\0');
    EXPECT_THAT(co_await rouse::ReadExact(*stream_, absl::MakeSpan(bytes)),
                IsOk());
    EXPECT_EQ(bytes, expected);
  }
  Co<> ExpectEnd() {
    std::string bytes;
    EXPECT_THAT(co_await rouse::ReadToEnd(*stream_, bytes, 1000), IsOk());
    EXPECT_EQ(bytes, "");
  }
  Co<> Reply(std::string_view bytes) {
    EXPECT_THAT(co_await stream_->WriteAll(bytes), IsOk());
  }
  void Close() { stream_.reset(); }

 private:
  rouse::TcpListener listener_;
  std::optional<rouse::TcpStream> stream_;
};

constexpr std::string_view kGetK = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";

class ClientsTest : public ::testing::Test {
 protected:
  // Runs `test` with a server.
  template <class Test>
  void Run(Test test) {
    RunningServer server(runtime_);
    auto main = [&]() -> Co<> { co_await test(server); };
    runtime_.BlockOn(main);
  }

  // Runs `test` with a client, of which the test is the server.
  template <class Test>
  void RunWithFake(Test test) {
    auto main = [&]() -> Co<> {
      FakeServer server;
      auto connecting = rouse::Spawn(Client::Connect(server.address()));
      co_await server.Accept();
      absl::StatusOr<Client> client = co_await connecting;
      co_await test(*std::move(client), server);
    };
    runtime_.BlockOn(main);
  }

  // Connects, and expects success.
  static Co<Client> Connect(const RunningServer& server) {
    absl::StatusOr<Client> client = co_await Client::Connect(server.address());
    EXPECT_THAT(client, IsOk());
    co_return *std::move(client);
  }

  rouse::Runtime runtime_ = rouse::PausedRuntime();
};

TEST_F(ClientsTest, Commands) {
  auto test = [](RunningServer& server) -> Co<> {
    Client client = co_await Connect(server);
    EXPECT_THAT(co_await client.Ping(), IsOkAndHolds("PONG"));
    EXPECT_THAT(co_await client.Ping("hi"), IsOkAndHolds("hi"));
    EXPECT_THAT(co_await client.Get("k"), IsOkAndHolds(std::nullopt));
    EXPECT_THAT(co_await client.Set("k", "a\r\nb"), IsOk());
    EXPECT_THAT(co_await client.Get("k"),
                IsOkAndHolds(Optional<std::string>("a\r\nb")));
    EXPECT_THAT(co_await client.Publish("nobody", "hi"), IsOkAndHolds(0));
  };
  Run(test);
}

TEST_F(ClientsTest, AKeyExpires) {
  auto test = [](RunningServer& server) -> Co<> {
    Client client = co_await Connect(server);
    // Rounded up to 100 ms.
    EXPECT_THAT(
        co_await client.SetExpires("k", "v", absl::Microseconds(99'001)),
        IsOk());
    co_await rouse::Advance(absl::Milliseconds(99));
    EXPECT_THAT(co_await client.Get("k"),
                IsOkAndHolds(Optional<std::string>("v")));
    co_await rouse::Advance(absl::Milliseconds(2));
    EXPECT_THAT(co_await client.Get("k"), IsOkAndHolds(std::nullopt));
    for (absl::Duration bad :
         {absl::ZeroDuration(), absl::Seconds(-1), absl::InfiniteDuration()}) {
      EXPECT_THAT(co_await client.SetExpires("k", "v", bad),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr(absl::FormatDuration(bad))));
    }
    EXPECT_THAT(co_await client.Ping(), IsOkAndHolds("PONG"));
  };
  Run(test);
}

TEST_F(ClientsTest, MessagesAreAStream) {
  auto test = [](RunningServer& server) -> Co<> {
    Client publisher = co_await Connect(server);
    std::vector<std::string> channels = {"a", "b"};
    absl::StatusOr<Subscriber> subscriber =
        co_await (co_await Connect(server)).Subscribe(std::move(channels));
    EXPECT_THAT(subscriber->subscribed(), ElementsAre("a", "b"));
    auto messages = *std::move(subscriber);
    auto stream = std::move(messages).IntoStream();
    EXPECT_THAT(co_await publisher.Publish("a", "1"), IsOkAndHolds(1));
    EXPECT_THAT(co_await publisher.Publish("b", "2"), IsOkAndHolds(1));
    EXPECT_THAT(co_await publisher.Publish("c", "3"), IsOkAndHolds(0));
    EXPECT_THAT(co_await publisher.Publish("a", "4"), IsOkAndHolds(1));
    std::vector<std::string> got;
    auto first = rouse::Take(stream, 3);
    while (auto message = co_await rouse::Next(first)) {
      got.push_back(
          absl::StrCat((*message)->channel, " ", (*message)->content));
    }
    EXPECT_THAT(got, ElementsAre("a 1", "b 2", "a 4"));
    co_await server.Stop();
    auto end = co_await rouse::Next(stream);
    EXPECT_FALSE(end.has_value());
  };
  Run(test);
}

TEST_F(ClientsTest, SubscriptionsChange) {
  auto test = [](RunningServer& server) -> Co<> {
    Client publisher = co_await Connect(server);
    std::vector<std::string> channels = {"a"};
    absl::StatusOr<Subscriber> subscriber =
        co_await (co_await Connect(server)).Subscribe(std::move(channels));
    EXPECT_THAT(subscriber, IsOk());
    // The message comes before the confirmations, and is kept.
    EXPECT_THAT(co_await publisher.Publish("a", "early"), IsOkAndHolds(1));
    channels = {"b", "c"};
    EXPECT_THAT(co_await subscriber->Subscribe(channels), IsOk());
    EXPECT_THAT(subscriber->subscribed(), ElementsAre("a", "b", "c"));
    channels = {"b", "unknown"};
    EXPECT_THAT(co_await subscriber->Unsubscribe(channels), IsOk());
    EXPECT_THAT(subscriber->subscribed(), ElementsAre("a", "c"));
    EXPECT_THAT(co_await publisher.Publish("b", "x"), IsOkAndHolds(0));
    const auto early = co_await subscriber->NextMessage();
    EXPECT_THAT(early, IsOkAndHolds(Optional(Message{"a", "early"})));
    channels = {};
    EXPECT_THAT(co_await subscriber->Unsubscribe(channels), IsOk());
    EXPECT_THAT(subscriber->subscribed(), IsEmpty());
    // Confirmed once, although there is nothing to end.
    EXPECT_THAT(co_await subscriber->Unsubscribe(channels), IsOk());
    EXPECT_THAT(co_await subscriber->Subscribe(channels),
                StatusIs(absl::StatusCode::kInvalidArgument));
  };
  Run(test);
}

TEST_F(ClientsTest, AnErrorReplyLeavesTheClientUsable) {
  auto test = [](Client client, FakeServer& server) -> Co<> {
    auto get = client.Get("k");
    co_await server.Reply("-ERR no\r\n$1\r\nv\r\n");
    EXPECT_THAT(co_await std::move(get),
                StatusIs(absl::StatusCode::kAborted, "ERR no"));
    EXPECT_THAT(co_await client.Get("k"),
                IsOkAndHolds(Optional<std::string>("v")));
    co_await server.Reply("-ERR not allowed\r\n+subscribed\r\n");
    std::vector<std::string> channels = {"a"};
    EXPECT_THAT(co_await std::move(client).Subscribe(channels),
                StatusIs(absl::StatusCode::kAborted, "ERR not allowed"));
  };
  RunWithFake(test);
}

TEST_F(ClientsTest, AReplyOfTheWrongTypeIsAnError) {
  auto test = [](Client client, FakeServer& server) -> Co<> {
    co_await server.Reply("+four\r\n:1\r\n:2\r\n+NO\r\n+what\r\n");
    EXPECT_THAT(co_await client.Publish("c", "m"),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("four")));
    EXPECT_THAT(co_await client.Get("k"),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("GET")));
    EXPECT_THAT(co_await client.Ping(),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("PING")));
    EXPECT_THAT(co_await client.Set("k", "v"),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("NO")));
    std::vector<std::string> channels = {"a"};
    EXPECT_THAT(co_await std::move(client).Subscribe(channels),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("what")));
  };
  RunWithFake(test);
}

TEST_F(ClientsTest, ACancelledRequestEndsTheUseOfAClient) {
  auto test = [](Client client, FakeServer& server) -> Co<> {
    {
      // Sends the request.
      auto first =
          co_await rouse::SelectBiased(client.Get("k"), server.Expect(kGetK));
      EXPECT_EQ(first.index(), 1u);
    }
    co_await server.Reply("$1\r\nv\r\n");
    EXPECT_THAT(co_await client.Get("other"),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("connect again")));
    std::vector<std::string> channels = {"a"};
    EXPECT_THAT(co_await std::move(client).Subscribe(channels),
                StatusIs(absl::StatusCode::kFailedPrecondition));
  };
  RunWithFake(test);
}

TEST_F(ClientsTest, TheServerClosesTheConnection) {
  auto test = [](Client client, FakeServer& server) -> Co<> {
    server.Close();
    EXPECT_THAT(co_await client.Ping(),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("server")));
  };
  RunWithFake(test);
}

TEST_F(ClientsTest, NoServer) {
  auto main = []() -> Co<> {
    std::string address;
    {
      const FakeServer server;
      address = server.address();
    }
    EXPECT_THAT((co_await Client::Connect(address)).status(),
                StatusIs(testing::_, HasSubstr(address)));
  };
  runtime_.BlockOn(main);
}

TEST_F(ClientsTest, TasksShareABufferedClient) {
  auto test = [](RunningServer& server) -> Co<> {
    const auto client = BufferedClient::Buffer(co_await Connect(server));
    auto store = [](BufferedClient copy, int i) -> Co<bool> {
      const std::string key = absl::StrCat("k", i);
      EXPECT_THAT(co_await copy.Set(key, absl::StrCat(i)), IsOk());
      absl::StatusOr<std::optional<std::string>> value = co_await copy.Get(key);
      co_return value.ok() && *value == absl::StrCat(i);
    };
    rouse::JoinSet<bool> tasks;
    for (int i = 0; i < 100; ++i) tasks.Spawn(store(client, i));
    int done = 0;
    while (auto result = co_await tasks.Next()) done += result->value_or(false);
    EXPECT_EQ(done, 100);
    EXPECT_THAT(co_await client.Get("missing"), IsOkAndHolds(std::nullopt));
  };
  Run(test);
}

TEST_F(ClientsTest, ACancelledRequestDoesNotDisturbABufferedClient) {
  auto test = [](Client connection, FakeServer& server) -> Co<> {
    std::optional client = BufferedClient::Buffer(std::move(connection));
    {
      auto first =
          co_await rouse::SelectBiased(client->Get("k"), server.Expect(kGetK));
      EXPECT_EQ(first.index(), 1u);
    }
    auto second = rouse::Spawn(client->Get("k"));
    co_await server.Reply("$5\r\nfirst\r\n");
    co_await server.Expect(kGetK);
    co_await server.Reply("$6\r\nsecond\r\n");
    EXPECT_THAT(co_await second, IsOkAndHolds(Optional<std::string>("second")));
    // The last handle closes the connection.
    client.reset();
    co_await server.ExpectEnd();
  };
  RunWithFake(test);
}

TEST_F(ClientsTest, ABufferedClientReturnsTheErrorsOfTheConnection) {
  auto test = [](Client connection, FakeServer& server) -> Co<> {
    const auto client = BufferedClient::Buffer(std::move(connection));
    co_await server.Reply("-ERR no\r\n-ERR read only\r\n");
    EXPECT_THAT(co_await client.Get("k"),
                StatusIs(absl::StatusCode::kAborted, "ERR no"));
    EXPECT_THAT(co_await client.Set("k", "v"),
                StatusIs(absl::StatusCode::kAborted, "ERR read only"));
    server.Close();
    EXPECT_FALSE((co_await client.Get("k")).ok());
  };
  RunWithFake(test);
}

TEST(BlockingClientTest, HasTheFunctionsOfAClient) {
  // The server needs threads of its own.
  rouse::Runtime runtime =
      *rouse::Builder::MultiThread().WorkerThreads(1).Build();
  RunningServer server(runtime);
  absl::StatusOr<BlockingClient> client =
      BlockingClient::Connect(server.address());
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(client->Ping(), IsOkAndHolds("PONG"));
  EXPECT_THAT(client->Ping("hi"), IsOkAndHolds("hi"));
  EXPECT_THAT(client->Set("k", "v"), IsOk());
  EXPECT_THAT(client->SetExpires("l", "w", absl::Hours(1)), IsOk());
  EXPECT_THAT(client->Get("l"), IsOkAndHolds(Optional<std::string>("w")));

  absl::StatusOr<BlockingClient> second =
      BlockingClient::Connect(server.address());
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT(second->Get("k"), IsOkAndHolds(Optional<std::string>("v")));
  absl::StatusOr<BlockingSubscriber> subscriber =
      (*std::move(second)).Subscribe({"a"});
  ASSERT_THAT(subscriber, IsOk());
  EXPECT_THAT(subscriber->Subscribe({"b"}), IsOk());
  EXPECT_THAT(subscriber->Unsubscribe({"a"}), IsOk());
  EXPECT_THAT(subscriber->subscribed(), ElementsAre("b"));
  EXPECT_THAT(client->Publish("b", "hi"), IsOkAndHolds(1));
  EXPECT_THAT(subscriber->NextMessage(),
              IsOkAndHolds(Optional(Message{"b", "hi"})));
  runtime.BlockOn(server.Stop());
  EXPECT_THAT(subscriber->NextMessage(), IsOkAndHolds(std::nullopt));
}

TEST(BlockingClientTest, NoServer) {
  std::string address;
  {
    const FakeServer server;
    address = server.address();
  }
  EXPECT_FALSE(BlockingClient::Connect(address).ok());
}

}  // namespace
}  // namespace redis_client
