// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/task_local.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co/co.h"
#include "rouse/future/combine/join.h"
#include "rouse/future/future.h"
#include "rouse/future/yield.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

constinit TaskLocal<int> number("number");
constinit TaskLocal<std::string> name("name");

int NumberOr(int otherwise) {
  const int* const value = number.Get();
  return value != nullptr ? *value : otherwise;
}

// Returns the values in force before, between and after suspensions.
Co<std::string> Observe() {
  std::string seen = std::to_string(NumberOr(-1));
  for (int i = 0; i < 2; ++i) {
    co_await Yield();
    seen += "," + std::to_string(NumberOr(-1));
  }
  co_return seen;
}

// The container claims to be copyable.
TEST(TaskLocal, AContainerOfMoveOnlyValuesIsNotInherited) {
  static constinit TaskLocal<std::vector<std::unique_ptr<int>>> values(
      "values");
  std::vector<std::unique_ptr<int>> some;
  some.push_back(std::make_unique<int>(7));
  values.SyncScope(std::move(some), [] {
    EXPECT_EQ(*values.Get()->front(), 7);
    auto inherits = InheritTaskLocals(
        []() -> Co<bool> { co_return values.Get() == nullptr; });
    EXPECT_TRUE(PollOnce(inherits).value());
  });
}

TEST(TaskLocal, HasItsValueInEveryPollAndNotBetween) {
  auto scope = number.Scope(7, Observe());
  static_assert(Future<decltype(scope)>);
  EXPECT_TRUE(PollOnce(scope).IsPending());
  EXPECT_EQ(number.Get(), nullptr);
  EXPECT_TRUE(PollOnce(scope).IsPending());
  EXPECT_EQ(PollOnce(scope).value(), "7,7,7");
  EXPECT_EQ(number.Get(), nullptr);
}

TEST(TaskLocal, TheInnermostScopeOfAKeyWins) {
  auto body = []() -> Co<std::string> {
    std::string seen = std::to_string(NumberOr(-1));
    seen += "|" + co_await number.Scope(2, Observe());
    seen += "|" + std::to_string(NumberOr(-1));
    co_return seen;
  };
  EXPECT_EQ(BlockOn(number.Scope(1, body())), "1|2,2,2|1");
}

TEST(TaskLocal, KeysAreIndependent) {
  auto body = []() -> Co<std::string> {
    co_return *name.Get() + std::to_string(*number.Get());
  };
  EXPECT_EQ(BlockOn(name.Scope("a", number.Scope(1, body()))), "a1");
  EXPECT_EQ(BlockOn(number.Scope(2, name.Scope("b", body()))), "b2");
}

TEST(TaskLocal, EachScopeOfATaskHasItsOwnValue) {
  auto joined =
      Join(number.Scope(1, Observe()), number.Scope(2, Observe()), Observe());
  EXPECT_EQ(BlockOn(joined), std::tuple("1,1,1", "2,2,2", "-1,-1,-1"));
}

TEST(TaskLocal, KeepsAWrittenValue) {
  auto body = []() -> Co<int> {
    number.With([](int& value) { ++value; });
    co_await Yield();
    number.With([](int& value) { ++value; });
    co_return number.With([](const int& value) { return value; });
  };
  EXPECT_EQ(BlockOn(number.Scope(1, body())), 3);
}

TEST(TaskLocal, MovesWithItsTaskToAnotherThread) {
  auto scope = number.Scope(7, Observe());
  EXPECT_TRUE(PollOnce(scope).IsPending());
  std::thread other([&scope] {
    EXPECT_TRUE(PollOnce(scope).IsPending());
    EXPECT_EQ(number.Get(), nullptr);
  });
  other.join();
  EXPECT_EQ(PollOnce(scope).value(), "7,7,7");
}

TEST(TaskLocal, AScopeMayBeMovedBeforeItIsPolled) {
  auto scope = name.Scope(std::string(100, 'x'), Observe());
  auto moved = std::move(scope);
  EXPECT_TRUE(PollOnce(moved).IsPending());
  EXPECT_EQ(moved.TakeValue(), std::string(100, 'x'));
}

