// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `AresResolver` with name servers that fail, lie or answer by TCP.

#include <errno.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/net/ares/ares_fixture.h"
#include "rouse/net/ares/ares_resolver.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/udp_socket.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/dns_server.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

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

}  // namespace
}  // namespace rouse
