// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/blocking/blocking_pool.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread.h"
#include "rouse/base/thread_local.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/scheduler/queue/run_queue.h"
#include "rouse/scheduler/task/task.h"
#include "rouse/scheduler/task/unhandled.h"
#include "rouse/waker/runtime_scope.h"

namespace rouse::scheduler {

// # Which thread takes the work in the queue
//
// All state is under one lock. A thread of the pool is in one of these states:
//
//   busy      runs a call, and then checks the queue;
//   sleeping  is in the list of sleepers;
//   woken     was taken out of that list for work, and will check the queue;
//   starting  was started for work, and will check the queue.
//
// `serving_` counts all of these threads. A thread leaves the list of sleepers
// once: when it is woken for work, or when its time is up and it ends. If a
// timeout, a wake and a shutdown coincide, the thread is therefore counted
// once. A spurious wake-up is not counted at all.
//
// A thread that adds to the queue wakes a sleeper, unless the number of woken
// threads already equals the amount of work in the queue. Starting threads do
// not count here, because a start may take long. If no thread sleeps, and the
// number of woken and starting threads is less than the amount of work, the
// thread starts a new thread, up to the limit. A thread sleeps only if it finds
// the queue empty. For short calls, one woken thread is enough for
// `kShortCallsPerThread` calls in the queue; if no thread sleeps, starting
// threads count too. A thread that takes a call, and leaves more work in the
// queue than that, wakes or starts the next thread before it runs the call.
// Hence
//
//   if a thread sleeps, and no short call has been in the queue since the queue
//   was empty, the queue has no more work than threads are woken;
//   if the queue has work, a thread is busy, woken or starting;
//   if the queue has work, and a thread could be woken or started, a thread is
//   woken or starting. It will come to the queue, however long calls take.
//
// The exceptions are failed starts. If the pool has no thread, the work is
// taken out of the queue again. Otherwise the work waits for the busy threads,
// which try no further start until a thread has ended, or has been started for
// new work. A failed allocation counts as a failed start of a thread.
//
// Threads are started under the lock. This costs a few microseconds on the way
// to the limit. In return, no thread can end before it is known how to join the
// thread.

// A thread of the pool, from its start to its end.
struct BlockingPool::Member : IntrusiveListNode<> {
  std::optional<Thread> thread;
};

// A thread that waits for work. The object is on the thread's stack.
struct BlockingPool::Sleeper : IntrusiveListNode<> {
  ThreadCondVar woken;
};

namespace {

// Returns the pool of this thread, or null. Not inlined: see
// base/thread_local.h.
ABSL_ATTRIBUTE_NOINLINE const BlockingPool*& PoolHere() {
  return ThreadLocal<const BlockingPool*, class PoolHereTag>::Get();
}

// Cancels a call that has not begun, and drops the reference of the queue.
void CancelCall(task::Header* task) {
  const absl::Cleanup unref = [task] { task::Unref(task); };
  task::Shutdown(task);
}

}  // namespace

void BlockingPool::ShutDown::operator()(BlockingPool* pool) const {
  pool->Shutdown();
  pool->Unref();
}

BlockingPool::Owner BlockingPool::Create(BlockingOptions options) {
  if (options.max_threads == 0) {
    Panic("BlockingPool: max_threads is 0; choose at least 1");
  }
  return Owner(new BlockingPool(std::move(options)));
}

BlockingPool::BlockingPool(BlockingOptions options)
    : options_(std::move(options)),
      out_of_memory_(absl::ResourceExhaustedError(
          "SpawnBlocking: out of memory; free memory, or make fewer calls at "
          "once")) {}

BlockingPool::~BlockingPool() {
  // Relaxed: no other thread uses the pool any more.
  const Owner lookups(lookups_.load(std::memory_order_relaxed));
}

void BlockingPool::SetThreadScope(ThreadScope scope) {
  auto shared = std::make_shared<const ThreadScope>(std::move(scope));
  const ThreadMutexLock lock(&mu_);
  thread_scope_.swap(shared);
}

BlockingPool::Metrics BlockingPool::metrics() const {
  const ThreadMutexLock lock(&mu_);
  Metrics metrics;
  metrics.threads = serving_;
  metrics.idle_threads = sleeping_;
  metrics.queue_depth = queue_depth_;
  return metrics;
}

BlockingPool& BlockingPool::lookups() {
  const ThreadMutexLock lock(&mu_);
  // Relaxed: written under the lock.
  BlockingPool* lookups = lookups_.load(std::memory_order_relaxed);
  if (lookups == nullptr) {
    BlockingOptions options = options_;
    options.max_threads = std::min(options.max_threads, kMaxLookupThreads);
    options.thread_name = absl::StrCat(options.thread_name, "-dns");
    options.on_thread_start = nullptr;
    options.on_thread_stop = nullptr;
    lookups = Create(std::move(options)).release();
    if (closed_) lookups->Close();
    // Release pairs with the acquire of readers that do not hold the lock.
    lookups_.store(lookups, std::memory_order_release);
  }
  return *lookups;
}

BlockingPool::Metrics BlockingPool::lookup_metrics() const {
  // Acquire pairs with the release in lookups().
  const BlockingPool* const lookups = lookups_.load(std::memory_order_acquire);
  return lookups != nullptr ? lookups->metrics() : Metrics();
}

void BlockingPool::Enqueue(task::Header* task, CallKind kind) {
  bool closed;
  absl::Status failed;
  {
    const ThreadMutexLock lock(&mu_);
    closed = closed_;
    if (!closed) {
      BeginWork();
      queue_.Push(task);
      ++queue_depth_;
      if (kind == CallKind::kMandatory) mandatory_.PushBack(task);
      // A thread that has not reached the queue yet may wait for the call.
      const bool shares = kind == CallKind::kShort && PoolHere() != this;
      if (!shares || LacksThread()) failed = CallThread();
      // The pool has no thread, so the call is alone in the queue.
      if (!failed.ok()) Pop();
    }
  }
  if (closed) {
    CancelCall(task);
  } else if (!failed.ok()) {
    task::Fail(task, failed);
    task::Unref(task);
    WorkEnded(1);
  }
}

absl::Status BlockingPool::CallThread() {
  if (woken_ >= queue_depth_) return absl::OkStatus();
  if (!sleepers_.IsEmpty()) {
    WakeSleeper();
    return absl::OkStatus();
  }
  if (woken_ + starting_ >= queue_depth_) return absl::OkStatus();
  if (serving_ >= max_threads_) return absl::OkStatus();
  absl::Status started = StartThread();
  return serving_ > 0 ? absl::OkStatus() : started;
}

void BlockingPool::LiftLimit() {
  const ThreadMutexLock lock(&mu_);
  max_threads_ = SIZE_MAX;
  for (size_t i = 0; i < queue_depth_; ++i) {
    if (!CallThread().ok()) return;
  }
}

void BlockingPool::WakeSleeper() {
  Sleeper* sleeper = sleepers_.PopBack();
  --sleeping_;
  ++woken_;
  // Signalled under the lock, so that the sleeper still exists.
  sleeper->woken.Signal();
}

absl::Status BlockingPool::StartThread() {
  start_failed_ = true;  // until the thread has started
  ROUSE_TRY { return TryStartThread(); }
  ROUSE_CATCH_ALL { return out_of_memory_; }
}

absl::Status BlockingPool::TryStartThread() {
  auto member = std::make_unique<Member>();
  Ref();  // the thread's reference
  absl::Cleanup unref = [this] { Unref(); };
  absl::StatusOr<Thread> thread = Thread::Start(
      options_.name_thread != nullptr
          ? options_.name_thread()
          : absl::StrCat(options_.thread_name, "-", threads_started_),
      [this, self = member.get(), scope = thread_scope_]() mutable {
        RunThread(self, std::move(scope));
      },
      options_.thread_stack_size);
  if (!thread.ok()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "SpawnBlocking: the pool has no thread, and cannot start one (",
        thread.status().message(),
        "); raise the limit of threads, or use fewer threads"));
  }
  std::move(unref).Cancel();
  start_failed_ = false;
  ++threads_started_;
  ++serving_;
  ++starting_;
  member->thread = *std::move(thread);
  members_.PushBack(member.release());
  return absl::OkStatus();
}

