// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/handle.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::wheel {
namespace {

TEST(Handle, NoHandleIsCurrentAtFirst) {
  EXPECT_EQ(Handle::TryCurrent(), std::nullopt);
  EXPECT_PANIC(Handle::Current(), "no timer driver");
  EXPECT_PANIC(Now(), "no timer driver");
}

TEST(Handle, ReturnsThePropertiesOfItsDriver) {
  auto clock = std::make_shared<Clock>();
  const Driver<ThreadParker> driver(
      {.resolution = absl::Milliseconds(10), .clock = clock});
  const Handle handle = driver.handle();
  EXPECT_EQ(&handle.clock(), clock.get());
  EXPECT_EQ(handle.resolution(), absl::Milliseconds(10));
  EXPECT_FALSE(handle.IsShutDown());
}

TEST(Handle, ComparesDrivers) {
  const Driver<ThreadParker> a;
  const Driver<ThreadParker> b;
  EXPECT_EQ(a.handle(), a.handle());
  EXPECT_FALSE(a.handle() == b.handle());
  Handle handle = a.handle();
  handle = b.handle();
  EXPECT_EQ(handle, b.handle());
  Handle moved = std::move(handle);
  EXPECT_EQ(moved, b.handle());
}

TEST(Handle, OutlivesItsDriver) {
  std::optional<Driver<ThreadParker>> driver(std::in_place);
  const Handle handle = driver->handle();
  driver.reset();
  EXPECT_TRUE(handle.IsShutDown());
  handle.clock().Pause();
  EXPECT_EQ(handle.clock().Now(), handle.clock().Now());
}

TEST(ScopedDefault, IsCurrentUntilItIsDestroyed) {
  const Driver<ThreadParker> outer;
  const Driver<ThreadParker> inner;
  {
    const ScopedDefault first(outer.handle());
    EXPECT_EQ(Handle::Current(), outer.handle());
    {
      const ScopedDefault second(inner.handle());
      EXPECT_EQ(Handle::Current(), inner.handle());
      EXPECT_EQ(Handle::TryCurrent(), inner.handle());
    }
    EXPECT_EQ(Handle::Current(), outer.handle());
  }
  EXPECT_EQ(Handle::TryCurrent(), std::nullopt);
}

TEST(ScopedDefault, IsLocalToItsThread) {
  const Driver<ThreadParker> driver;
  const ScopedDefault scope(driver.handle());
  bool other_has_one = true;
  std::thread([&] { other_has_one = Handle::TryCurrent().has_value(); }).join();
  EXPECT_FALSE(other_has_one);
}

TEST(ScopedDefault, KeepsTheHandleAlive) {
  std::optional<Driver<ThreadParker>> driver(std::in_place);
  const ScopedDefault scope(driver->handle());
  driver.reset();
  EXPECT_TRUE(Handle::Current().IsShutDown());
}

TEST(WithDefault, CallsTheFunctionWithACurrentHandle) {
  const Driver<ThreadParker> driver;
  const bool current = WithDefault(
      driver.handle(), [&] { return Handle::Current() == driver.handle(); });
  EXPECT_TRUE(current);
  EXPECT_EQ(Handle::TryCurrent(), std::nullopt);
}

TEST(Now, IsTheTimeOfTheCurrentClock) {
  const Driver<ThreadParker> driver;
  const ScopedDefault scope(driver.handle());
  driver.handle().clock().Pause();
  const Instant now = Now();
  EXPECT_EQ(now, driver.handle().clock().Now());
}

TEST(Handle, IsPrinted) {
  Driver<ThreadParker> a;
  const Driver<ThreadParker> b;
  const std::string text = absl::StrCat(a.handle());
  EXPECT_THAT(text, ::testing::StartsWith("timer 0x"));
  EXPECT_NE(absl::StrCat(b.handle()), text);
  a.Shutdown();
  EXPECT_EQ(absl::StrCat(a.handle()), absl::StrCat(text, " (shut down)"));
}

}  // namespace
}  // namespace rouse::wheel
