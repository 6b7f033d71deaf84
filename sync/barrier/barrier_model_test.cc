// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Futures that arrive and leave concurrently. The only atomics are those of the
// lock.

#include <memory>
#include <optional>

#include "rouse/sync/barrier/barrier.h"
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

MODEL_TEST(Barrier, TwoContinueTogether) {
  Barrier barrier(2);
  Task task, other_task;
  PlainInt here(0), there(0);
  bool other_leads = false;
  Thread other([&] {
    there.Write() = 1;
    auto wait = barrier.Wait();
    other_leads = other_task.Await(wait).is_leader();
    Require(here.Read() == 1);
  });
  here.Write() = 1;
  auto wait = barrier.Wait();
  const bool leads = task.Await(wait).is_leader();
  Require(there.Read() == 1);
  other.Join();
  Require(leads != other_leads);
}

// What a leader does is visible before the next round.
MODEL_TEST(Barrier, TwoContinueTwice, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Barrier barrier(2);
  PlainInt rounds(0);
  const auto run = [&](Task& task) {
    for (int i = 0; i < 2; ++i) {
      auto wait = barrier.Wait();
      if (task.Await(wait).is_leader()) ++rounds.Write();
    }
  };
  Task task, other_task;
  Thread other([&] { run(other_task); });
  run(task);
  other.Join();
  Require(rounds.Read() == 2);
}

// The future has arrived, or yields, or continues at once if the other has
// arrived meanwhile.
MODEL_TEST(Barrier, OneArrivesWithoutBudget) {
  Barrier barrier(2);
  Task task, other_task;
  bool other_leads = false;
  Thread other([&] {
    auto wait = barrier.Wait();
    other_leads = other_task.Await(wait).is_leader();
  });
  auto wait = barrier.Wait();
  auto result = task.PollWithoutBudget(wait);
  const bool leads =
      (result.IsReady() ? *result : task.Await(wait)).is_leader();
  other.Join();
  Require(leads != other_leads);
}

// A future that leaves in time has not arrived; a future that leaves too late
// has.
MODEL_TEST(Barrier, OneIsCancelledWhileAnotherArrives) {
  Barrier barrier(2);
  Task task, other_task;
  std::optional<Barrier::WaitFuture> leaving(barrier.Wait());
  auto wait = barrier.Wait();
  bool went_on = false;
  Require(task.Poll(*leaving).IsPending());
  Thread other([&] { went_on = other_task.Poll(wait).IsReady(); });
  leaving.reset();
  other.Join();
  // The round is over, or the other future waits for one more.
  auto next = barrier.Wait();
  Require(task.Poll(next).IsReady() == !went_on);
  Require(went_on || other_task.woken());
  // The next future also waits, for two more or for one.
  auto after = barrier.Wait();
  Require(other_task.Poll(after).IsReady() == went_on);
}

// A woken task destroys the barrier.
MODEL_TEST(Barrier, AWokenTaskCanDestroyTheBarrier) {
  Task task, other_task;
  auto barrier = std::make_unique<Barrier>(2);
  std::optional<Barrier::WaitFuture> wait(barrier->Wait());
  std::optional<Barrier::WaitFuture> last(barrier->Wait());
  Require(task.Poll(*wait).IsPending());
  Thread other([&] { Require(other_task.Poll(*last).IsReady()); });
  Require(!task.Await(*wait).is_leader());
  wait.reset();
  barrier.reset();
}

}  // namespace
}  // namespace rouse
