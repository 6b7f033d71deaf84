// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/try_join_all.h"

#include <array>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/future.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

using Outcome = absl::StatusOr<int>;

template <class T>
std::vector<typename Switch<T>::Leaf> FuturesOf(
    std::array<Switch<T>, 3>& switches) {
  std::vector<typename Switch<T>::Leaf> futures;
  for (Switch<T>& s : switches) futures.push_back(s.future());
  return futures;
}

TEST(TryJoinAll, ReturnsAllValuesInOrder) {
  std::array<Switch<Outcome>, 3> switches;
  auto join = TryJoinAll(FuturesOf(switches));
  static_assert(std::is_same_v<FutureOutput<decltype(join)>,
                               absl::StatusOr<std::vector<int>>>);
  for (const int i : {2, 0, 1}) {
    EXPECT_TRUE(PollOnce(join).IsPending());
    switches[i].Set(Outcome(i));
  }
  EXPECT_THAT(*PollOnce(join).value(), ElementsAre(0, 1, 2));
}

TEST(TryJoinAll, TheFirstErrorCancelsTheOthers) {
  std::array<Switch<Outcome>, 3> switches;
  auto join = TryJoinAll(FuturesOf(switches));
  switches[0].Set(Outcome(1));
  EXPECT_TRUE(PollOnce(join).IsPending());
  switches[2].Set(absl::NotFoundError("no such row"));
  EXPECT_EQ(PollOnce(join).value().status(),
            absl::NotFoundError("no such row"));
  EXPECT_FALSE(switches[1].alive());
}

TEST(TryJoinAll, OfStatusReturnsAStatus) {
  std::array<Switch<absl::Status>, 3> switches;
  auto join = TryJoinAll(FuturesOf(switches));
  static_assert(std::is_same_v<FutureOutput<decltype(join)>, absl::Status>);
  for (Switch<absl::Status>& s : switches) s.Set(absl::OkStatus());
  EXPECT_EQ(PollOnce(join).value(), absl::OkStatus());

  auto failing = TryJoinAll(FuturesOf(switches));
  switches[1].Set(absl::NotFoundError("b"));
  EXPECT_EQ(PollOnce(failing).value(), absl::NotFoundError("b"));
}

TEST(TryJoinAll, OfNoFuturesSucceeds) {
  auto join = TryJoinAll(std::vector<Switch<Outcome>::Leaf>());
  EXPECT_THAT(*PollOnce(join).value(), ElementsAre());
}

TEST(TryJoinAll, MovesValuesThatCannotBeCopied) {
  using Pointer = absl::StatusOr<std::unique_ptr<int>>;
  auto body = []() -> Co<Pointer> { co_return std::make_unique<int>(3); };
  std::vector<Co<Pointer>> children;
  children.push_back(body());
  auto join = TryJoinAll(std::move(children));
  EXPECT_EQ(*PollOnce(join).value()->at(0), 3);
}

TEST(TryJoinAll, PollingACompleteTryJoinAllPanics) {
  auto join = TryJoinAll(std::vector<Switch<Outcome>::Leaf>());
  EXPECT_TRUE(PollOnce(join).IsReady());
  EXPECT_PANIC((void)PollOnce(join),
               "TryJoinAll was polled after it completed");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(TryJoinAll, PropagatesAnException) {
  auto body = []() -> Co<absl::Status> {
    throw std::runtime_error("child");
    co_return absl::OkStatus();
  };
  std::vector<Co<absl::Status>> children;
  children.push_back(body());
  auto join = TryJoinAll(std::move(children));
  EXPECT_THROW((void)PollOnce(join), std::runtime_error);
  EXPECT_PANIC((void)PollOnce(join), "one of its futures threw");
}

TEST(TryJoinAll, PropagatesAnExceptionFromTheMoveOfAValue) {
  struct Value {
    Value() = default;
    Value(Value&&) noexcept(false) { throw std::runtime_error("move"); }
  };
  class IsReady {
   public:
    PollResult<absl::StatusOr<Value>> Poll(Context&) {
      return PollResult<absl::StatusOr<Value>>(std::in_place, std::in_place);
    }
  };
  auto join = TryJoinAll(std::vector<IsReady>(1));
  EXPECT_THROW((void)PollOnce(join), std::runtime_error);
  EXPECT_PANIC((void)PollOnce(join), "one of its futures threw");
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
