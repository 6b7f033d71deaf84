// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// The examples of names.md, compiled and run. The example of an AresResolver is
// a part of examples/resolve.

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/by_name.h"
#include "rouse/net/resolver/caching_resolver.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/resolver/static_resolver.h"
#include "rouse/net/resolver/system_resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/timer/timeout.h"

namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;

rouse::Co<absl::StatusOr<rouse::TcpStream>> ConnectInTime(
    std::string server, const rouse::Resolver& resolver) {
  co_return co_await rouse::Timeout(
      absl::Seconds(30), rouse::ConnectTcp(std::move(server), resolver));
}

rouse::Co<absl::Status> Connects() {
  rouse::TcpListener listener = co_await rouse::OrReturn(
      rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)));
  rouse::SocketAddr addr = co_await rouse::OrReturn(listener.local_addr());
  rouse::StaticResolver names;
  names.Add("db.example.com", {addr});
  names.Fail("cache.example.com", absl::UnavailableError("no answer"));
  rouse::TcpStream stream =
      co_await rouse::OrReturn(ConnectInTime("db.example.com:5432", names));
  EXPECT_THAT(stream.peer_addr(), IsOkAndHolds(addr));
  auto connect = ConnectInTime("cache.example.com:80", names);
  EXPECT_THAT(co_await std::move(connect),
              StatusIs(absl::StatusCode::kUnavailable, "no answer"));
  co_return absl::OkStatus();
}

// Finds the names of a cluster in a table, and other names in the system.
class ClusterResolver : public rouse::Resolver {
 public:
  explicit ClusterResolver(const rouse::Resolver& table) : table_(table) {}

 private:
  LookupFuture LookupName(std::string name, uint16_t port) const override {
    const bool inside = name.ends_with(".cluster");
    return (inside ? table_ : system_).Lookup(name, port);
  }

  const rouse::Resolver& table_;
  const rouse::SystemResolver system_;
};

class NamesExamplesTest : public ::testing::Test {
 protected:
  rouse::Runtime runtime_ = rouse::Builder::CurrentThread().Build().value();
};

TEST_F(NamesExamplesTest, AStaticResolverLeadsToTheTest) {
  EXPECT_THAT(runtime_.BlockOn(Connects()), IsOk());
}

TEST_F(NamesExamplesTest, ACacheKeepsAnswers) {
  const rouse::SystemResolver system;
  rouse::CachingResolver resolver(system, {.ttl = absl::Seconds(10)});
  EXPECT_THAT(runtime_.BlockOn(resolver.Lookup("localhost", 80)), IsOk());
  EXPECT_THAT(runtime_.BlockOn(resolver.Lookup("localhost", 81)), IsOk());
}

TEST_F(NamesExamplesTest, AResolverOfYourOwn) {
  rouse::StaticResolver table;
  const rouse::SocketAddr addr = rouse::SocketAddr::IPv4({192, 0, 2, 1}, 80);
  table.Add("db.cluster", {addr});
  const ClusterResolver resolver(table);
  EXPECT_THAT(runtime_.BlockOn(resolver.Lookup("db.cluster", 80)),
              IsOkAndHolds(ElementsAre(addr)));
  EXPECT_THAT(runtime_.BlockOn(resolver.Lookup("localhost", 80)), IsOk());
}

}  // namespace
