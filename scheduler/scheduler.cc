#include "rouse/scheduler/scheduler.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "rouse/base/atomic.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/worker.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {

Scheduler::Scheduler(std::unique_ptr<AnyDriver> driver, size_t workers,
                     uint64_t seed)
    : driver_(std::move(driver)) {
  FastRand rand(seed);
  idle_.reserve(workers);
  for (size_t i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, rand.Split()));
  }
}

Scheduler::~Scheduler() = default;

size_t Scheduler::alive_tasks() const {
  const absl::MutexLock lock(&mu_);
  return task_count_;
}

Worker* Scheduler::OnlyWorkerHere() {
  if (workers_.size() != 1) return nullptr;
  Worker* here = Worker::Current();
  return here == workers_.front().get() ? here : nullptr;
}

void Scheduler::Adopt(task::Header* task) {
  Worker* const only = OnlyWorkerHere();
  Worker* unpark = nullptr;
  bool adopted = false;
  {
    const absl::MutexLock lock(&mu_);
    // Relaxed: written under the lock.
    if (!closed_.load(std::memory_order_relaxed)) {
      adopted = true;
      tasks_.PushBack(task);
      ++task_count_;
      if (only != nullptr) {
        only->own_queue_.Push(task);
      } else {
        queue_.Push(task);
        unpark = WorkerToUnpark();
      }
    }
  }
  if (unpark != nullptr) unpark->Unpark();
  if (adopted) return;
  task::Shutdown(task);
  task::Unref(task);  // the queue's
  task::Unref(task);  // the list's
}

void Scheduler::Submit(task::Header* task) { Push(task); }

void Scheduler::Resubmit(task::Header* task) { Push(task); }

void Scheduler::Push(task::Header* task) {
  if (Worker* const only = OnlyWorkerHere()) {
    return only->own_queue_.Push(task);
  }
  Worker* const here = Worker::Current();
  const bool will_look = here != nullptr && here->IsDispatchingFor(*this);
  Worker* unpark = nullptr;
  {
    const absl::MutexLock lock(&mu_);
    if (!drained_) {
      queue_.Push(std::exchange(task, nullptr));
      if (will_look) {
        HoldClock(*here);
      } else {
        unpark = WorkerToUnpark();
      }
      // The queue has the caller's reference now, and the task may end, and
      // with it the runtime, before the worker has been unparked.
      if (unpark != nullptr) Ref();
    }
  }
  if (unpark != nullptr) {
    unpark->Unpark();
    Unref();
  }
  // A waker came late: the task has been cancelled.
  if (task != nullptr) task::Unref(task);
}

bool Scheduler::Release(task::Header* task) {
  const absl::MutexLock lock(&mu_);
  if (!task->IsLinked()) return false;
  task->Unlink();
  --task_count_;
  return true;
}

task::Header* Scheduler::Pop(Worker& worker) {
  if (worker_count() == 1) {
    if (worker.own_queue_.IsEmpty() || worker.IsTimeToShare()) {
      const absl::MutexLock lock(&mu_);
      worker.own_queue_.Append(queue_);
      StopSearching(worker);
    }
    return worker.own_queue_.Pop();
  }
  Worker* unpark = nullptr;
  task::Header* task;
  {
    const absl::MutexLock lock(&mu_);
    task = queue_.Pop();
    if (task == nullptr) return nullptr;
    StopSearching(worker);
    unpark = WorkerToUnpark();
  }
  if (unpark != nullptr) unpark->Unpark();
  return task;
}

bool Scheduler::PrepareToPark(Worker& worker) {
  // Ends when the lock is free.
  std::unique_ptr<Clock::AutoAdvanceHold> clock_hold;
  const absl::MutexLock lock(&mu_);
  // Relaxed: written under the lock.
  if (!queue_.IsEmpty() || !worker.own_queue_.IsEmpty() ||
      closed_.load(std::memory_order_relaxed)) {
    return false;
  }
  StopSearching(worker);
  worker.idle_ = true;
  idle_.push_back(&worker);
  clock_hold = std::move(worker.clock_hold_);
  return true;
}

void Scheduler::LeaveIdle(Worker& worker) {
  const absl::MutexLock lock(&mu_);
  RemoveFromIdle(worker);
  HoldClock(worker);
}

void Scheduler::HoldClock(Worker& worker) {
  Clock* const clock = driver_->clock();
  if (clock == nullptr || !clock->HasAutoAdvance()) return;
  if (worker.clock_hold_ != nullptr) return;
  worker.clock_hold_ = std::make_unique<Clock::AutoAdvanceHold>(*clock);
}

void Scheduler::Leave(Worker& worker) {
  std::unique_ptr<Clock::AutoAdvanceHold> clock_hold;
  Worker* unpark = nullptr;
  {
    const absl::MutexLock lock(&mu_);
    // Before those who came meanwhile.
    worker.own_queue_.Append(queue_);
    queue_.Append(worker.own_queue_);
    RemoveFromIdle(worker);
    StopSearching(worker);
    // It may have been unparked for a task that another is now to look for, or
    // have been the one that would park in the driver.
    if (!idle_.empty()) unpark = TakeIdleWorker();
    clock_hold = std::move(worker.clock_hold_);
  }
  if (unpark != nullptr) unpark->Unpark();
}

Worker* Scheduler::WorkerToUnpark() {
  if (queue_.IsEmpty() || idle_.empty() || searching_ > 0) return nullptr;
  return TakeIdleWorker();
}

Worker* Scheduler::TakeIdleWorker() {
  Worker* worker = idle_.back();
  idle_.pop_back();
  worker->idle_ = false;
  worker->searching_ = true;
  ++searching_;
  HoldClock(*worker);
  return worker;
}

void Scheduler::StopSearching(Worker& worker) {
  if (std::exchange(worker.searching_, false)) --searching_;
}

void Scheduler::RemoveFromIdle(Worker& worker) {
  if (!std::exchange(worker.idle_, false)) return;
  idle_.erase(std::find(idle_.begin(), idle_.end(), &worker));
}

void Scheduler::Close() {
  // Unparked under the lock: a worker that is in the list has not left yet.
  const absl::MutexLock lock(&mu_);
  // Release pairs with the acquire of IsClosed.
  closed_.store(true, std::memory_order_release);
  for (Worker* worker : idle_) worker->Unpark();
}

void Scheduler::CancelAll() {
  for (;;) {
    task::Header* task;
    {
      const absl::MutexLock lock(&mu_);
      task = tasks_.PopFront();
      if (task == nullptr) break;
      --task_count_;
    }
    task::Shutdown(task);
    task::Unref(task);
  }
  // What is still queued is complete, and only held by the queue.
  for (;;) {
    task::Header* task;
    {
      const absl::MutexLock lock(&mu_);
      task = queue_.Pop();
      if (task == nullptr) {
        drained_ = true;
        return;
      }
    }
    task::Unref(task);
  }
}

}  // namespace rouse::scheduler
