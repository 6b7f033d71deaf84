// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the timeouts of `AresResolver` on a paused clock.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/net/ares/ares_fixture.h"
#include "rouse/net/ares/ares_options.h"
#include "rouse/net/ares/ares_resolver.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/udp_socket.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/dns_server.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PausedAresResolverTest : public ::testing::Test {
 protected:
  static AresOptions Options(std::vector<SocketAddr> servers) {
    AresOptions options = rouse::Options(std::move(servers));
    options.timeout = absl::Seconds(5);
    options.attempts = 2;
    return options;
  }

  // Lets `time` pass, until nothing is left to do.
  void Pass(absl::Duration time) { runtime_.BlockOn(Advance(time)); }

  Runtime runtime_ = PausedRuntime();
};

TEST_F(PausedAresResolverTest, SilentServersAreUnavailableAfterAllAttempts) {
  const DnsServer server(NeverAnswer);
  const AresResolver resolver(Options({server.addr()}));
  JoinHandle<Resolver::Result> lookup =
      runtime_.Spawn(resolver.Lookup("db.test", 80));
  Pass(absl::Milliseconds(4900));
  server.AwaitQuestions(2);
  Pass(absl::Milliseconds(200));
  server.AwaitQuestions(4);
  // The second attempt has twice the time.
  Pass(absl::Milliseconds(9800));
  EXPECT_FALSE(lookup.IsFinished());
  Pass(absl::Milliseconds(200));
  ASSERT_TRUE(lookup.IsFinished());
  EXPECT_THAT(
      runtime_.BlockOn(std::move(lookup)),
      StatusIs(absl::StatusCode::kUnavailable,
               AllOf(HasSubstr("db.test"), HasSubstr("no name server answered"),
                     HasSubstr(server.addr().ToString()))));
  EXPECT_THAT(server.questions(), SizeIs(4));
  EXPECT_EQ(runtime_.metrics().lookups.threads, 0u);
}

TEST_F(PausedAresResolverTest, ALostQuestionIsAskedAgain) {
  std::atomic<int> count = 0;
  const DnsServer server([&count](const DnsQuestion&) {
    return ++count <= 2 ? DnsAnswer::Silence() : Both();
  });
  const AresResolver resolver(Options({server.addr()}));
  JoinHandle<Resolver::Result> lookup =
      runtime_.Spawn(resolver.Lookup("db.test", 80));
  Pass(absl::Milliseconds(4900));
  server.AwaitQuestions(2);
  Pass(absl::Milliseconds(200));
  EXPECT_THAT(runtime_.BlockOn(std::move(lookup)), IsOkAndHolds(SizeIs(2)));
}

TEST_F(PausedAresResolverTest, TheNextServerIsAskedAfterASilentOne) {
  const DnsServer silent(NeverAnswer);
  const DnsServer server(AnswerBoth);
  const AresResolver resolver(Options({silent.addr(), server.addr()}));
  JoinHandle<Resolver::Result> lookup =
      runtime_.Spawn(resolver.Lookup("db.test", 80));
  Pass(absl::Milliseconds(4900));
  EXPECT_THAT(server.questions(), IsEmpty());
  Pass(absl::Milliseconds(200));
  EXPECT_THAT(runtime_.BlockOn(std::move(lookup)), IsOkAndHolds(SizeIs(2)));
}

