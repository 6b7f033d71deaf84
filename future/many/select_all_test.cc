// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/select_all.h"

#include <array>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"

namespace rouse {
namespace {

template <class T>
std::vector<typename Switch<T>::Leaf> FuturesOf(
    std::array<Switch<T>, 3>& switches) {
  std::vector<typename Switch<T>::Leaf> futures;
  for (Switch<T>& s : switches) futures.push_back(s.future());
  return futures;
}

TEST(SelectAll, ReturnsTheFirstOutputAndCancelsTheOthers) {
  std::array<Switch<int>, 3> switches;
  auto select = SelectAll(FuturesOf(switches));
  EXPECT_TRUE(PollOnce(select).IsPending());
  switches[2].Set(20);
  switches[1].Set(10);
  const auto [index, output] = PollOnce(select).value();
  EXPECT_EQ(index, 2);
  EXPECT_EQ(output, 20);
  for (const Switch<int>& s : switches) EXPECT_FALSE(s.alive());
}

TEST(SelectAll, Misuse) {
  EXPECT_PANIC((void)SelectAll(std::vector<Co<int>>()),
               "SelectAll: there are no futures");
  std::array<Switch<int>, 3> switches;
  auto select = SelectAll(FuturesOf(switches));
  switches[0].Set(1);
  EXPECT_TRUE(PollOnce(select).IsReady());
  EXPECT_PANIC((void)PollOnce(select), "SelectAll was polled after");
}

TEST(SelectOk, ReturnsTheFirstSuccess) {
  using Outcome = absl::StatusOr<int>;
  std::array<Switch<Outcome>, 3> switches;
  auto select = SelectOk(FuturesOf(switches));
  switches[0].Set(absl::NotFoundError("a"));
  EXPECT_TRUE(PollOnce(select).IsPending());
  EXPECT_FALSE(switches[0].alive());
  switches[2].Set(Outcome(2));
  EXPECT_EQ(*PollOnce(select).value(), 2);
  EXPECT_FALSE(switches[1].alive());
}

TEST(SelectOk, ReturnsTheLastErrorIfAllFail) {
  std::array<Switch<absl::Status>, 3> switches;
  auto select = SelectOk(FuturesOf(switches));
  EXPECT_TRUE(PollOnce(select).IsPending());
  switches[1].Set(absl::NotFoundError("b"));
  switches[0].Set(absl::NotFoundError("a"));
  EXPECT_TRUE(PollOnce(select).IsPending());
  switches[2].Set(absl::NotFoundError("c"));
  EXPECT_EQ(PollOnce(select).value(), absl::NotFoundError("c"));
}

TEST(SelectOk, Misuse) {
  EXPECT_PANIC((void)SelectOk(std::vector<Co<absl::Status>>()),
               "SelectOk: there are no futures");
  std::array<Switch<absl::Status>, 3> switches;
  auto select = SelectOk(FuturesOf(switches));
  switches[0].Set(absl::OkStatus());
  EXPECT_TRUE(PollOnce(select).IsReady());
  EXPECT_PANIC((void)PollOnce(select), "SelectOk was polled after");
}

}  // namespace
}  // namespace rouse