TEST(TaskLocal, AnLvalueIsPolledInPlace) {
  Co<std::string> co = Observe();
  {
    auto scope = number.Scope(1, co);
    EXPECT_TRUE(PollOnce(scope).IsPending());
  }
  auto scope = number.Scope(2, co);
  EXPECT_TRUE(PollOnce(scope).IsPending());
  EXPECT_EQ(PollOnce(scope).value(), "1,2,2");
}

TEST(TaskLocal, IsVisibleInAFutureThatTheTaskBlocksOn) {
  // The documentation of `TaskLocal` promises this for all code called from a
  // poll.
  auto body = []() -> Co<std::string> { co_return BlockOn(Observe()); };
  EXPECT_EQ(BlockOn(number.Scope(3, body())), "3,3,3");
}

TEST(TaskLocal, AnExecutorInsideAScopeCanHideIt) {
  number.SyncScope(1, [] {
    {
      const internal::ScopedTaskLocals none(nullptr);
      EXPECT_EQ(number.Get(), nullptr);
      EXPECT_EQ(BlockOn(number.Scope(2, Observe())), "2,2,2");
    }
    EXPECT_EQ(*number.Get(), 1);
  });
}

// Records the value that is in force when the witness is destroyed.
class Witness {
 public:
  explicit Witness(int* seen) : seen_(seen) {}
  Witness(Witness&& other) noexcept
      : seen_(std::exchange(other.seen_, nullptr)) {}
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (seen_ != nullptr) *seen_ = NumberOr(-1);
  }

 private:
  int* seen_;
};

Co<> Hold([[maybe_unused]] Witness witness, int polls) {
  for (int i = 1; i < polls; ++i) co_await Yield();
}

TEST(TaskLocal, HasItsValueWhileItsFutureIsCancelled) {
  int seen = 0;
  {
    auto scope = number.Scope(7, Hold(Witness(&seen), 2));
    EXPECT_TRUE(PollOnce(scope).IsPending());
  }
  EXPECT_EQ(seen, 7);
}

TEST(TaskLocal, HasItsValueWhileAnUnpolledFutureIsDestroyed) {
  int seen = 0;
  {
    auto scope = number.Scope(7, Hold(Witness(&seen), 2));
  }
  EXPECT_EQ(seen, 7);
}

TEST(TaskLocal, AReadyFutureIsDestroyedAtOnce) {
  int seen = 0;
  struct Ready {
    explicit Ready(Witness witness) : witness(std::move(witness)) {}
    PollResult<void> Poll(Context&) { return {}; }
    Witness witness;
  };
  auto scope = number.Scope(7, Ready(Witness(&seen)));
  EXPECT_TRUE(PollOnce(scope).IsReady());
  EXPECT_EQ(seen, 7);
}

TEST(TaskLocal, TheValueCanBeTakenAfterCompletion) {
  auto body = []() -> Co<> {
    number.With([](int& value) { value *= 2; });
    co_return;
  };
  auto scope = number.Scope(21, body());
  EXPECT_TRUE(PollOnce(scope).IsReady());
  EXPECT_EQ(scope.TakeValue(), 42);
  EXPECT_EQ(scope.TakeValue(), std::nullopt);
}

TEST(TaskLocal, AFutureWhoseValueWasTakenContinuesWithoutIt) {
  auto inner = number.Scope(2, Observe());
  auto scope = number.Scope(1, inner);
  EXPECT_TRUE(PollOnce(scope).IsPending());
  EXPECT_EQ(inner.TakeValue(), 2);
  EXPECT_TRUE(PollOnce(scope).IsPending());
  EXPECT_EQ(PollOnce(scope).value(), "2,-1,-1");
}

TEST(TaskLocal, SyncScopeEndsWithItsCall) {
  EXPECT_EQ(number.SyncScope(5, [] { return *number.Get(); }), 5);
  EXPECT_EQ(number.Get(), nullptr);
}

TEST(TaskLocal, HoldsAMoveOnlyValue) {
  static constinit TaskLocal<std::unique_ptr<int>> owner("owner");
  auto body = []() -> Co<int> { co_return **owner.Get(); };
  EXPECT_EQ(BlockOn(owner.Scope(std::make_unique<int>(9), body())), 9);
}

TEST(InheritTaskLocals, CopiesTheValuesOfItsCaller) {
  auto inherited = number.SyncScope(1, [] {
    auto future = InheritTaskLocals(Observe());
    number.With([](int& value) { value = 2; });
    return future;
  });
  EXPECT_EQ(BlockOn(inherited), "1,1,1");
}

