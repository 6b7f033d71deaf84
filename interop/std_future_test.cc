// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/interop/std_future.h"

#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/join_handle.h"

namespace rouse::interop {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

class FromStdFutureTest : public ::testing::Test {
 protected:
  Runtime runtime_ = Builder::CurrentThread().Build().value();
  const EnterGuard enter_ = runtime_.Enter();
};

TEST_F(FromStdFutureTest, GivesTheValue) {
  std::promise<int> promise;
  JoinHandle<int> answer = FromStdFuture(promise.get_future());
  promise.set_value(7);
  EXPECT_THAT(runtime_.BlockOn(std::move(answer)), IsOkAndHolds(7));
}

TEST_F(FromStdFutureTest, CarriesVoidAndMoveOnlyValues) {
  std::promise<void> done;
  done.set_value();
  EXPECT_THAT(runtime_.BlockOn(FromStdFuture(done.get_future())), IsOk());
  std::promise<std::unique_ptr<int>> promise;
  promise.set_value(std::make_unique<int>(3));
  absl::StatusOr<std::unique_ptr<int>> value =
      runtime_.BlockOn(FromStdFuture(promise.get_future()));
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(**value, 3);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(FromStdFutureTest, AnExceptionIsAnError) {
  std::promise<int> promise;
  promise.set_exception(
      std::make_exception_ptr(std::runtime_error("not today")));
  EXPECT_THAT(runtime_.BlockOn(FromStdFuture(promise.get_future())),
              StatusIs(absl::StatusCode::kInternal));
}
#endif

}  // namespace
}  // namespace rouse::interop
