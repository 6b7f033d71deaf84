// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/callable_future.h"

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/combine/join.h"
#include "rouse/future/combine/race.h"
#include "rouse/future/combine/select.h"
#include "rouse/future/combine/try_join.h"
#include "rouse/future/ready.h"
#include "rouse/future/yield.h"
#include "rouse/testing/poll_once.h"

namespace rouse {
namespace {

static_assert(IntoFuture<Co<>> && IntoFuture<Co<>&>);
static_assert(!IntoFuture<int> && !IntoFuture<int (*)()>);
static_assert(
    std::is_same_v<internal::FutureFrom<ReadyFuture<int>&>, ReadyFuture<int>&>);

// Returns a lambda whose coroutine suspends once, and then uses the capture.
auto Capturing(std::shared_ptr<int> value) {
  return [value = std::move(value)]() -> Co<int> {
    co_await Yield();
    co_return *value;
  };
}

// The lambda has been destroyed when the future is polled, except for the copy
// that the future keeps.
template <class F>
void ExpectSuspendsOnce(F& future) {
  EXPECT_TRUE(PollOnce(future).IsPending());
}

TEST(CallableFuture, JoinKeepsCallables) {
  auto value = std::make_shared<int>(7);
  {
    auto join = Join(Capturing(value), Ready(1), Capturing(value));
    ExpectSuspendsOnce(join);
    EXPECT_EQ(value.use_count(), 3);
    EXPECT_EQ(PollOnce(join).value(), std::make_tuple(7, 1, 7));
    EXPECT_EQ(value.use_count(), 1);
  }
}

TEST(CallableFuture, AnLvalueIsCopied) {
  auto value = std::make_shared<int>(7);
  auto lambda = Capturing(value);
  auto join = Join(lambda, lambda);
  EXPECT_EQ(value.use_count(), 4);
  ExpectSuspendsOnce(join);
  EXPECT_EQ(PollOnce(join).value(), std::make_tuple(7, 7));
  EXPECT_EQ(value.use_count(), 2);
}

TEST(CallableFuture, IsCalledAtTheFirstPoll) {
  int calls = 0;
  auto counts = [&calls] {
    ++calls;
    return Ready(5);
  };
  auto join = Join(counts);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(std::get<0>(PollOnce(join).value()), 5);
  EXPECT_EQ(calls, 1);
}

TEST(CallableFuture, TryJoinSelectAndRaceKeepCallables) {
  auto value = std::make_shared<int>(7);
  auto fallible = [value]() -> Co<absl::StatusOr<int>> {
    co_await Yield();
    co_return *value;
  };
  auto try_join = TryJoin(fallible);
  ExpectSuspendsOnce(try_join);
  EXPECT_EQ(std::get<0>(*PollOnce(try_join).value()), 7);

  auto select = Select(Capturing(value));
  ExpectSuspendsOnce(select);
  EXPECT_EQ(std::get<0>(PollOnce(select).value()), 7);

  auto biased = SelectBiased(Capturing(value), Capturing(value));
  ExpectSuspendsOnce(biased);
  EXPECT_EQ(PollOnce(biased).value().index(), 0u);

  auto race = Race(Capturing(value), Capturing(value));
  ExpectSuspendsOnce(race);
  EXPECT_EQ(PollOnce(race).value(), 7);
  // The remaining owners are `value` and `fallible`.
  EXPECT_EQ(value.use_count(), 2);
}

TEST(CallableFuture, TheFutureIsDestroyedBeforeTheCallable) {
  auto value = std::make_shared<int>(7);
  int seen = 0;
  struct Last {
    ~Last() { *seen = *value; }
    int* seen;
    const std::shared_ptr<int>& value;
  };
  auto lambda = [value, &seen]() -> Co<> {
    const Last last(&seen, value);
    co_await Yield();
  };
  {
    auto join = Join(std::move(lambda));
    ExpectSuspendsOnce(join);
  }
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace rouse
