// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/inner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread.h"
#include "rouse/future/task_local.h"
#include "rouse/reactor/reactor.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/main_clock_hold.h"
#include "rouse/runtime/main_futures.h"
#include "rouse/runtime/main_wake.h"
#include "rouse/runtime/worker_handoff.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/watchdog.h"
#include "rouse/scheduler/worker.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/runtime_scope.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

using scheduler::BlockingOptions;
using scheduler::BlockingPool;

namespace {

// How often the thread that shuts a runtime down checks for workers for which
// no thread could be started. Usually, workers whose thread was started have
// begun to run by then.
constexpr absl::Duration kLookForOffers = absl::Milliseconds(50);

BlockingOptions Named(BlockingOptions options, const std::string& name) {
  options.thread_name = name;
  return options;
}

// The watchdog's thread calls wakers, as workers do, and the shutdown waits for
// the thread as it waits for theirs.
struct WatchdogScope {
  WatchdogScope(const Handle& handle, const void* runtime)
      : here(runtime), enter(handle) {}

  RuntimeScope here;
  EnterGuard enter;
};

// Allows as many threads as there can be blocking calls at once, in addition to
// the workers. Unlike the threads for those calls, these threads do not hold
// the clock.
BlockingOptions ForReplacementThreads(const RuntimeOptions& options) {
  BlockingOptions pool = Named(options.blocking, options.thread_name);
  pool.max_threads +=
      std::min(options.scheduler.workers, SIZE_MAX - pool.max_threads);
  pool.clock = nullptr;
  return pool;
}

}  // namespace

RuntimeInner::RuntimeInner(RuntimeOptions options, reactor::Reactor reactor)
    : options_(std::move(options)),
      driver_(options_.timer, std::move(reactor)),
      blocking_(BlockingPool::Create(Named(
          options_.blocking, absl::StrCat(options_.thread_name, "-blk")))),
      handle_(MakeHandle()) {
  // When the pool is closed, it drops the function, and with it the handle.
  blocking_->SetThreadScope(
      [handle = handle_] { return std::make_shared<EnterGuard>(handle); });
}

Handle RuntimeInner::MakeHandle() {
  auto driver = std::make_unique<scheduler::DriverRef<DriverStack>>(driver_);
  auto main_futures =
      std::make_shared<MainFutures>(FastRand(options_.scheduler.seed).Split());
  auto* const scheduler = new scheduler::Scheduler(
      std::move(driver), WithCallbacks(options_.scheduler, main_futures));
  absl::Cleanup unref = [scheduler] {
    scheduler->CancelAll();
    scheduler->Unref();
  };
  auto shared = std::make_shared<RuntimeShared>(
      options_.name,
      options_.multi_thread ? RuntimeFlavor::kMultiThread
                            : RuntimeFlavor::kCurrentThread,
      scheduler, blocking_.get(), driver_.handle(), driver_.park().handle(),
      std::move(main_futures));
  std::move(unref).Cancel();
  return Handle(std::move(shared));
}

scheduler::Options RuntimeInner::WithCallbacks(
    scheduler::Options options, std::shared_ptr<MainFutures> main_futures) {
  // A task that is refused may call this after the `RuntimeInner` was
  // destroyed.
  options.on_closed_by_exception = [main_futures = std::move(main_futures)] {
    main_futures->GiveUp();
  };
  if (options_.multi_thread) {
    options.run_elsewhere = [this](size_t index) { RunElsewhere(index); };
  }
  return options;
}

absl::Status RuntimeInner::StartThreads() {
  const size_t count = scheduler().worker_count();
  end_.Begin(count);
  // Threads that do not start, for whatever reason, count as ended. The other
  // threads end with the runtime.
  const absl::Cleanup end_the_rest = [this, count] {
    const size_t rest = count - threads_.size();
    if (rest == 0) return;
    if (rest < count) end_.EndWorkers(rest);
    end_.EndThreads(rest);
  };
  threads_.reserve(count);
  replacement_requests_.SetWorkers(count);
  replacement_threads_ = BlockingPool::Create(ForReplacementThreads(options_));
  replacement_threads_->SetThreadScope(
      [handle = handle_] { return std::make_shared<EnterGuard>(handle); });
  if (options_.scheduler.long_poll_bound != absl::InfiniteDuration()) {
    absl::StatusOr<std::unique_ptr<scheduler::Watchdog>> watchdog =
        scheduler::Watchdog::Start(
            scheduler(), options_.scheduler.long_poll_bound,
            absl::StrCat(options_.thread_name, "-dog"), [handle = handle_] {
              return std::make_shared<WatchdogScope>(handle,
                                                     handle.shared_.get());
            });
    if (!watchdog.ok()) return watchdog.status();
    watchdog_ = *std::move(watchdog);
  }
  for (size_t i = 0; i < count; ++i) {
    absl::StatusOr<Thread> thread = Thread::Start(
        options_.blocking.name_thread != nullptr
            ? options_.blocking.name_thread()
            : absl::StrCat(options_.thread_name, "-", i),
        [self = shared_from_this(), i] { self->RunThread(i); },
        options_.blocking.thread_stack_size);
    if (!thread.ok()) return thread.status();
    threads_.push_back(*std::move(thread));
  }
  return absl::OkStatus();
}

