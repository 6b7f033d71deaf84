// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A value is set while other threads wait for it, read it or set it. The first
// two models have the names and the scenarios of the models of Tokio's
// `SetOnce`.

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "rouse/sync/once/set_once.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using PlainInt = model::Cell<int>;

// A value that counts its destructions.
class Counted {
 public:
  explicit Counted(PlainInt& ends) : ends_(&ends) {}
  Counted(Counted&& other) noexcept
      : ends_(std::exchange(other.ends_, nullptr)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (ends_ != nullptr) ++ends_->Write();
  }

  bool is_there() const { return ends_ != nullptr; }

 private:
  PlainInt* ends_;
};

MODEL_TEST(SetOnce, SetOnceDropTest) {
  PlainInt ends(0), other_ends(0);
  {
    SetOnce<Counted> cell;
    Counted here(ends);
    Counted there(other_ends);
    bool there_set = false;
    Thread other([&] { there_set = cell.Set(std::move(there)).ok(); });
    const bool set = cell.Set(std::move(here)).ok();
    other.Join();
    Require(set != there_set);
    // NOLINTNEXTLINE(bugprone-use-after-move): it is untouched if it failed
    Require(here.is_there() == !set);
    Require(there.is_there() == !there_set);
  }
  Require(ends.Read() == 1);
  Require(other_ends.Read() == 1);
}

MODEL_TEST(SetOnce, SetOnceWaitTest) {
  Task task;
  SetOnce<PlainInt> cell;
  Thread setting([&] { Require(cell.Set(PlainInt(2)).ok()); });
  auto wait = cell.Wait();
  Require(task.Await(wait).Read() == 2);
}

MODEL_TEST(SetOnce, TheValueIsNeverTorn) {
  SetOnce<PlainInt> cell;
  PlainInt data(0);
  Thread setting([&] {
    data.Write() = 1;
    Require(cell.Set(PlainInt(2)).ok());
  });
  if (const PlainInt* value = cell.Get()) {
    Require(value->Read() == 2);
    Require(data.Read() == 1);
  }
}

MODEL_TEST(SetOnce, AllWaitersAreWoken) {
  SetOnce<int> cell;
  Task first_task, second_task;
  auto first = cell.Wait();
  auto second = cell.Wait();
  Require(first_task.Poll(first).IsPending());
  Thread setting([&] { Require(cell.Set(1).ok()); });
  const bool ready = second_task.Poll(second).IsReady();
  setting.Join();
  Require(first_task.woken());
  Require(first_task.Poll(first).IsReady());
  Require(ready || second_task.woken());
}

MODEL_TEST(SetOnce, ACancelledWaitIsNotWoken) {
  SetOnce<int> cell;
  Task task, other;
  std::optional<SetOnce<int>::WaitFuture> leaving(cell.Wait());
  auto staying = cell.Wait();
  Require(task.Poll(*leaving).IsPending());
  Require(other.Poll(staying).IsPending());
  Thread setting([&] { Require(cell.Set(1).ok()); });
  leaving.reset();
  setting.Join();
  Require(other.woken());
}

// A task that has waited destroys the object, whether the task was woken or
// came late.
MODEL_TEST(SetOnce, ACompleteWaiterCanDestroyTheCell) {
  Task task;
  auto cell = std::make_unique<SetOnce<PlainInt>>();
  Thread setting([raw = cell.get()] { Require(raw->Set(PlainInt(1)).ok()); });
  {
    auto wait = cell->Wait();
    Require(task.Await(wait).Read() == 1);
  }
  cell.reset();
}

#ifdef ABSL_HAVE_EXCEPTIONS

// A number that cannot be negative.
class NonNegative {
 public:
  NonNegative(PlainInt& made, int value) {
    made.Write() = value;
    if (value < 0) throw value;
  }
};

struct Argument {
  PlainInt& made;
  int value;
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator NonNegative() const { return NonNegative(made, value); }
};

// A thread that sets the value after another has failed finds the storage free.
MODEL_TEST(SetOnce, IsSetAfterAThrowingConstructor) {
  SetOnce<NonNegative> cell;
  PlainInt made(0);
  Thread other([&] {
    try {
      cell.Set(Argument{made, -1}).IgnoreError();
    } catch (int) {
    }
  });
  const bool set = cell.Set(Argument{made, 1}).ok();
  other.Join();
  Require(set == (cell.Get() != nullptr));
  Require(set || cell.Set(Argument{made, 1}).ok());
}

#endif  // ABSL_HAVE_EXCEPTIONS

MODEL_MUTANTS(SetOnce, "sync/once/set_once.");

}  // namespace
}  // namespace rouse
