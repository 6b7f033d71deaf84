// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A node that is shared by its delay's thread and its timer's thread.

#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "rouse/base/cell.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/heap/arc_list.h"
#include "rouse/timer/heap/ref_counted.h"
#include "rouse/timer/heap/scheduled_timer.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using State = ScheduledTimer::State;

Instant At(int nanoseconds) { return Instant::FromNanoseconds(nanoseconds); }

// A timer for one node: a heap with one entry.
class OneNodeTimer {
 public:
  void Push(const Ref<ScheduledTimer>& node) {
    if (changed_.Push(node) == PushResult::kSealed) node->Invalidate();
  }

  void AdvanceTo(Instant now) {
    Drain();
    if (!armed_.has_value() || armed_->deadline > now) return;
    const ScheduledTimer::Armed armed = *armed_;
    armed_.reset();
    node_->Fire(armed.generation);
  }

  // Destroys the timer.
  void Stop() {
    ArcList<ScheduledTimer>::Batch batch = changed_.TakeAndSeal();
    while (const Ref<ScheduledTimer> node = batch.Pop()) node->Invalidate();
    if (armed_.has_value()) node_->Invalidate();
  }

  bool IsArmed() const { return armed_.has_value(); }

 private:
  void Drain() {
    ArcList<ScheduledTimer>::Batch batch = changed_.TakeAll();
    while (Ref<ScheduledTimer> node = batch.Pop()) {
      armed_ = node->Look();
      // Only this thread accesses the registration.
      ++node->registration().generation;
      node_ = std::move(node);
    }
  }

  ArcList<ScheduledTimer> changed_;
  Ref<ScheduledTimer> node_;
  std::optional<ScheduledTimer::Armed> armed_;
};

State Poll(ScheduledTimer& node) { return node.Poll(Waker()); }

// Does what the destructor of a delay does.
void Cancel(OneNodeTimer& timer, Ref<ScheduledTimer>& node) {
  if (node->Cancel()) timer.Push(node);
  node.Reset();
}

// Defect 1 of the seed: the timer fires at the old deadline after the reset has
// returned. The time is between the two deadlines.
MODEL_TEST(ScheduledTimer, Defect1NoFireForTheOldDeadlineFollowsAReset) {
  OneNodeTimer timer;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  Thread delay([&] {
    Require(node->Reset(At(100)));
    // This holds even before the timer sees the reset.
    Require(Poll(*node) == State::kWaiting);
    timer.Push(node);
    Require(Poll(*node) == State::kWaiting);
  });
  timer.AdvanceTo(At(50));
  timer.AdvanceTo(At(50));
  delay.Join();
  timer.AdvanceTo(At(99));
  Require(Poll(*node) == State::kWaiting);
  timer.AdvanceTo(At(100));
  Require(Poll(*node) == State::kFired);
}

// Like the test above, for a node that is already in the timer's heap.
MODEL_TEST(ScheduledTimer, Defect1AResetRacesWithAFire) {
  OneNodeTimer timer;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  timer.AdvanceTo(At(0));
  Thread delay([&] {
    Require(node->Reset(At(100)));
    timer.Push(node);
    Require(Poll(*node) == State::kWaiting);
  });
  timer.AdvanceTo(At(50));
  delay.Join();
  timer.AdvanceTo(At(99));
  Require(Poll(*node) == State::kWaiting);
  timer.AdvanceTo(At(100));
  Require(Poll(*node) == State::kFired);
}

// Two resets. The timer may see half of the second one.
MODEL_TEST(ScheduledTimer, Defect1TwoResetsRaceWithAFire) {
  OneNodeTimer timer;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(100));
  timer.Push(node);
  Thread delay([&] {
    node->Reset(At(10));
    timer.Push(node);
    node->Reset(At(100));
    timer.Push(node);
    Require(Poll(*node) == State::kWaiting);
  });
  timer.AdvanceTo(At(50));
  delay.Join();
  timer.AdvanceTo(At(50));
  Require(Poll(*node) == State::kWaiting);
  timer.AdvanceTo(At(100));
  Require(Poll(*node) == State::kFired);
}

MODEL_TEST(ScheduledTimer, AResetToAnEarlierDeadlineIsNotLost) {
  OneNodeTimer timer;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(100));
  timer.Push(node);
  Thread delay([&] {
    node->Reset(At(10));
    timer.Push(node);
  });
  timer.AdvanceTo(At(50));
  delay.Join();
  timer.AdvanceTo(At(50));
  Require(Poll(*node) == State::kFired);
}

