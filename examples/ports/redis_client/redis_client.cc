// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A command line for Redis:
//
//   tools/bazel run //examples/ports/redis_client -- set greeting hello 10s

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/examples/ports/redis_client/client.h"
#include "rouse/rouse.h"

ABSL_FLAG(std::string, server, "127.0.0.1:6379", "The server's address.");

namespace {

using redis_client::Client;
using rouse::Co;
using rouse::OrReturn;

constexpr char kUsage[] = R"(a client of Redis. The commands are

  ping [MESSAGE]
  get KEY
  set KEY VALUE [EXPIRATION]      such as: set greeting hello 1h30m
  publish CHANNEL MESSAGE
  subscribe CHANNEL...            prints messages until Ctrl-C)";

Co<absl::Status> Get(Client& client, std::string key) {
  std::optional<std::string> value = co_await OrReturn(client.Get(key));
  if (!value.has_value()) {
    absl::PrintF("(nil)\n");
  } else {
    absl::PrintF("%s\n", *value);
  }
  co_return absl::OkStatus();
}

Co<absl::Status> Set(Client& client, std::vector<std::string> args) {
  if (args.size() == 3) {
    absl::Duration expiration;
    if (!absl::ParseDuration(args[2], &expiration)) {
      co_return absl::InvalidArgumentError(absl::StrCat(
          "set: '", args[2], "' is not a time; write a time such as 500ms"));
    }
    co_await OrReturn(client.SetExpires(args[0], args[1], expiration));
  } else {
    co_await OrReturn(client.Set(args[0], args[1]));
  }
  absl::PrintF("OK\n");
  co_return absl::OkStatus();
}

Co<absl::Status> PrintMessages(Client client,
                               std::vector<std::string> channels) {
  auto subscriber =
      co_await OrReturn(std::move(client).Subscribe(std::move(channels)));
  auto messages = std::move(subscriber).IntoStream();
  absl::PrintF("subscribed\n");
  for (;;) {
    fflush(stdout);
    auto message = co_await rouse::Next(messages);
    if (!message.has_value()) {
      co_return absl::UnavailableError("the server closed the connection");
    }
    co_await OrReturn(message->status());
    absl::PrintF("%s: %s\n", (*message)->channel, (*message)->content);
  }
}

Co<absl::Status> Main(std::vector<std::string> args) {
  const auto is = [&args](const char* command, size_t least, size_t most) {
    return args[0] == command && args.size() - 1 >= least &&
           args.size() - 1 <= most;
  };
  const bool is_known = is("ping", 0, 1) || is("get", 1, 1) ||
                        is("set", 2, 3) || is("publish", 2, 2) ||
                        is("subscribe", 1, args.size());
  if (!is_known) {
    co_return absl::InvalidArgumentError(
        "not a command with its arguments; see --help");
  }
  const std::string command = args[0];
  args.erase(args.begin());
  Client client =
      co_await OrReturn(Client::Connect(absl::GetFlag(FLAGS_server)));
  if (command == "ping") {
    std::optional<std::string> message;
    if (!args.empty()) message = args[0];
    const std::string reply =
        co_await OrReturn(client.Ping(std::move(message)));
    absl::PrintF("%s\n", reply);
  } else if (command == "get") {
    co_return co_await Get(client, args[0]);
  } else if (command == "set") {
    co_return co_await Set(client, std::move(args));
  } else if (command == "publish") {
    const int64_t subscribers =
        co_await OrReturn(client.Publish(args[0], args[1]));
    absl::PrintF("%d\n", subscribers);
  } else {
    // Ctrl-C is the usual end.
    co_return co_await rouse::Race(
        PrintMessages(std::move(client), std::move(args)), rouse::CtrlC());
  }
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  absl::SetProgramUsageMessage(kUsage);
  std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  std::vector<std::string> args(words.begin() + 1, words.end());
  if (args.empty()) args.emplace_back();
  return rouse::RunMain(Main(std::move(args)), rouse::Builder::CurrentThread());
}