void BlockingPool::RunThread(Member* self,
                             std::shared_ptr<const ThreadScope> scope) {
  PoolHere() = this;
  {
    std::shared_ptr<void> guard;
    if (scope != nullptr) guard = (*scope)();
    scope.reset();
    if (options_.on_thread_start) options_.on_thread_start();
    Serve();
    if (options_.on_thread_stop) options_.on_thread_stop();
  }
  FramePool::OnIdle();
  Leave(self);
  PoolHere() = nullptr;
  Unref();
}

void BlockingPool::Serve() {
  task::Header* task = WaitForWork(/*starting=*/true);
  while (task != nullptr) {
    {
      const internal::RuntimeScope may_block(nullptr, task->id);
      task::Run(task, nullptr);
    }
    task = NextWork();
    if (task != nullptr) continue;
    FramePool::OnIdle();
    task = WaitForWork(/*starting=*/false);
  }
}

task::Header* BlockingPool::NextWork() {
  ClockHold released;  // destroyed after the lock has been released
  const ThreadMutexLock lock(&mu_);
  released = EndWork(1);
  return Take();
}

task::Header* BlockingPool::WaitForWork(bool starting) {
  const ThreadMutexLock lock(&mu_);
  if (starting) --starting_;
  for (;;) {
    if (task::Header* task = Take()) return task;
    if (closed_) break;
    Sleeper self;
    sleepers_.PushBack(&self);
    ++sleeping_;
    while (self.IsLinked()) {
      // After a spurious wake-up the thread waits again.
      if (self.woken.WaitWithTimeout(&mu_, options_.keep_alive)) break;
    }
    if (self.IsLinked()) {
      // No other thread has taken the sleeper out: its time is up.
      self.Unlink();
      --sleeping_;
      // Short calls may wait for a thread that was woken.
      if (task::Header* task = Take()) return task;
      break;
    }
    --woken_;
  }
  --serving_;
  start_failed_ = false;
  return nullptr;
}

