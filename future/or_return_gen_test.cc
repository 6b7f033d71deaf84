// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests OrReturn() in a Gen.

#include <optional>
#include <stdexcept>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/or_return.h"
#include "rouse/testing/internal/switch.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

using Result = absl::StatusOr<int>;

absl::Status Error() { return absl::NotFoundError("no such row"); }

// Checks that the error is the last item.
template <class G>
void ExpectErrorAndEnd(G& gen) {
  const auto last = PollNextOnce(gen).value();
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(absl::Status(last->status()), Error());
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
}

TEST(OrReturnInGen, YieldsTheErrorLast) {
  Log log;
  auto body = [](Log* log, Result second) -> Gen<Result> {
    const Local local(log, "local");
    co_yield co_await OrReturn(Result(1));
    co_await OrReturn(absl::OkStatus());
    co_yield co_await OrReturn(std::move(second));
    log->push_back("not reached");
  };
  auto gen = body(&log, Error());
  EXPECT_EQ(PollNextOnce(gen).value(), Result(1));
  EXPECT_THAT(log, ElementsAre());
  ExpectErrorAndEnd(gen);
  EXPECT_THAT(log, ElementsAre("local"));
}

TEST(OrReturnInGen, EndsOnAnErrorBeforeTheFirstItem) {
  auto body = []() -> Gen<Result> {
    co_await OrReturn(Error());
    co_yield 1;
  };
  auto gen = body();
  ExpectErrorAndEnd(gen);
}

TEST(OrReturnInGen, TakesAFuture) {
  Switch<Result> gate;
  auto body = [](Switch<Result>& gate) -> Gen<Result> {
    for (;;) co_yield co_await OrReturn(gate.future());
  };
  auto gen = body(gate);
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  gate.Set(4);
  EXPECT_EQ(PollNextOnce(gen).value(), Result(4));
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  gate.Set(Error());
  ExpectErrorAndEnd(gen);
  EXPECT_FALSE(gate.alive());
}

Co<Result> Fetch(Switch<int>& gate, bool fails) {
  const int value = co_await gate.future();
  if (fails) co_return Error();
  co_return value;
}

TEST(OrReturnInGen, TakesACoroutine) {
  Switch<int> gate;
  auto body = [](Switch<int>& gate) -> Gen<Result> {
    co_yield co_await OrReturn(Fetch(gate, false));
    co_yield co_await OrReturn(Fetch(gate, true));
    co_yield 0;
  };
  auto gen = body(gate);
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  gate.Set(1);
  EXPECT_EQ(PollNextOnce(gen).value(), Result(1));
  EXPECT_TRUE(PollNextOnce(gen).IsPending());
  gate.Set(2);
  ExpectErrorAndEnd(gen);
}

Co<Result> FailAtOnce() { co_return Error(); }

TEST(OrReturnInGen, TakesACoroutineThatFailsAtOnce) {
  auto body = []() -> Gen<Result> {
    co_yield 1;
    co_await OrReturn(FailAtOnce());
    co_yield 2;
  };
  auto gen = body();
  EXPECT_EQ(PollNextOnce(gen).value(), Result(1));
  ExpectErrorAndEnd(gen);
}

TEST(OrReturnInGen, YieldsAStatus) {
  auto body = []() -> Gen<absl::Status> {
    co_yield absl::OkStatus();
    co_await OrReturn(Result(Error()));
    co_yield absl::OkStatus();
  };
  auto gen = body();
  EXPECT_EQ(PollNextOnce(gen).value(), absl::OkStatus());
  EXPECT_EQ(PollNextOnce(gen).value(), Error());
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
}

// The error is an error of the item, and not a value.
TEST(OrReturnInGen, YieldsAResultOfAStatus) {
  auto body = []() -> Gen<absl::StatusOr<absl::Status>> {
    co_await OrReturn(Error());
    co_yield absl::OkStatus();
  };
  auto gen = body();
  ExpectErrorAndEnd(gen);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(OrReturnInGen, PassesExceptionsOn) {
  auto body = []() -> Gen<Result> {
    auto fail = []() -> Co<Result> {
      throw std::runtime_error("thrown");
      co_return 1;
    };
    auto failing = fail();
    co_yield co_await OrReturn(std::move(failing));
  };
  auto gen = body();
  EXPECT_THROW((void)PollNextOnce(gen), std::runtime_error);
  EXPECT_EQ(PollNextOnce(gen).value(), std::nullopt);
}
#endif

}  // namespace
}  // namespace rouse
