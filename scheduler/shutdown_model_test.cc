// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A task is spawned, from outside or by a worker, while the scheduler is shut
// down (trap S14), or the watchdog is moving the task. Whichever phase it
// meets, the task ends, and no reference to it is left. A leak fails the model.
// The model repeats what `Scheduler` does with its parts, in the same order.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/queue/run_queues.h"
#include "rouse/scheduler/task/cell.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/owned_tasks.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// How a worker ends: by giving up its tasks, as it should, or not doing so if
// it seems to have none.
enum class Ending : unsigned char { kRight, kSkipsWhatSeemsEmpty };

// Does what a worker of `world` does in one turn.
template <class World>
void Turn(World& world, size_t worker, FastRand& rand) {
  auto own = world.queues.Of(worker);
  auto* task = own.PopNext();
  if (task == nullptr) task = own.Pop();
  if (task == nullptr) task = own.Steal(rand);
  if (task != nullptr) {
    own.EndSearching();
    own.Share(0);
    world.Run(task, rand);
  } else if (own.Sleep()) {
    world.parkers[worker].Park();
    own.Awake();
  }
}

template <class World>
void Finish(World& world) {
  world.queues.DrainAll([&world](auto* task) { world.Discard(task); });
  world.over.Write() = true;
}

template <class World>
void CancelTasks(World& world, size_t worker) {
  world.CloseTasks(worker);
  world.queues.Drain(worker, [&world](auto* task) { world.Discard(task); });
}

// Ends a worker's thread after the queues have been closed.
template <class World>
void End(World& world, size_t worker) {
  auto own = world.queues.Of(worker);
  if (world.ending == Ending::kRight || own.depth() > 0) {
    own.Leave();
  } else {
    own.EndSearching();
  }
  world.queues.WakeAny();
  CancelTasks(world, worker);
  // The last worker comes after all actions of the others.
  if (world.running.fetch_sub(1, std::memory_order_acq_rel) == 1) Finish(world);
}

// Runs a worker from beginning to end.
template <class World>
void Work(World& world, size_t worker) {
  FastRand rand(0);
  while (!world.queues.IsClosed()) Turn(world, worker, rand);
  End(world, worker);
}

// Checks that the scheduler has ended, and no tasks are left.
template <class World>
void RequireEmpty(World& world) {
  Require(world.over.Read());
  Require(!world.queues.HasWork());
  for (size_t i = 0; i < world.queues.workers(); ++i) {
    Require(world.queues.Of(i).depth() == 0);
  }
}

class World;

// A future that is never ready. Counts its destruction, which must not race,
// and must not be polled after that or after the end of the scheduler.
class Never {
 public:
  Never(const World* world, model::Cell<int>* ended)
      : world_(world), ended_(ended) {}
  Never(Never&& other) noexcept
      : world_(other.world_), ended_(std::exchange(other.ended_, nullptr)) {}
  Never& operator=(Never&&) = delete;
  ~Never() {
    if (ended_ != nullptr) ++ended_->Write();
  }
  PollResult<void> Poll(Context&);

 private:
  const World* world_;
  model::Cell<int>* ended_;
};

// A scheduler without drivers.
class World final : public task::Schedule {
 public:
  class TestTask;
  using Queues = RunQueues<task::Header, World, 2>;

  explicit World(size_t workers = 1, Ending ending = Ending::kRight)
      : ending(ending),
        parkers(workers),
        queues(*this, workers),
        tasks(workers),
        running(workers) {}

  // Functions of `Host`:
  void UnparkWorker(size_t worker) { parkers[worker].unparker().Unpark(); }
  void Discard(task::Header* task) {
    if (task::OwnedTasks::WasAdded(task)) return task::Discard(task);
    task::CancelNew(task);
  }
  task::OwnedTasks::Adder AdderFor(size_t worker) { return {tasks, worker}; }
  static uint64_t PollsBegun(size_t) { return 0; }
  template <class Ready>
  static bool AwaitBriefly(Ready) {
    return true;
  }