task::Header* BlockingPool::Pop() {
  task::Header* task = queue_.Pop();
  if (task == nullptr) return nullptr;
  --queue_depth_;
  task->Unlink();
  return task;
}

task::Header* BlockingPool::Take() {
  task::Header* const task = Pop();
  if (task == nullptr || !LacksThread()) return task;
  // `Close()` has called all threads that the calls need. If no thread can be
  // started, the queue waits for the busy threads.
  if (closed_ || (start_failed_ && sleepers_.IsEmpty())) return task;
  CallThread().IgnoreError();
  return task;
}

void BlockingPool::Leave(Member* self) {
  const std::unique_ptr<Member> owned(self);
  // Joined after the lock has been released: the thread is about to end.
  std::optional<Thread> before;
  const ThreadMutexLock lock(&mu_);
  self->Unlink();
  if (detached_) {
    self->thread->Detach();
  } else {
    before = std::exchange(last_ended_, *std::move(self->thread));
  }
  if (members_.IsEmpty()) no_members_.SignalAll();
}

void BlockingPool::Close() {
  // A cancelled call may own the pool.
  Ref();
  const absl::Cleanup unref = [this] { Unref(); };
  RunQueue<task::Header> cancelled;
  size_t count = 0;
  std::shared_ptr<const ThreadScope> scope;
  BlockingPool* lookups = nullptr;
  {
    const ThreadMutexLock lock(&mu_);
    if (std::exchange(closed_, true)) return;
    // Relaxed: written under the lock. A pool that is made later closes itself.
    lookups = lookups_.load(std::memory_order_relaxed);
    RunQueue<task::Header> mandatory;
    while (task::Header* task = queue_.Pop()) {
      if (task->IsLinked()) {
        mandatory.Push(task);
      } else {
        cancelled.Push(task);
        ++count;
      }
    }
    queue_.Append(mandatory);
    queue_depth_ -= count;
    // The sleepers find no work and end. So does a thread that comes for
    // cancelled work.
    while (!sleepers_.IsEmpty()) WakeSleeper();
    // A thread that starts later would have no scope.
    while (woken_ + starting_ < queue_depth_ && serving_ < max_threads_) {
      if (!StartThread().ok()) break;
    }
    scope = std::move(thread_scope_);
  }
  // A joiner's waker that throws does not keep other calls from being
  // cancelled.
  FirstException first;
  while (task::Header* task = cancelled.Pop()) {
    first.Catch([task] { CancelCall(task); });
  }
  WorkEnded(count);
  if (lookups != nullptr) first.Catch([lookups] { lookups->Close(); });
  first.Rethrow();
}

