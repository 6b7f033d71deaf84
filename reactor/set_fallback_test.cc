// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sets a fallback explicitly. A separate test, because a process has only one
// fallback.

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/fallback.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse::reactor {
namespace {

TEST(SetFallback, ThreadsWithoutAReactorUseTheFallback) {
  auto [a, b] = MakeSocketPair();
  {
    const Reactor reactor = Reactor::Create().value();
    ASSERT_TRUE(reactor.handle().SetFallback().ok());
    EXPECT_EQ(FallbackHandle().value(), reactor.handle());
    const auto async = AsyncFd<FdSource>::Create(FdSource(a.get()));
    ASSERT_TRUE(async.ok()) << async.status();
    EXPECT_FALSE(reactor.IsIdle());
    EXPECT_TRUE(absl::IsAlreadyExists(reactor.handle().SetFallback()));
  }
  // The destroyed reactor stays the fallback, although it is useless.
  EXPECT_TRUE(absl::IsUnavailable(
      AsyncFd<FdSource>::Create(FdSource(a.get())).status()));
}

}  // namespace
}  // namespace rouse::reactor
