// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses the client with a real server, for client_check_test.py:
//
//   client_check 127.0.0.1:6379
//
// Prints "ok", or the first error.

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/client/client.h"
#include "rouse/examples/mini_redis/client/errors.h"
#include "rouse/examples/mini_redis/client/pool.h"
#include "rouse/examples/mini_redis/client/subscriber.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/task/join_handle.h"

namespace {

using ::mini_redis::Client;
using ::mini_redis::Message;
using ::mini_redis::Pool;
using ::mini_redis::Subscriber;
using ::mini_redis::resp::Command;
using ::mini_redis::resp::Value;
using ::rouse::Co;
using ::rouse::OrReturn;

constexpr int kTasks = 100;
constexpr int kRequests = 100;

absl::Status Expect(bool holds, std::string what) {
  if (holds) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("does not hold: ", what));
}

// Increments a counter of the task's own, and a counter of all tasks.
Co<absl::Status> Count(Client client, int task) {
  const std::string key = absl::StrCat("counter:", task);
  for (int i = 1; i <= kRequests; ++i) {
    const int64_t mine = co_await OrReturn(client.Incr(key));
    co_await OrReturn(Expect(mine == i, "replies belong to their requests"));
    (void)co_await OrReturn(client.Incr("counter"));
  }
  co_return absl::OkStatus();
}

// Tasks share one connection.
Co<absl::Status> CheckPipelining(Client client) {
  rouse::JoinSet<absl::Status> tasks;
  for (int i = 0; i < kTasks; ++i) tasks.Spawn(Count(client, i));
  while (auto done = co_await tasks.Next()) co_await OrReturn(*done);
  const std::optional<std::string> total =
      co_await OrReturn(client.Get("counter"));
  co_return Expect(total == absl::StrCat(kTasks * kRequests),
                   "no request is lost");
}

Co<absl::Status> CheckCommands(Client client) {
  co_await OrReturn(client.Ping());
  mini_redis::SetOptions options;
  options.when = mini_redis::SetOptions::When::kIfMissing;
  options.expires_after = absl::Seconds(1000);
  bool set = co_await OrReturn(client.Set("key", "a\r\nb", options));
  co_await OrReturn(Expect(set, "a missing key is set"));
  set = co_await OrReturn(client.Set("key", "c", options));
  co_await OrReturn(Expect(!set, "a key that exists is not set"));
  const std::optional<std::string> value = co_await OrReturn(client.Get("key"));
  co_await OrReturn(Expect(value == "a\r\nb", "the value comes back"));
  const std::optional<absl::Duration> ttl =
      co_await OrReturn(client.Ttl("key"));
  co_await OrReturn(Expect(ttl.has_value() && *ttl > absl::Seconds(900) &&
                               *ttl <= absl::Seconds(1000),
                           "the key expires"));
  const absl::Status error = (co_await client.Incr("key")).status();
  co_await OrReturn(Expect(mini_redis::ServerError(error) ==
                               "ERR value is not an integer or out of range",
                           "an error has the server's text"));
  std::vector<Command> commands;
  commands.push_back(Command::Of("SET", "n", "1"));
  commands.push_back(Command::Of("INCR", "n"));
  std::vector<Value> replies =
      co_await OrReturn(client.Transaction(std::move(commands)));
  co_return Expect(replies.size() == 2 && replies[1] == Value::Integer(2),
                   "a transaction returns all replies");
}

Co<absl::StatusOr<std::string>> PopOne(std::shared_ptr<Pool> pool) {
  Pool::Lease client = co_await OrReturn(pool->Acquire());
  std::vector<std::string> keys;
  keys.emplace_back("queue");
  std::optional<std::pair<std::string, std::string>> popped =
      co_await OrReturn(client->BLPop(std::move(keys), absl::Seconds(60)));
  if (!popped.has_value()) co_return absl::NotFoundError("nothing to pop");
  co_return std::move(popped)->second;
}

// Ten tasks wait for elements, each with one of three connections.
Co<absl::Status> CheckPool(std::string address, Client client) {
  mini_redis::PoolOptions options;
  options.max_connections = 3;
  options.acquire_timeout = absl::Seconds(60);
  auto pool = std::make_shared<Pool>(address, options);
  rouse::JoinSet<absl::StatusOr<std::string>> tasks;
  for (int i = 0; i < 10; ++i) tasks.Spawn(PopOne(pool));
  std::vector<std::string> elements;
  for (int i = 0; i < 10; ++i) elements.push_back(absl::StrCat(i));
  (void)co_await OrReturn(client.RPush("queue", std::move(elements)));
  size_t popped = 0;
  while (auto done = co_await tasks.Next()) {
    (void)co_await OrReturn(*std::move(done));
    ++popped;
  }
  co_await OrReturn(Expect(popped == 10, "each task pops an element"));
  co_return Expect(pool->idle() <= 3, "the pool has three connections");
}

Co<absl::Status> CheckSubscriber(std::string address, Client client) {
  Subscriber news =
      co_await OrReturn(mini_redis::ConnectSubscriber(std::move(address)));
  std::vector<std::string> channels;
  channels.emplace_back("news");
  std::vector<std::string> patterns;
  patterns.emplace_back("wea*");
  co_await OrReturn(news.Subscribe(std::move(channels)));
  co_await OrReturn(news.PSubscribe(std::move(patterns)));
  const int64_t receivers = co_await OrReturn(client.Publish("news", "hi"));
  co_await OrReturn(Expect(receivers == 1, "the subscriber is counted"));
  (void)co_await OrReturn(client.Publish("weather", "rain"));
  const Message first = co_await OrReturn(news.Next());
  const Message second = co_await OrReturn(news.Next());
  co_await OrReturn(Expect(!first.pattern.has_value() &&
                               first.channel == "news" && first.payload == "hi",
                           "a message of a channel arrives"));
  co_return Expect(second.pattern == "wea*" && second.channel == "weather" &&
                       second.payload == "rain",
                   "a message of a pattern arrives");
}

Co<absl::Status> Check(std::string address) {
  mini_redis::ClientOptions options;
  options.request_timeout = absl::Seconds(60);
  Client client = co_await OrReturn(Client::Connect(address, options));
  co_await OrReturn(CheckCommands(client));
  co_await OrReturn(CheckPipelining(client));
  co_await OrReturn(CheckPool(address, client));
  co_return co_await CheckSubscriber(address, client);
}

absl::Status Run(std::string address) {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::MultiThread().WorkerThreads(2).Build();
  if (!runtime.ok()) return runtime.status();
  return runtime->BlockOn(runtime->Spawn(Check(std::move(address))));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "client_check: give the server's address, host:port\n";
    return 1;
  }
  const absl::Status status = Run(argv[1]);
  if (!status.ok()) {
    std::cerr << "client_check: " << status << "\n";
    return 1;
  }
  std::cout << "ok\n";
  return 0;
}
