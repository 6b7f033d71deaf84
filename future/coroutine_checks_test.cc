// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/coroutine_checks.h"
// The header above must come first.

ROUSE_BEGIN_CORO_WRAPPERS
#include "gmock/gmock.h"
ROUSE_END_CORO_WRAPPERS

#include <functional>
#include <string>
#include <tuple>

#include "absl/functional/any_invocable.h"
#include "absl/functional/bind_front.h"
#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/testing/internal/switch.h"

// Wrappers of coroutines compile and work with the checks on.

namespace rouse {
namespace {

using ::testing::ByMove;
using ::testing::Return;

Co<int> Twice(int x) { co_return 2 * x; }

TEST(CoroutineChecks, CallablesCanWrapACoroutine) {
  auto body = []() -> Co<int> {
    std::function<Co<int>(int)> function = Twice;
    absl::AnyInvocable<Co<int>(int)> any = Twice;
    absl::FunctionRef<Co<int>(int)> ref = Twice;
    auto bound = absl::bind_front(Twice, 4);
    int sum = co_await function(1);
    sum += co_await any(2);
    sum += co_await ref(3);
    sum += co_await bound();
    sum += co_await std::invoke(Twice, 5);
    sum += co_await std::apply(Twice, std::tuple<int>(6));
    co_return sum;
  };
  Co<int> co = body();
  EXPECT_EQ(PollOnce(co).value(), 42);
}

class Database {
 public:
  virtual ~Database() = default;
  virtual Co<int> Count(std::string table) = 0;
};

ROUSE_BEGIN_CORO_WRAPPERS
class MockDatabase : public Database {
 public:
  MOCK_METHOD(Co<int>, Count, (std::string table), (override));
};
ROUSE_END_CORO_WRAPPERS

TEST(CoroutineChecks, AMockCanReturnACoroutine) {
  MockDatabase database;
  EXPECT_CALL(database, Count("users")).WillOnce(Return(ByMove(Twice(4))));
  Co<int> co = database.Count("users");
  EXPECT_EQ(PollOnce(co).value(), 8);
}

}  // namespace
}  // namespace rouse
