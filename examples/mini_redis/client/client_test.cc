// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/client.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/client/errors.h"
#include "rouse/examples/mini_redis/client/fake_server.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/io/duplex.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"

namespace mini_redis {
namespace {

using ::mini_redis::resp::Value;
using ::rouse::Co;
using ::rouse::Spawn;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// A client of a server that the test plays. Time passes only as the test says.
class ClientTest : public ::testing::Test {
 protected:
  // Runs `test` with both ends of a connection.
  template <class Test>
  void Run(Test test, const ClientOptions& options = ClientOptions(),
           size_t capacity = 4096) {
    auto main = [&]() -> Co<> {
      auto [near, far] = rouse::Duplex(capacity);
      Client client = Client::FromStream(std::move(near), "host:1", options);
      FakeServer server(std::move(far));
      co_await test(client, server);
    };
    runtime_.BlockOn(main);
  }

  rouse::Runtime runtime_ = rouse::PausedRuntime();
};

// Waits until every task has come as far as it can.
Co<> Settle() { (void)co_await rouse::Advance(absl::ZeroDuration()); }

TEST_F(ClientTest, ARequestIsAnArrayAndTheReplyIsItsResult) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto get = Spawn(client.Get("key"));
    EXPECT_EQ(co_await server.Next(), "GET key");
    EXPECT_TRUE((co_await server.Reply("$5\r\nva\r\nl\r\n")).ok());
    absl::StatusOr<std::optional<std::string>> value = co_await get;
    EXPECT_EQ(value.value(), "va\r\nl");
  };
  Run(test);
}

TEST_F(ClientTest, RepliesGoToTheirRequestsInOrder) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    std::vector<rouse::JoinHandle<absl::StatusOr<int64_t>>> requests;
    for (int i = 0; i < 100; ++i) {
      requests.push_back(Spawn(client.Incr(absl::StrCat("key", i))));
    }
    // All requests arrive before the first reply.
    std::string replies;
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(co_await server.Next(), absl::StrCat("INCRBY key", i, " 1"));
      absl::StrAppend(&replies, ":", 1000 + i, "\r\n");
    }
    EXPECT_TRUE((co_await server.Reply(replies)).ok());
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ((co_await requests[i]).value(), 1000 + i);
    }
  };
  Run(test);
}

TEST_F(ClientTest, RequestsLargerThanTheConnectionHoldsArrive) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    const std::string value(100000, 'v');
    auto first = Spawn(client.Set("a", value));
    auto second = Spawn(client.Set("b", value));
    EXPECT_EQ(co_await server.Next(), absl::StrCat("SET a ", value));
    EXPECT_EQ(co_await server.Next(), absl::StrCat("SET b ", value));
    EXPECT_TRUE((co_await server.Reply("+OK\r\n+OK\r\n")).ok());
    EXPECT_TRUE((co_await first).value());
    EXPECT_TRUE((co_await second).value());
  };
  Run(test, {}, /*capacity=*/100);
}

TEST_F(ClientTest, ACancelledRequestDoesNotShiftTheReplies) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto first = Spawn(client.Get("a"));
    auto cancelled = Spawn(client.Get("b"));
    auto last = Spawn(client.Get("c"));
    EXPECT_EQ(co_await server.Next(), "GET a");
    EXPECT_EQ(co_await server.Next(), "GET b");
    EXPECT_EQ(co_await server.Next(), "GET c");
    cancelled.Abort();
    EXPECT_TRUE(absl::IsCancelled((co_await cancelled).status()));
    EXPECT_TRUE((co_await server.Reply("$1\r\nA\r\n$1\r\nB\r\n")).ok());
    EXPECT_EQ((co_await first).value(), "A");
    EXPECT_FALSE(client.IsIdle());
    EXPECT_TRUE((co_await server.Reply("$1\r\nC\r\n")).ok());
    EXPECT_EQ((co_await last).value(), "C");
    EXPECT_TRUE(client.IsIdle());
  };
  Run(test);
}