void RuntimeInner::RunThread(size_t index) {
  const EnterGuard enter(handle_);
  const BlockingOptions& as = options_.blocking;
  if (as.on_thread_start) as.on_thread_start();
  RunWorker(index);
  if (as.on_thread_stop) as.on_thread_stop();
  end_.EndThreads(1);
}

void RuntimeInner::RunWorker(size_t index) {
  scheduler::Worker& worker = scheduler().worker(index);
  const RuntimeScope here(handle_.shared_.get());
  const wheel::ScopedDefault own_shard(driver_.handle(), index);
  // False: this thread has blocked, and another thread runs the worker now.
  if (!worker.Run()) return;
  scheduler().CancelTasks(index);
  end_.EndWorkers(1);
}

void RuntimeInner::FinishScheduler() {
  thrown_.Catch([this] { scheduler().Finish(); });
}

void RuntimeInner::ShutdownDrivers() {
  watchdog_ = nullptr;
  // From now on no thread drives timers and sockets for blocking code that may
  // wait for them: blocking calls, and polls that have given their worker away.
  thrown_.Catch([this] { driver_.Shutdown(); });
  finished_.Notify();
}

// The notified thread follows all steps of all threads, including a poll whose
// worker was taken over by another thread.
void RuntimeInner::OnThreadsEnded() { threads_ended_.Notify(); }

// A request for a thread. The request ends when a thread arrives, or when no
// thread can be had.
class RuntimeInner::ReplacementThread {
 public:
  ReplacementThread(std::shared_ptr<RuntimeInner> runtime, size_t index)
      : runtime_(std::move(runtime)), index_(index) {}
  ReplacementThread(ReplacementThread&& other) noexcept
      : runtime_(std::move(other.runtime_)), index_(other.index_) {}
  ReplacementThread& operator=(ReplacementThread&&) = delete;
  ~ReplacementThread() {
    if (runtime_ != nullptr) runtime_->replacement_requests_.Drop(index_);
  }

  // As on any other thread of a worker, an exception from a waker ends the
  // program.
  void operator()() noexcept {
    const std::shared_ptr<RuntimeInner> runtime = std::move(runtime_);
    runtime->replacement_requests_.Arrive(
        index_, [this, &runtime] { runtime->RunIfOffered(index_); });
  }

 private:
  std::shared_ptr<RuntimeInner> runtime_;  // null after the thread has arrived
  size_t index_;
};

void RuntimeInner::RunElsewhere(size_t index) {
  if (!replacement_requests_.Add(index)) return;
  ReplacementThread replacement(shared_from_this(), index);
  replacement_threads_->SpawnMandatory(std::move(replacement)).Detach();
}

void RuntimeInner::RunIfOffered(size_t index) {
  // If this fails, the offering thread has taken the worker back.
  if (scheduler().worker(index).TakeOver()) RunWorker(index);
}

void RuntimeInner::RunOffered() noexcept {
  const EnterGuard enter(handle_);
  const ScopedTaskLocals none(nullptr);
  for (size_t i = 0; i < scheduler().worker_count(); ++i) RunIfOffered(i);
}

void RuntimeInner::BlockOn(absl::FunctionRef<bool(Context&)> poll) {
  if (options_.multi_thread) {
    // `poll` may shut the runtime down in the background.
    const Handle handle = handle_;
    handle.BlockOnPoll(poll);
    return;
  }
  handle_.CheckMayBlock();
  const RuntimeScope here(handle_.shared_.get());
  BlockOnCurrentThread(poll);
}