  // Functions of `task::Schedule`:
  void Submit(task::Header* task) override { queues.Inject(task); }
  void Resubmit(task::Header* task) override { queues.Inject(task); }
  bool Release(task::Header* task) override { return tasks.Remove(task); }

  void Spawn(task::Header* task) { queues.InjectNew(task); }
  // Spawns `task` on the thread that runs `worker`, as one of its tasks does.
  void SpawnAt(size_t worker, task::Header* task) {
    task->BeginRunning();
    if (!tasks.Add(task, worker)) return task::CancelNew(task);
    queues.Of(worker).PushNext(task);
    queues.Of(worker).Share(1);
  }

  void Run(task::Header* task, FastRand& rand) { task::Run(task, &rand); }
  void CloseTasks(size_t worker) { tasks.CloseAndShutdownAll(worker); }

  const Ending ending;
  std::vector<ThreadParker> parkers;
  Queues queues;
  task::OwnedTasks tasks;
  // Number of workers that have not ended.
  Atomic<size_t> running;
  model::Cell<bool> over{false};
};

PollResult<void> Never::Poll(Context&) {
  Require(ended_->Read() == 0);
  Require(!world_->over.Read());
  return kPending;
}

// A task that has not been spawned yet.
class World::TestTask {
 public:
  explicit TestTask(World* world)
      : task(new task::Cell<Never>(world, 1, Never(world, &ended_))),
        handle_(task) {}

  void RequireEnded() {
    Require(handle_.IsFinished());
    Require(ended_.Read() == 1);
  }

 private:
  model::Cell<int> ended_{0};

 public:
  task::Header* const task;

 private:
  JoinHandle<void> handle_;
};

// Cancels all tasks, as if no worker ran any more.
void CancelAll(World& world) {
  CancelTasks(world, 0);
  Finish(world);
}

MODEL_TEST(Shutdown, ATaskIsSpawnedWhileNoWorkerRuns, .spurious_failures = 0) {
  auto* const world = new World;
  {
    World::TestTask task(world);
    Thread spawner([&] { world->Spawn(task.task); });
    world->queues.Close();
    CancelAll(*world);
    spawner.Join();
    task.RequireEnded();
    RequireEmpty(*world);
    Require(world->tasks.size() == 0);
  }
  world->Unref();
}

MODEL_TEST(Shutdown, ATaskIsSpawnedBesideAWorker, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  auto* const world = new World;
  {
    World::TestTask task(world);
    Thread worker([&] { Work(*world, 0); });
    Thread spawner([&] { world->Spawn(task.task); });
    world->queues.Close();
    worker.Join();
    spawner.Join();
    task.RequireEnded();
    RequireEmpty(*world);
    Require(world->tasks.size() == 0);
  }
  world->Unref();
}

// A list of all tasks includes a task that is just being taken from the queue.
MODEL_TEST(Shutdown, AListOfAllTasksMissesNone, .spurious_failures = 0) {
  auto* const world = new World;
  {
    World::TestTask task(world);
    world->Spawn(task.task);
    task::Header* taken = nullptr;
    Thread worker([&] { taken = world->queues.Of(0).PopGlobal(); });
    int seen = 0;
    world->queues.ForEachInjected([&seen](task::Header*) { ++seen; });
    world->tasks.ForEach([&seen](task::Header&) { ++seen; });
    Require(seen > 0);
    worker.Join();
    Require(taken == task.task);
    task::Unref(taken);
    world->queues.Close();
    CancelAll(*world);
    task.RequireEnded();
  }
  world->Unref();
}

// ---- Two workers that share, steal and give up tasks end.

// A scheduler whose tasks are mere links: they end when they are run or
// discarded. With real tasks, two workers take too many steps to explore.
class PlainWorld {
 public:
  struct Task {
    bool IsNew() const { return false; }

    model::Cell<int> ended{0};
    Task* next_in_queue = nullptr;
    Task* previous_in_queue = nullptr;
  };
  class TestTask {
   public:
    explicit TestTask(PlainWorld*) {}
    void RequireEnded() { Require(task_.ended.Read() == 1); }

