// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests that a task that yields is polled again after the driver was asked for
// events, not after the number of polls in `EventInterval()`.

#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/yield.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/sleep.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;

// What yields: a task, one of two futures that a task joins, a task of a
// `LocalSet`, or the future of `BlockOn()`.
enum class Yields { kTask, kJoined, kLocalTask, kMain, kJoinedByMain };

using Param = std::tuple<bool, Yields>;

std::string NameOf(const testing::TestParamInfo<Param>& info) {
  static constexpr const char* kNames[] = {"Task", "Joined", "LocalTask",
                                           "Main", "JoinedByMain"};
  return std::string(std::get<0>(info.param) ? "OneWorker" : "CurrentThread") +
         kNames[static_cast<int>(std::get<1>(info.param))];
}

class EventsAfterYieldTest : public testing::TestWithParam<Param> {
 protected:
  EventsAfterYieldTest() {
    Builder builder = std::get<0>(GetParam())
                          ? std::move(Builder::MultiThread().WorkerThreads(1))
                          : Builder::CurrentThread();
    absl::StatusOr<Runtime> runtime = builder.WithClock(clock_).Build();
    EXPECT_THAT(runtime, IsOk());
    runtime_ = *std::move(runtime);
  }

  // Starts a task that waits for `event()`, causes the event with `happen()`,
  // and yields until the task has seen the event. Returns the number of yields.
  int YieldsUntilSeen(std::function<Co<>()> event,
                      std::function<void()> happen) {
    auto waiter = [this, event]() -> Co<> {
      waits_ = true;
      co_await event();
      seen_ = true;
    };
    auto yielder = [this, happen]() -> Co<> {
      while (!waits_) co_await Yield();
      happen();
      for (; !seen_; ++yields_) co_await Yield();
    };
    auto joined = [yielder]() -> Co<> {
      auto other = []() -> Co<> { co_return; };
      co_await Join(yielder(), other());
    };
    auto local = [yielder]() -> Co<> {
      LocalSet set;
      auto main = [yielder]() -> Co<> { (void)co_await SpawnLocal(yielder); };
      co_await set.RunUntil(main);
    };
    JoinHandle<void> wait = runtime_->Spawn(waiter);
    switch (std::get<1>(GetParam())) {
      case Yields::kTask:
        EXPECT_THAT(runtime_->BlockOn(runtime_->Spawn(yielder)), IsOk());
        break;
      case Yields::kJoined:
        EXPECT_THAT(runtime_->BlockOn(runtime_->Spawn(joined)), IsOk());
        break;
      case Yields::kLocalTask:
        runtime_->BlockOn(local);
        break;
      case Yields::kMain:
        runtime_->BlockOn(yielder);
        break;
      case Yields::kJoinedByMain:
        runtime_->BlockOn(joined);
        break;
    }
    EXPECT_THAT(runtime_->BlockOn(std::move(wait)), IsOk());
    return yields_;
  }

  const std::shared_ptr<Clock> clock_ = PausedClock();
  std::optional<Runtime> runtime_;

 private:
  // Used only by the thread that runs everything.
  bool waits_ = false;
  bool seen_ = false;
  int yields_ = 0;
};

INSTANTIATE_TEST_SUITE_P(
    CurrentThread, EventsAfterYieldTest,
    testing::Combine(testing::Values(false),
                     testing::Values(Yields::kTask, Yields::kJoined,
                                     Yields::kLocalTask, Yields::kMain,
                                     Yields::kJoinedByMain)),
    &NameOf);
// The main future has a thread of its own, beside the tasks.
INSTANTIATE_TEST_SUITE_P(OneWorker, EventsAfterYieldTest,
                         testing::Combine(testing::Values(true),
                                          testing::Values(Yields::kTask,
                                                          Yields::kJoined)),
                         &NameOf);

TEST_P(EventsAfterYieldTest, AConnectionIsAcceptedAfterOneOrTwoYields) {
  const EnterGuard enter(runtime_->handle());
  absl::StatusOr<TcpListener> listener =
      TcpListener::Bind(SocketAddr::Localhost(0));
  ASSERT_THAT(listener, IsOk());
  absl::StatusOr<SocketAddr> addr = listener->local_addr();
  ASSERT_THAT(addr, IsOk());
  auto accepted = [&]() -> Co<> {
    EXPECT_THAT(co_await listener->Accept(), IsOk());
  };
  OwnedFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(client.IsValid());
  auto connect_to_it = [&] {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(addr->port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(
        connect(client.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  };
  EXPECT_LE(YieldsUntilSeen(accepted, connect_to_it), 2);
}

TEST_P(EventsAfterYieldTest, ATimerExpiresAfterOneOrTwoYields) {
  auto over = []() -> Co<> { co_await Sleep(absl::Hours(1)); };
  auto advance = [this] { clock_->Advance(absl::Hours(1)); };
  EXPECT_LE(YieldsUntilSeen(over, advance), 2);
}

}  // namespace
}  // namespace rouse
