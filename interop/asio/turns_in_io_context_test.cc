// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
#include "rouse/interop/asio/turns_in_io_context.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "asio/buffer.hpp"
#include "asio/io_context.hpp"
#include "asio/local/connect_pair.hpp"
#include "asio/local/stream_protocol.hpp"
#include "asio/post.hpp"  // IWYU pragma: keep
#include "asio/steady_timer.hpp"
#include "asio/write.hpp"  // IWYU pragma: keep
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/interop/asio/use_rouse.h"
#include "rouse/net/unix_stream.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::interop {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;

class TurnsInIoContextTest : public ::testing::Test {
 protected:
  // Runs the context until `main`, and nothing else, has ended.
  void Run(Co<> main) {
    auto then_stop = [](Co<> task, asio::io_context& context) -> Co<> {
      co_await std::move(task);
      context.stop();
    };
    runtime_.Spawn(then_stop(std::move(main), context_)).Detach();
    context_.restart();
    context_.run();
  }

  asio::io_context context_;
  Runtime runtime_ = Builder::CurrentThread().Build().value();
  std::optional<TurnsInIoContext> turns_{std::in_place, runtime_, context_};
};

TEST_F(TurnsInIoContextTest, TasksSleepAndYield) {
  std::thread::id thread;
  auto main = [&thread]() -> Co<> {
    for (int i = 0; i < 1000; ++i) co_await Yield();
    for (int i = 0; i < 5; ++i) {
      EXPECT_THAT(co_await Sleep(absl::Milliseconds(1)), IsOk());
    }
    thread = std::this_thread::get_id();
  };
  Run(main());
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST_F(TurnsInIoContextTest, TasksUseSocketsOfRouse) {
  auto main = []() -> Co<> {
    auto pair = UnixStream::Pair();
    EXPECT_THAT(pair, IsOk());
    auto echo = [](UnixStream stream) -> Co<> {
      char byte;
      while ((co_await stream.Read({&byte, 1})).value_or(0) == 1) {
        (void)co_await stream.WriteAll({&byte, 1});
      }
    };
    JoinHandle<void> echoed = Spawn(echo(std::move(pair->first)));
    {
      UnixStream stream = std::move(pair->second);
      for (int i = 0; i < 100; ++i) {
        EXPECT_THAT(co_await stream.WriteAll("x"), IsOk());
        char byte = 0;
        EXPECT_THAT(co_await stream.Read({&byte, 1}), IsOkAndHolds(1u));
      }
    }
    EXPECT_THAT(co_await echoed, IsOk());
  };
  Run(main());
}

TEST_F(TurnsInIoContextTest, TasksUseSocketsOfAsio) {
  auto main = [this]() -> Co<> {
    asio::local::stream_protocol::socket a(context_), b(context_);
    asio::local::connect_pair(a, b);
    for (int i = 0; i < 100; ++i) {
      auto write = asio::async_write(a, asio::buffer("x", 1), use_rouse);
      EXPECT_THAT(co_await write, IsOkAndHolds(1u));
      char byte = 0;
      auto read = b.async_read_some(asio::buffer(&byte, 1), use_rouse);
      EXPECT_THAT(co_await read, IsOkAndHolds(1u));
    }
    // Cancelled at once, and so the socket and the buffer may be destroyed.
    char unused;
    std::optional read(b.async_read_some(asio::buffer(&unused, 1), use_rouse));
    const Waker waker;
    Context cx(waker);
    EXPECT_TRUE(read->Poll(cx).IsPending());
    read.reset();
  };
  Run(main());
}

TEST_F(TurnsInIoContextTest, HandlersSpawnAndWakeTasks) {
  auto [sender, receiver] = oneshot::Channel<int>();
  asio::steady_timer timer(context_, std::chrono::milliseconds(2));
  timer.async_wait(
      [&, sender = std::move(sender)](auto) mutable { sender.Send(7); });
  auto main = [](oneshot::Receiver<int> number) -> Co<> {
    EXPECT_THAT(co_await number, IsOkAndHolds(7));
  };
  Run(main(std::move(receiver)));
}

TEST_F(TurnsInIoContextTest, AnotherThreadWakesATask) {
  for (int i = 0; i < 100; ++i) {
    auto [sender, receiver] = oneshot::Channel<int>();
    std::thread other(
        [sender = std::move(sender), i]() mutable { sender.Send(i); });
    auto main = [](oneshot::Receiver<int> number, int expected) -> Co<> {
      EXPECT_THAT(co_await number, IsOkAndHolds(expected));
    };
    Run(main(std::move(receiver), i));
    other.join();
  }
}

// The loop waits as the turn before has told it.
TEST_F(TurnsInIoContextTest, AHandlerCanBlockOnAFuture) {
  asio::post(context_, [this] {
    EXPECT_THAT(runtime_.BlockOn(Sleep(absl::Milliseconds(1))), IsOk());
  });
  auto main = []() -> Co<> {
    EXPECT_THAT(co_await Sleep(absl::Milliseconds(5)), IsOk());
  };
  Run(main());
}

TEST_F(TurnsInIoContextTest, ATaskThatYieldsLeavesHandlersTheirTurn) {
  bool stop = false;
  asio::steady_timer timer(context_, std::chrono::milliseconds(2));
  timer.async_wait([&stop](auto) { stop = true; });
  auto main = [&stop]() -> Co<> {
    while (!stop) co_await Yield();
  };
  Run(main());
}

// The timer and the descriptor cause turns, too, but only one turn follows.
TEST_F(TurnsInIoContextTest, ABusyRuntimeTakesOneHandlerPerRound) {
  bool idle = false;
  auto sleeps = [&idle]() -> Co<> {
    idle = true;
    (void)co_await Sleep(absl::Milliseconds(1));
  };
  runtime_.Spawn(std::move(sleeps)).Detach();
  while (!idle) context_.run_one();
  bool stop = false;
  auto yields = [&stop]() -> Co<> {
    while (!stop) co_await Yield();
  };
  runtime_.Spawn(std::move(yields)).Detach();
  bool late = false;
  asio::steady_timer timer(context_, std::chrono::milliseconds(20));
  timer.async_wait([&late](auto) { late = true; });
  while (!late) context_.run_one();
  for (int i = 0; i < 10; ++i) {
    bool reached = false;
    asio::post(context_, [&reached] { reached = true; });
    int handlers = 0;
    while (!reached) handlers += static_cast<int>(context_.run_one());
    EXPECT_LE(handlers, 2);
  }
  stop = true;
}

TEST_F(TurnsInIoContextTest, WithoutItTheContextHasNoMoreWork) {
  asio::post(context_, [this] { turns_.reset(); });
  context_.run();
  EXPECT_TRUE(context_.stopped());
}

TEST_F(TurnsInIoContextTest, ATaskCanDestroyIt) {
  auto main = [this]() -> Co<> {
    turns_.reset();
    (void)co_await Sleep(absl::Milliseconds(1));
    ADD_FAILURE() << "ran without a turn";
  };
  runtime_.Spawn(std::move(main)).Detach();
  context_.run();
}

TEST_F(TurnsInIoContextTest, AnExceptionOfAWakerPropagatesFromRun) {
  const EnterGuard enter = runtime_.Enter();
  const Waker throws =
      Waker::FromCallable([] { throw std::runtime_error("thrown"); });
  Sleep sleep(absl::Milliseconds(1));
  Context cx(throws);
  EXPECT_TRUE(sleep.Poll(cx).IsPending());
  EXPECT_THAT([this] { context_.run(); },
              ::testing::ThrowsMessage<std::runtime_error>("thrown"));
  auto main = []() -> Co<> {
    EXPECT_THAT(co_await Sleep(absl::Milliseconds(1)), IsOk());
  };
  Run(main());
}

// The turn that throws has stopped the loop. Otherwise it requests another.
TEST(TurnsInIoContextStopTest, AWakerCanDestroyItAndThrow) {
  for (const bool destroys : {false, true}) {
    asio::io_context context;
    const auto clock = PausedClock();
    Runtime runtime = Builder::CurrentThread().WithClock(clock).Build().value();
    std::optional<TurnsInIoContext> turns(std::in_place, runtime, context);
    const EnterGuard enter = runtime.Enter();
    const Waker throws = Waker::FromCallable([&turns, destroys] {
      if (destroys) turns.reset();
      throw std::runtime_error("thrown");
    });
    Sleep sleep(absl::Milliseconds(1));
    Context cx(throws);
    EXPECT_TRUE(sleep.Poll(cx).IsPending());
    clock->Advance(absl::Milliseconds(1));
    EXPECT_THAT([&context] { context.poll(); },
                ::testing::ThrowsMessage<std::runtime_error>("thrown"));
    EXPECT_EQ(context.poll_one(), destroys ? 0u : 1u);
  }
}

}  // namespace
}  // namespace rouse::interop
