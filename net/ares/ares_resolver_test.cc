// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/ares/ares_resolver.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/net/ares/ares_fixture.h"
#include "rouse/net/ares/ares_options.h"
#include "rouse/net/by_name.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/internal/dns_server.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

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

}  // namespace
}  // namespace rouse
