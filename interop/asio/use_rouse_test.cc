// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
#include "rouse/interop/asio/use_rouse.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "asio/async_result.hpp"
#include "asio/buffer.hpp"
#include "asio/io_context.hpp"
#include "asio/ip/tcp.hpp"
#include "asio/local/connect_pair.hpp"
#include "asio/local/stream_protocol.hpp"
#include "asio/post.hpp"
#include "asio/read.hpp"
#include "asio/steady_timer.hpp"
#include "asio/write.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/interop/asio/io_thread.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::interop {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using internal::IoThread;
using ::testing::HasSubstr;
using Socket = asio::local::stream_protocol::socket;

constexpr std::chrono::hours kLong(1);

// Two sockets that are connected.
struct Pair {
  explicit Pair(asio::io_context& context) : a(context), b(context) {
    asio::local::connect_pair(a, b);
  }
  Socket a;
  Socket b;
};

TEST(UseRouseTest, TheOutputFollowsTheSignature) {
  asio::io_context context;
  Pair pair(context);
  asio::steady_timer timer(context);
  char byte = 0;
  static_assert(
      std::is_same_v<FutureOutput<decltype(timer.async_wait(use_rouse))>,
                     absl::Status>);
  static_assert(std::is_same_v<FutureOutput<decltype(pair.a.async_read_some(
                                   asio::buffer(&byte, 1), use_rouse))>,
                               absl::StatusOr<size_t>>);
  static_assert(
      std::is_void_v<FutureOutput<decltype(asio::post(context, use_rouse))>>);
  asio::ip::tcp::resolver resolver(context);
  static_assert(
      std::is_same_v<FutureOutput<decltype(resolver.async_resolve(
                         "localhost", "80", use_rouse))>,
                     absl::StatusOr<asio::ip::tcp::resolver::results_type>>);
}

TEST(UseRouseTest, AnOperationOfAnotherThreadGivesItsResult) {
  IoThread io;
  asio::steady_timer timer(io.context(), std::chrono::milliseconds(1));
  EXPECT_THAT(BlockOn(timer.async_wait(use_rouse)), IsOk());
  Pair pair(io.context());
  EXPECT_THAT(
      BlockOn(asio::async_write(pair.a, asio::buffer("hello", 5), use_rouse)),
      IsOkAndHolds(5u));
  std::array<char, 5> buffer;
  EXPECT_THAT(
      BlockOn(asio::async_read(pair.b, asio::buffer(buffer), use_rouse)),
      IsOkAndHolds(5u));
  EXPECT_EQ(std::string(buffer.data(), buffer.size()), "hello");
}

TEST(UseRouseTest, ATaskContinuesOnItsOwnRuntime) {
  IoThread io;
  Runtime runtime = Builder::CurrentThread().Build().value();
  auto main = [&io]() -> Co<std::thread::id> {
    asio::steady_timer timer(io.context(), std::chrono::milliseconds(1));
    auto wait = timer.async_wait(use_rouse);
    EXPECT_THAT(co_await wait, IsOk());
    co_return std::this_thread::get_id();
  };
  EXPECT_EQ(runtime.BlockOn(std::move(main)), std::this_thread::get_id());
}

TEST(UseRouseTest, ErrorsAreStatuses) {
  IoThread io;
  Pair pair(io.context());
  pair.a.close();
  char byte;
  EXPECT_THAT(
      BlockOn(pair.b.async_read_some(asio::buffer(&byte, 1), use_rouse)),
      StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("End of file")));
  // Nobody listens at the port of a socket that does not listen.
  asio::ip::tcp::socket bound(io.context());
  bound.open(asio::ip::tcp::v4());
  bound.bind({asio::ip::address_v4::loopback(), 0});
  asio::ip::tcp::socket socket(io.context());
  EXPECT_THAT(BlockOn(socket.async_connect(bound.local_endpoint(), use_rouse)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("refused")));
  EXPECT_THAT(AsioStatus(asio::error::operation_aborted),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(UseRouseTest, AHandlerWithoutArgumentsGivesVoid) {
  IoThread io;
  BlockOn(asio::post(io.context(), use_rouse));
}

// An operation that ends as a coroutine of Asio does.
template <class Token>
auto AsyncAnswer(asio::io_context& context, bool throws, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr, int)>(
      [&context, throws](auto handler) {
        asio::post(context, [handler = std::move(handler), throws]() mutable {
          std::exception_ptr error;
          if (throws) {
            error = std::make_exception_ptr(std::runtime_error("thrown"));
          }
          std::move(handler)(error, 42);
        });
      },
      token);
}

