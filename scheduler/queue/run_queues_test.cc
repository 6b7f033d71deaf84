// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/queue/run_queues.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/queue/global_queue.h"
#include "rouse/scheduler/queue/idle.h"

namespace rouse::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Element {
  bool IsNew() const { return is_new; }

  int number = 0;
  bool is_new = false;
  Element* next_in_queue = nullptr;
  Element* previous_in_queue = nullptr;
};

// Records the calls.
struct Host {
  void UnparkWorker(size_t worker) { unparked.push_back(worker); }
  void Discard(Element* element) { discarded.push_back(element->number); }
  uint64_t PollsBegun(size_t worker) const { return polls_begun[worker]; }
  template <class Ready>
  bool AwaitBriefly(Ready ready) {
    if (while_awaited == nullptr) return true;
    while_awaited();
    return ready();
  }

  class Adder {
   public:
    explicit Adder(Host& host) : host_(host) {}
    bool IsClosed() const { return host_.is_closed; }
    void Add(Element* element) { host_.added.push_back(element->number); }

   private:
    Host& host_;
  };
  Adder AdderFor(size_t worker) {
    static_cast<void>(worker);
    return Adder(*this);
  }

  std::vector<uint64_t> polls_begun = std::vector<uint64_t>(8);
  // If empty, the awaited worker has moved on.
  std::function<void()> while_awaited;
  std::vector<size_t> unparked;
  std::vector<int> discarded;
  std::vector<int> added;
  bool is_closed = false;
};

class RunQueuesTest : public testing::Test {
 protected:
  static constexpr uint32_t kCapacity = 8;
  static constexpr int kSegment = GlobalQueue<Element>::kSegment;
  static constexpr int kElements = 128;
  using Queues = RunQueues<Element, Host, kCapacity>;

  RunQueuesTest() {
    for (int i = 0; i < kElements; ++i) elements_[i].number = i;
  }

  // Pushes tasks to the private queue of `worker`. `PushShared()` pushes tasks
  // to its stealable queue, and `Inject()` to the global queue.
  void Push(Queues& queues, size_t worker, int from, int to) {
    for (int i = from; i < to; ++i) queues.Of(worker).Push(&elements_[i]);
  }
  void PushShared(Queues& queues, size_t worker, int from, int to) {
    Push(queues, worker, from, to);
    queues.Of(worker).GiveUp();
  }
  void Inject(Queues& queues, int from, int to) {
    for (int i = from; i < to; ++i) queues.Inject(&elements_[i]);
  }

  static int Number(const Element* element) {
    return element != nullptr ? element->number : -1;
  }
  static std::vector<int> PopAll(Queues& queues, size_t worker) {
    std::vector<int> numbers;
    while (const Element* element = queues.Of(worker).Pop()) {
      numbers.push_back(element->number);
    }
    return numbers;
  }
  static std::vector<int> Drain(Queues& queues) {
    std::vector<int> numbers;
    queues.DrainAll([&numbers](const Element* element) {
      numbers.push_back(element->number);
    });
    return numbers;
  }
  // Returns all tasks in the global queue, in their order.
  static std::vector<int> PopAllShared(Queues& queues) {
    std::vector<int> numbers;
    while (const Element* element = queues.Of(1).PopGlobal()) {
      numbers.push_back(element->number);
      for (int number : PopAll(queues, 1)) numbers.push_back(number);
    }
    return numbers;
  }

  Element elements_[kElements];
  Host host_;
  FastRand rand_{0};
  Queues two_{host_, 2};
  Queues solo_{host_, 1};
};

TEST_F(RunQueuesTest, AWorkersOwnTasksAreFirstInFirstOut) {
  Push(two_, 0, 0, 3);
  EXPECT_EQ(two_.Of(0).depth(), 3u);
  EXPECT_EQ(two_.Of(1).depth(), 0u);
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(0, 1, 2));
}

TEST_F(RunQueuesTest, TheLifoSlotIsSeparateFromTheQueue) {
  Push(two_, 0, 0, 1);
  two_.Of(0).PushNext(&elements_[1]);
  EXPECT_EQ(two_.Of(0).depth(), 2u);
  EXPECT_EQ(Number(two_.Of(0).PopNext()), 1);
  EXPECT_EQ(two_.Of(0).PopNext(), nullptr);
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(0));
}

