#include "rouse/scheduler/worker.h"

#include <utility>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "rouse/base/frame_pool.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/timer/clock.h"

namespace rouse::scheduler {
namespace {

ABSL_CONST_INIT thread_local Worker* current_worker = nullptr;

// Names the worker of this thread.
class Here {
 public:
  explicit Here(Worker* worker)
      : outer_(std::exchange(current_worker, worker)) {}
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;
  ~Here() { current_worker = outer_; }

 private:
  Worker* const outer_;
};

}  // namespace

// Not inlined: a coroutine might keep the variable's address while it moves to
// another thread.
ABSL_ATTRIBUTE_NOINLINE Worker* Worker::Current() { return current_worker; }

void Worker::RunUntil(absl::FunctionRef<bool()> done) {
  const Here here(this);
  scheduler_.LeaveIdle(*this);
  // Also if `done()` throws.
  const absl::Cleanup leave = [this] { scheduler_.Leave(*this); };
  while (!done() && !scheduler_.IsClosed()) {
    if (++tick_ % kEventInterval == 0) PollDriver();
    if (task::Header* task = scheduler_.Pop(*this)) {
      task::Run(task, &rand_);
    } else {
      Park();
    }
  }
}

void Worker::PollDriver() {
  dispatching_ = true;
  // A waker may throw.
  const absl::Cleanup done = [this] { dispatching_ = false; };
  parker_.PollDriver();
}

void Worker::Park() {
  // A clock that advances by itself comes after what has happened.
  Clock* clock = scheduler_.driver()->clock();
  if (clock != nullptr && clock->AdvancesByItself()) PollDriver();
  if (!scheduler_.PrepareToPark(*this)) return;
  FramePool::FlushRemoteFrees();
  dispatching_ = true;
  const absl::Cleanup done = [this] {
    dispatching_ = false;
    scheduler_.LeaveIdle(*this);
  };
  parker_.Park();
}

}  // namespace rouse::scheduler