TEST(UseRouseTest, AnExceptionIsThrownByTheAwait) {
  IoThread io;
  EXPECT_EQ(BlockOn(AsyncAnswer(io.context(), false, use_rouse)), 42);
  EXPECT_THAT([&] { BlockOn(AsyncAnswer(io.context(), true, use_rouse)); },
              ::testing::ThrowsMessage<std::runtime_error>("thrown"));
}

// An operation with several results.
template <class Token>
auto AsyncTwo(asio::io_context& context, int value, Token&& token) {
  return asio::async_initiate<Token, void(asio::error_code, int, std::string)>(
      [&context](auto handler, int number) {
        asio::post(context, [handler = std::move(handler), number]() mutable {
          std::move(handler)(asio::error_code(), number, "text");
        });
      },
      token, value);
}

TEST(UseRouseTest, SeveralResultsAreATuple) {
  IoThread io;
  const absl::StatusOr<std::tuple<int, std::string>> two =
      BlockOn(AsyncTwo(io.context(), 7, use_rouse));
  EXPECT_THAT(two, IsOkAndHolds(std::make_tuple(7, std::string("text"))));
}

TEST(UseRouseTest, AResultTakesAUnitOfTheBudget) {
  asio::io_context context;
  CountingWaker waker;
  Context cx(waker.waker());
  uint32_t ready = 0;
  for (;;) {
    auto two = AsyncTwo(context, 1, use_rouse);
    EXPECT_TRUE(two.Poll(cx).IsPending());
    context.restart();
    context.run();
    if (two.Poll(cx).IsPending()) break;
    ++ready;
  }
  EXPECT_EQ(ready, kBudgetPerPoll);
}

TEST(UseRouseTest, NothingBeginsBeforeTheFirstPoll) {
  asio::io_context context;
  asio::steady_timer timer(context, kLong);
  {
    auto wait = timer.async_wait(use_rouse);
    auto moved = std::move(wait);
  }
  // Without an operation, there is no work.
  EXPECT_EQ(context.run(), 0u);
}

// The thread of the context drops the future: the operation is cancelled at
// once.
TEST(UseRouseTest, AFutureDroppedInItsExecutorCancelsAtOnce) {
  asio::io_context context;
  Pair pair(context);
  asio::post(context, [&] {
    const auto kept = std::make_shared<std::array<char, 8>>();
    CountingWaker waker;
    Context cx(waker.waker());
    std::optional read(
        pair.a.async_read_some(asio::buffer(*kept), use_rouse.Keep(kept)));
    EXPECT_TRUE(read->Poll(cx).IsPending());
    EXPECT_EQ(kept.use_count(), 2);
    read.reset();
    // Nobody reads: the bytes remain.
    asio::write(pair.b, asio::buffer("hello", 5));
    EXPECT_EQ(pair.a.available(), 5u);
    EXPECT_EQ(waker.wakes(), 0);
  });
  context.run();
}