TEST_F(ClientTest, ATimeoutDoesNotShiftTheReplies) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto slow =
        Spawn(client.Send(resp::Command::Of("get", "a"), absl::Seconds(1)));
    EXPECT_EQ(co_await server.Next(), "get a");
    (void)co_await rouse::Advance(absl::Seconds(2));
    const absl::Status error = (co_await slow).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(error)) << error;
    EXPECT_EQ(error.message(), "host:1: GET: no reply within 1s");
    auto next = Spawn(client.Get("b"));
    EXPECT_EQ(co_await server.Next(), "GET b");
    EXPECT_TRUE((co_await server.Reply("$1\r\nA\r\n$1\r\nB\r\n")).ok());
    EXPECT_EQ((co_await next).value(), "B");
  };
  Run(test);
}

TEST_F(ClientTest, RequestsBeyondTheLimitWait) {
  ClientOptions options;
  options.max_in_flight = 2;
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto a = Spawn(client.Get("a"));
    auto b = Spawn(client.Get("b"));
    auto c = Spawn(client.Get("c"));
    auto d = Spawn(client.Get("d"));
    EXPECT_EQ(co_await server.Next(), "GET a");
    EXPECT_EQ(co_await server.Next(), "GET b");
    auto next = Spawn(server.Next());
    co_await Settle();
    EXPECT_FALSE(next.IsFinished());
    // A request that is cancelled while it waits is never sent.
    c.Abort();
    co_await Settle();
    EXPECT_TRUE((co_await server.Reply("_\r\n")).ok());
    EXPECT_EQ((co_await next).value(), "GET d");
    EXPECT_TRUE((co_await server.Reply("_\r\n_\r\n")).ok());
    EXPECT_EQ((co_await d).value(), std::nullopt);
    EXPECT_TRUE((co_await a).ok());
    EXPECT_TRUE((co_await b).ok());
  };
  Run(test, options);
}

TEST_F(ClientTest, AnErrorReplyIsAnErrorWithTheServersText) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto incr = Spawn(client.Incr("a"));
    EXPECT_EQ(co_await server.Next(), "INCRBY a 1");
    EXPECT_TRUE((co_await server.Reply("-WRONGTYPE no number\r\n")).ok());
    const absl::Status error = (co_await incr).status();
    EXPECT_EQ(error.message(), "host:1: INCRBY: WRONGTYPE no number");
    EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(ServerError(error), "WRONGTYPE no number");
    EXPECT_TRUE(client.status().ok());
  };
  Run(test);
}

TEST_F(ClientTest, AReplyOfAnotherTypeIsAnError) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto incr = Spawn(client.Incr("a"));
    EXPECT_EQ(co_await server.Next(), "INCRBY a 1");
    EXPECT_TRUE((co_await server.Reply("$1\r\nx\r\n")).ok());
    const absl::Status error = (co_await incr).status();
    EXPECT_TRUE(absl::IsInternal(error));
    EXPECT_EQ(error.message(),
              "host:1: INCRBY: unexpected reply, a bulk string: \"x\"");
    EXPECT_EQ(ServerError(error), std::nullopt);
  };
  Run(test);
}

TEST_F(ClientTest, TheEndOfTheConnectionIsTheErrorOfAllRequests) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto a = Spawn(client.Get("a"));
    auto b = Spawn(client.Get("b"));
    EXPECT_EQ(co_await server.Next(), "GET a");
    EXPECT_EQ(co_await server.Next(), "GET b");
    {
      const FakeServer ended = std::move(server);
    }
    for (auto* request : {&a, &b}) {
      const absl::Status error = (co_await *request).status();
      EXPECT_TRUE(absl::IsUnavailable(error)) << error;
      EXPECT_EQ(error.message(),
                "host:1: GET: the server closed the connection");
    }
    const absl::Status error = (co_await client.Get("c")).status();
    EXPECT_EQ(error.message(), "host:1: GET: the server closed the connection");
    EXPECT_TRUE(absl::IsUnavailable(client.status()));
    EXPECT_FALSE(client.IsIdle());
  };
  Run(test);
}

TEST_F(ClientTest, AMalformedReplyEndsTheConnection) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto get = Spawn(client.Get("a"));
    EXPECT_EQ(co_await server.Next(), "GET a");
    EXPECT_TRUE((co_await server.Reply("HTTP/1.1 400 Bad\r\n")).ok());
    const absl::Status error = (co_await get).status();
    EXPECT_EQ(error.message(),
              "host:1: GET: not a reply of Redis: \"HTTP/1.1 400 Bad\"");
    EXPECT_EQ(co_await server.Next(), "end");
  };
  Run(test);
}

