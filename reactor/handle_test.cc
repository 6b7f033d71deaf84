// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/handle.h"

#include <optional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse::reactor {
namespace {

using HandleTest = FdTest;

TEST_F(HandleTest, NoHandleIsCurrentAtFirst) {
  EXPECT_EQ(Handle::TryCurrent(), std::nullopt);
}

TEST_F(HandleTest, CurrentWithoutAHandlePanics) {
  EXPECT_PANIC(Handle::Current(), "no current reactor");
}

TEST_F(HandleTest, IsCurrentWithinItsScope) {
  const Reactor reactor = *Reactor::Create();
  {
    const ScopedDefault scope(reactor.handle());
    EXPECT_EQ(Handle::Current(), reactor.handle());
  }
  EXPECT_EQ(Handle::TryCurrent(), std::nullopt);
}

TEST_F(HandleTest, ScopesNest) {
  const Reactor outer = *Reactor::Create();
  const Reactor inner = *Reactor::Create();
  const ScopedDefault scope(outer.handle());
  WithDefault(inner.handle(),
              [&] { EXPECT_EQ(Handle::Current(), inner.handle()); });
  EXPECT_EQ(Handle::Current(), outer.handle());
}

TEST_F(HandleTest, AnUnboundHandleHidesTheCurrentOne) {
  const Reactor reactor = *Reactor::Create();
  const ScopedDefault scope(reactor.handle());
  WithDefault(Handle(), [] { EXPECT_EQ(Handle::TryCurrent(), std::nullopt); });
}

TEST_F(HandleTest, WithDefaultPassesTheResultOn) {
  const Reactor reactor = *Reactor::Create();
  EXPECT_EQ(WithDefault(reactor.handle(), [] { return 42; }), 42);
}

TEST_F(HandleTest, EachThreadHasItsOwnCurrentHandle) {
  const Reactor reactor = *Reactor::Create();
  const ScopedDefault scope(reactor.handle());
  std::thread other([] { EXPECT_EQ(Handle::TryCurrent(), std::nullopt); });
  other.join();
}

TEST_F(HandleTest, TheScopeKeepsTheHandle) {
  std::optional<Reactor> reactor(*Reactor::Create());
  const ScopedDefault scope(reactor->handle());
  reactor.reset();
  EXPECT_TRUE(Handle::Current().IsShutDown());
}

TEST_F(HandleTest, ReturnsWhetherItIsBound) {
  const Reactor reactor = *Reactor::Create();
  EXPECT_FALSE(Handle().IsBound());
  EXPECT_FALSE(Handle().IsShutDown());
  EXPECT_TRUE(reactor.handle().IsBound());
  EXPECT_FALSE(reactor.handle().IsShutDown());
}

TEST_F(HandleTest, OutlivesTheReactor) {
  Handle handle;
  {
    const Reactor reactor = *Reactor::Create();
    handle = reactor.handle();
  }
  EXPECT_TRUE(handle.IsShutDown());
  const Handle copy = handle;
  EXPECT_EQ(copy, handle);
}

TEST(Printing, AHandleDistinguishesItsReactor) {
  EXPECT_EQ(absl::StrCat(Handle()), "no reactor");
  const Reactor a = Reactor::Create().value();
  Reactor b = Reactor::Create().value();
  const std::string text = absl::StrCat(a.handle());
  EXPECT_THAT(text, ::testing::StartsWith("reactor 0x"));
  EXPECT_EQ(absl::StrCat(Handle(a.handle())), text);
  EXPECT_NE(absl::StrCat(b.handle()), text);
  b.Shutdown();
  EXPECT_THAT(absl::StrCat(b.handle()), ::testing::EndsWith(" (shut down)"));
}

TEST(Printing, MetricsNameTheirCounts) {
  Metrics metrics;
  metrics.sources = 3;
  metrics.registrations = 10;
  metrics.ready_events = 42;
  EXPECT_EQ(absl::StrCat(metrics), "3 sources, 10 registrations, 42 events");
}

}  // namespace
}  // namespace rouse::reactor
