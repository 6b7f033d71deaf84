// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/ares/ares_resolver.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/net/by_name.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/udp_socket.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/dns_server.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr int kServerFailure = 2;
constexpr int kNameError = 3;
constexpr int kRefused = 5;

SocketAddr Addr(std::string_view text) {
  return SocketAddr::Parse(text).value();
}

DnsAnswer Both() {
  return DnsAnswer({Addr("192.0.2.1:0"), Addr("[2001:db8::1]:0")});
}

// Answers each question with both addresses.
DnsAnswer AnswerBoth(const DnsQuestion&) { return Both(); }

DnsAnswer NeverAnswer(const DnsQuestion&) { return DnsAnswer::Silence(); }

// Makes an answer that is too long for UDP, whatever the question.
DnsAnswer Long() {
  std::vector<SocketAddr> addrs(100, Addr("192.0.2.1:0"));
  addrs.insert(addrs.end(), 100, Addr("[2001:db8::1]:0"));
  return DnsAnswer(std::move(addrs));
}

// Returns options that depend on nothing of this machine, and whose timeout
// does not pass while a test runs.
AresOptions Options(std::vector<SocketAddr> servers) {
  AresOptions options;
  options.servers = std::move(servers);
  options.search.emplace();
  options.use_hosts_file = false;
  options.timeout = absl::Hours(1);
  return options;
}

// Lets this process open as many descriptors as the system permits. Returns
// whether these are enough for a thousand sockets.
bool RaiseLimitOfDescriptors() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 1200;
}

// A fixture with a runtime of one thread.
class AresResolverTest : public ::testing::Test {
 protected:
  Resolver::Result Lookup(const Resolver& resolver, std::string_view host) {
    return runtime_.BlockOn(resolver.Lookup(host, 80));
  }
  Resolver::Result Lookup(const DnsServer& server, std::string_view host) {
    return Lookup(AresResolver(Options({server.addr()})), host);
  }

  Runtime runtime_ = Builder::CurrentThread().Build().value();
};

TEST_F(AresResolverTest, FindsAddressesOfBothKinds) {
  const DnsServer server(AnswerBoth);
  EXPECT_THAT(Lookup(server, "db.test"),
              IsOkAndHolds(UnorderedElementsAre(Addr("192.0.2.1:80"),
                                                Addr("[2001:db8::1]:80"))));
  const std::vector<DnsQuestion> questions = server.questions();
  ASSERT_THAT(questions, SizeIs(2));
  EXPECT_EQ(questions[0].name, "db.test");
  EXPECT_NE(questions[0].type, questions[1].type);
}

TEST_F(AresResolverTest, UsesNoThread) {
  const DnsServer server(AnswerBoth);
  EXPECT_THAT(Lookup(server, "db.test"), IsOk());
  EXPECT_EQ(runtime_.metrics().lookups.threads, 0u);
  EXPECT_EQ(runtime_.metrics().blocking.threads, 0u);
}

