// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/fallback.h"

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse::reactor {
namespace {

TEST(BindHandle, PrefersTheGivenHandle) {
  const Reactor given = Reactor::Create().value();
  const Reactor current = Reactor::Create().value();
  const ScopedDefault scope(current.handle());
  EXPECT_EQ(BindHandle(given.handle()).value(), given.handle());
  EXPECT_EQ(BindHandle(Handle()).value(), current.handle());
}

TEST(BindHandle, AnUnboundDefaultForbidsTheFallback) {
  const ScopedDefault none((Handle()));
  EXPECT_TRUE(absl::IsFailedPrecondition(BindHandle(Handle()).status()));
}

TEST(SetFallback, OfAnUnboundHandleIsFailedPrecondition) {
  EXPECT_TRUE(absl::IsFailedPrecondition(Handle().SetFallback()));
}

// The fallback belongs to the whole process, so there is a single test.
TEST(FallbackHandle, StartsAThreadAtTheFirstUse) {
  // UBSan needs a descriptor when it checks an object for the first time.
  ASSERT_TRUE(Reactor::Create().ok());
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit none = limit;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status failed = FallbackHandle().status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(failed)) << failed;
  EXPECT_FALSE(Handle::TryFallback().has_value());

  // The next calls start exactly one thread.
  Handle handles[4];
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (Handle& handle : handles) {
    threads.emplace_back([&handle] { handle = BindHandle(Handle()).value(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Handle& handle : handles) EXPECT_EQ(handle, handles[0]);
  EXPECT_EQ(Handle::TryFallback(), handles[0]);

  // The fallback drives sources that are made without a handle.
  auto [a, b] = MakeSocketPair();
  const auto async = AsyncFd<FdSource>::Create(FdSource(a.get()));
  ASSERT_TRUE(async.ok()) << async.status();
  WriteTo(b.get(), "x");
  EXPECT_TRUE(BlockOn(async->Readable()).ok());

  // A child process does not have the thread.
  // NOLINTNEXTLINE(misc-include-cleaner): <sys/types.h> has pid_t
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    _exit(absl::IsFailedPrecondition(FallbackHandle().status()) ? 0 : 1);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);

  // Another fallback comes too late.
  const Reactor reactor = Reactor::Create().value();
  EXPECT_TRUE(absl::IsAlreadyExists(reactor.handle().SetFallback()));
}

}  // namespace
}  // namespace rouse::reactor