TEST_F(ClientTest, AnErrorWithoutARequestEndsTheConnection) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    EXPECT_TRUE((co_await server.Reply("-ERR max number of clients\r\n")).ok());
    EXPECT_EQ(co_await server.Next(), "end");
    EXPECT_THAT(client.status().message(),
                HasSubstr("(error) ERR max number of clients"));
  };
  Run(test);
}

TEST_F(ClientTest, APushIsNoReply) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto get = Spawn(client.Get("a"));
    EXPECT_EQ(co_await server.Next(), "GET a");
    EXPECT_TRUE((co_await server.Reply(">1\r\n+x\r\n$1\r\nA\r\n")).ok());
    EXPECT_EQ((co_await get).value(), "A");
  };
  Run(test);
}

TEST_F(ClientTest, TheLastHandleClosesTheConnection) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto get = Spawn(client.Get("a"));
    EXPECT_EQ(co_await server.Next(), "GET a");
    // The request keeps the connection open.
    {
      const Client dropped = std::move(client);
    }
    auto next = Spawn(server.Next());
    co_await Settle();
    EXPECT_FALSE(next.IsFinished());
    EXPECT_TRUE((co_await server.Reply("$1\r\nA\r\n")).ok());
    EXPECT_EQ((co_await get).value(), "A");
    EXPECT_EQ((co_await next).value(), "end");
  };
  Run(test);
}

TEST_F(ClientTest, CommandsThatChangeTheRepliesAreRefused) {
  auto test = [](Client& client, FakeServer&) -> Co<> {
    resp::Command subscribe = {"subscribe", "news"};
    absl::Status error = (co_await client.Send(subscribe)).status();
    EXPECT_EQ(error.message(),
              "host:1: SUBSCRIBE needs a connection of its own: use a "
              "Subscriber");
    const std::vector<resp::Command> refused = {
        {"MONITOR"}, {"Client", "reply", "off"}, {}};
    for (const resp::Command& command : refused) {
      error = (co_await client.Send(command)).status();
      EXPECT_TRUE(absl::IsInvalidArgument(error)) << error;
      const std::vector<resp::Command> batch = {{"PING"}, command};
      error = (co_await client.SendAll(batch)).status();
      EXPECT_TRUE(absl::IsInvalidArgument(error)) << error;
      error = (co_await client.Transaction(batch)).status();
      EXPECT_TRUE(absl::IsInvalidArgument(error)) << error;
    }
    const std::vector<resp::Command> none;
    error = (co_await client.SendAll(none)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(error)) << error;
    EXPECT_TRUE(client.IsIdle());
  };
  Run(test);
}

TEST_F(ClientTest, ABatchIsTogetherAndHasAllReplies) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    std::vector<resp::Command> commands = {{"PING"}, {"INCR", "a"}};
    auto batch = Spawn(client.SendAll(std::move(commands)));
    auto get = Spawn(client.Get("b"));
    EXPECT_EQ(co_await server.Next(), "PING");
    EXPECT_EQ(co_await server.Next(), "INCR a");
    EXPECT_EQ(co_await server.Next(), "GET b");
    EXPECT_TRUE((co_await server.Reply("+PONG\r\n-ERR x\r\n$1\r\nB\r\n")).ok());
    EXPECT_THAT(
        (co_await batch).value(),
        ElementsAre(Value::SimpleString("PONG"), Value::Error("ERR x")));
    EXPECT_EQ((co_await get).value(), "B");
  };
  Run(test);
}

