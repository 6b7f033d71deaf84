#include "rouse/scheduler/task/task.h"

#include <atomic>
#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "rouse/base/fast_rand.h"
#include "rouse/scheduler/task/state.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::task {
namespace {

Header* From(void* data) { return static_cast<Header*>(data); }

constexpr RawWakerVTable kWakerVTable = {
    // clone
    [](void* data) {
      From(data)->state.Ref();
      return RawWaker{data, &kWakerVTable};
    },
    // wake
    [](void* data) {
      Header* task = From(data);
      switch (task->state.WakeAndDrop()) {
        case State::WakeByValue::kDone:
          break;
        case State::WakeByValue::kSubmit:
          task->scheduler->Submit(task);
          break;
        case State::WakeByValue::kLast:
          task->vtable->deallocate(task);
          break;
      }
    },
    // wake_by_ref
    [](void* data) {
      Header* task = From(data);
      if (task->state.Wake()) task->scheduler->Submit(task);
    },
    // drop
    [](void* data) { Unref(From(data)); },
};

// The output is in place: ends the task, of which the caller has `references`.
void Complete(Header* task, uint64_t references) {
  const bool joined = task->state.CompleteRunning();
  if (task->scheduler->Release(task)) ++references;
  // Also if the joiner's waker throws.
  const absl::Cleanup unref = [task, references] {
    if (references > 0 && task->state.Unref(references)) {
      task->vtable->deallocate(task);
    }
  };
  if (joined) {
    task->join_waker.Wake();
  } else {
    task->vtable->drop_output(task);
  }
}

}  // namespace

TaskId NextTaskId() {
  // Relaxed: an id orders nothing. So it is no business of the model checker's,
  // either.
  ABSL_CONST_INIT static std::atomic<TaskId> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Run(Header* task, FastRand* rand) {
  switch (task->state.StartRunning()) {
    case State::Start::kSkip:
      Unref(task);
      return;
    case State::Start::kCancel:
      task->vtable->cancel(task);
      Complete(task, 1);
      return;
    case State::Start::kPoll:
      break;
  }
  {
    const BorrowedWaker waker(RawWakerOf(task));
    Context cx(waker.get(), rand);
    if (task->vtable->poll(task, cx)) {
      Complete(task, 1);
      return;
    }
  }
  switch (task->state.SuspendRunning()) {
    case State::Suspend::kIdle:
      break;
    case State::Suspend::kReschedule:
      task->scheduler->Resubmit(task);
      break;
    case State::Suspend::kCancel:
      task->vtable->cancel(task);
      Complete(task, 1);
      break;
  }
}

void Shutdown(Header* task) {
  if (!task->state.TakeOverToCancel()) return;
  task->vtable->cancel(task);
  Complete(task, 0);
}

void Fail(Header* task, const absl::Status& error) {
  if (!task->state.TakeOverToCancel()) return;
  task->vtable->fail(task, error);
  Complete(task, 0);
}

void Abort(Header* task) {
  if (task->state.Abort()) task->scheduler->Submit(task);
}

void Unref(Header* task) {
  if (task->state.Unref()) task->vtable->deallocate(task);
}

RawWaker RawWakerOf(Header* task) { return {task, &kWakerVTable}; }

}  // namespace rouse::task