   private:
    Task task_;

   public:
    Task* const task = &task_;
  };
  using Queues = RunQueues<Task, PlainWorld, 2>;

  PlainWorld(size_t workers, Ending ending)
      : ending(ending),
        parkers(workers),
        queues(*this, workers),
        running(workers) {}
  void Unref() { delete this; }

  // Functions of `Host`:
  void UnparkWorker(size_t worker) { parkers[worker].unparker().Unpark(); }
  void Discard(Task* task) { ++task->ended.Write(); }
  // The list of all tasks, without its content.
  class Adder {
   public:
    explicit Adder(PlainWorld& world)
        : lock_(&world.mu_), closed_(world.tasks_closed_.Read()) {}
    bool IsClosed() const { return closed_; }
    void Add(Task*) {}

   private:
    const model::MutexLock lock_;
    const bool closed_;
  };
  Adder AdderFor(size_t) { return Adder(*this); }
  static uint64_t PollsBegun(size_t) { return 0; }
  template <class Ready>
  static bool AwaitBriefly(Ready) {
    return true;
  }

  void Spawn(Task* task) { queues.InjectNew(task); }
  void SpawnAt(size_t worker, Task* task) {
    if (Adder(*this).IsClosed()) return Discard(task);
    queues.Of(worker).PushNext(task);
    queues.Of(worker).Share(1);
  }

  void Run(Task* task, FastRand&) {
    Require(!over.Read());
    ++task->ended.Write();
  }
  void CloseTasks(size_t) {
    Require(!over.Read());
    const model::MutexLock lock(&mu_);
    tasks_closed_.Write() = true;
  }

  const Ending ending;
  std::vector<ThreadParker> parkers;
  Queues queues;
  Atomic<size_t> running;
  model::Cell<bool> over{false};

 private:
  model::Mutex mu_;
  model::Cell<bool> tasks_closed_{false};
};

template <class World>
void SpawnFromOutside() {
  auto* const world = new World(2, Ending::kRight);
  {
    typename World::TestTask task(world);
    Thread one([&] { Work(*world, 0); });
    Thread two([&] { Work(*world, 1); });
    Thread spawner([&] { world->Spawn(task.task); });
    world->queues.Close();
    one.Join();
    two.Join();
    spawner.Join();
    task.RequireEnded();
    RequireEmpty(*world);
  }
  world->Unref();
}

// One of the two workers spawns when the other has ended, or is about to end.
// The latter may have got one of the tasks before.
template <class World>
void SpawnAtAWorker() {
  auto* const world = new World(2, Ending::kRight);
  {
    typename World::TestTask first(world);
    typename World::TestTask second(world);
    Thread other([&] { Work(*world, 1); });
    Thread closer([&] { world->queues.Close(); });
    world->SpawnAt(0, first.task);
    world->SpawnAt(0, second.task);
    Work(*world, 0);
    other.Join();
    closer.Join();
    first.RequireEnded();
    second.RequireEnded();
    RequireEmpty(*world);
  }
  world->Unref();
}

// The watchdog has taken the tasks of one worker, which are then in no queue.
// Only the thread that takes such a task from a queue can end it.
template <class World>
void EndBesideARescue(Ending ending) {
  auto* const world = new World(2, ending);
  {
    typename World::TestTask first(world);
    typename World::TestTask second(world);
    world->SpawnAt(0, first.task);
    world->SpawnAt(0, second.task);
    Thread watchdog([&] { world->queues.Rescue(0); });
    Thread other([&] { Work(*world, 1); });
    world->queues.Close();
    Work(*world, 0);
    other.Join();
    // The workers have ended; the watchdog may not have.
    first.RequireEnded();
    second.RequireEnded();
    watchdog.Join();
    RequireEmpty(*world);
  }
  world->Unref();
}