TEST_F(RunQueuesTest, SharesNoTaskWhileAllAreBusy) {
  Push(two_, 0, 0, 5);
  two_.Of(0).Share(0);
  EXPECT_EQ(two_.Of(1).Steal(rand_), nullptr);
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(RunQueuesTest, SharesPrivateTasksWithASleepingWorker) {
  ASSERT_TRUE(two_.Of(1).Sleep());
  Push(two_, 0, 0, 4);
  two_.Of(0).Share(1);
  EXPECT_THAT(host_.unparked, ElementsAre(1));
  two_.Of(1).Awake();
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
  EXPECT_THAT(PopAll(two_, 1), ElementsAre(1));
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(2, 3));
}

TEST_F(RunQueuesTest, SharesPrivateTasksWithASearchingWorker) {
  ASSERT_EQ(two_.Of(1).Steal(rand_), nullptr);
  Push(two_, 0, 0, 2);
  two_.Of(0).Share(1);
  EXPECT_THAT(host_.unparked, IsEmpty());
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
}

TEST_F(RunQueuesTest, ASearchingWorkerDoesNotShareWithItself) {
  ASSERT_EQ(two_.Of(0).Steal(rand_), nullptr);
  Push(two_, 0, 0, 2);
  two_.Of(0).Share(0);
  EXPECT_EQ(two_.Of(1).Steal(rand_), nullptr);
}

TEST_F(RunQueuesTest, DoesNotShareTheLifoSlotWithASleepingWorker) {
  ASSERT_TRUE(two_.Of(1).Sleep());
  Push(two_, 0, 0, 1);
  two_.Of(0).Share(1);
  EXPECT_THAT(host_.unparked, IsEmpty());
  // But it does get the task while another task runs.
  two_.Of(0).Share(0);
  EXPECT_THAT(host_.unparked, ElementsAre(1));
}

// A task makes many others, and then takes long itself.
TEST_F(RunQueuesTest, SharesEachTaskWhileAWorkerIsIdle) {
  ASSERT_TRUE(two_.Of(1).Sleep());
  for (int i = 0; i < 5; ++i) {
    elements_[i].is_new = true;
    two_.Of(0).PushNext(&elements_[i]);
    two_.Of(0).Share(1);
  }
  two_.Of(1).Awake();
  std::vector<int> stolen;
  while (const Element* element = two_.Of(1).Steal(rand_)) {
    stolen.push_back(element->number);
    for (int number : PopAll(two_, 1)) stolen.push_back(number);
  }
  EXPECT_THAT(stolen, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(Number(two_.Of(0).PopNext()), 4);
}

TEST_F(RunQueuesTest, SharesAtMostTheRoomOfTheStealableQueue) {
  ASSERT_TRUE(two_.Of(1).Sleep());
  Push(two_, 0, 0, 30);
  two_.Of(0).Share(1);
  EXPECT_EQ(two_.global_depth(), 0u);
  two_.Of(1).Awake();
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
  EXPECT_EQ(two_.Of(1).steals(), kCapacity / 2);
}

// The worker's polls take long.
TEST_F(RunQueuesTest, SharesPrivateTasksInAdvance) {
  two_.Of(0).SetSharing(Sharing::kInAdvance);
  Push(two_, 0, 0, 2);
  two_.Of(0).Share(1);
  Push(two_, 0, 2, 4);
  two_.Of(0).Share(1);
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
  EXPECT_EQ(two_.Of(1).steals(), 2u);
  two_.Of(0).SetSharing(Sharing::kOnDemand);
  Push(two_, 0, 4, 6);
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(2, 3, 4, 5));
}

// Tasks are woken all the time, more than others can steal at once, with a new
// task behind them.
TEST_F(RunQueuesTest, PrivateTasksHaveTheirTurnBesideSharedTasks) {
  two_.Of(0).SetSharing(Sharing::kInAdvance);
  elements_[0].is_new = true;
  Push(two_, 0, 0, 2 * kCapacity);
  for (int i = 0; i < 100; ++i) {
    two_.Of(0).Share(0);
    Element* const element = two_.Of(0).Pop();
    if (element->number == 0) return;
    two_.Of(0).Push(element);
    two_.Of(0).Share(1);
  }
  FAIL() << "the new one never comes";
}

TEST_F(RunQueuesTest, SharedTasksRunBeforePrivateTasks) {
  PushShared(two_, 0, 0, 2);
  Push(two_, 0, 2, 4);
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(0, 1, 2, 3));
}