// `act` ends the wait of a node, whose state is then `end`.
void AnEndIsSeenOrWakes(State end,
                        absl::FunctionRef<void(OneNodeTimer& timer)> act) {
  Task task;
  OneNodeTimer timer;
  Cell<int> data;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  State state = State::kWaiting;
  Thread delay([&] {
    state = node->Poll(task.waker());
    if (state == end) Require(data.Read() == 1);
  });
  data.Write() = 1;
  act(timer);
  delay.Join();
  Require(state == end || task.woken());
  Require(Poll(*node) == end);
}

MODEL_TEST(ScheduledTimer, AFireIsSeenOrWakes) {
  AnEndIsSeenOrWakes(State::kFired,
                     [](OneNodeTimer& timer) { timer.AdvanceTo(At(10)); });
}

MODEL_TEST(ScheduledTimer, AnInvalidationIsSeenOrWakes) {
  AnEndIsSeenOrWakes(State::kInvalid,
                     [](OneNodeTimer& timer) { timer.Stop(); });
}

// A task that has registered and resets continues to wait, and is woken in the
// end.
MODEL_TEST(ScheduledTimer, AWakeIsNotLostToAReset) {
  Task task;
  OneNodeTimer timer;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  Require(node->Poll(task.waker()) == State::kWaiting);
  Thread delay([&] {
    node->Reset(At(20));
    timer.Push(node);
  });
  timer.AdvanceTo(At(20));
  delay.Join();
  timer.AdvanceTo(At(20));
  Require(task.woken());
}

MODEL_TEST(ScheduledTimer, AResetRacesWithTheTimersDestruction) {
  Task task;
  OneNodeTimer timer;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  timer.AdvanceTo(At(0));
  Require(node->Poll(task.waker()) == State::kWaiting);
  Thread delay([&] {
    if (node->Reset(At(20))) timer.Push(node);
  });
  timer.Stop();
  delay.Join();
  Require(Poll(*node) == State::kInvalid);
  Require(task.woken());
}

// Defect 2 of the seed: a delay that has fired, and whose timer is then
// destroyed, is reset and is still in the fired state.
MODEL_TEST(ScheduledTimer,
           Defect2AResetOfAFiredNodeRacesWithTheTimersDestruction) {
  OneNodeTimer timer;
  const Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  timer.AdvanceTo(At(10));
  // In the list once more, as after a reset that the timer saw before its push.
  timer.Push(node);
  Thread delay([&] {
    if (node->Reset(At(20))) timer.Push(node);
    Require(Poll(*node) != State::kFired);
  });
  timer.Stop();
  delay.Join();
  Require(Poll(*node) == State::kInvalid);
}

// A cancelled node does not fire, and the timer drops its reference.
MODEL_TEST(ScheduledTimer, ACancellationRacesWithAFire) {
  Task task;
  OneNodeTimer timer;
  Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  timer.AdvanceTo(At(0));
  Require(node->Poll(task.waker()) == State::kWaiting);
  Thread delay([&] { Cancel(timer, node); });
  timer.AdvanceTo(At(10));
  delay.Join();
  timer.AdvanceTo(At(0));
  Require(!timer.IsArmed());
}

// Before its deadline. The timer does not keep the node until then.
MODEL_TEST(ScheduledTimer, ACancelledNodeLeavesTheHeap) {
  Task task;
  OneNodeTimer timer;
  Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  timer.AdvanceTo(At(0));
  Require(node->Poll(task.waker()) == State::kWaiting);
  Thread delay([&] { Cancel(timer, node); });
  timer.AdvanceTo(At(5));
  delay.Join();
  timer.AdvanceTo(At(5));
  Require(!timer.IsArmed());
  Require(!task.woken());
}

MODEL_TEST(ScheduledTimer, ACancellationRacesWithTheTimersDestruction) {
  Task task;
  OneNodeTimer timer;
  Ref<ScheduledTimer> node = MakeRef<ScheduledTimer>(At(10));
  timer.Push(node);
  Require(node->Poll(task.waker()) == State::kWaiting);
  Thread delay([&] { Cancel(timer, node); });
  timer.Stop();
  delay.Join();
}

MODEL_MUTANTS(ScheduledTimer, "timer/heap/scheduled_timer.");

}  // namespace
}  // namespace rouse::heap
