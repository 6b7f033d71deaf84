// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/background.h"

#include <pthread.h>

#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/kept_vlog.h"

namespace rouse::reactor {
namespace {

class BackgroundTest : public FdTest {
 protected:
  static Background Start() {
    return Background::Start(Reactor::Create().value()).value();
  }

  static AsyncFd<OwnedFd> Register(OwnedFd fd, const Handle& handle) {
    return AsyncFd<OwnedFd>::Create(std::move(fd), Interest::kReadable, handle)
        .value();
  }
};

TEST_F(BackgroundTest, DrivesItsReactor) {
  const Background background = Start();
  auto [a, b] = MakeSocketPair();
  const auto async = Register(std::move(a), background.handle());
  std::thread writing([fd = b.get()] { WriteTo(fd, "x"); });
  EXPECT_TRUE(BlockOn(async.Readable()).ok());
  writing.join();
}

TEST_F(BackgroundTest, DestroyingItNotifiesWaiters) {
  std::optional<Background> background(Start());
  auto [a, b] = MakeSocketPair();
  const auto async = Register(std::move(a), background->handle());
  CountingWaker task;
  auto readable = async.Readable();
  ASSERT_TRUE(task.Poll(readable).IsPending());
  background.reset();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(absl::IsUnavailable(task.Poll(readable)->status()));
}

TEST_F(BackgroundTest, ShutdownNowDoesNotWaitForSources) {
  Background background = Start();
  const Handle handle = background.handle();
  auto [a, b] = MakeSocketPair();
  const auto async = Register(std::move(a), handle);
  BlockOn(std::move(background).ShutdownNow());
  EXPECT_TRUE(handle.IsShutDown());
  EXPECT_TRUE(absl::IsUnavailable(BlockOn(async.Readable()).status()));
}

TEST_F(BackgroundTest, ShutdownOnIdleEndsWithoutSources) {
  Background background = Start();
  const Handle handle = background.handle();
  BlockOn(std::move(background).ShutdownOnIdle());
  EXPECT_TRUE(handle.IsShutDown());
}

// The last source is deregistered without an event that would end the park.
TEST_F(BackgroundTest, ShutdownOnIdleWaitsForTheLastSource) {
  Background background = Start();
  const Handle handle = background.handle();
  auto [a, b] = MakeSocketPair();
  std::optional<AsyncFd<OwnedFd>> first(Register(std::move(a), handle));
  auto shutdown = std::move(background).ShutdownOnIdle();
  CountingWaker task;
  ASSERT_TRUE(task.Poll(shutdown).IsPending());
  // Until then everything works, and further sources can be registered.
  std::optional<AsyncFd<OwnedFd>> second(Register(std::move(b), handle));
  WriteTo(first->fd(), "x");
  EXPECT_TRUE(BlockOn(second->Readable()).ok());
  first.reset();
  EXPECT_FALSE(handle.IsShutDown());
  second.reset();
  BlockOn(std::move(shutdown));
  EXPECT_TRUE(handle.IsShutDown());
}

// A registration that failed was a source for a moment.
TEST_F(BackgroundTest, AFailedRegistrationDoesNotDelayShutdown) {
  Background background = Start();
  const Handle handle = background.handle();
  auto [a, b] = MakeSocketPair();
  // Without this source the thread might end before a registration has failed.
  std::optional<AsyncFd<OwnedFd>> source(Register(std::move(a), handle));
  auto shutdown = std::move(background).ShutdownOnIdle();
  std::thread failing([&handle, &source] {
    const auto fail = [&handle] {
      return AsyncFd<OwnedFd>::Create(OwnedFd(), Interest::kReadable, handle)
          .status();
    };
    EXPECT_TRUE(absl::IsFailedPrecondition(fail()));
    EXPECT_FALSE(handle.IsShutDown());
    source.reset();
    while (!handle.IsShutDown()) EXPECT_FALSE(fail().ok());
  });
  BlockOn(std::move(shutdown));
  failing.join();
}

TEST_F(BackgroundTest, ADestroyedShutdownWaitsForNoSource) {
  Background background = Start();
  const Handle handle = background.handle();
  auto [a, b] = MakeSocketPair();
  const auto async = Register(std::move(a), handle);
  {
    auto shutdown = std::move(background).ShutdownOnIdle();
    CountingWaker task;
    EXPECT_TRUE(task.Poll(shutdown).IsPending());
    const auto moved = std::move(shutdown);
  }
  EXPECT_TRUE(handle.IsShutDown());
}

TEST_F(BackgroundTest, LogsItsEnd) {
  for (const bool when_idle : {false, true}) {
    Background background = Start();
    const std::string reactor = absl::StrCat(background.handle());
    KeptVlog log(1);
    if (when_idle) {
      BlockOn(std::move(background).ShutdownOnIdle());
    } else {
      BlockOn(std::move(background).ShutdownNow());
    }
    EXPECT_THAT(log.Take(), ::testing::ElementsAre(reactor + " (shut down)"));
  }
}

TEST_F(BackgroundTest, AFailedThreadStartIsUnavailable) {
  pthread_attr_t before;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  pthread_attr_t huge;
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  Reactor reactor = Reactor::Create().value();
  const Handle handle = reactor.handle();
  EXPECT_TRUE(
      absl::IsUnavailable(Background::Start(std::move(reactor)).status()));
  EXPECT_TRUE(handle.IsShutDown());
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_destroy(&before), 0);
  ASSERT_EQ(pthread_attr_destroy(&huge), 0);
}

TEST_F(BackgroundTest, PollingACompleteShutdownPanics) {
  Background background = Start();
  auto shutdown = std::move(background).ShutdownNow();
  BlockOn(shutdown);
  CountingWaker task;
  EXPECT_PANIC((void)task.Poll(shutdown),
               "Background::ShutdownFuture was polled after");
}

}  // namespace
}  // namespace rouse::reactor