TEST_F(RunQueuesTest, GivingUpSharesTheLifoSlot) {
  ASSERT_TRUE(two_.Of(1).Sleep());
  two_.Of(0).PushNext(&elements_[1]);
  Push(two_, 0, 0, 1);
  two_.Of(0).GiveUp();
  EXPECT_THAT(host_.unparked, ElementsAre(1));
  EXPECT_EQ(two_.Of(0).PopNext(), nullptr);
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(1, 0));
}

// Tokio #8029: the first half, which has waited longer, stays.
TEST_F(RunQueuesTest, AnOverflowMovesTheLaterHalfToTheGlobalQueue) {
  Inject(two_, 20, 21);
  PushShared(two_, 0, 0, kCapacity + 1);
  EXPECT_EQ(two_.Of(0).overflows(), kCapacity / 2 + 1);
  EXPECT_EQ(two_.global_depth(), kCapacity / 2 + 2);
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(PopAllShared(two_), ElementsAre(20, 4, 5, 6, 7, 8));
}

// The worker's share of 6 tasks: half, and one more.
TEST_F(RunQueuesTest, ABatchIsTheWorkersShareOfTheGlobalQueue) {
  Inject(two_, 0, 6);
  EXPECT_EQ(Number(two_.Of(0).PopGlobal()), 0);
  EXPECT_EQ(two_.global_depth(), 2u);
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(1, 2, 3));
}

// Of many tasks, a batch takes whole segments.
TEST_F(RunQueuesTest, ABatchIsOfWholeSegments) {
  Inject(two_, 0, 4 * kSegment);
  EXPECT_EQ(Number(two_.Of(0).PopGlobal()), 0);
  EXPECT_EQ(two_.global_depth(), 2u * kSegment);
  EXPECT_EQ(two_.Of(0).depth(), 2u * kSegment - 1);
}

// Tokio #5908: tasks that do not fit into the stealable queue stay with the
// worker, and do not go to the global queue.
TEST_F(RunQueuesTest, ABatchOfAWorkerThatSharesInAdvanceDoesNotOverflow) {
  two_.Of(0).SetSharing(Sharing::kInAdvance);
  Inject(two_, 0, 40);
  EXPECT_EQ(Number(two_.Of(0).PopGlobal()), 0);
  EXPECT_GT(two_.Of(0).depth(), kCapacity);
  EXPECT_EQ(two_.Of(0).depth() + two_.global_depth(), 39u);
  EXPECT_EQ(two_.Of(0).overflows(), 0u);
}

// Tokio #5705: otherwise the global queue waits while the worker's is full.
TEST_F(RunQueuesTest, ABatchHasAtLeastOneTask) {
  two_.Of(0).SetSharing(Sharing::kInAdvance);
  PushShared(two_, 0, 20, 20 + kCapacity);
  Inject(two_, 0, 1);
  EXPECT_EQ(Number(two_.Of(0).PopGlobal()), 0);
  EXPECT_EQ(two_.global_depth(), 0u);
  EXPECT_EQ(two_.Of(0).depth(), kCapacity);
  EXPECT_EQ(two_.Of(0).overflows(), 0u);
}

// No thread can take one of the tasks for new, or miss it.
TEST_F(RunQueuesTest, TheHostIsNotifiedOfEachTakenTask) {
  Inject(two_, 0, 2);
  two_.Of(0).PopGlobal();
  EXPECT_THAT(host_.added, ElementsAre(0, 1));
}

TEST_F(RunQueuesTest, TasksThatTheHostRefusesStay) {
  Inject(two_, 0, 2);
  host_.is_closed = true;
  EXPECT_EQ(two_.Of(0).PopGlobal(), nullptr);
  EXPECT_EQ(two_.global_depth(), 2u);
}

TEST_F(RunQueuesTest, ABatchWakesAnotherWorkerForTheRest) {
  // The searching worker must find the tasks: when it gives up, it may not
  // sleep.
  ASSERT_EQ(two_.Of(0).Steal(rand_), nullptr);
  ASSERT_TRUE(two_.Of(1).Sleep());
  Inject(two_, 0, 6);
  ASSERT_FALSE(two_.Of(0).Sleep());
  ASSERT_THAT(host_.unparked, IsEmpty());
  EXPECT_EQ(Number(two_.Of(0).PopGlobal()), 0);
  EXPECT_THAT(host_.unparked, ElementsAre(1));
  two_.Of(1).Awake();
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 1);
}

