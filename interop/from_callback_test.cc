// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/interop/from_callback.h"

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/future.h"
#include "rouse/testing/counting_waker.h"

namespace rouse::interop {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

// A library with callbacks.
class Library {
 public:
  void Get(std::function<void(std::string)> done) {
    calls_.push_back(std::move(done));
  }
  void Complete(const std::string& value) {
    for (auto& call : std::exchange(calls_, {})) call(value);
  }
  void Forget() { calls_.clear(); }
  size_t calls() const { return calls_.size(); }

 private:
  std::vector<std::function<void(std::string)>> calls_;
};

TEST(FromCallback, IsReadyWhenTheCallbackIsCalled) {
  Library library;
  CountingWaker task;
  auto get = FromCallback<std::string>(
      [&library](Callback<std::string> done) { library.Get(done); });
  EXPECT_EQ(library.calls(), 0u);
  EXPECT_TRUE(task.Poll(get).IsPending());
  EXPECT_EQ(library.calls(), 1u);
  EXPECT_TRUE(task.Poll(get).IsPending());
  EXPECT_EQ(library.calls(), 1u);
  library.Complete("value");
  EXPECT_THAT(*task.Poll(get), IsOkAndHolds("value"));
}

TEST(FromCallback, TheCallbackCanBeCalledAtOnce) {
  auto get = FromCallback<int>([](Callback<int> done) { done(7); });
  EXPECT_THAT(BlockOn(std::move(get)), IsOkAndHolds(7));
}

TEST(FromCallback, TheCallbackCanBeCalledByAnotherThread) {
  std::thread other;
  auto get = FromCallback<int>([&other](Callback<int> done) {
    other = std::thread([done] { done(7); });
  });
  EXPECT_THAT(BlockOn(std::move(get)), IsOkAndHolds(7));
  other.join();
}

TEST(FromCallback, TheFirstCallCounts) {
  auto get = FromCallback<int>([](Callback<int> done) {
    const Callback<int> copy = done;
    done(1);
    done(2);
    copy(3);
  });
  EXPECT_THAT(BlockOn(std::move(get)), IsOkAndHolds(1));
}

TEST(FromCallback, ALostCallbackIsAnError) {
  Library library;
  CountingWaker task;
  auto get = FromCallback<std::string>(
      [&library](Callback<std::string> done) { library.Get(done); });
  EXPECT_TRUE(task.Poll(get).IsPending());
  library.Forget();
  EXPECT_THAT(*task.Poll(get), StatusIs(absl::StatusCode::kCancelled));
}

TEST(FromCallback, ACallAfterTheFutureIsGoneDoesNothing) {
  Library library;
  CountingWaker task;
  {
    auto get = FromCallback<std::string>(
        [&library](Callback<std::string> done) { library.Get(done); });
    EXPECT_TRUE(task.Poll(get).IsPending());
  }
  library.Complete("value");
}

TEST(FromCallback, AStatusIsNotNested) {
  auto status = FromCallback<absl::Status>(
      [](Callback<absl::Status> done) { done(absl::NotFoundError("no")); });
  EXPECT_THAT(BlockOn(std::move(status)),
              StatusIs(absl::StatusCode::kNotFound));
  auto number = FromCallback<absl::StatusOr<int>>(
      [](Callback<absl::StatusOr<int>> done) { done(5); });
  EXPECT_THAT(BlockOn(std::move(number)), IsOkAndHolds(5));
  auto nothing = FromCallback<void>([](Callback<void> done) { done(); });
  EXPECT_THAT(BlockOn(std::move(nothing)), IsOk());
}

TEST(FromCallback, CarriesAMoveOnlyValue) {
  auto get = FromCallback<std::unique_ptr<int>>(
      [](Callback<std::unique_ptr<int>> done) {
        done(std::make_unique<int>(3));
      });
  absl::StatusOr<std::unique_ptr<int>> value = BlockOn(std::move(get));
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(**value, 3);
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST(FromCallback, AnExceptionOfTheStartPropagates) {
  auto get = FromCallback<int>(
      [](Callback<int>) { throw std::runtime_error("not started"); });
  EXPECT_THROW((void)BlockOn(std::move(get)), std::runtime_error);
}
#endif

}  // namespace
}  // namespace rouse::interop
