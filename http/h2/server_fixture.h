// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers for tests of the server of HTTP/2.

#ifndef ROUSE_HTTP_H2_SERVER_FIXTURE_H_
#define ROUSE_HTTP_H2_SERVER_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/or_return.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/protocol.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {

using Answer = Co<absl::StatusOr<Response>>;
using AnyHandler = std::function<Answer(Request)>;

// Options of a server with HTTP/2.
inline ServerOptions WithHttp2(const Options& options = Options()) {
  ServerOptions result;
  result.http2 = Protocol(options);
  return result;
}

// A server, a client, and the runtime. Time stands still.
class Connection {
 public:
  explicit Connection(AnyHandler handler, ServerOptions options = WithHttp2(),
                      TestClient::Options client = TestClient::Options(),
                      size_t capacity = 65536)
      : runtime_(PausedRuntime()) {
    std::pair<DuplexStream, DuplexStream> ends = Duplex(capacity);
    client_.emplace(std::move(ends.first), client);
    served_.emplace(runtime_.Spawn(
        ServeConnection(std::move(ends.second), std::move(handler),
                        std::move(options), "the test")));
  }

  TestClient& client() { return *client_; }
  TestClient::Reply& reply(int32_t id) { return client_->reply(id); }

  void Pump() { runtime_.BlockOn(client_->Pump()); }
  // Lets time pass, and a tick more, after which the timers for `time` end.
  void Pass(absl::Duration time) {
    Pump();
    const auto pass = [time]() -> Co<> {
      co_await Advance(time + absl::Milliseconds(1));
    };
    runtime_.BlockOn(pass());
    Pump();
  }

  // Sends a request and returns what has come of it.
  TestClient::Reply& Get(std::string_view path,
                         const Headers& headers = Headers()) {
    const int32_t id = client_->Get(path, headers);
    Pump();
    return reply(id);
  }

  bool HasEnded() const { return served_->IsFinished(); }
  // Waits for the end.
  absl::Status Status() {
    Pump();
    EXPECT_TRUE(HasEnded());
    if (!HasEnded()) return absl::UnknownError("the connection goes on");
    const auto join = [this]() -> Co<absl::Status> {
      co_return co_await *served_;
    };
    return runtime_.BlockOn(join());
  }
  // Destroys the future of the connection.
  void Abort() {
    served_->Abort();
    Pump();
  }

  Runtime& runtime() { return runtime_; }

 private:
  Runtime runtime_;
  std::optional<TestClient> client_;
  std::optional<JoinHandle<absl::Status>> served_;
};

// Answers with the method, the target and the body.
inline Answer Echo(Request request) {
  std::string body = co_await OrReturn(request.body.ReadAll(1 << 20));
  co_return Response::Text(
      absl::StrCat(request.method, " ", request.target, " ", body));
}

// Counts the objects that exist.
class Counted {
 public:
  explicit Counted(int& count) : count_(&count) { ++*count_; }
  Counted(Counted&& other) noexcept
      : count_(std::exchange(other.count_, nullptr)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (count_ != nullptr) --*count_;
  }

 private:
  int* count_;
};

// A handler that never answers. `alive` is the number of its futures.
inline AnyHandler Never(int& alive) {
  return [&alive](Request) -> Answer {
    const Counted counted(alive);
    co_await Sleep(absl::InfiniteDuration());
    co_return Response();
  };
}

// Yields pieces of 10,000 bytes, and counts them.
inline Gen<std::string> Pieces(int& count, int most) {
  for (int i = 0; i < most; ++i) {
    ++count;
    co_yield std::string(10'000, 'y');
  }
}

}  // namespace rouse::http::h2

#endif  // ROUSE_HTTP_H2_SERVER_FIXTURE_H_