TEST_F(RunQueuesTest, AnEmptyGlobalQueueReturnsNoTask) {
  EXPECT_EQ(two_.Of(0).PopGlobal(), nullptr);
  EXPECT_EQ(solo_.Of(0).PopGlobal(), nullptr);
}

TEST_F(RunQueuesTest, ASingleWorkerTakesTheWholeGlobalQueue) {
  Push(solo_, 0, 0, 2);
  Inject(solo_, 10, 40);
  EXPECT_EQ(Number(solo_.Of(0).PopGlobal()), 0);
  EXPECT_EQ(solo_.global_depth(), 0u);
  EXPECT_EQ(solo_.Of(0).depth(), 31u);
  EXPECT_EQ(Number(solo_.Of(0).Pop()), 1);
  for (int i = 10; i < 40; ++i) EXPECT_EQ(Number(solo_.Of(0).Pop()), i);
  EXPECT_EQ(solo_.Of(0).Pop(), nullptr);
  EXPECT_EQ(solo_.Of(0).depth(), 0u);
}

TEST_F(RunQueuesTest, ASingleWorkersQueueHasNoLimit) {
  Push(solo_, 0, 0, 64);
  EXPECT_EQ(solo_.Of(0).depth(), 64u);
  EXPECT_EQ(solo_.Of(0).overflows(), 0u);
  EXPECT_EQ(solo_.global_depth(), 0u);
}

TEST_F(RunQueuesTest, ASingleWorkerSharesNoTask) {
  Push(solo_, 0, 0, 3);
  solo_.Of(0).Share(0);
  solo_.Of(0).GiveUp();
  solo_.Rescue(0);
  EXPECT_EQ(solo_.global_depth(), 0u);
  EXPECT_THAT(PopAll(solo_, 0), ElementsAre(0, 1, 2));
}

TEST_F(RunQueuesTest, NewTasksRunInOrderIfConfigured) {
  Queues queues(host_, 1, /*newest_first=*/false);
  for (int i = 0; i < 2; ++i) elements_[i].is_new = true;
  Push(queues, 0, 0, 3);
  EXPECT_THAT(PopAll(queues, 0), ElementsAre(0, 1, 2));
}

TEST_F(RunQueuesTest, StealingTakesTheFirstHalf) {
  PushShared(two_, 0, 0, 6);
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
  EXPECT_THAT(PopAll(two_, 1), ElementsAre(1, 2));
  EXPECT_THAT(PopAll(two_, 0), ElementsAre(3, 4, 5));
  EXPECT_EQ(two_.Of(1).steals(), 3u);
  EXPECT_EQ(two_.Of(1).steal_operations(), 1u);
  EXPECT_EQ(two_.Of(0).steals(), 0u);
}

// Tokio #8065: the thief would take the task that is best kept.
TEST_F(RunQueuesTest, StealingLeavesTheLifoSlot) {
  two_.Of(0).PushNext(&elements_[0]);
  two_.Of(0).Share(1);
  EXPECT_EQ(two_.Of(1).Steal(rand_), nullptr);
  EXPECT_EQ(Number(two_.Of(0).PopNext()), 0);
}

TEST_F(RunQueuesTest, AnUnsuccessfulThiefChecksTheGlobalQueue) {
  Inject(two_, 0, 1);
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
  EXPECT_EQ(two_.Of(1).steal_operations(), 0u);
}

TEST_F(RunQueuesTest, StealsFromAnyWorkerWithTasks) {
  Queues many(host_, 7);
  PushShared(many, 5, 0, 1);
  EXPECT_EQ(Number(many.Of(2).Steal(rand_)), 0);
}

TEST_F(RunQueuesTest, AtMostHalfOfTheWorkersSteal) {
  Queues four(host_, 4);
  EXPECT_EQ(four.Of(1).Steal(rand_), nullptr);
  EXPECT_EQ(four.Of(2).Steal(rand_), nullptr);
  PushShared(four, 0, 0, 2);
  EXPECT_EQ(four.Of(3).Steal(rand_), nullptr);
  // A searching worker continues, and makes way when it has found something.
  EXPECT_EQ(Number(four.Of(1).Steal(rand_)), 0);
  four.Of(1).EndSearching();
  EXPECT_EQ(Number(four.Of(3).Steal(rand_)), 1);
}