void RuntimeInner::BlockOnCurrentThread(
    absl::FunctionRef<bool(Context&)> poll) {
  scheduler::Worker& worker = scheduler().worker(0);
  WorkerHandoff::Candidate candidate;
  FastRand own_rand = handle_.shared_->main_futures->SplitRand();

  // Wakers outlive this call.
  const auto wake = std::make_shared<MainWake>();
  const std::shared_ptr<MainClockHold> held =
      MainClockHold::For(handle_.shared_, handle_.clock());
  const absl::Cleanup end = [&held] {
    if (held != nullptr) held->End();
  };
  const Waker waker =
      Waker::FromCallable([wake, held, unparker = candidate.unparker,
                           shared = handle_.shared_, &worker] {
        if (held != nullptr) held->OnWake();
        // Unparks this thread wherever it is parked; the other call has no
        // effect.
        wake->Wake([&] {
          unparker.Unpark();
          worker.Unpark();
        });
      });
  bool finished = false;
  // Whether the future has yielded, or was woken during its poll. In both cases
  // the future is polled again after tasks, and after a check for events.
  bool has_yielded = false;
  bool woken_in_poll = false;
  bool runs_tasks = false;
  MainClockHold::Hold hold;  // from a poll's start until no poll is due
  // The task locals of this call belong to the main future, not to the tasks.
  const TaskLocalLink* const locals = CurrentTaskLocals();
  const auto poll_if_woken = [&] {
    bool was_woken = wake->Take();
    if (was_woken || (has_yielded && !(runs_tasks && worker.IsYielding()))) {
      was_woken |= std::exchange(woken_in_poll, false);
      // This includes the hold of a wake that came after a yield.
      if (held != nullptr && (was_woken || !hold.has_value())) {
        hold = held->BeginPoll();
      }
      const ScopedTaskLocals in_scope(locals);
      Yielded yielded;
      Context cx(waker, &own_rand, &yielded);
      finished = poll(cx);
      woken_in_poll = wake->Take();
      has_yielded = yielded.to_others || woken_in_poll;
      if (!has_yielded) hold.reset();
      if (!runs_tasks) return finished;
      if (has_yielded) {
        worker.BeginYield(/*by_force=*/yielded.by_force && !woken_in_poll);
      } else {
        worker.EndYield();
      }
    }
    return finished;
  };

  {
    absl::Cleanup leave = [&] { worker_handoff_.Leave(candidate); };
    while (!worker_handoff_.TryTake(candidate)) {
      // Another thread runs the tasks, and may wake this future.
      if (poll_if_woken()) return;
      if (has_yielded) continue;
      FramePool::OnIdle();
      candidate.parker.Park();
    }
    std::move(leave).Cancel();
  }
  const absl::Cleanup give_back = [this] {
    // The loop that calls Turn() waits for the descriptor as it was prepared
    // before this call.
    if (worker_handoff_.GiveBack()) driver_.park().RequestTurn();
  };
  runs_tasks = true;
  worker.RunUntil(poll_if_woken, wake->woken());
  if (!finished) handle_.PanicInBlockOn();
}

void RuntimeInner::CheckIsCurrentThread(std::string_view call) const {
  if (!options_.multi_thread) return;
  Panic(absl::StrCat(call,
                     ": a multi-thread runtime has threads of its own; use "
                     "Builder::CurrentThread for a runtime in another loop"));
}

absl::Duration RuntimeInner::Turn() {
  CheckIsCurrentThread("Runtime::Turn");
  if (RuntimeScope::MustNotBlock()) {
    Panic(
        "Runtime::Turn was called inside a task or a BlockOn(), which already "
        "runs; call Turn() in the loop around the tasks, and use co_await in a "
        "task");
  }
  if (!worker_handoff_.TryBind()) {
    Panic(
        "Runtime::Turn: another thread runs the tasks, in BlockOn() or by "
        "Turn(); call Turn() on one thread, and before other threads block");
  }
  const absl::Cleanup give_back = [this] { worker_handoff_.GiveBack(); };
  const RuntimeScope here(handle_.shared_.get());
  const EnterGuard enter(handle_);
  scheduler::Worker& worker = scheduler().worker(0);
  // Begun by a turn that has ended before the tasks had run.
  worker.EndYield();
  // A run ends a wait, and checks for events then.
  bool has_checked = worker.IsWaiting();
  const uint64_t end = worker.tick() + options_.scheduler.event_interval;
  // Called before each poll of a task and the polls from the LIFO slot after
  // it. The tasks that are ready may be too many for a turn.
  const auto has_ended = [&] {
    if (!std::exchange(has_checked, true)) worker.CheckForEvents();
    if (worker.tick() >= end) return true;
    // The worker does not park before the tasks that are ready have run.
    if (worker.IsYielding()) return false;
    if (!worker.HasTasks()) return true;
    // By force: the next turn checks for events.
    worker.BeginYield(/*by_force=*/true);
    return false;
  };
  // If a waker throws, the loop may wait without another call.
  absl::Cleanup request_turn = [this] { driver_.park().RequestTurn(); };
  worker.RunUntil(has_ended);
  if (scheduler().IsClosed()) handle_.PanicInBlockOn("Runtime::Turn");
  const absl::Duration wait = worker.BeginWait();
  std::move(request_turn).Cancel();
  return wait;
}