bool BlockingPool::Shutdown(absl::Duration limit) {
  Ref();  // as in `Close()`
  const absl::Cleanup unref = [this] { Unref(); };
  Close();
  const bool ended = JoinThreads(limit);
  // Acquire pairs with the release in lookups().
  BlockingPool* const lookups = lookups_.load(std::memory_order_acquire);
  if (lookups != nullptr) lookups->LeaveBehind(limit);
  return ended;
}

void BlockingPool::LeaveBehind(absl::Duration limit) {
  bool idle;
  {
    const ThreadMutexLock lock(&mu_);
    idle = work_ == 0;
  }
  JoinThreads(idle ? limit : absl::ZeroDuration());
}

bool BlockingPool::JoinThreads(absl::Duration limit) {
  // The thread would wait for itself, or for a thread that waits for it.
  if (PoolHere() == this) limit = absl::ZeroDuration();
  std::optional<Thread> last;  // joined when the lock has been released
  const ThreadMutexLock lock(&mu_);
  while (!members_.IsEmpty() && !detached_ && limit > absl::ZeroDuration()) {
    if (no_members_.WaitWithTimeout(&mu_, limit)) break;
  }
  if (members_.IsEmpty()) {
    last.swap(last_ended_);
    if (last.has_value() && limit <= absl::ZeroDuration()) last->Detach();
    return true;
  }
  // From now on, threads detach themselves when they end.
  if (std::exchange(detached_, true)) return false;
  if (last_ended_.has_value()) last_ended_->Detach();
  last_ended_.reset();
  return false;
}

void BlockingPool::BeginWork() {
  ++work_;
  if (clock_hold_.has_value() || options_.clock == nullptr ||
      !options_.clock->HasAutoAdvance()) {
    return;
  }
  clock_hold_.emplace(*options_.clock);
}

BlockingPool::ClockHold BlockingPool::EndWork(size_t count) {
  work_ -= count;
  return work_ == 0 ? std::exchange(clock_hold_, std::nullopt) : std::nullopt;
}

void BlockingPool::WorkEnded(size_t count) {
  ClockHold released;  // destroyed after the lock has been released
  const ThreadMutexLock lock(&mu_);
  released = EndWork(count);
}

void BlockingPool::Submit(task::Header*) {
  Panic(
      "BlockingPool: a blocking call was woken; only a pending future can be "
      "woken");
}

void BlockingPool::Resubmit(task::Header* task) { Submit(task); }

bool BlockingPool::Release(task::Header*) {
  // There is no list of all tasks, but tasks are made with a reference for it.
  return true;
}

void BlockingPool::Unhandled(task::Header* task,
                             const std::exception_ptr& exception) {
  if (options_.on_unhandled_exception != nullptr) {
    options_.on_unhandled_exception(task->meta(), exception);
  } else {
    task::LogUnhandled(task->meta(), exception);
  }
}

}  // namespace rouse::scheduler
