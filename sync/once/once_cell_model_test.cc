// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Several tasks need a missing value at once: one makes the value, unless it
// gives up.

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "rouse/sync/once/once_cell.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using PlainInt = model::Cell<int>;

// A future that is pending once, and then returns `value`.
class Making {
 public:
  Making(int value, bool pends) : value_(value), pends_(pends) {}

  PollResult<PlainInt> Poll(Context& cx) {
    if (std::exchange(pends_, false)) {
      cx.waker().WakeByRef();
      return kPending;
    }
    return PlainInt(value_);
  }

 private:
  int value_;
  bool pends_;
};

auto Make(int value, bool pends = false) {
  return [value, pends] { return Making(value, pends); };
}

MODEL_TEST(OnceCell, OneOfTwoMakesTheValue, .spurious_failures = 0) {
  OnceCell<PlainInt> cell;
  Task task, other_task;
  int there = 0;
  Thread other([&] {
    auto get = cell.GetOrInit(Make(1, /*pends=*/true));
    there = other_task.Await(get).Read();
  });
  auto get = cell.GetOrInit(Make(2));
  const int here = task.Await(get).Read();
  other.Join();
  Require(here == there);
}

// The future waits, or yields, or gets the value made meanwhile.
MODEL_TEST(OnceCell, OneOfTwoHasNoBudget, .spurious_failures = 0) {
  OnceCell<PlainInt> cell;
  Task task, other_task;
  int there = 0;
  Thread other([&] {
    auto get = cell.GetOrInit(Make(1, /*pends=*/true));
    there = other_task.Await(get).Read();
  });
  auto get = cell.GetOrInit(Make(2));
  auto result = task.PollWithoutBudget(get);
  const int here = (result.IsReady() ? *result : task.Await(get)).Read();
  other.Join();
  Require(here == there);
}

MODEL_TEST(OnceCell, TheValueIsNeverTorn) {
  OnceCell<PlainInt> cell;
  PlainInt data(0);
  Task task;
  Thread making([&] {
    data.Write() = 1;
    auto get = cell.GetOrInit(Make(2));
    Require(task.Poll(get).IsReady());
  });
  if (const PlainInt* value = cell.Get()) {
    Require(value->Read() == 2);
    Require(data.Read() == 1);
  }
}

MODEL_TEST(OnceCell, ACancelledMakerPassesTheTurnOn) {
  OnceCell<PlainInt> cell;
  Task task, other_task;
  std::optional leaving(cell.GetOrInit(Make(1, /*pends=*/true)));
  Require(task.Poll(*leaving).IsPending());
  Thread other([&] {
    auto get = cell.GetOrInit(Make(2));
    Require(other_task.Await(get).Read() == 2);
  });
  leaving.reset();
}

// A future that was given the turn, and leaves before noticing, passes the turn
// on.
MODEL_TEST(OnceCell, ACancelledWaiterWithTheTurnPassesItOn) {
  OnceCell<PlainInt> cell;
  Task task, second_task, third_task;
  std::optional first(cell.GetOrInit(Make(1, /*pends=*/true)));
  std::optional second(cell.GetOrInit(Make(2)));
  auto third = cell.GetOrInit(Make(3));
  Require(task.Poll(*first).IsPending());
  Require(second_task.Poll(*second).IsPending());
  Require(third_task.Poll(third).IsPending());
  Thread leaving([&] { first.reset(); });
  second.reset();
  leaving.Join();
  Require(third_task.woken());
  Require(third_task.Await(third).Read() == 3);
}

MODEL_TEST(OnceCell, TheValueIsSetOrMade) {
  OnceCell<PlainInt> cell;
  Task task;
  bool set = false;
  Thread setting([&] { set = cell.Set(PlainInt(1)).ok(); });
  auto get = cell.GetOrInit(Make(2));
  const int value = task.Await(get).Read();
  setting.Join();
  Require(value == (set ? 1 : 2));
}

MODEL_MUTANTS(OnceCell, "sync/once/once_cell.");

}  // namespace
}  // namespace rouse
