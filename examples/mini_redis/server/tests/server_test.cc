// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of the server on sockets.

#include "rouse/examples/mini_redis/server/server.h"

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/log_file.h"
#include "rouse/future/co.h"
#include "rouse/io/read_to_end.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"

namespace mini_redis {
namespace {

using ::rouse::Advance;
using ::rouse::Co;
using ::rouse::TcpStream;
using ::testing::HasSubstr;

constexpr absl::Duration kGrace = absl::Seconds(10);
constexpr std::string_view kRefusal = "-ERR max number of clients reached\r\n";

class ServerTest : public testing::Test {
 protected:
  // Starts a server, and returns the task of the server.
  rouse::JoinHandle<absl::Status> Start(ServiceOptions options,
                                        std::unique_ptr<AppendLog> log) {
    service_ = std::make_shared<Service>(runtime_.handle().timer(),
                                         std::move(options), std::move(log));
    const rouse::EnterGuard enter = runtime_.Enter();
    absl::StatusOr<rouse::TcpListener> listener =
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0));
    EXPECT_TRUE(listener.ok()) << listener.status();
    address_ = listener->local_addr().value();
    return runtime_.Spawn(RunServer(Server(*std::move(listener), service_)));
  }

  static Co<absl::Status> RunServer(Server server) {
    co_return co_await std::move(server).Run(kGrace);
  }

  Co<TcpStream> Connect() {
    absl::StatusOr<TcpStream> stream = co_await TcpStream::Connect(address_);
    EXPECT_TRUE(stream.ok()) << stream.status();
    co_return *std::move(stream);
  }

  // Sends a request, and returns what arrives first.
  static Co<std::string> Ask(const TcpStream& stream, std::string request) {
    EXPECT_TRUE((co_await stream.WriteAll(request)).ok());
    std::string reply(4096, '\0');
    const absl::StatusOr<size_t> size =
        co_await stream.Read(absl::MakeSpan(reply));
    reply.resize(size.value_or(0));
    co_return reply;
  }

  static Co<std::string> ReadAll(const TcpStream& stream) {
    std::string bytes;
    // A connection with unread requests may end with an error.
    (void)co_await rouse::ReadToEnd(stream, bytes, 1 << 20);
    co_return bytes;
  }

  rouse::Runtime runtime_ = rouse::PausedRuntime();
  std::shared_ptr<Service> service_;
  rouse::SocketAddr address_;
};

TEST_F(ServerTest, RefusesAClientTooMany) {
  ServiceOptions options;
  options.max_clients = 2;
  auto server = Start(options, nullptr);
  runtime_.BlockOn([this, &server]() -> Co<> {
    std::optional<TcpStream> first(co_await Connect());
    const TcpStream second = co_await Connect();
    EXPECT_EQ(co_await Ask(*first, "PING\r\n"), "+PONG\r\n");
    EXPECT_EQ(co_await Ask(second, "PING\r\n"), "+PONG\r\n");
    {
      const TcpStream third = co_await Connect();
      EXPECT_EQ(co_await ReadAll(third), kRefusal);
    }
    EXPECT_THAT(co_await Ask(second, "INFO stats\r\n"),
                HasSubstr("rejected_connections:1\r\n"));
    first.reset();
    (void)co_await Advance(absl::ZeroDuration());
    const TcpStream fourth = co_await Connect();
    EXPECT_EQ(co_await Ask(fourth, "PING\r\n"), "+PONG\r\n");
    service_->stop.Cancel();
    EXPECT_EQ(co_await server, absl::OkStatus());
  });
}

TEST_F(ServerTest, WritesTheLogAtTheEnd) {
  const std::string path = testing::TempDir() + "/server_test.aof";
  (void)std::remove(path.c_str());
  absl::StatusOr<std::shared_ptr<DiskLogFile>> file = DiskLogFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  auto server = Start(ServiceOptions(),
                      std::make_unique<AppendLog>(*file, Fsync::kNever));
  runtime_.BlockOn([this, &server]() -> Co<> {
    const TcpStream client = co_await Connect();
    EXPECT_TRUE(
        (co_await client.WriteAll("SET k v\r\nINCR n\r\nSHUTDOWN\r\n")).ok());
    EXPECT_EQ(co_await ReadAll(client), "+OK\r\n:1\r\n");
    EXPECT_EQ(co_await server, absl::OkStatus());
    const absl::StatusOr<TcpStream> late =
        co_await TcpStream::Connect(address_);
    EXPECT_TRUE(absl::IsUnavailable(late.status()));
  });
  std::ifstream log(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}),
            "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"
            "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"
            "*3\r\n$6\r\nINCRBY\r\n$1\r\nn\r\n$1\r\n1\r\n");
}

// A file without room.
class FullFile : public LogFile {
 public:
  std::string_view path() const override { return "full.aof"; }
  absl::StatusOr<size_t> Write(std::string_view) override {
    return absl::ResourceExhaustedError("No space left on device");
  }
  absl::Status Flush() override { return absl::OkStatus(); }
};

TEST_F(ServerTest, AnswersChangesWithAnErrorWhileTheDiskIsFull) {
  auto server = Start(
      ServiceOptions(),
      std::make_unique<AppendLog>(std::make_shared<FullFile>(), Fsync::kNever));
  runtime_.BlockOn([this, &server]() -> Co<> {
    const std::string error =
        "-MISCONF Errors writing to the AOF file: No space left on device\r\n";
    const TcpStream client = co_await Connect();
    // The first change is refused when the write fails, and the second because
    // the write has failed.
    EXPECT_EQ(co_await Ask(client, "PING\r\nSET k v\r\nGET x\r\n"),
              absl::StrCat("+PONG\r\n", error, "$-1\r\n"));
    EXPECT_EQ(co_await Ask(client, "GET k\r\nSET k w\r\nGET k\r\n"),
              absl::StrCat("$1\r\nv\r\n", error, "$1\r\nv\r\n"));
    EXPECT_EQ(co_await Ask(client, "MULTI\r\nSET k w\r\nEXEC\r\n"),
              absl::StrCat("+OK\r\n+QUEUED\r\n", error));
    service_->stop.Cancel();
    const absl::Status status = co_await server;
    EXPECT_THAT(status.message(), HasSubstr("No space left"));
  });
}

TEST_F(ServerTest, DisconnectsClientsThatDoNotReadAfterTheGrace) {
  auto server = Start(ServiceOptions(), nullptr);
  runtime_.BlockOn([this, &server]() -> Co<> {
    const TcpStream client = co_await Connect();
    const std::string value(1 << 20, 'x');
    EXPECT_EQ(
        co_await Ask(client, absl::StrCat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$",
                                          value.size(), "\r\n", value, "\r\n")),
        "+OK\r\n");
    std::string requests;
    for (int i = 0; i < 60; ++i) requests += "GET k\r\n";
    EXPECT_TRUE((co_await client.WriteAll(requests)).ok());
    (void)co_await Advance(absl::ZeroDuration());
    service_->stop.Cancel();
    (void)co_await Advance(kGrace - absl::Milliseconds(1));
    EXPECT_FALSE(server.IsFinished());
    (void)co_await Advance(absl::Milliseconds(1));
    EXPECT_TRUE(server.IsFinished());
    EXPECT_EQ(co_await server, absl::OkStatus());
  });
}

}  // namespace
}  // namespace mini_redis