TEST_F(AresResolverTest, FindsAddressesOfOneKind) {
  const DnsServer server([](const DnsQuestion& question) {
    return question.name == "four.test" ? DnsAnswer({Addr("192.0.2.1:0")})
                                        : DnsAnswer({Addr("[2001:db8::1]:0")});
  });
  EXPECT_THAT(Lookup(server, "four.test"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
  EXPECT_THAT(Lookup(server, "six.test"),
              IsOkAndHolds(ElementsAre(Addr("[2001:db8::1]:80"))));
}

TEST_F(AresResolverTest, ReturnsNoAddressTwice) {
  const DnsServer server([](const DnsQuestion&) {
    return DnsAnswer(
        {Addr("192.0.2.1:0"), Addr("192.0.2.2:0"), Addr("192.0.2.1:0")});
  });
  EXPECT_THAT(Lookup(server, "db.test"),
              IsOkAndHolds(UnorderedElementsAre(Addr("192.0.2.1:80"),
                                                Addr("192.0.2.2:80"))));
}

TEST_F(AresResolverTest, NamesWithoutAnAddressAreNotFound) {
  const DnsServer server([](const DnsQuestion& question) {
    return question.name == "empty.test" ? DnsAnswer({})
                                         : DnsAnswer::Error(kNameError);
  });
  for (const std::string_view name : {"empty.test", "missing.test"}) {
    EXPECT_THAT(Lookup(server, name),
                StatusIs(absl::StatusCode::kNotFound,
                         HasSubstr(absl::StrCat("Lookup(\"", name, "\"): "))));
  }
}

TEST_F(AresResolverTest, OneFailedQueryDoesNotHideTheOther) {
  const DnsServer server([](const DnsQuestion& question) {
    return question.type == DnsQuestion::kA ? Both()
                                            : DnsAnswer::Error(kServerFailure);
  });
  EXPECT_THAT(Lookup(server, "db.test"),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
}

TEST_F(AresResolverTest, OneFailedQueryAndNoAddressAreUnavailable) {
  for (const uint16_t failing : {DnsQuestion::kA, DnsQuestion::kAaaa}) {
    const DnsServer server([failing](const DnsQuestion& question) {
      return question.type == failing ? DnsAnswer::Error(kServerFailure)
                                      : DnsAnswer({});
    });
    EXPECT_THAT(Lookup(server, "db.test"),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("SERVFAIL")))
        << failing;
  }
}

TEST_F(AresResolverTest, AFailedServerIsUnavailable) {
  const DnsServer server([](const DnsQuestion& question) {
    return DnsAnswer::Error(question.name == "a.test" ? kServerFailure
                                                      : kRefused);
  });
  EXPECT_THAT(Lookup(server, "a.test"),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("a.test"), HasSubstr("SERVFAIL"),
                             HasSubstr(server.addr().ToString()))));
  EXPECT_THAT(Lookup(server, "b.test"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("REFUSED")));
}

TEST_F(AresResolverTest, AsksTheNextServerAfterAFailedOne) {
  const DnsServer failed(
      [](const DnsQuestion&) { return DnsAnswer::Error(kServerFailure); });
  const DnsServer server(AnswerBoth);
  EXPECT_THAT(
      Lookup(AresResolver(Options({failed.addr(), server.addr()})), "db.test"),
      IsOkAndHolds(SizeIs(2)));
  EXPECT_THAT(failed.questions(), SizeIs(2));
}

// Returns an address of this machine at which no socket receives.
SocketAddr ClosedPort() {
  std::optional<DnsServer> server(std::in_place, AnswerBoth);
  return server->addr();
}

TEST_F(AresResolverTest, AServerThatCannotBeReachedIsUnavailable) {
  const SocketAddr closed = ClosedPort();
  EXPECT_THAT(
      Lookup(AresResolver(Options({closed})), "db.test"),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr(closed.ToString())));
}

TEST_F(AresResolverTest, AsksTheNextServerAfterOneThatCannotBeReached) {
  const DnsServer server(AnswerBoth);
  EXPECT_THAT(
      Lookup(AresResolver(Options({ClosedPort(), server.addr()})), "db.test"),
      IsOkAndHolds(SizeIs(2)));
}

TEST_F(AresResolverTest, ALongAnswerComesByTcp) {
  std::vector<SocketAddr> addrs;
  for (int i = 0; i < 250; ++i) {
    addrs.push_back(Addr(absl::StrCat("192.0.2.", i, ":0")));
    addrs.push_back(Addr(absl::StrCat("[2001:db8::", i, "]:0")));
  }
  const DnsServer server(
      [&addrs](const DnsQuestion&) { return DnsAnswer(addrs); });
  EXPECT_THAT(Lookup(server, "db.test"), IsOkAndHolds(SizeIs(500)));
  const std::vector<DnsQuestion> questions = server.questions();
  EXPECT_THAT(questions, SizeIs(4));
  EXPECT_EQ(std::count_if(questions.begin(), questions.end(),
                          [](const DnsQuestion& q) { return q.over_tcp; }),
            2);
}