TEST(InheritTaskLocals, TakesTheInnermostValueOfAKey) {
  auto inherited = number.SyncScope(1, [] {
    return name.SyncScope("n", [] {
      return number.SyncScope(2, [] {
        auto body = []() -> Co<std::string> {
          co_return *name.Get() + co_await Observe();
        };
        return InheritTaskLocals(body);
      });
    });
  });
  std::string result;
  std::thread other([&] { result = BlockOn(inherited); });
  other.join();
  EXPECT_EQ(result, "n2,2,2");
}

TEST(InheritTaskLocals, AddsToTheValuesOfThePoll) {
  auto inherited =
      number.SyncScope(1, [] { return InheritTaskLocals(Observe()); });
  auto body = [&]() -> Co<std::string> {
    co_return co_await inherited + *name.Get() + std::to_string(*number.Get());
  };
  EXPECT_EQ(BlockOn(name.Scope("n", number.Scope(2, body()))), "1,1,1n2");
}

TEST(InheritTaskLocals, WithoutValuesReturnsTheFuture) {
  EXPECT_EQ(BlockOn(InheritTaskLocals(Observe())), "-1,-1,-1");
}

TEST(InheritTaskLocals, OmitsValuesThatCannotBeCopied) {
  static constinit TaskLocal<std::unique_ptr<int>> owner("owner");
  auto inherited = owner.SyncScope(std::make_unique<int>(9), [] {
    auto body = []() -> Co<bool> { co_return owner.Get() == nullptr; };
    return InheritTaskLocals(body);
  });
  EXPECT_TRUE(BlockOn(inherited));
}

TEST(InheritTaskLocals, SharesTheObjectOfASharedPointer) {
  static constinit TaskLocal<std::shared_ptr<int>> shared("shared");
  const auto value = std::make_shared<int>(0);
  auto inherited = shared.SyncScope(value, [] {
    auto body = []() -> Co<> {
      ++**shared.Get();
      co_return;
    };
    return InheritTaskLocals(body);
  });
  BlockOn(inherited);
  EXPECT_EQ(*value, 1);
}

TEST(InheritTaskLocals, HasItsValuesWhileItsFutureIsDestroyed) {
  int seen = 0;
  {
    auto inherited = number.SyncScope(
        7, [&] { return InheritTaskLocals(Hold(Witness(&seen), 2)); });
    EXPECT_TRUE(PollOnce(inherited).IsPending());
  }
  EXPECT_EQ(seen, 7);
}

TEST(InheritTaskLocals, KeepsACallableAsLongAsItsFuture) {
  auto body = [text =
                   std::make_unique<std::string>("kept")]() -> Co<std::string> {
    co_await Yield();
    co_return *text;
  };
  EXPECT_EQ(BlockOn(InheritTaskLocals(std::move(body))), "kept");
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(TaskLocal, AnExceptionLeavesTheScope) {
  auto body = []() -> Co<> {
    co_await Yield();
    throw std::runtime_error("no");
  };
  auto scope = number.Scope(7, body());
  EXPECT_TRUE(PollOnce(scope).IsPending());
  EXPECT_THROW(static_cast<void>(PollOnce(scope)), std::runtime_error);
  EXPECT_EQ(number.Get(), nullptr);
  EXPECT_THROW(number.SyncScope(1, [] { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(number.Get(), nullptr);
}

#endif  // ABSL_HAVE_EXCEPTIONS

TEST(TaskLocal, WithOutsideOfEveryScopePanics) {
  EXPECT_PANIC(number.With([](int&) {}), "'number' has no value");
}

TEST(TaskLocal, PollingACompleteScopePanics) {
  auto scope = number.Scope(7, Hold(Witness(nullptr), 1));
  EXPECT_TRUE(PollOnce(scope).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(scope)),
               "TaskLocal::Scope was polled after");
  auto inherited = InheritTaskLocals(Hold(Witness(nullptr), 1));
  EXPECT_TRUE(PollOnce(inherited).IsReady());
  EXPECT_PANIC(static_cast<void>(PollOnce(inherited)),
               "InheritTaskLocals was polled after");
}

}  // namespace
}  // namespace rouse
