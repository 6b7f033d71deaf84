// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/combine/try_join.h"

#include <memory>
#include <tuple>
#include <type_traits>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/future/or_return.h"
#include "rouse/future/ready.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"

namespace rouse {
namespace {

using Outcome = absl::StatusOr<int>;

absl::Status Error() { return absl::NotFoundError("no such row"); }

TEST(TryJoin, ReturnsAllValues) {
  Switch<Outcome> a;
  Switch<absl::Status> b;
  auto join = TryJoin(
      a.future(), b.future(),
      Ready(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(3))));
  static_assert(Future<decltype(join)>);
  static_assert(
      std::is_same_v<FutureOutput<decltype(join)>,
                     absl::StatusOr<std::tuple<int, std::monostate,
                                               std::unique_ptr<int>>>>);
  EXPECT_TRUE(PollOnce(join).IsPending());
  b.Set(absl::OkStatus());
  EXPECT_TRUE(PollOnce(join).IsPending());
  EXPECT_FALSE(b.alive());
  a.Set(1);
  auto values = PollOnce(join).value();
  ASSERT_EQ(values.status(), absl::OkStatus());
  EXPECT_EQ(std::get<0>(*values), 1);
  EXPECT_EQ(*std::get<2>(*values), 3);
}

TEST(TryJoin, TheFirstErrorCancelsTheRest) {
  for (const bool first : {true, false}) {
    Switch<Outcome> a;
    Switch<Outcome> b;
    auto join = TryJoin(a.future(), b.future());
    EXPECT_TRUE(PollOnce(join).IsPending());
    (first ? a : b).Set(Error());
    EXPECT_EQ(PollOnce(join).value().status(), Error());
    EXPECT_FALSE(a.alive());
    EXPECT_FALSE(b.alive());
  }
}

TEST(TryJoin, AnErrorEndsTheRoundOfPolls) {
  Switch<Outcome> a;
  auto join = TryJoin(Ready(Error()), a.future());
  EXPECT_EQ(PollOnce(join).value().status(), Error());
  EXPECT_EQ(a.polls(), 0);
}

TEST(TryJoin, AValueBeforeAnErrorIsDestroyed) {
  auto value = std::make_shared<int>(1);
  Switch<absl::Status> s;
  auto join =
      TryJoin(Ready(absl::StatusOr<std::shared_ptr<int>>(value)), s.future());
  EXPECT_TRUE(PollOnce(join).IsPending());
  EXPECT_EQ(value.use_count(), 2);
  s.Set(Error());
  EXPECT_EQ(PollOnce(join).value().status(), Error());
  EXPECT_EQ(value.use_count(), 1);
}

TEST(TryJoin, WorksWithOrReturn) {
  auto body = [](Outcome a, Outcome b) -> Co<Outcome> {
    const auto [x, y] = co_await OrReturn(TryJoin(Ready(a), Ready(b)));
    co_return x + y;
  };
  Co<Outcome> good = body(1, 2);
  EXPECT_EQ(*PollOnce(good).value(), 3);
  Co<Outcome> bad = body(1, Error());
  EXPECT_EQ(PollOnce(bad).value().status(), Error());
}

TEST(TryJoin, PollsAnLvalueInPlace) {
  Switch<Outcome> a;
  auto leaf = a.future();
  {
    auto join = TryJoin(leaf, Ready(Error()));
    EXPECT_EQ(PollOnce(join).value().status(), Error());
  }
  EXPECT_TRUE(a.alive());
  a.Set(1);
  auto join = TryJoin(leaf);
  EXPECT_EQ(std::get<0>(*PollOnce(join).value()), 1);
}

TEST(TryJoin, PollingACompleteTryJoinPanics) {
  auto join = TryJoin(Ready(absl::OkStatus()));
  EXPECT_TRUE(PollOnce(join).value().ok());
  EXPECT_PANIC((void)PollOnce(join), "TryJoin was polled after");
  auto fails = TryJoin(Ready(Error()));
  EXPECT_FALSE(PollOnce(fails).value().ok());
  EXPECT_PANIC((void)PollOnce(fails), "TryJoin was polled after");
}

}  // namespace
}  // namespace rouse