MODEL_TEST(TwoWorkersEnd, TheLastWorkerFinishes, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  auto* const world = new PlainWorld(2, Ending::kRight);
  world->queues.Close();
  Thread other([&] { End(*world, 1); });
  End(*world, 0);
  other.Join();
  RequireEmpty(*world);
  world->Unref();
}

MODEL_TEST(TwoWorkersEnd, ATaskIsSpawnedFromOutside,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  SpawnFromOutside<PlainWorld>();
}

MODEL_TEST(TwoWorkersEnd, AWorkerSpawnsATask, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  SpawnAtAWorker<PlainWorld>();
}

MODEL_TEST(TwoWorkersEnd, TheWatchdogRescuesAWorkersTasks,
           .mode = model::Mode::kBounded, .preemption_bound = 1,
           .spurious_failures = 0) {
  EndBesideARescue<PlainWorld>(Ending::kRight);
}

// A task is left, or ends too late.
TEST(TwoWorkersEnd, AWorkerThatDoesNotAwaitTheWatchdogLeavesATask) {
  EXPECT_TRUE(
      model::Check(
          {.mode = model::Mode::kBounded,
           .preemption_bound = 1,
           .spurious_failures = 0},
          [] { EndBesideARescue<PlainWorld>(Ending::kSkipsWhatSeemsEmpty); })
          .failed);
}

// These cover how the last worker knows that it is the last.
MODEL_MUTANTS(TwoWorkersEnd, "scheduler/shutdown_model_test.cc");

// Like the models above, with real tasks, which are in the running state while
// queued, and in the list of all tasks.

MODEL_TEST(TwoWorkersCancel, ATaskIsSpawnedFromOutside,
           .mode = model::Mode::kRandom, .max_executions = 5'000) {
  SpawnFromOutside<World>();
}

MODEL_TEST(TwoWorkersCancel, AWorkerSpawnsATask, .mode = model::Mode::kRandom,
           .max_executions = 5'000) {
  SpawnAtAWorker<World>();
}

MODEL_TEST(TwoWorkersCancel, TheWatchdogRescuesAWorkersTasks,
           .mode = model::Mode::kRandom, .max_executions = 5'000) {
  EndBesideARescue<World>(Ending::kRight);
}

TEST(TwoWorkersCancel, AWorkerThatDoesNotAwaitTheWatchdogLeavesATask) {
  EXPECT_TRUE(
      model::Check({.mode = model::Mode::kRandom, .max_executions = 5'000}, [] {
        EndBesideARescue<World>(Ending::kSkipsWhatSeemsEmpty);
      }).failed);
}

MODEL_MUTANTS(TwoWorkersCancel, "scheduler/queue/run_queues.h",
              "RunQueues::IsClosed: killed by run_queues_model_test",
              "condition: killed by run_queues_model_test",
              "call skipped: killed by run_queues_model_test",
              "Own::Add at: it counts for metrics");

// Otherwise the count of all tasks might be less than zero.
MODEL_TEST(AddedLate, ATakenTaskIsCountedAsInjected, .spurious_failures = 0) {
  auto* const world = new World;
  {
    World::TestTask task(world);
    Thread worker([&] {
      world->Spawn(task.task);
      task::Unref(world->queues.Of(0).PopGlobal());
    });
    const size_t taken = world->tasks.added_late();
    Require(world->queues.injected_new() >= taken);
    worker.Join();
    Require(world->tasks.added_late() == 1);
    world->queues.Close();
    CancelAll(*world);
    task.RequireEnded();
  }
  world->Unref();
}

MODEL_MUTANTS(AddedLate, "scheduler/task/owned_tasks",
              "Count at owned_tasks.h:151: store skipped: killed by "
              "owned_tasks_model_test",
              "Shard::Remove at owned_tasks.h:248: condition: killed by "
              "owned_tasks_model_test");

MODEL_MUTANTS(Shutdown, "scheduler/queue/run_queues.h",
              "RunQueues::IsClosed: killed by run_queues_model_test",
              "condition: killed by run_queues_model_test",
              "call skipped: killed by run_queues_model_test");

}  // namespace
}  // namespace rouse::scheduler
