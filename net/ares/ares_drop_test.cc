// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests futures of `AresResolver` that are moved, dropped or many.

#include <sys/resource.h>

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/poll_fn.h"
#include "rouse/net/ares/ares_fixture.h"
#include "rouse/net/ares/ares_resolver.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/dns_server.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/paused_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::testing::SizeIs;

TEST_F(AresResolverTest, PollingAFinishedLookupPanics) {
  const DnsServer server(AnswerBoth);
  const AresResolver resolver(Options({server.addr()}));
  auto lookup = resolver.Lookup("db.test", 80);
  auto poll = [&lookup](Context& cx) { return lookup.Poll(cx); };
  EXPECT_THAT(runtime_.BlockOn(PollFn(poll)), IsOk());
  EXPECT_PANIC(static_cast<void>(runtime_.BlockOn(PollFn(poll))),
               "polled after");
}

TEST_F(AresResolverTest, CanBeMovedBetweenPolls) {
  absl::Notification go;
  const DnsServer server([&go](const DnsQuestion&) {
    go.WaitForNotification();
    return Both();
  });
  const AresResolver resolver(Options({server.addr()}));
  auto first = resolver.Lookup("db.test", 80);
  auto poll_once = [&first](Context& cx) -> PollResult<bool> {
    return first.Poll(cx).IsPending();
  };
  EXPECT_TRUE(runtime_.BlockOn(PollFn(poll_once)));
  auto second = std::move(first);
  go.Notify();
  EXPECT_THAT(runtime_.BlockOn(std::move(second)), IsOkAndHolds(SizeIs(2)));
}

// A future that polls a lookup at most `polls` times, and returns whether the
// lookup has finished.
class SomePolls {
 public:
  SomePolls(Resolver::LookupFuture lookup, int polls)
      : lookup_(std::move(lookup)), left_(polls) {}

  PollResult<bool> Poll(Context& cx) {
    if (left_-- == 0) return false;
    if (lookup_.Poll(cx).IsReady()) return true;
    if (left_ == 0) return false;
    return kPending;
  }

 private:
  Resolver::LookupFuture lookup_;
  int left_;
};

// Drops a lookup after 0, 1, 2... polls, until a lookup finishes before it is
// dropped. Waits each time until no more descriptors are open than before: the
// server of the test has connections, too.
void DropAtEveryPoll(Runtime& runtime, const Resolver& resolver) {
  const size_t descriptors = reactor::CountOpenFds();
  int polls = 0;
  for (;; ++polls) {
    SomePolls some(resolver.Lookup("db.test", 80), polls);
    const bool finished = runtime.BlockOn(std::move(some));
    while (reactor::CountOpenFds() > descriptors) std::this_thread::yield();
    if (finished) break;
    ASSERT_LT(polls, 1000);
  }
  EXPECT_GT(polls, 1);
}

TEST_F(AresResolverTest, CanBeDroppedAtEveryPoll) {
  const DnsServer server(AnswerBoth);
  DropAtEveryPoll(runtime_, AresResolver(Options({server.addr()})));
}

TEST_F(AresResolverTest, CanBeDroppedBetweenTheAnswers) {
  // Waits for the first answer, so that c-ares has half of the result.
  absl::Notification go;
  const DnsServer server([&](const DnsQuestion& question) {
    if (question.type == DnsQuestion::kAaaa) go.WaitForNotification();
    return Both();
  });
  const AresResolver resolver(Options({server.addr()}));
  const size_t descriptors = reactor::CountOpenFds();
  {
    int polls = 0;
    auto lookup = resolver.Lookup("db.test", 80);
    // The second poll is for the answer to the first question.
    auto poll = [&](Context& cx) -> PollResult<bool> {
      EXPECT_TRUE(lookup.Poll(cx).IsPending());
      if (++polls < 2) return kPending;
      return true;
    };
    EXPECT_TRUE(runtime_.BlockOn(PollFn(poll)));
  }
  EXPECT_EQ(reactor::CountOpenFds(), descriptors);
  go.Notify();
}

TEST_F(AresResolverTest, CanBeDroppedAtEveryPollOfAConnection) {
  const DnsServer server([](const DnsQuestion&) { return Long(); });
  DropAtEveryPoll(runtime_, AresResolver(Options({server.addr()})));
}

TEST_F(AresResolverTest, CanBeDroppedAfterAFailedServer) {
  const DnsServer failed(
      [](const DnsQuestion&) { return DnsAnswer::Error(kServerFailure); });
  const DnsServer server(AnswerBoth);
  DropAtEveryPoll(runtime_,
                  AresResolver(Options({failed.addr(), server.addr()})));
}

// Lets this process open as many descriptors as the system permits. Returns
// whether these are enough for a thousand sockets.
bool RaiseLimitOfDescriptors() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 1200;
}

TEST(AresResolver, AThousandLookupsAtOnceTakeNoThread) {
  if (!RaiseLimitOfDescriptors()) GTEST_SKIP() << "too few descriptors";
  const DnsServer server(AnswerBoth);
  const AresResolver resolver(OptionsForMany(server.addr()));
  Runtime runtime = Builder::MultiThread().WorkerThreads(2).Build().value();
  std::vector<JoinHandle<Resolver::Result>> lookups;
  for (int i = 0; i < 1000; ++i) {
    lookups.push_back(
        runtime.Spawn(resolver.Lookup(absl::StrCat("n", i, ".test"), 80)));
  }
  for (JoinHandle<Resolver::Result>& lookup : lookups) {
    EXPECT_THAT(runtime.BlockOn(std::move(lookup)), IsOk());
  }
  EXPECT_EQ(runtime.metrics().lookups.threads, 0u);
}

TEST(AresResolver, AThousandSlowLookupsTakeNoThread) {
  if (!RaiseLimitOfDescriptors()) GTEST_SKIP() << "too few descriptors";
  const DnsServer server(NeverAnswer);
  const AresResolver resolver(Options({server.addr()}));
  const size_t descriptors = reactor::CountOpenFds();
  {
    Runtime runtime = PausedRuntime();
    for (int i = 0; i < 1000; ++i) {
      runtime.Spawn(resolver.Lookup(absl::StrCat("n", i, ".test"), 80))
          .Detach();
    }
    runtime.BlockOn(Advance(absl::ZeroDuration()));
    EXPECT_GE(reactor::CountOpenFds(), descriptors + 1000);
    EXPECT_EQ(runtime.metrics().lookups.threads, 0u);
    EXPECT_EQ(runtime.metrics().blocking.threads, 0u);
    // The runtime ends here, although no lookup was answered.
  }
  EXPECT_EQ(reactor::CountOpenFds(), descriptors);
}

}  // namespace
}  // namespace rouse