TEST_F(PausedAresResolverTest, AnAnswerIsKeptWhenTheOtherQueryTimesOut) {
  const DnsServer server([](const DnsQuestion& question) {
    return question.type == DnsQuestion::kA ? Both() : DnsAnswer::Silence();
  });
  const AresResolver resolver(Options({server.addr()}));
  JoinHandle<Resolver::Result> lookup =
      runtime_.Spawn(resolver.Lookup("db.test", 80));
  Pass(absl::ZeroDuration());
  server.AwaitQuestions(2);
  Pass(absl::Milliseconds(4900));
  EXPECT_FALSE(lookup.IsFinished());
  Pass(absl::Milliseconds(200));
  EXPECT_THAT(runtime_.BlockOn(std::move(lookup)),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
}

TEST_F(PausedAresResolverTest, ASilentConnectionTimesOut) {
  absl::Notification end;
  const DnsServer server([&end](const DnsQuestion& question) {
    if (question.over_tcp) end.WaitForNotification();
    return Long();
  });
  AresOptions options = Options({server.addr()});
  options.attempts = 1;
  const AresResolver resolver(options);
  JoinHandle<Resolver::Result> lookup =
      runtime_.Spawn(resolver.Lookup("db.test", 80));
  // The lookup reaches the connection by events, and then only time helps.
  while (server.questions().size() < 3) Pass(absl::ZeroDuration());
  Pass(absl::Milliseconds(4900));
  EXPECT_FALSE(lookup.IsFinished());
  Pass(absl::Milliseconds(200));
  EXPECT_THAT(runtime_.BlockOn(std::move(lookup)),
              StatusIs(absl::StatusCode::kUnavailable));
  end.Notify();
}

// A poll that finds more datagrams than its budget allows asks the clock.
TEST_F(PausedAresResolverTest, AFloodOfWhatIsNoAnswerDoesNotStopTheTime) {
  auto test = [&]() -> Co<> {
    UdpSocket flooder = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
    AresOptions options = Options({flooder.local_addr().value()});
    options.attempts = 1;
    const AresResolver resolver(options);
    auto lookup = resolver.Lookup("db.test", 80);
    std::optional<Resolver::Result> result;
    auto poll = [&](Context& cx) -> PollResult<bool> {
      PollResult<Resolver::Result> polled = lookup.Poll(cx);
      if (polled.IsReady()) result = *std::move(polled);
      return result.has_value();
    };
    auto first = PollFn(poll);
    const bool ended_early = co_await first;
    EXPECT_FALSE(ended_early);
    char buffer[512];
    auto ask = flooder.RecvFrom(absl::MakeSpan(buffer));
    const UdpSocket::Received query = (co_await std::move(ask)).value();
    std::string wrong_id(buffer, query.size);
    wrong_id[0] = static_cast<char>(wrong_id[0] + 1);
    for (uint32_t i = 0; i < kBudgetPerPoll + 20; ++i) {
      auto send = flooder.SendTo(wrong_id, query.peer);
      (co_await std::move(send)).value();
    }
    auto pass = Advance(absl::Seconds(6));
    co_await std::move(pass);
    auto second = PollFn(poll);
    const bool ended = co_await second;
    EXPECT_TRUE(ended);
    if (ended) {
      EXPECT_THAT(*result, StatusIs(absl::StatusCode::kUnavailable));
    }
  };
  runtime_.BlockOn(test);
}

TEST_F(PausedAresResolverTest, ATimeoutEndsALookup) {
  const DnsServer server(NeverAnswer);
  const AresResolver resolver(Options({server.addr()}));
  const size_t descriptors = reactor::CountOpenFds();
  JoinHandle<Resolver::Result> lookup =
      runtime_.Spawn(Timeout(absl::Seconds(1), resolver.Lookup("a.test", 80)));
  Pass(absl::Milliseconds(900));
  EXPECT_FALSE(lookup.IsFinished());
  Pass(absl::Milliseconds(200));
  EXPECT_THAT(runtime_.BlockOn(std::move(lookup)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(reactor::CountOpenFds(), descriptors);
}

TEST_F(PausedAresResolverTest, CanBeDroppedInEveryAttempt) {
  const DnsServer server(NeverAnswer);
  const AresResolver resolver(Options({server.addr()}));
  const size_t descriptors = reactor::CountOpenFds();
  for (const absl::Duration time : {absl::ZeroDuration(), absl::Seconds(4),
                                    absl::Seconds(6), absl::Seconds(14)}) {
    JoinHandle<Resolver::Result> lookup =
        runtime_.Spawn(resolver.Lookup("db.test", 80));
    Pass(time);
    lookup.Abort();
    EXPECT_THAT(runtime_.BlockOn(std::move(lookup)),
                StatusIs(absl::StatusCode::kCancelled));
    EXPECT_EQ(reactor::CountOpenFds(), descriptors) << time;
  }
}

}  // namespace
}  // namespace rouse