// Two workers of another group search, and are off their processors. The worker
// may not search, and must not park: it has seen a task.
TEST_F(RunQueuesTest, AWorkerThatMayNotSearchTakesATaskBeforeItParks) {
  Queues many(host_, Idle::kGroup + 2);
  ASSERT_EQ(many.Of(Idle::kGroup).Steal(rand_), nullptr);
  ASSERT_EQ(many.Of(Idle::kGroup + 1).Steal(rand_), nullptr);
  Inject(many, 0, 1);
  EXPECT_EQ(many.Of(0).Steal(rand_), nullptr);
  EXPECT_FALSE(many.Of(0).Sleep());
  // A hook may be called here, during which the worker must not search.
  many.Of(0).EndSearching();
  EXPECT_EQ(Number(many.Of(0).Steal(rand_)), 0);
}

// The worker takes the task that it has seen without a search.
TEST_F(RunQueuesTest, OnlyASearchForASeenTaskHasNoLimit) {
  Queues many(host_, Idle::kGroup + 2);
  Inject(many, 0, 1);
  EXPECT_FALSE(many.Of(0).Sleep());
  EXPECT_EQ(Number(many.Of(0).PopGlobal()), 0);
  ASSERT_EQ(many.Of(Idle::kGroup).Steal(rand_), nullptr);
  ASSERT_EQ(many.Of(Idle::kGroup + 1).Steal(rand_), nullptr);
  EXPECT_EQ(many.Of(0).Steal(rand_), nullptr);
  EXPECT_FALSE(many.Of(0).IsSearching());
}

// Others pass over the queues of a worker that sleeps.
TEST_F(RunQueuesTest, AWorkerWithTasksDoesNotSleep) {
  PushShared(two_, 0, 0, 1);
  EXPECT_FALSE(two_.Of(0).Sleep());
  EXPECT_FALSE(two_.idle().IsAsleep(0));
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
}

// For example in the driver, which has more events to handle.
TEST_F(RunQueuesTest, TasksOfAWorkerThatHasEndedItsSleepAreFound) {
  ASSERT_TRUE(two_.Of(0).Sleep());
  EXPECT_FALSE(two_.Of(0).Awake());
  Push(two_, 0, 0, 1);
  host_.while_awaited = [] {};
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
}

TEST_F(RunQueuesTest, InjectingWakesASleepingWorker) {
  ASSERT_TRUE(two_.Of(0).Sleep());
  ASSERT_TRUE(two_.Of(1).Sleep());
  Inject(two_, 0, 2);
  EXPECT_THAT(host_.unparked, ElementsAre(0));
}

// Tokio #4383: a worker that finds a task wakes the next, if there are more.
TEST_F(RunQueuesTest, TheLastSearchingWorkerWakesAnotherForTheRest) {
  ASSERT_TRUE(two_.Of(0).Sleep());
  ASSERT_TRUE(two_.Of(1).Sleep());
  Inject(two_, 0, 20);
  two_.Of(0).Awake();
  ASSERT_THAT(host_.unparked, ElementsAre(0));
  EXPECT_EQ(Number(two_.Of(0).Steal(rand_)), 0);
  two_.Of(0).EndSearching();
  EXPECT_THAT(host_.unparked, ElementsAre(0, 1));
}

// In the driver, a worker that was woken for a task queues others for as long
// as the dispatch lasts. The other worker gets all of them.
TEST_F(RunQueuesTest, AWokenWorkerThatDispatchesLetsOthersBeWoken) {
  ASSERT_TRUE(two_.Of(0).Sleep());
  ASSERT_TRUE(two_.Of(1).Sleep());
  Inject(two_, 0, 1);
  ASSERT_TRUE(two_.Of(0).Awake());
  two_.Of(0).EndSearching();
  Push(two_, 0, 1, 2);
  two_.Rescue(0);
  EXPECT_THAT(host_.unparked, ElementsAre(0, 1));
  ASSERT_TRUE(two_.Of(1).Awake());
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
  EXPECT_THAT(PopAll(two_, 1), ElementsAre(1));
}

TEST_F(RunQueuesTest, TheLastSearchingWorkerWakesNoneWithoutTasks) {
  ASSERT_TRUE(two_.Of(0).Sleep());
  ASSERT_TRUE(two_.Of(1).Sleep());
  Inject(two_, 0, 1);
  two_.Of(0).Awake();
  EXPECT_EQ(Number(two_.Of(0).Steal(rand_)), 0);
  two_.Of(0).EndSearching();
  EXPECT_THAT(host_.unparked, ElementsAre(0));
}