TEST_F(ClientTest, ATransactionReturnsWhatWasExecuted) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    std::vector<resp::Command> commands = {{"INCR", "a"}, {"GET", "b"}};
    auto done = Spawn(client.Transaction(commands));
    for (std::string_view word : {"MULTI", "INCR a", "GET b", "EXEC"}) {
      EXPECT_EQ(co_await server.Next(), word);
    }
    EXPECT_TRUE((co_await server.Reply("+OK\r\n+QUEUED\r\n+QUEUED\r\n"
                                       "*2\r\n:1\r\n$-1\r\n"))
                    .ok());
    EXPECT_THAT((co_await done).value(),
                ElementsAre(Value::Integer(1), Value::Null()));

    auto refused = Spawn(client.Transaction(commands));
    for (int i = 0; i < 4; ++i) (void)co_await server.Next();
    EXPECT_TRUE((co_await server.Reply("+OK\r\n-ERR unknown\r\n+QUEUED\r\n"
                                       "-EXECABORT Discarded\r\n"))
                    .ok());
    const absl::Status error = (co_await refused).status();
    EXPECT_TRUE(absl::IsAborted(error));
    EXPECT_EQ(error.message(),
              "host:1: EXEC: EXECABORT Discarded (ERR unknown)");
  };
  Run(test);
}

// g++ 12 takes no initializer list in a full expression with `co_await`.
template <class... T>
std::vector<std::string> Texts(const T&... texts) {
  std::vector<std::string> all;
  (all.emplace_back(texts), ...);
  return all;
}

// Makes `call`, expects `request`, replies with `bytes`, and returns the
// result.
template <class Future>
Co<rouse::FutureOutput<Future>> Exchange(FakeServer& server, Future call,
                                         std::string_view request,
                                         std::string_view bytes) {
  auto task = Spawn(std::move(call));
  // g++ 12 expands no macro with `co_await` in a template.
  const std::string received = co_await server.Next();
  EXPECT_EQ(received, request);
  const absl::Status replied = co_await server.Reply(bytes);
  EXPECT_TRUE(replied.ok());
  co_return co_await task;
}

TEST_F(ClientTest, EveryTypedRequest) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    EXPECT_TRUE(
        (co_await Exchange(server, client.Ping(), "PING", "+PONG\r\n")).ok());
    EXPECT_EQ((co_await Exchange(server, client.Get("k"), "GET k", "$-1\r\n"))
                  .value(),
              std::nullopt);
    SetOptions options;
    options.when = SetOptions::When::kIfMissing;
    options.expires_after = absl::Microseconds(1500);
    EXPECT_FALSE((co_await Exchange(server, client.Set("k", "v", options),
                                    "SET k v NX PX 2", "$-1\r\n"))
                     .value());
    options = SetOptions();
    options.when = SetOptions::When::kIfPresent;
    options.keep_ttl = true;
    EXPECT_TRUE((co_await Exchange(server, client.Set("k", "v", options),
                                   "SET k v XX KEEPTTL", "+OK\r\n"))
                    .value());
    EXPECT_THAT((co_await Exchange(server, client.MGet(Texts("a", "b")),
                                   "MGET a b", "*2\r\n$1\r\nA\r\n$-1\r\n"))
                    .value(),
                ElementsAre("A", std::nullopt));
    std::vector<std::pair<std::string, std::string>> values;
    values.emplace_back("a", "1");
    EXPECT_TRUE(
        (co_await Exchange(server, client.MSet(values), "MSET a 1", "+OK\r\n"))
            .ok());
    EXPECT_EQ((co_await Exchange(server, client.Incr("n", -3), "INCRBY n -3",
                                 ":4\r\n"))
                  .value(),
              4);
    EXPECT_EQ((co_await Exchange(server, client.Append("k", "x"), "APPEND k x",
                                 ":5\r\n"))
                  .value(),
              5);
    EXPECT_EQ((co_await Exchange(server, client.Del(Texts("a", "b")), "DEL a b",
                                 ":2\r\n"))
                  .value(),
              2);
    EXPECT_EQ((co_await Exchange(server, client.Exists(Texts("a")), "EXISTS a",
                                 ":0\r\n"))
                  .value(),
              0);
    EXPECT_TRUE((co_await Exchange(server, client.Del("a"), "DEL a", ":1\r\n"))
                    .value());
    EXPECT_FALSE(
        (co_await Exchange(server, client.Exists("a"), "EXISTS a", ":0\r\n"))
            .value());
    EXPECT_EQ((co_await Exchange(server, client.LPush("l", "x"), "LPUSH l x",
                                 ":1\r\n"))
                  .value(),
              1);
    EXPECT_TRUE((co_await Exchange(server, client.Expire("k", absl::Seconds(2)),
                                   "PEXPIRE k 2000", ":1\r\n"))
                    .value());
    EXPECT_FALSE(
        (co_await Exchange(server, client.Persist("k"), "PERSIST k", ":0\r\n"))
            .value());
    EXPECT_EQ((co_await Exchange(server, client.Ttl("k"), "PTTL k", ":-2\r\n"))
                  .value(),
              std::nullopt);
    EXPECT_EQ((co_await Exchange(server, client.Ttl("k"), "PTTL k", ":-1\r\n"))
                  .value(),
              absl::InfiniteDuration());
    EXPECT_EQ((co_await Exchange(server, client.Ttl("k"), "PTTL k", ":10\r\n"))
                  .value(),
              absl::Milliseconds(10));
    EXPECT_EQ((co_await Exchange(server, client.LPush("l", Texts("a", "b")),
                                 "LPUSH l a b", ":2\r\n"))
                  .value(),
              2);
    EXPECT_EQ((co_await Exchange(server, client.RPush("l", "c"), "RPUSH l c",
                                 ":3\r\n"))
                  .value(),
              3);
    EXPECT_EQ(
        (co_await Exchange(server, client.LPop("l"), "LPOP l", "$1\r\nb\r\n"))
            .value(),
        "b");
    EXPECT_EQ((co_await Exchange(server, client.RPop("l"), "RPOP l", "$-1\r\n"))
                  .value(),
              std::nullopt);
    EXPECT_THAT((co_await Exchange(server, client.LRange("l", 0, -1),
                                   "LRANGE l 0 -1", "*1\r\n$1\r\na\r\n"))
                    .value(),
                ElementsAre("a"));
    EXPECT_EQ((co_await Exchange(server, client.Publish("c", "m"),
                                 "PUBLISH c m", ":7\r\n"))
                  .value(),
              7);
  };
  Run(test);
}

