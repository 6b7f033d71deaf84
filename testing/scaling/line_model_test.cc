// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/line_model.h"

#include <cstddef>
#include <source_location>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/scaling/costs.h"

namespace rouse::scaling {
namespace {

class LineModelTest : public testing::Test {
 protected:
  // Three cores at the three distances from core 0.
  static constexpr size_t kNear = 1;
  static constexpr size_t kMiddle = 9;
  static constexpr size_t kFar = 100;

  // Returns how long `core` waits for an access that begins at `now`.
  double Takes(Access access, size_t core, double now = 1000) {
    return model_.Do(access, core, &line_, now,
                     std::source_location::current()) -
           now;
  }

  // Whole numbers, so that sums are exact.
  static Costs WholeCosts() {
    Costs costs;
    costs.load = 1;
    costs.store = 2;
    costs.modify = 4;
    return costs;
  }

  const Costs costs_ = WholeCosts();
  LineModel model_{costs_};
  alignas(LineModel::kLineSize) char line_[LineModel::kLineSize];
};

TEST_F(LineModelTest, KnowsThreeDistances) {
  EXPECT_EQ(model_.Distance(0, 0), 0);
  EXPECT_EQ(model_.Distance(0, kNear), costs_.in_cluster);
  EXPECT_EQ(model_.Distance(0, kMiddle), costs_.in_socket);
  EXPECT_EQ(model_.Distance(0, kFar), costs_.across_sockets);
}

TEST_F(LineModelTest, AnUnusedLineIsAHit) {
  EXPECT_EQ(Takes(Access::kModify, 0), costs_.modify);
  EXPECT_EQ(Takes(Access::kLoad, 0), costs_.load);
  EXPECT_EQ(model_.stall(), 0);
}

TEST_F(LineModelTest, AChangedLineIsFetchedFromItsCore) {
  Takes(Access::kModify, 0);
  EXPECT_EQ(Takes(Access::kLoad, kFar), costs_.across_sockets + costs_.load);
  // Both have the line now.
  EXPECT_EQ(Takes(Access::kLoad, kFar, 2000), costs_.load);
  EXPECT_EQ(Takes(Access::kLoad, 0, 2000), costs_.load);
}

TEST_F(LineModelTest, ASharedLineIsFetchedFromTheNearestCore) {
  Takes(Access::kModify, 0);
  Takes(Access::kLoad, kFar, 2000);
  EXPECT_EQ(Takes(Access::kLoad, kFar + 1, 3000),
            costs_.in_cluster + costs_.load);
}

TEST_F(LineModelTest, AChangeTakesTheLineFromAllSharers) {
  Takes(Access::kModify, 0);
  Takes(Access::kLoad, kNear, 2000);
  EXPECT_EQ(Takes(Access::kModify, 0, 3000), costs_.in_cluster + costs_.modify);
  Takes(Access::kLoad, kFar, 4000);
  EXPECT_EQ(Takes(Access::kModify, 0, 5000),
            costs_.across_sockets + costs_.modify);
  EXPECT_EQ(Takes(Access::kModify, 0, 6000), costs_.modify);
}

// The line moves to one core after another.
TEST_F(LineModelTest, ContendingCoresWaitForEachOther) {
  Takes(Access::kModify, 0);
  EXPECT_EQ(Takes(Access::kModify, kNear), costs_.in_cluster + costs_.modify);
  EXPECT_EQ(Takes(Access::kModify, kMiddle),
            costs_.in_cluster + costs_.in_socket + costs_.modify);
}

TEST_F(LineModelTest, AStoreWaitsInTheStoreBuffer) {
  Takes(Access::kModify, 0);
  EXPECT_EQ(Takes(Access::kStore, kNear), costs_.store);
  // The buffer must be empty before a read-modify-write.
  EXPECT_EQ(Takes(Access::kModify, kNear), costs_.in_cluster + costs_.modify);
}

TEST_F(LineModelTest, OtherCoresSeeAStoreWhenTheLineHasArrived) {
  Takes(Access::kModify, 0);
  Takes(Access::kStore, kMiddle);
  EXPECT_EQ(Takes(Access::kLoad, 0), 2 * costs_.in_socket + costs_.load);
}

TEST_F(LineModelTest, NamesTheHottestLine) {
  Takes(Access::kModify, 0);
  Takes(Access::kModify, kFar);
  ASSERT_EQ(model_.Hottest(5).size(), 1u);
  const LineModel::Heat heat = model_.Hottest(5)[0];
  EXPECT_EQ(heat.transfers, 1u);
  EXPECT_EQ(heat.stall, costs_.across_sockets);
  EXPECT_THAT(heat.name, testing::HasSubstr("LineModelTest::Takes ("));
  EXPECT_THAT(heat.name, testing::HasSubstr("line_model_test.cc"));
  EXPECT_EQ(model_.HottestAccesses(5)[0].name, heat.name);
  model_.ForgetStalls();
  EXPECT_TRUE(model_.Hottest(5).empty());
}

}  // namespace
}  // namespace rouse::scaling