TEST_F(RunQueuesTest, NoWorkerSleepsBesideATask) {
  two_.Of(1).PushNext(&elements_[0]);
  EXPECT_FALSE(two_.Of(1).Sleep());  // its own next task
  PushShared(two_, 0, 1, 2);
  EXPECT_FALSE(two_.Of(0).Sleep());  // its own task
  ASSERT_EQ(Number(two_.Of(1).PopNext()), 0);
  EXPECT_FALSE(two_.Of(1).Sleep());  // another's task
  ASSERT_EQ(Number(two_.Of(0).Pop()), 1);
  Inject(two_, 2, 3);
  EXPECT_FALSE(two_.Of(0).Sleep());  // a global task
  EXPECT_EQ(two_.idle().asleep(), 0u);
}

TEST_F(RunQueuesTest, ASingleWorkerDoesNotSleepBesideATask) {
  Push(solo_, 0, 0, 1);
  EXPECT_FALSE(solo_.Of(0).Sleep());
  ASSERT_EQ(Number(solo_.Of(0).Pop()), 0);
  EXPECT_TRUE(solo_.Of(0).Sleep());
}

TEST_F(RunQueuesTest, LeavingGivesUpTheLifoSlotAndWakesAnother) {
  ASSERT_TRUE(two_.Of(1).Sleep());
  two_.Of(0).PushNext(&elements_[0]);
  two_.Of(0).Leave();
  EXPECT_THAT(host_.unparked, ElementsAre(1));
  two_.Of(1).Awake();
  EXPECT_EQ(Number(two_.Of(1).Steal(rand_)), 0);
}

TEST_F(RunQueuesTest, LeavingEndsASearch) {
  ASSERT_TRUE(two_.Of(0).Sleep());
  ASSERT_TRUE(two_.Of(1).Sleep());
  Inject(two_, 0, 1);
  two_.Of(0).Awake();
  two_.Of(0).Leave();
  EXPECT_THAT(host_.unparked, ElementsAre(0, 1));
}

// Tokio #4941.
TEST_F(RunQueuesTest, ARescueMovesTheLifoSlotToTheGlobalQueue) {
  ASSERT_TRUE(two_.Of(1).Sleep());
  two_.Of(0).PushNext(&elements_[0]);
  two_.Rescue(0);
  EXPECT_EQ(two_.Of(0).PopNext(), nullptr);
  EXPECT_THAT(host_.unparked, ElementsAre(1));
  EXPECT_EQ(Number(two_.Of(1).PopGlobal()), 0);
}

TEST_F(RunQueuesTest, ARescueMovesAllTasksToTheGlobalQueue) {
  Push(two_, 0, 0, 3);
  two_.Of(0).PushNext(&elements_[3]);
  two_.Rescue(0);
  EXPECT_EQ(two_.Of(0).depth(), 0u);
  EXPECT_THAT(PopAllShared(two_), ElementsAre(3, 0, 1, 2));
}

// The stuck worker would share its tasks if it could.
TEST_F(RunQueuesTest, ASearchingWorkerRescuesAStuckWorkersTasks) {
  host_.while_awaited = [] {};
  for (int i = 0; i < 3; ++i) two_.Of(0).PushNext(&elements_[i]);
  EXPECT_EQ(two_.Of(1).Steal(rand_), &elements_[2]);
  EXPECT_FALSE(two_.Of(0).HasNext());
  EXPECT_EQ(two_.Of(0).depth(), 0u);
  EXPECT_EQ(two_.Of(1).depth() + two_.global_depth(), 2u);
}

// The worker's check before its first poll may have come too soon.
TEST_F(RunQueuesTest, ASearchingWorkerRescuesFromAWorkerStuckInItsNextPoll) {
  host_.while_awaited = [this] { ++host_.polls_begun[0]; };
  two_.Of(0).PushNext(&elements_[0]);
  EXPECT_EQ(two_.Of(1).Steal(rand_), &elements_[0]);
}