TEST_F(ClientTest, ABlockingRequestHasItsTimeAndTheUsualTime) {
  auto test = [](Client& client, FakeServer& server) -> Co<> {
    auto pop = Spawn(client.BLPop(Texts("a", "b"), absl::Seconds(60)));
    EXPECT_EQ(co_await server.Next(), "BLPOP a b 60");
    (void)co_await rouse::Advance(absl::Seconds(62));
    EXPECT_TRUE((co_await server.Reply("*2\r\n$1\r\na\r\n$1\r\nx\r\n")).ok());
    EXPECT_THAT((co_await pop).value(), ::testing::Optional(Pair("a", "x")));
    EXPECT_EQ((co_await Exchange(
                   server, client.BLPop(Texts("a"), absl::InfiniteDuration()),
                   "BLPOP a 0", "*-1\r\n"))
                  .value(),
              std::nullopt);
    // The server would take 0 for ever.
    EXPECT_EQ((co_await Exchange(server,
                                 client.BLPop(Texts("a"), absl::ZeroDuration()),
                                 "BLPOP a 0.001", "*-1\r\n"))
                  .value(),
              std::nullopt);
  };
  Run(test);
}

TEST(ClientConnectTest, AServerThatRefusesIsNamed) {
  rouse::Runtime runtime = *rouse::Builder::MultiThread().Build();
  std::string address;
  {
    // The port of a listener that is closed again.
    const rouse::EnterGuard enter = runtime.Enter();
    const rouse::TcpListener listener =
        *rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0));
    address = listener.local_addr()->ToString();
  }
  const absl::Status error = runtime.BlockOn(Client::Connect(address)).status();
  EXPECT_TRUE(absl::IsUnavailable(error)) << error;
  EXPECT_THAT(error.message(), HasSubstr(address));
}

TEST(ErrorsTest, TheFirstWordIsTheCode) {
  EXPECT_EQ(MakeServerError("h", "ERR x").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeServerError("h", "OOM x").code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(MakeServerError("h", "LOADING").code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(MakeServerError("h", "").code(),
            absl::StatusCode::kInvalidArgument);
  const absl::Status error = Annotate("a", MakeServerError("h", "NOAUTH x"));
  EXPECT_EQ(error.message(), "a: h: NOAUTH x");
  EXPECT_EQ(ServerError(error), "NOAUTH x");
}

}  // namespace
}  // namespace mini_redis
