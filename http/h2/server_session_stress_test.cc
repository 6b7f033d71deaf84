// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Connections of HTTP/2 whose handlers run on several threads, with requests
// that the clients reset at any moment.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/protocol.h"
#include "rouse/http/h2/shared/stress_handler.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/stress_seed.h"
#include "rouse/testing/internal/stress_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOk;

// A client that has up to 20 requests under way, and resets some of them.
class Requests {
 public:
  Requests(DuplexStream stream, uint64_t seed, int count)
      : client_(std::move(stream)), random_(seed), left_(count) {}

  PollResult<void> Poll(Context& cx) {
    for (int round = 0; round < 100; ++round) {
      while (left_ > 0 && open_.size() < 20) Begin();
      const bool moved = client_.Step(cx);
      Check();
      if (client_.has_ended()) {
        ADD_FAILURE() << "the server has ended the connection";
        return {};
      }
      if (left_ == 0 && open_.empty()) return {};
      if (moved && random_() % 20 == 0) ResetOne();
      if (!moved && (left_ == 0 || open_.size() == 20)) return kPending;
    }
    cx.Yield();
    return kPending;
  }

  int answered() const { return answered_; }

 private:
  void Begin() {
    --left_;
    const char kind = "eoswt"[random_() % 5];
    const size_t size = random_() % 50 == 0 ? 100'000 : random_() % 3000;
    const std::string path = absl::StrCat("/", std::string(1, kind), "/", size);
    const bool has_body = kind == 'e' || kind == 'o';
    const int32_t id = has_body ? client_.Post(path, std::string(size, 'y'))
                                : client_.Get(path);
    open_[id] = size;
  }

  void Check() {
    for (auto i = open_.begin(); i != open_.end();) {
      const TestClient::Reply& reply = client_.reply(i->first);
      if (!reply.is_closed) {
        ++i;
        continue;
      }
      EXPECT_EQ(reply.status, 200);
      EXPECT_TRUE(reply.has_ended);
      EXPECT_EQ(reply.body.size(), i->second);
      ++answered_;
      i = open_.erase(i);
    }
  }

  void ResetOne() {
    if (open_.empty()) return;
    auto i = open_.begin();
    std::advance(i, random_() % open_.size());
    client_.Reset(i->first);
    open_.erase(i);
  }

  TestClient client_;
  std::mt19937_64 random_;
  int left_;
  std::map<int32_t, size_t> open_;  // with the size of the answer
  int answered_ = 0;
};

TEST(Http2Stress, AnswersRequestsThatAreResetAtAnyMoment) {
  constexpr int kConnections = 4;
  constexpr int kRequests = 500;
  uint64_t seed = StressSeed();
  const absl::Time end = absl::Now() + StressTime(absl::Seconds(1));
  absl::StatusOr<Runtime> runtime =
      Builder::MultiThread().WorkerThreads(4).Build();
  ASSERT_THAT(runtime, IsOk());
  do {
    std::vector<JoinHandle<absl::Status>> servers;
    std::vector<JoinHandle<int>> clients;
    for (int i = 0; i < kConnections; ++i) {
      std::pair<DuplexStream, DuplexStream> ends = Duplex(20'000);
      Options limits;
      limits.stream_window_bytes = 50'000;
      ServerOptions options;
      options.http2 = Protocol(limits);
      servers.push_back(runtime->Spawn(ServeConnection(
          std::move(ends.second), &StressHandler, std::move(options))));
      const auto run = [](DuplexStream stream, uint64_t seed) -> Co<int> {
        Requests requests(std::move(stream), seed, kRequests);
        co_await requests;
        co_return requests.answered();
      };
      clients.push_back(runtime->Spawn(run(std::move(ends.first), ++seed)));
    }
    for (JoinHandle<int>& client : clients) {
      const auto join = [&client]() -> Co<absl::StatusOr<int>> {
        co_return co_await client;
      };
      const absl::StatusOr<int> answered = runtime->BlockOn(join());
      ASSERT_THAT(answered, IsOk());
      EXPECT_GT(*answered, 0);
    }
    for (JoinHandle<absl::Status>& server : servers) {
      const auto join = [&server]() -> Co<absl::Status> {
        co_return co_await server;
      };
      // The client may have closed the connection before an aborted request
      // was removed.
      const absl::Status status = runtime->BlockOn(join());
      EXPECT_TRUE(status.ok() || absl::IsDataLoss(status) ||
                  absl::IsFailedPrecondition(status))
          << status;
    }
    EXPECT_EQ(StressHandlersAlive(), 0);
  } while (absl::Now() < end);
}

}  // namespace
}  // namespace rouse::http::h2