// Of several workers that have nothing to do, one watches.
TEST_F(RunQueuesTest, TheLastSearchingWorkerWakesAnotherForAStuckWorker) {
  Queues three(host_, 3);
  Push(three, 0, 0, 2);
  ASSERT_TRUE(three.Of(2).Sleep());
  host_.while_awaited = [this, &three] {
    host_.while_awaited = nullptr;
    Inject(three, 2, 3);
  };
  EXPECT_EQ(three.Of(1).Steal(rand_), nullptr);
  EXPECT_EQ(three.Of(1).Steal(rand_), &elements_[2]);
  EXPECT_THAT(host_.unparked, IsEmpty());
  three.Of(1).EndSearching();
  EXPECT_THAT(host_.unparked, ElementsAre(2));
  Drain(three);
}

TEST_F(RunQueuesTest, ASearchingWorkerLeavesAWorkerThatHasChecked) {
  host_.while_awaited = [this] { host_.polls_begun[0] += kPollsUntilShared; };
  two_.Of(0).PushNext(&elements_[0]);
  EXPECT_EQ(two_.Of(1).Steal(rand_), nullptr);
  EXPECT_EQ(two_.Of(0).PopNext(), &elements_[0]);
}

TEST_F(RunQueuesTest, ASearchingWorkerStealsTasksSharedLate) {
  host_.while_awaited = [this] {
    two_.Of(0).Push(&elements_[1]);
    two_.Of(0).Share(1);
  };
  two_.Of(0).PushNext(&elements_[0]);
  EXPECT_EQ(two_.Of(1).Steal(rand_), &elements_[1]);
  EXPECT_EQ(two_.Of(0).PopNext(), &elements_[0]);
}

TEST_F(RunQueuesTest, ARescueOfNoTasksMovesNothing) {
  PushShared(two_, 0, 0, 1);
  ASSERT_FALSE(two_.Of(1).Sleep());
  two_.Rescue(0);
  EXPECT_EQ(two_.global_depth(), 0u);
}

TEST_F(RunQueuesTest, WakeAnyNeedsASleepingWorker) {
  EXPECT_FALSE(two_.WakeAny());
  ASSERT_TRUE(two_.Of(1).Sleep());
  EXPECT_TRUE(two_.WakeAny());
  EXPECT_THAT(host_.unparked, ElementsAre(1));
}

TEST_F(RunQueuesTest, ClosingWakesAllWorkers) {
  Queues many(host_, 3);
  for (size_t worker : {0, 1, 2}) ASSERT_TRUE(many.Of(worker).Sleep());
  EXPECT_FALSE(many.IsClosed());
  many.Close();
  EXPECT_TRUE(many.IsClosed());
  EXPECT_THAT(host_.unparked, UnorderedElementsAre(0, 1, 2));
}

TEST_F(RunQueuesTest, NoWorkerSleepsAfterTheClose) {
  two_.Close();
  EXPECT_FALSE(two_.Of(0).Sleep());
  EXPECT_EQ(two_.idle().asleep(), 0u);
}

TEST_F(RunQueuesTest, InjectedTasksAreDiscardedAfterTheClose) {
  two_.Close();
  Inject(two_, 0, 2);
  EXPECT_THAT(host_.discarded, ElementsAre(0, 1));
  EXPECT_EQ(two_.global_depth(), 0u);
}

TEST_F(RunQueuesTest, DrainingRemovesAllTasks) {
  two_.Of(0).PushNext(&elements_[0]);
  Push(two_, 0, 1, 3);
  two_.Of(1).PushNext(&elements_[3]);
  PushShared(two_, 1, 4, 5);
  Inject(two_, 5, 7);
  two_.Close();
  EXPECT_THAT(Drain(two_), UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(two_.Of(0).depth(), 0u);
  EXPECT_EQ(two_.Of(1).depth(), 0u);
  EXPECT_EQ(two_.global_depth(), 0u);
}

// The tasks given up by a worker that leaves because the queues were closed.
TEST_F(RunQueuesTest, DrainingRemovesTasksAddedAfterTheClose) {
  two_.Close();
  PushShared(two_, 0, 0, kCapacity + 1);
  Push(two_, 1, 20, 21);
  two_.Rescue(1);
  EXPECT_THAT(host_.discarded, IsEmpty());
  EXPECT_THAT(Drain(two_), UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 20));
}

TEST_F(RunQueuesTest, DrainingASingleWorkerRemovesAllTasks) {
  solo_.Of(0).PushNext(&elements_[0]);
  Push(solo_, 0, 1, 3);
  Inject(solo_, 3, 4);
  EXPECT_THAT(Drain(solo_), UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_EQ(solo_.Of(0).depth(), 0u);
}

}  // namespace
}  // namespace rouse::scheduler
