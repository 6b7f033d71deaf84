// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/for_each_concurrent.h"

#include <array>
#include <stdexcept>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/iter.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

class ForEachConcurrentTest : public ::testing::Test {
 protected:
  static auto Indices() { return Iter(std::vector<int>{0, 1, 2}); }

  std::array<Switch<int>, 3> switches_;
  std::array<Switch<absl::Status>, 3> outcomes_;
};

TEST_F(ForEachConcurrentTest, RunsEveryCallAtMostTheLimitAtOnce) {
  std::vector<int> begun;
  std::vector<int> done;
  auto call = [&](int i) -> Co<> {
    begun.push_back(i);
    done.push_back(co_await switches_[i].future());
  };
  auto all = ForEachConcurrent(Indices(), 2, call);
  EXPECT_TRUE(PollOnce(all).IsPending());
  EXPECT_THAT(begun, ElementsAre(0, 1));
  switches_[1].Set(11);
  EXPECT_TRUE(PollOnce(all).IsPending());
  EXPECT_THAT(begun, ElementsAre(0, 1, 2));
  switches_[0].Set(10);
  switches_[2].Set(12);
  EXPECT_TRUE(PollOnce(all).IsReady());
  EXPECT_THAT(done, ElementsAre(11, 10, 12));
}

TEST_F(ForEachConcurrentTest, ACallThatBeginsDoesNotWakeTheTask) {
  CountingWaker waker;
  auto all = ForEachConcurrent(Indices(), 1,
                               [this](int i) { return switches_[i].future(); });
  EXPECT_TRUE(waker.Poll(all).IsPending());
  EXPECT_EQ(waker.wakes(), 0);
  switches_[0].Set(1);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(waker.Poll(all).IsPending());
  EXPECT_EQ(switches_[1].polls(), 1);
  EXPECT_EQ(waker.wakes(), 1);
}

TEST_F(ForEachConcurrentTest, OfNoItemsIsReady) {
  auto all = ForEachConcurrent(Iter(std::vector<int>()), 1,
                               [this](int i) { return switches_[i].future(); });
  EXPECT_TRUE(PollOnce(all).IsReady());
}

TEST_F(ForEachConcurrentTest, TheFirstErrorCancelsTheOtherCalls) {
  auto all = TryForEachConcurrent(
      Indices(), 3, [this](int i) { return outcomes_[i].future(); });
  EXPECT_TRUE(PollOnce(all).IsPending());
  outcomes_[0].Set(absl::OkStatus());
  EXPECT_TRUE(PollOnce(all).IsPending());
  outcomes_[2].Set(absl::NotFoundError("no such file"));
  EXPECT_EQ(PollOnce(all).value(), absl::NotFoundError("no such file"));
  EXPECT_FALSE(outcomes_[1].alive());
}

TEST_F(ForEachConcurrentTest, SucceedsIfAllCallsDo) {
  auto all = TryForEachConcurrent(
      Indices(), 1, [this](int i) { return outcomes_[i].future(); });
  for (Switch<absl::Status>& outcome : outcomes_) {
    EXPECT_TRUE(PollOnce(all).IsPending());
    outcome.Set(absl::OkStatus());
  }
  EXPECT_EQ(PollOnce(all).value(), absl::OkStatus());
}

TEST_F(ForEachConcurrentTest, Misuse) {
  auto call = [this](int i) { return switches_[i].future(); };
  EXPECT_PANIC((void)ForEachConcurrent(Indices(), 0, call),
               "ForEachConcurrent: the limit is 0");
  auto all = ForEachConcurrent(Iter(std::vector<int>()), 1, call);
  EXPECT_TRUE(PollOnce(all).IsReady());
  EXPECT_PANIC((void)PollOnce(all),
               "ForEachConcurrent was polled after it completed");
  auto try_all =
      TryForEachConcurrent(Iter(std::vector<int>()), 1,
                           [this](int i) { return outcomes_[i].future(); });
  EXPECT_EQ(PollOnce(try_all).value(), absl::OkStatus());
  EXPECT_PANIC((void)PollOnce(try_all),
               "TryForEachConcurrent was polled after it completed");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_F(ForEachConcurrentTest, ContinuesAfterAnException) {
  std::vector<int> done;
  auto call = [&done](int i) -> Co<> {
    if (i == 0) throw std::runtime_error("call");
    done.push_back(i);
    co_return;
  };
  auto all = ForEachConcurrent(Indices(), 3, call);
  EXPECT_THROW((void)PollOnce(all), std::runtime_error);
  EXPECT_TRUE(PollOnce(all).IsReady());
  EXPECT_THAT(done, ElementsAre(1, 2));
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
