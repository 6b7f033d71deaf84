// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests what all resolvers share, and `SystemResolver`.

#include "rouse/net/resolver/resolver.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/ready.h"
#include "rouse/net/resolver/system_resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SocketAddr Addr(std::string_view text) {
  return SocketAddr::Parse(text).value();
}

// Answers each name with 192.0.2.1, and lists the names.
class ListingResolver : public Resolver {
 public:
  const std::vector<std::string>& names() const { return names_; }

 private:
  LookupFuture LookupName(std::string name, uint16_t port) const override {
    names_.push_back(std::move(name));
    return Ready(Result(std::vector{Addr("192.0.2.1:0").WithPort(port)}));
  }

  mutable std::vector<std::string> names_;
};

TEST(Resolver, LooksUpNames) {
  const ListingResolver resolver;
  EXPECT_THAT(BlockOn(resolver.Lookup("db.test", 80)),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
  EXPECT_THAT(BlockOn(resolver.Lookup("Other.Test.:81")),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:81"))));
  EXPECT_THAT(resolver.names(), ElementsAre("db.test", "Other.Test."));
}

TEST(Resolver, AnAddressIsNotLookedUp) {
  const ListingResolver resolver;
  EXPECT_THAT(BlockOn(resolver.Lookup("192.0.2.7", 80)),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.7:80"))));
  EXPECT_THAT(BlockOn(resolver.Lookup("[2001:db8::1]:80")),
              IsOkAndHolds(ElementsAre(Addr("[2001:db8::1]:80"))));
  EXPECT_THAT(BlockOn(resolver.Lookup("fe80::1%3", 80)),
              IsOkAndHolds(ElementsAre(Addr("[fe80::1%3]:80"))));
  EXPECT_THAT(resolver.names(), IsEmpty());
}

TEST(Resolver, RefusesInvalidNames) {
  const ListingResolver resolver;
  for (const std::string& host :
       {std::string(), std::string("a\0b", 3), std::string(255, 'a'),
        std::string("1:2"), std::string("[::1]")}) {
    EXPECT_THAT(
        BlockOn(resolver.Lookup(host, 80)),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Lookup(\"")))
        << host;
  }
  for (const std::string_view text :
       {"", ":80", "db.test", "db.test:x", "::1:80", "[db.test]:80"}) {
    EXPECT_THAT(BlockOn(resolver.Lookup(text)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("not a host and port")))
        << text;
  }
  EXPECT_THAT(resolver.names(), IsEmpty());
}

TEST(SystemResolver, LooksUpOnThreadsForLookups) {
  scheduler::BlockingOptions options;
  options.max_threads = 1;
  const scheduler::BlockingPool::Owner pool =
      scheduler::BlockingPool::Create(std::move(options));
  const SystemResolver resolver;
  EXPECT_THAT(BlockOn(resolver.Lookup("localhost", 80)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  {
    const scheduler::ScopedBlockingPool current(*pool);
    EXPECT_THAT(BlockOn(resolver.Lookup("localhost", 80)), IsOk());
    EXPECT_EQ(pool->lookup_metrics().threads, 1u);
    EXPECT_EQ(pool->metrics().threads, 0u);
  }
  const SystemResolver on_pool(*pool);
  EXPECT_THAT(BlockOn(on_pool.Lookup("localhost", 80)), IsOk());
  EXPECT_EQ(pool->metrics().threads, 1u);
}

}  // namespace
}  // namespace rouse
