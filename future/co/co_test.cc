// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/co/co.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

// Pending until opened. Counts its polls.
class Gate {
 public:
  PollResult<int> Poll(Context&) {
    ++polls_;
    if (!open_) return kPending;
    return 7;
  }
  void Open() { open_ = true; }
  int polls() const { return polls_; }

 private:
  bool open_ = false;
  int polls_ = 0;
};

Co<int> Seven() { co_return 7; }
Co<int> Through(Gate& gate) { co_return co_await gate; }

Co<int> Deep(Gate& gate, int depth) {
  if (depth == 0) co_return co_await gate;
  co_return 1 + co_await Deep(gate, depth - 1);
}

TEST(Co, RunsNothingBeforeItsFirstPoll) {
  bool ran = false;
  auto body = [&ran]() -> Co<> {
    ran = true;
    co_return;
  };
  Co<> co = body();
  EXPECT_FALSE(ran);
  EXPECT_TRUE(PollOnce(co).IsReady());
  EXPECT_TRUE(ran);
}

TEST(Co, ReturnsAValue) {
  Co<int> co = Seven();
  EXPECT_EQ(PollOnce(co).value(), 7);
}

TEST(Co, ReturnsAReference) {
  int x = 1;
  auto body = [](int& r) -> Co<int&> { co_return r; };
  auto parent = [&body](int& r) -> Co<> {
    int& got = co_await body(r);
    got = 5;
  };
  Co<> co = parent(x);
  EXPECT_TRUE(PollOnce(co).IsReady());
  EXPECT_EQ(x, 5);
}

TEST(Co, ReturnsAMoveOnlyValue) {
  auto body = []() -> Co<std::unique_ptr<int>> {
    co_return std::make_unique<int>(3);
  };
  auto parent = [&body]() -> Co<std::unique_ptr<int>> {
    std::unique_ptr<int> got = co_await body();
    ++*got;
    co_return got;
  };
  auto co = parent();
  EXPECT_EQ(*PollOnce(co).value(), 4);
}

TEST(Co, PollsItsLeafAndNothingBetween) {
  Gate gate;
  Co<int> co = Deep(gate, 100);
  EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(gate.polls(), 1);
  EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(gate.polls(), 2);
  gate.Open();
  EXPECT_EQ(PollOnce(co).value(), 107);
  EXPECT_EQ(gate.polls(), 3);
}

TEST(Co, AwaitsAReadyFutureWithoutSuspending) {
  Gate gate;
  gate.Open();
  Co<int> co = Through(gate);
  EXPECT_EQ(PollOnce(co).value(), 7);
}

TEST(Co, AwaitsSeveralChildrenInTurn) {
  Gate first;
  Gate second;
  auto body = [](Gate& a, Gate& b) -> Co<int> {
    const int x = co_await Through(a);
    const int y = co_await Through(b);
    co_return x + y;
  };
  Co<int> co = body(first, second);
  EXPECT_TRUE(PollOnce(co).IsPending());
  second.Open();
  EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(second.polls(), 0);
  first.Open();
  EXPECT_EQ(PollOnce(co).value(), 14);
}

TEST(Co, AwaitedByReferenceIsPolledAsAFuture) {
  Gate gate;
  auto body = [](Co<int>& child) -> Co<int> { co_return co_await child; };
  Co<int> child = Through(gate);
  EXPECT_TRUE(PollOnce(child).IsPending());
  Co<int> co = body(child);
  EXPECT_TRUE(PollOnce(co).IsPending());
  gate.Open();
  EXPECT_EQ(PollOnce(co).value(), 7);
}

TEST(Co, MovesBetweenPolls) {
  Gate gate;
  Co<int> co = Deep(gate, 3);
  EXPECT_TRUE(PollOnce(co).IsPending());
  Co<int> moved = std::move(co);
  gate.Open();
  EXPECT_EQ(PollOnce(moved).value(), 10);
}

TEST(Co, DestroyedBeforeItsFirstPollDestroysItsParameters) {
  Log log;
  auto body = [](std::unique_ptr<Local>) -> Co<> { co_return; };
  {
    Co<> co = body(std::make_unique<Local>(&log, "parameter"));
    EXPECT_THAT(log, ElementsAre());
  }
  EXPECT_THAT(log, ElementsAre("parameter"));
}

TEST(Co, DestroyedWhileSuspendedDestroysLocalsInsideOut) {
  Log log;
  class LoggedGate {
   public:
    explicit LoggedGate(Log* log) : local_(log, "leaf") {}
    PollResult<void> Poll(Context&) { return kPending; }

   private:
    Local local_;
  };
  struct Nest {
    static Co<> Run(Log* log, int depth) {
      const Local local(log, std::to_string(depth));
      if (depth == 0) {
        co_await LoggedGate(log);
      } else {
        co_await Run(log, depth - 1);
      }
    }
  };
  {
    Co<> co = Nest::Run(&log, 3);
    EXPECT_TRUE(PollOnce(co).IsPending());
    EXPECT_THAT(log, ElementsAre());
  }
  EXPECT_THAT(log, ElementsAre("leaf", "0", "1", "2", "3"));
}