TEST(UseRouseTest, AFutureDroppedByAnotherThreadCancelsSoon) {
  const auto kept = std::make_shared<std::array<char, 8>>();
  {
    IoThread io;
    Pair pair(io.context());
    CountingWaker waker;
    Context cx(waker.waker());
    std::optional read(
        pair.a.async_read_some(asio::buffer(*kept), use_rouse.Keep(kept)));
    EXPECT_TRUE(read->Poll(cx).IsPending());
    read.reset();
    // The cancellation is in the queue before this.
    BlockOn(asio::post(io.context(), use_rouse));
  }
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(UseRouseTest, AComposedOperationIsCancelled) {
  IoThread io;
  Pair pair(io.context());
  const auto kept = std::make_shared<std::array<char, 8>>();
  CountingWaker waker;
  Context cx(waker.waker());
  std::optional read(
      asio::async_read(pair.a, asio::buffer(*kept), use_rouse.Keep(kept)));
  EXPECT_TRUE(read->Poll(cx).IsPending());
  read.reset();
  // The handler drops what is kept when it is called.
  while (kept.use_count() > 1) BlockOn(asio::post(io.context(), use_rouse));
}

TEST(UseRouseTest, TheDropRacesWithTheEnd) {
  IoThread io;
  for (int i = 0; i < 300; ++i) {
    CountingWaker waker;
    const auto timer = std::make_shared<asio::steady_timer>(
        io.context(), std::chrono::hours(0));
    Context cx(waker.waker());
    std::optional wait(timer->async_wait(use_rouse.Keep(timer)));
    (void)wait->Poll(cx).IsPending();
    wait.reset();
    BlockOn(asio::post(io.context(), use_rouse.Keep(timer)));
  }
}

TEST(UseRouseTest, AContextThatIsDestroyedCancels) {
  auto context = std::make_unique<asio::io_context>();
  CountingWaker waker;
  Context cx(waker.waker());
  std::optional post(asio::post(*context, use_rouse));
  std::optional write = AsyncTwo(*context, 1, use_rouse);
  std::optional dropped = AsyncTwo(*context, 1, use_rouse);
  EXPECT_TRUE(post->Poll(cx).IsPending());
  EXPECT_TRUE(write->Poll(cx).IsPending());
  EXPECT_TRUE(dropped->Poll(cx).IsPending());
  context.reset();
  EXPECT_THAT(write->Poll(cx).value(),
              StatusIs(absl::StatusCode::kCancelled,
                       HasSubstr("destroyed without a call")));
  EXPECT_PANIC((void)post->Poll(cx).IsPending(), "destroyed without a call");
  dropped.reset();
}

// The task that continues may destroy what the token's object needs.
TEST(UseRouseTest, WhatIsKeptIsGoneBeforeTheTaskIsWoken) {
  auto context = std::make_unique<asio::io_context>();
  const auto kept = std::make_shared<int>(1);
  long owners = 0;
  const Waker waker = Waker::FromCallable([&] { owners = kept.use_count(); });
  Context cx(waker);
  {
    auto called = asio::post(*context, use_rouse.Keep(kept));
    EXPECT_TRUE(called.Poll(cx).IsPending());
    EXPECT_EQ(kept.use_count(), 2);
    context->run();
    EXPECT_EQ(owners, 1);
  }
  owners = 0;
  std::optional write = AsyncTwo(*context, 1, use_rouse.Keep(kept));
  EXPECT_TRUE(write->Poll(cx).IsPending());
  EXPECT_EQ(kept.use_count(), 2);
  context.reset();
  EXPECT_EQ(owners, 1);
}

// Under ThreadSanitizer: the handler and the task are on different threads.
TEST(UseRouseTest, TasksAndHandlersPassBytesBackAndForth) {
  constexpr int kRounds = 300;
  IoThread io;
  Runtime runtime = Builder::MultiThread().WorkerThreads(2).Build().value();
  Pair pair(io.context());
  auto echo = [](Socket& socket) -> Co<> {
    char byte;
    for (int i = 0; i < kRounds; ++i) {
      auto read = asio::async_read(socket, asio::buffer(&byte, 1), use_rouse);
      EXPECT_THAT(co_await read, IsOkAndHolds(1u));
      auto write = asio::async_write(socket, asio::buffer(&byte, 1), use_rouse);
      EXPECT_THAT(co_await write, IsOkAndHolds(1u));
    }
  };
  JoinHandle<void> echoed = runtime.Spawn(echo(pair.b));
  auto main = [](Socket& socket) -> Co<int> {
    int sum = 0;
    for (int i = 0; i < kRounds; ++i) {
      char byte = static_cast<char>(i % 100);
      auto write = asio::async_write(socket, asio::buffer(&byte, 1), use_rouse);
      EXPECT_THAT(co_await write, IsOkAndHolds(1u));
      char answer = 0;
      auto read = asio::async_read(socket, asio::buffer(&answer, 1), use_rouse);
      EXPECT_THAT(co_await read, IsOkAndHolds(1u));
      sum += answer == byte;
    }
    co_return sum;
  };
  EXPECT_THAT(runtime.BlockOn(runtime.Spawn(main(pair.a))),
              IsOkAndHolds(kRounds));
  EXPECT_THAT(runtime.BlockOn(std::move(echoed)), IsOk());
}

}  // namespace
}  // namespace rouse::interop