int RuntimeInner::fd() {
  CheckIsCurrentThread("Runtime::fd");
  return driver_.park().fd();
}

void RuntimeInner::CheckMayShutDown(absl::Duration limit) const {
  const bool waits = limit > absl::ZeroDuration() || !options_.multi_thread;
  if (waits && RuntimeScope::Runs(handle_.shared_.get())) {
    Panic(
        "Runtime was shut down by one of its own tasks, for which the shutdown "
        "would wait; let a thread outside the runtime be its last owner, or "
        "call ShutdownBackground() if the runtime is multi-threaded");
  }
}

bool RuntimeInner::AwaitThreads(const Deadline& deadline) {
  while (!finished_.WaitForNotificationWithTimeout(
      std::min(kLookForOffers, deadline.left()))) {
    if (deadline.left() <= absl::ZeroDuration()) break;
    RunOffered();
  }
  const bool in_time =
      finished_.HasBeenNotified() &&
      threads_ended_.WaitForNotificationWithTimeout(deadline.left());
  for (Thread& thread : threads_) {
    // Even threads that have ended may have `thread_local` objects to destroy.
    if (!in_time || deadline.left() <= absl::ZeroDuration()) thread.Detach();
  }
  threads_.clear();  // joins
  // Replacement threads have nothing more to do, or are still needed.
  return in_time && (replacement_threads_ == nullptr ||
                     replacement_threads_->Shutdown(deadline.left()));
}

bool RuntimeInner::Shutdown(absl::Duration limit) {
  CheckMayShutDown(limit);
  // The shutdown may have destroyed all tasks.
  const absl::Cleanup idle = [] { FramePool::OnIdle(); };
  if (watchdog_ != nullptr && watchdog_->IsThisThread()) {
    // A waker called by the watchdog shuts the runtime down. The watchdog's
    // thread cannot end itself, nor the driver that it is in. It does not wait,
    // as `CheckMayShutDown()` has checked. An exception ends the program here,
    // as it does on the watchdog's thread.
    // NOLINTNEXTLINE(bugprone-exception-escape)
    auto shut_down = [self = shared_from_this(), limit]() noexcept {
      self->Shutdown(limit);
    };
    replacement_threads_->LiftLimit();
    JoinHandle<void> call = replacement_threads_->SpawnMandatory(shut_down);
    const Waker waker;
    Context cx(waker);
    const PollResult<absl::Status> failed = call.Poll(cx);
    if (failed.IsReady() && absl::IsResourceExhausted(*failed)) {
      Panic(
          "Runtime was shut down by a waker that its watchdog called, and the "
          "thread that this needs cannot be started; raise the limit of "
          "threads");
    }
    return false;
  }
  const Deadline deadline(limit);
  // Wakers, and the destructors of tasks, may throw.
  FirstException first;
  first.Catch([this] { blocking_->Close(); });
  first.Catch([this] { scheduler().Close(); });
  bool in_time = true;
  if (options_.multi_thread) {
    if (threads_.empty()) {
      // No thread could be started.
      first.Catch([this] { scheduler().CancelTasks(0); });
      end_.EndWorkers(scheduler().worker_count());
    }
    // A blocking task that waits for a replacement thread may itself be waiting
    // for something that ends only after all workers have ended.
    if (replacement_threads_ != nullptr) replacement_threads_->LiftLimit();
    end_.EndDrivers();
    in_time = AwaitThreads(deadline);
    if (finished_.HasBeenNotified()) {
      first.Catch([this] { thrown_.Rethrow(); });
    }
  } else {
    // A thread that is still in `BlockOn()` panics, and leaves.
    worker_handoff_.TakeForGood();
    const RuntimeScope here(handle_.shared_.get());
    const EnterGuard enter(handle_);
    // The task locals of this thread do not belong to the tasks.
    const ScopedTaskLocals none(nullptr);
    first.Catch([this] { scheduler().CancelTasks(0); });
    first.Catch([this] { scheduler().Finish(); });
    first.Catch([this] { driver_.Shutdown(); });
  }
  first.Catch([&] { in_time &= blocking_->Shutdown(deadline.left()); });
  first.Rethrow();
  return in_time;
}

}  // namespace rouse::internal