TEST_F(AresResolverTest, AConnectionThatIsClosedIsAFailure) {
  const DnsServer server([](const DnsQuestion& question) {
    return question.over_tcp ? DnsAnswer::Silence() : Long();
  });
  EXPECT_THAT(Lookup(server, "db.test"),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(AresResolverTest, AMalformedAnswerIsAnError) {
  const DnsServer server([](const DnsQuestion&) {
    DnsAnswer answer = Both();
    // The record ends early.
    answer.tamper = [](std::string& message) {
      message.resize(message.size() - 2);
    };
    return answer;
  });
  EXPECT_THAT(Lookup(server, "db.test"),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("db.test")));
}

TEST_F(AresResolverTest, IgnoresWhatIsNoAnswer) {
  // The first client that asks is told something else before the answer.
  const DnsServer server(AnswerBoth);
  const UdpSocket* forwarder = nullptr;
  auto forward = [&]() -> Co<> {
    UdpSocket front = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
    UdpSocket back = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
    forwarder = &front;
    char buffer[512];
    for (;;) {
      auto ask = front.RecvFrom(absl::MakeSpan(buffer));
      const UdpSocket::Received query = (co_await std::move(ask)).value();
      const std::string question(buffer, query.size);
      auto pass = back.SendTo(question, server.addr());
      (co_await std::move(pass)).value();
      auto get = back.RecvFrom(absl::MakeSpan(buffer));
      const UdpSocket::Received reply = (co_await std::move(get)).value();
      const std::string answer(buffer, reply.size);
      std::string wrong_id = answer;
      wrong_id[0] = static_cast<char>(wrong_id[0] + 1);
      std::string wrong_name = answer;
      wrong_name[13] = 'x';
      for (const std::string& message :
           {std::string(), std::string("x"), std::string(512, '\xff'), wrong_id,
            wrong_name, answer}) {
        auto send = front.SendTo(message, query.peer);
        (co_await std::move(send)).value();
      }
    }
  };
  auto test = [&]() -> Co<Resolver::Result> {
    JoinHandle<void> forwarding = Spawn(forward);
    auto started = [&forwarder](Context& cx) -> PollResult<bool> {
      if (forwarder != nullptr) return true;
      cx.Yield();
      return kPending;
    };
    co_await PollFn(started);
    const AresResolver resolver(Options({forwarder->local_addr().value()}));
    auto lookup = resolver.Lookup("db.test", 80);
    Resolver::Result result = co_await std::move(lookup);
    forwarding.Abort();
    co_return result;
  };
  EXPECT_THAT(runtime_.BlockOn(test),
              IsOkAndHolds(UnorderedElementsAre(Addr("192.0.2.1:80"),
                                                Addr("[2001:db8::1]:80"))));
}

TEST_F(AresResolverTest, AppendsTheDomainsOfTheSearchList) {
  const DnsServer server([](const DnsQuestion& question) {
    return question.name == "db.two.test" ? Both()
                                          : DnsAnswer::Error(kNameError);
  });
  AresOptions options = Options({server.addr()});
  options.search = {"one.test", "two.test"};
  const AresResolver resolver(options);
  EXPECT_THAT(Lookup(resolver, "db"), IsOkAndHolds(SizeIs(2)));
  EXPECT_EQ(server.questions().front().name, "db.one.test");
  // A dot at the end says that the name is complete.
  EXPECT_THAT(Lookup(resolver, "db."), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(AresResolverTest, FindsThisMachineWithoutAServer) {
  AresOptions options = Options({ClosedPort()});
  options.use_hosts_file = true;
  const Resolver::Result result = Lookup(AresResolver(options), "localhost");
  ASSERT_THAT(result, IsOk());
  for (const SocketAddr& addr : *result) {
    EXPECT_TRUE(addr.IsLoopback()) << addr.ToString();
    EXPECT_EQ(addr.port(), 80);
  }
}

TEST_F(AresResolverTest, RefusesNamesThatCannotExist) {
  const DnsServer server(AnswerBoth);
  for (const std::string& name :
       {std::string("a..b"), absl::StrCat(std::string(64, 'a'), ".test")}) {
    EXPECT_THAT(Lookup(server, name),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(name)));
  }
  EXPECT_THAT(server.questions(), IsEmpty());
}

TEST_F(AresResolverTest, RefusesWrongOptions) {
  AresOptions options = Options({Addr("[fe80::1%1]:53")});
  EXPECT_THAT(Lookup(AresResolver(options), "db.test"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("[fe80::1%1]:53")));
  options = Options({});
  options.attempts = 0;
  EXPECT_THAT(
      Lookup(AresResolver(options), "db.test"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("attempts")));
  options = Options({});
  options.timeout = absl::ZeroDuration();
  EXPECT_THAT(
      Lookup(AresResolver(options), "db.test"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("timeout")));
}

TEST_F(AresResolverTest, NeedsTimers) {
  const AresResolver resolver(Options({}));
  EXPECT_THAT(BlockOn(resolver.Lookup("db.test", 80)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(AresResolverTest, SaysWhichLimitOfTheSystemIsReached) {
  const AresResolver resolver(Options({Addr("127.0.0.1:53")}));
  Resolver::Result result = std::vector<SocketAddr>();
  const bool ran = reactor::WithFailingCalls({SYS_socket}, EMFILE, [&] {
    result = runtime_.BlockOn(resolver.Lookup("db.test", 80));
  });
  if (!ran) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("Lookup(\"db.test\"): socket")));
}

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

TEST_F(AresResolverTest, ConnectsByName) {
  const TcpListener listener = [this] {
    const EnterGuard enter = runtime_.Enter();
    return TcpListener::Bind(SocketAddr::Localhost(0)).value();
  }();
  const DnsServer server(
      [](const DnsQuestion&) { return DnsAnswer({Addr("127.0.0.1:0")}); });
  const AresResolver resolver(Options({server.addr()}));
  const uint16_t port = listener.local_addr().value().port();
  EXPECT_THAT(
      runtime_.BlockOn(ConnectTcp(absl::StrCat("db.test:", port), resolver)),
      IsOk());
}

// -----------------------------------------------------------------------------
// Cancellation
// -----------------------------------------------------------------------------

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

TEST_F(AresResolverTest, ATimeoutEndsALookup) {
  const DnsServer server(NeverAnswer);
  const AresResolver resolver(Options({server.addr()}));
  const size_t descriptors = reactor::CountOpenFds();
  auto lookup = Timeout(absl::Milliseconds(20), resolver.Lookup("a.test", 80));
  EXPECT_THAT(runtime_.BlockOn(std::move(lookup)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(reactor::CountOpenFds(), descriptors);
}

// -----------------------------------------------------------------------------
// Time
// -----------------------------------------------------------------------------

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
    const bool ended_early = co_await std::move(first);
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
    const bool ended = co_await std::move(second);
    EXPECT_TRUE(ended);
    if (ended) {
      EXPECT_THAT(*result, StatusIs(absl::StatusCode::kUnavailable));
    }
  };
  runtime_.BlockOn(test);
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

// -----------------------------------------------------------------------------
// Many lookups
// -----------------------------------------------------------------------------

TEST(AresResolver, AThousandLookupsAtOnceTakeNoThread) {
  if (!RaiseLimitOfDescriptors()) GTEST_SKIP() << "too few descriptors";
  const DnsServer server(AnswerBoth);
  const AresResolver resolver([&server] {
    AresOptions options = Options({server.addr()});
    // The socket of the server drops queries when its buffer is full.
    options.timeout = absl::Milliseconds(250);
    options.attempts = 10;
    return options;
  }());
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
