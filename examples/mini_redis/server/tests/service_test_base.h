// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A fixture for tests of commands, with clients inside the program:
//
//   TEST_F(ServiceTest, CountsVisits) {
//     TestClient client = Connect();
//     EXPECT_EQ(client.Ask("INCR visits"), ":1\r\n");
//   }

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_TESTS_SERVICE_TEST_BASE_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_TESTS_SERVICE_TEST_BASE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/server/session/connection.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/future/co.h"
#include "rouse/future/select.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"

namespace mini_redis {

// TestClient
//
// A client of a service, whose connection is a task of the runtime.
class TestClient {
 public:
  TestClient(rouse::Runtime& runtime, const std::shared_ptr<Service>& service,
             size_t capacity, int number)
      : TestClient(runtime, service, rouse::Duplex(capacity), number) {}

  // Sends a line, and returns the bytes of the reply. REQUIRES: the server
  // replies at once.
  std::string Ask(std::string_view line) {
    Send(absl::StrCat(line, "\r\n"));
    return Read();
  }

  // Sends bytes, and waits until the server has done what it can.
  void Send(std::string bytes) {
    runtime_->BlockOn(SendAndSettle(std::move(bytes)));
  }

  // Returns the bytes that the server has sent, or an empty string at the end.
  std::string Read() { return runtime_->BlockOn(ReadSome()); }

  // Returns the bytes that the server has sent, if any.
  std::string ReadIfAny() {
    std::string bytes;
    runtime_->BlockOn(Drain(bytes));
    return bytes;
  }

  // Disconnects.
  void Close() { stream_.reset(); }

  // Returns whether the server has ended the connection.
  bool HasEnded() {
    Settle();
    return task_.IsFinished();
  }

 private:
  TestClient(rouse::Runtime& runtime, const std::shared_ptr<Service>& service,
             std::pair<rouse::DuplexStream, rouse::DuplexStream> ends,
             int number)
      : runtime_(&runtime),
        stream_(std::make_unique<rouse::DuplexStream>(std::move(ends.first))),
        task_(runtime.Spawn(ServeConnection(service, std::move(ends.second),
                                            service->TakeClientId(),
                                            absl::StrCat("test:", number)))) {}

  void Settle() {
    (void)runtime_->BlockOn(rouse::Advance(absl::ZeroDuration()));
  }

  rouse::Co<> SendAndSettle(std::string bytes) {
    EXPECT_TRUE((co_await rouse::WriteAll(*stream_, bytes)).ok());
    (void)co_await rouse::Advance(absl::ZeroDuration());
  }

  rouse::Co<std::string> ReadSome() {
    std::string bytes(1 << 20, '\0');
    const absl::StatusOr<size_t> size =
        co_await rouse::Read(*stream_, absl::MakeSpan(bytes));
    bytes.resize(size.value_or(0));
    co_return bytes;
  }

  // Reads until nothing more arrives without more time.
  rouse::Co<> Drain(std::string& out) {
    std::string bytes(1 << 20, '\0');
    for (;;) {
      auto step = rouse::Advance(absl::ZeroDuration());
      auto read = rouse::Read(*stream_, absl::MakeSpan(bytes));
      auto first = co_await rouse::SelectBiased(read, step);
      if (first.index() == 1) co_return;
      const absl::StatusOr<size_t> size = std::get<0>(first);
      if (size.value_or(0) == 0) co_return;
      out.append(bytes, 0, *size);
    }
  }

  rouse::Runtime* runtime_;
  std::unique_ptr<rouse::DuplexStream> stream_;
  rouse::JoinHandle<void> task_;
};

// ServiceTest
//
// A service without a log. Time passes only by `Advance()`.
class ServiceTest : public testing::Test {
 protected:
  explicit ServiceTest(ServiceOptions options = ServiceOptions())
      : service_(std::make_shared<Service>(runtime_.handle().timer(),
                                           std::move(options), nullptr)) {}

  TestClient Connect(size_t capacity = 1 << 20) {
    return TestClient(runtime_, service_, capacity, ++clients_);
  }

  void Advance(absl::Duration time) {
    (void)runtime_.BlockOn(rouse::Advance(time));
  }

  rouse::Runtime runtime_ = rouse::PausedRuntime();
  std::shared_ptr<Service> service_;
  int clients_ = 0;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_TESTS_SERVICE_TEST_BASE_H_
