// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/single/catch_exception.h"

#include <exception>
#include <stdexcept>
#include <type_traits>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

TEST(CatchException, PassesTheOutputOn) {
  auto value = CatchException(Ready(7));
  static_assert(Future<decltype(value)>);
  static_assert(
      std::is_same_v<FutureOutput<decltype(value)>, absl::StatusOr<int>>);
  EXPECT_EQ(*PollOnce(value).value(), 7);
  EXPECT_EQ(value.exception(), nullptr);
  auto nothing = CatchException(Ready());
  static_assert(std::is_same_v<FutureOutput<decltype(nothing)>, absl::Status>);
  EXPECT_TRUE(PollOnce(nothing).value().ok());
  auto error =
      CatchException(Ready(absl::StatusOr<int>(absl::NotFoundError("nobody"))));
  EXPECT_TRUE(absl::IsNotFound(PollOnce(error).value().status()));
}

TEST(CatchException, WaitsForTheFuture) {
  Switch<int> s;
  auto caught = CatchException(s.future());
  EXPECT_TRUE(PollOnce(caught).IsPending());
  s.Set(1);
  EXPECT_EQ(*PollOnce(caught).value(), 1);
  EXPECT_FALSE(s.alive());
}

TEST(CatchException, PollsAnLvalueInPlace) {
  Switch<int> s;
  auto leaf = s.future();
  {
    auto caught = CatchException(leaf);
    EXPECT_TRUE(PollOnce(caught).IsPending());
  }
  EXPECT_TRUE(s.alive());
}

TEST(CatchException, PollingACompleteFuturePanics) {
  auto caught = CatchException(Ready());
  EXPECT_TRUE(PollOnce(caught).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(caught)),
               "CatchException was polled after it completed");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(CatchException, MakesAStatusOfAnException) {
  Log log;
  auto thrower = [](Log* log) -> Co<int> {
    const Local local(log, "local");
    throw std::runtime_error("no plugin");
    co_return 1;
  };
  auto caught = CatchException(thrower(&log));
  const absl::StatusOr<int> result = PollOnce(caught).value();
  EXPECT_EQ(result.status(),
            absl::InternalError("a future ended with an exception: no plugin"));
  EXPECT_THAT(log, ElementsAre("local"));
  EXPECT_THROW(std::rethrow_exception(caught.exception()), std::runtime_error);
}

TEST(CatchException, TakesAnyException) {
  auto call = []() -> ReadyFuture<void> { throw 7; };
  auto caught = CatchException(call);
  EXPECT_EQ(PollOnce(caught).value(),
            absl::InternalError("a future ended with an exception"));
  EXPECT_THROW(std::rethrow_exception(caught.exception()), int);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
