// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/resolver/static_resolver.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/net/socket_addr.h"
#include "rouse/testing/expect_panic.h"

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SocketAddr Addr(std::string_view text) {
  return SocketAddr::Parse(text).value();
}

TEST(StaticResolver, ReturnsTheAddressesInTheirOrder) {
  StaticResolver names;
  names.Add("db.test", {Addr("[::1]:0"), Addr("192.0.2.1:0")});
  EXPECT_THAT(
      BlockOn(names.Lookup("db.test", 80)),
      IsOkAndHolds(ElementsAre(Addr("[::1]:80"), Addr("192.0.2.1:80"))));
}

TEST(StaticResolver, KeepsAPortOfTheTable) {
  StaticResolver names;
  names.Add("db.test", {Addr("192.0.2.1:1234"), Addr("192.0.2.2:0")});
  EXPECT_THAT(
      BlockOn(names.Lookup("db.test:80")),
      IsOkAndHolds(ElementsAre(Addr("192.0.2.1:1234"), Addr("192.0.2.2:80"))));
}

TEST(StaticResolver, IgnoresCaseAndAFinalDot) {
  StaticResolver names;
  names.Add("Db.Test.", {Addr("192.0.2.1:0")});
  for (const std::string_view name : {"db.test", "DB.TEST.", "db.Test"}) {
    EXPECT_THAT(BlockOn(names.Lookup(name, 80)),
                IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
  }
}

TEST(StaticResolver, OtherNamesAreNotFound) {
  StaticResolver names;
  names.Add("empty.test", {});
  EXPECT_THAT(BlockOn(names.Lookup("db.test", 80)),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("Lookup(\"db.test\"): not in the table")));
  EXPECT_THAT(BlockOn(names.Lookup("empty.test", 80)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("empty.test")));
}

TEST(StaticResolver, ReturnsErrors) {
  StaticResolver names;
  names.Fail("db.test", absl::UnavailableError("no answer"));
  EXPECT_THAT(BlockOn(names.Lookup("db.test", 80)),
              StatusIs(absl::StatusCode::kUnavailable, "no answer"));
  names.Add("db.test", {Addr("192.0.2.1:0")});
  EXPECT_THAT(BlockOn(names.Lookup("db.test", 80)),
              IsOkAndHolds(ElementsAre(Addr("192.0.2.1:80"))));
}

TEST(StaticResolver, AnErrorIsNotOk) {
  StaticResolver names;
  EXPECT_PANIC(names.Fail("db.test", absl::OkStatus()), "call Add()");
}

}  // namespace
}  // namespace rouse