TEST(Co, LocalsOfAChildAreDestroyedWhenTheChildReturns) {
  Log log;
  auto child = [](Log* log) -> Co<int> {
    const Local local(log, "child");
    co_return 1;
  };
  auto parent = [&child](Log* log) -> Co<> {
    int sum = co_await child(log);
    log->emplace_back("between");
    sum += co_await child(log);
    EXPECT_EQ(sum, 2);
    log->emplace_back("after");
  };
  Co<> co = parent(&log);
  EXPECT_TRUE(PollOnce(co).IsReady());
  EXPECT_THAT(log, ElementsAre("child", "between", "child", "after"));
}

TEST(Co, AssignmentDestroysTheOldCoroutine) {
  Log log;
  auto body = [](std::unique_ptr<Local>) -> Co<int> { co_return 1; };
  Co<int> old = body(std::make_unique<Local>(&log, "old"));
  Co<int> fresh = Seven();
  old = std::move(fresh);
  EXPECT_THAT(log, ElementsAre("old"));
  EXPECT_EQ(PollOnce(old).value(), 7);
}

TEST(Co, SelfAssignmentKeepsTheCoroutine) {
  Co<int> co = Seven();
  Co<int>& same = co;
  co = std::move(same);
  EXPECT_EQ(PollOnce(co).value(), 7);
}

// Movable, but not assignable.
class Fixed {
 public:
  explicit Fixed(int value) : value_(value) {}
  int value() const { return value_; }

 private:
  const int value_;
};

TEST(Co, ReturnsAValueThatCannotBeAssigned) {
  class Leaf {
   public:
    PollResult<Fixed> Poll(Context&) { return Fixed(1); }
  };
  auto child = []() -> Co<Fixed> { co_return Fixed(2); };
  auto body = [&child]() -> Co<Fixed> {
    Leaf leaf;
    const Fixed a = co_await leaf;
    const Fixed b = co_await child();
    co_return Fixed(a.value() + b.value());
  };
  Co<Fixed> co = body();
  EXPECT_EQ(PollOnce(co).value().value(), 3);
}

// Coroutines that poll one another from a leaf are separate chains.
TEST(Co, ALeafMayPollAnotherCo) {
  class Polls {
   public:
    explicit Polls(Co<int> inner) : inner_(std::move(inner)) {}
    PollResult<int> Poll(Context& cx) { return inner_.Poll(cx); }

   private:
    Co<int> inner_;
  };
  Gate gate;
  auto body = [](Gate& gate) -> Co<int> {
    Polls leaf(Deep(gate, 50));
    co_return co_await leaf;
  };
  Co<int> co = body(gate);
  EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(gate.polls(), 2);
  gate.Open();
  EXPECT_EQ(PollOnce(co).value(), 57);
}

// An awaited future must not touch the coroutine while the coroutine is being
// polled.
class Meddler {
 public:
  explicit Meddler(std::function<void(Context&)> meddle)
      : meddle_(std::move(meddle)) {}
  PollResult<int> Poll(Context& cx) {
    if (polls_++ == 0) return kPending;
    meddle_(cx);
    return 1;
  }

 private:
  std::function<void(Context&)> meddle_;
  int polls_ = 0;
};

Co<int> AwaitMeddler(Meddler& meddler) { co_return co_await meddler; }

TEST(CoDeathTest, DestructionInsideItsOwnPollIsFatal) {
  std::optional<Co<int>> co;
  Meddler meddler([&co](Context&) { co.reset(); });
  co = AwaitMeddler(meddler);
  EXPECT_TRUE(PollOnce(*co).IsPending());
  EXPECT_DEATH((void)PollOnce(*co), "destroyed inside its own poll");
}

// A million ready children: the stack must not grow with them.
TEST(Co, LoopsOverReadyChildrenInConstantStack) {
  auto body = []() -> Co<int64_t> {
    int64_t sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += co_await Seven();
    co_return sum;
  };
  Co<int64_t> co = body();
  EXPECT_EQ(PollOnce(co).value(), 7'000'000);
}

// Nor must the stack grow with the depth of a chain, whichever way the chain
// ends.
TEST(Co, ADeepChainOfReadyChildrenRunsInConstantStack) {
  Gate gate;
  gate.Open();
  Co<int> co = Deep(gate, 100'000);
  EXPECT_EQ(PollOnce(co).value(), 100'007);
}

TEST(Co, ADeepChainThatSuspendsRunsInConstantStack) {
  Gate gate;
  Co<int> co = Deep(gate, 100'000);
  EXPECT_TRUE(PollOnce(co).IsPending());
  gate.Open();
  EXPECT_EQ(PollOnce(co).value(), 100'007);
}

TEST(Co, ADeepChainIsDestroyedInConstantStack) {
  Gate gate;
  Co<int> co = Deep(gate, 100'000);
  EXPECT_TRUE(PollOnce(co).IsPending());
}

TEST(Co, PollingACompleteCoPanics) {
  Co<int> co = Seven();
  EXPECT_EQ(PollOnce(co).value(), 7);
  EXPECT_PANIC((void)PollOnce(co), "call the coroutine again");
}

TEST(Co, PollingInsideItsOwnPollPanics) {
  std::optional<Co<int>> co;
  Meddler meddler([&co](Context& cx) { (void)co->Poll(cx); });
  co = AwaitMeddler(meddler);
  EXPECT_TRUE(PollOnce(*co).IsPending());
  EXPECT_PANIC((void)PollOnce(*co), "a coroutine was polled");
}

TEST(Co, PollingAMovedFromCoPanics) {
  Co<int> co = Seven();
  Co<int> moved = std::move(co);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_PANIC((void)PollOnce(co), "polled or awaited after it was moved from");
}

#ifdef ABSL_HAVE_EXCEPTIONS

class Thrower {
 public:
  explicit Thrower(int polls) : left_(polls) {}
  PollResult<void> Poll(Context&) {
    if (left_-- > 0) return kPending;
    throw std::runtime_error("leaf");
  }

 private:
  int left_;
};

Co<int> Throws() {
  throw std::runtime_error("child");
  co_return 0;
}

TEST(Co, AnExceptionLeavesThePoll) {
  Co<int> co = Throws();
  EXPECT_THROW((void)PollOnce(co), std::runtime_error);
}

TEST(Co, AnExceptionPassesThroughTheChain) {
  struct Chain {
    static Co<int> Run(int depth) {
      if (depth == 0) co_return co_await Throws();
      co_return co_await Run(depth - 1);
    }
  };
  Co<int> co = Chain::Run(1000);
  EXPECT_THROW((void)PollOnce(co), std::runtime_error);
}

// The destructor leaves the preceding `co_return` with an exception.
struct ThrowsAtTheEnd {
  ~ThrowsAtTheEnd() noexcept(false) { throw std::runtime_error("end"); }
};

Co<std::shared_ptr<int>> ReturnTwice(std::shared_ptr<int> first,
                                     std::shared_ptr<int> second) {
  try {
    ThrowsAtTheEnd at_the_end;
    co_return first;
  } catch (const std::runtime_error&) {
  }
  co_return second;
}

TEST(Co, ALaterResultReplacesTheEarlierResult) {
  auto first = std::make_shared<int>(1);
  auto second = std::make_shared<int>(2);
  {
    Co<std::shared_ptr<int>> co = ReturnTwice(first, second);
    EXPECT_EQ(*PollOnce(co), second);
  }
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 1);
}

TEST(Co, AnExceptionOfAChildCanBeCaught) {
  auto body = []() -> Co<int> {
    try {
      co_await Throws();
    } catch (const std::runtime_error&) {
    }
    co_return co_await Seven();
  };
  Co<int> co = body();
  EXPECT_EQ(PollOnce(co).value(), 7);
}

TEST(Co, AnExceptionOfALeafIsThrownWhereItIsAwaited) {
  for (int polls : {0, 1}) {
    std::string caught;
    auto body = [&caught](int polls) -> Co<int> {
      try {
        co_await Thrower(polls);
      } catch (const std::runtime_error& e) {
        caught = e.what();
      }
      co_return co_await Seven();
    };
    Co<int> co = body(polls);
    for (int i = 0; i < polls; ++i) EXPECT_TRUE(PollOnce(co).IsPending());
    EXPECT_EQ(PollOnce(co).value(), 7);
    EXPECT_EQ(caught, "leaf");
  }
}

TEST(Co, AwaitingAMovedFromCoPanics) {
  auto body = []() -> Co<std::string> {
    Co<int> co = Seven();
    co_await std::move(co);
    try {
      co_await std::move(co);  // NOLINT(bugprone-use-after-move)
    } catch (const PanicError& e) {
      co_return e.what();
    }
    co_return "";
  };
  Co<std::string> co = body();
  EXPECT_THAT(PollOnce(co).value(), ::testing::HasSubstr("was moved from"));
}

TEST(Co, AwaitingAPolledCoAsAnRvaluePanics) {
  Gate gate;
  auto body = [&gate]() -> Co<std::string> {
    Co<int> co = Through(gate);
    (void)PollOnce(co);
    try {
      co_await std::move(co);
    } catch (const PanicError& e) {
      co_return e.what();
    }
    co_return "";
  };
  Co<std::string> co = body();
  EXPECT_THAT(PollOnce(co).value(), ::testing::HasSubstr("by reference"));
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
