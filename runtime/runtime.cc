#include "rouse/runtime/runtime.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/base/fast_rand.h"
#include "rouse/base/frame_pool.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread.h"
#include "rouse/reactor/reactor.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/held_clock.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/driver.h"
#include "rouse/scheduler/scheduler.h"
#include "rouse/scheduler/worker.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {

using internal::HeldClock;

namespace {

// The runtime that this thread runs tasks or a main future of; it must neither
// block nor be waited for. Null elsewhere.
ABSL_CONST_INIT thread_local const void* running_here = nullptr;

class RunningHere {
 public:
  explicit RunningHere(const void* runtime)
      : outer_(std::exchange(running_here, runtime)) {}
  RunningHere(const RunningHere&) = delete;
  RunningHere& operator=(const RunningHere&) = delete;
  ~RunningHere() { running_here = outer_; }

  ABSL_ATTRIBUTE_NOINLINE static const void* Get() { return running_here; }

 private:
  const void* const outer_;
};

// The threads that are in `BlockOn()` of a current-thread runtime: one of them
// has its worker, and hands it on when it leaves.
class WorkerLoan {
 public:
  // A thread that wants the worker, on its stack.
  struct Borrower : IntrusiveListNode<> {
    ThreadParker parker;
    const ThreadParker::Unparker unparker = parker.unparker();
  };

  // Takes the worker or, if another thread has it, sees to it that `borrower`
  // is unparked when there is another chance.
  bool TryTake(Borrower& borrower) {
    const absl::MutexLock lock(&mu_);
    borrower.Unlink();
    if (!taken_) return taken_ = true;
    waiting_.PushBack(&borrower);
    return false;
  }

  // `borrower` has its result without the worker.
  void Leave(Borrower& borrower) {
    const absl::MutexLock lock(&mu_);
    if (borrower.IsLinked()) {
      borrower.Unlink();
    } else if (!taken_) {
      UnparkNext();  // the chance was given to it, who has no use for it
    }
  }

  void GiveBack() {
    const absl::MutexLock lock(&mu_);
    taken_ = false;
    UnparkNext();
  }

  // Waits for the worker to be back, and keeps it.
  void TakeForGood() {
    const absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(+[](bool* taken) { return !*taken; }, &taken_));
    taken_ = true;
  }

 private:
  void UnparkNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    // Under the lock, so that the borrower is still there.
    if (Borrower* next = waiting_.PopFront()) next->unparker.Unpark();
  }

  absl::Mutex mu_;
  bool taken_ ABSL_GUARDED_BY(mu_) = false;
  IntrusiveList<Borrower> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

struct Runtime::Inner {
  using DriverStack = wheel::Driver<reactor::Reactor>;

  Inner(const wheel::Options& timer, reactor::Reactor reactor, size_t workers,
        uint64_t seed, scheduler::BlockingOptions blocking_options)
      : driver(timer, std::move(reactor)),
        blocking(scheduler::BlockingPool::Create(std::move(blocking_options))),
        handle(std::make_shared<internal::RuntimeShared>(
            new scheduler::Scheduler(
                std::make_unique<scheduler::DriverRef<DriverStack>>(driver),
                workers, seed),
            blocking.get(), driver.handle(), driver.park().handle())),
        rand(FastRand(seed).Split()) {
    // Forgotten when the pool is closed, and with it the handle.
    blocking->SetThreadScope(
        [handle = handle] { return std::make_shared<EnterGuard>(handle); });
  }

  scheduler::Scheduler& scheduler() { return *handle.shared_->scheduler; }

  absl::Status StartThreads(const std::string& name);
  void RunWorker(size_t index);
  FastRand SplitRand();
  void BlockOnMultiThread(absl::FunctionRef<bool(Context&)> poll);
  void BlockOnCurrentThread(absl::FunctionRef<bool(Context&)> poll);
  bool Shutdown(absl::Duration limit);

  DriverStack driver;
  const scheduler::BlockingPool::Owner blocking;
  const Handle handle;
  bool multi_thread = false;

  // For main futures.
  absl::Mutex rand_mu;
  FastRand rand ABSL_GUARDED_BY(rand_mu);

  // Of a multi-thread runtime:
  std::vector<Thread> threads;
  std::atomic<size_t> live_workers{0};

  // Of a current-thread runtime:
  WorkerLoan worker_loan;
};

absl::Status Runtime::Inner::StartThreads(const std::string& name) {
  const size_t count = scheduler().worker_count();
  threads.reserve(count);
  // Nothing to order: the threads are yet to start.
  live_workers.store(count, std::memory_order_relaxed);
  for (size_t i = 0; i < count; ++i) {
    absl::StatusOr<Thread> thread =
        Thread::Start(absl::StrCat(name, "-", i), [this, i] { RunWorker(i); });
    if (!thread.ok()) {
      // Those that did start end with the runtime, the last of them in order.
      live_workers.fetch_sub(count - i, std::memory_order_acq_rel);
      return thread.status();
    }
    threads.push_back(*std::move(thread));
  }
  return absl::OkStatus();
}

void Runtime::Inner::RunWorker(size_t index) {
  const RunningHere here(this);
  const EnterGuard enter(handle);
  const wheel::ScopedDefault own_shard(driver.handle(), index);
  scheduler().worker(index).Run();
  // The last one destroys the tasks that are left, on a thread of the runtime.
  // Acquire and release: it follows all that the others did.
  if (live_workers.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    scheduler().CancelAll();
  }
}

FastRand Runtime::Inner::SplitRand() {
  const absl::MutexLock lock(&rand_mu);
  return rand.Split();
}

void Runtime::Inner::BlockOnMultiThread(
    absl::FunctionRef<bool(Context&)> poll) {
  ThreadParker parker;
  const ThreadParker::Unparker unparker = parker.unparker();
  FastRand own_rand = SplitRand();
  const std::shared_ptr<HeldClock> held = HeldClock::For(handle);
  const absl::Cleanup end = [&held] {
    if (held != nullptr) held->End();
  };
  const Waker waker = held == nullptr ? unparker.waker().Clone()
                                      : Waker::FromCallable([held, unparker] {
                                          held->OnWake();
                                          unparker.Unpark();
                                        });
  for (;;) {
    {
      const HeldClock::Hold hold =
          held != nullptr ? held->BeginPoll() : HeldClock::Hold();
      Context cx(waker, &own_rand);
      if (poll(cx)) return;
    }
    FramePool::FlushRemoteFrees();
    parker.Park();
  }
}

void Runtime::Inner::BlockOnCurrentThread(
    absl::FunctionRef<bool(Context&)> poll) {
  scheduler::Worker& worker = scheduler().worker(0);
  WorkerLoan::Borrower borrower;
  FastRand own_rand = SplitRand();

  // Whether the main future has been woken since its last poll. Wakers outlive
  // this call.
  const auto woken = std::make_shared<std::atomic<bool>>(true);
  const std::shared_ptr<HeldClock> held = HeldClock::For(handle);
  const absl::Cleanup end = [&held] {
    if (held != nullptr) held->End();
  };
  const Waker waker =
      Waker::FromCallable([woken, held, unparker = borrower.unparker,
                           shared = handle.shared_, &worker] {
        if (held != nullptr) held->OnWake();
        // Release pairs with the acquire below.
        if (woken->exchange(true, std::memory_order_acq_rel)) return;
        // Whichever this thread is parked in; the other is told in vain.
        unparker.Unpark();
        worker.Unpark();
      });
  bool finished = false;
  const auto poll_if_woken = [&] {
    // The load spares the exchange, which pairs with the release above.
    if (woken->load(std::memory_order_relaxed) &&
        woken->exchange(false, std::memory_order_acq_rel)) {
      const HeldClock::Hold hold =
          held != nullptr ? held->BeginPoll() : HeldClock::Hold();
      Context cx(waker, &own_rand);
      finished = poll(cx);
    }
    return finished;
  };

  {
    absl::Cleanup leave = [&] { worker_loan.Leave(borrower); };
    while (!worker_loan.TryTake(borrower)) {
      // Another thread runs the tasks, and maybe wakes this future.
      if (poll_if_woken()) return;
      FramePool::FlushRemoteFrees();
      borrower.parker.Park();
    }
    std::move(leave).Cancel();
  }
  const absl::Cleanup give_back = [this] { worker_loan.GiveBack(); };
  worker.RunUntil(poll_if_woken);
  if (!finished) {
    Panic("BlockOn: the runtime was destroyed meanwhile; keep it until then");
  }
}

bool Runtime::Inner::Shutdown(absl::Duration limit) {
  if (RunningHere::Get() == this) {
    Panic(
        "Runtime: destroyed by one of its own tasks, for which the destructor "
        "would wait; let a thread outside the runtime be its last owner");
  }
  blocking->Close();
  scheduler().Close();
  if (multi_thread) {
    threads.clear();  // joins
  } else {
    // A thread that is still in `BlockOn()` panics, and leaves.
    worker_loan.TakeForGood();
    const RunningHere here(this);
    const EnterGuard enter(handle);
    scheduler().CancelAll();
  }
  // Also for what blocking calls wait for.
  driver.Shutdown();
  return blocking->Shutdown(limit);
}

Runtime::Runtime(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
Runtime::Runtime(Runtime&& other) noexcept = default;
Runtime& Runtime::operator=(Runtime&& other) noexcept {
  std::swap(inner_, other.inner_);
  return *this;
}
Runtime::~Runtime() {
  if (inner_ != nullptr) inner_->Shutdown(absl::InfiniteDuration());
}

bool Runtime::ShutdownTimeout(absl::Duration limit) && {
  const std::unique_ptr<Inner> inner = std::move(inner_);
  return inner->Shutdown(limit);
}

const Handle& Runtime::handle() const { return inner_->handle; }

void Runtime::BlockOnPoll(absl::FunctionRef<bool(Context&)> poll) {
  if (RunningHere::Get() != nullptr) {
    Panic(
        "BlockOn: called inside a task or another BlockOn, where it would "
        "block "
        "the thread that has to make progress; use co_await, or a thread of "
        "your own");
  }
  const RunningHere here(inner_.get());
  if (inner_->multi_thread) {
    inner_->BlockOnMultiThread(poll);
  } else {
    inner_->BlockOnCurrentThread(poll);
  }
}

Builder Builder::MultiThread() { return Builder(true); }
Builder Builder::CurrentThread() { return Builder(false); }

Builder& Builder::WorkerThreads(size_t count) {
  worker_threads_ = count;
  return *this;
}

Builder& Builder::ThreadName(std::string name) {
  thread_name_ = std::move(name);
  return *this;
}

Builder& Builder::Seed(uint64_t seed) {
  seed_ = seed;
  return *this;
}

Builder& Builder::TimerResolution(absl::Duration resolution) {
  timer_resolution_ = resolution;
  return *this;
}

Builder& Builder::WithClock(std::shared_ptr<Clock> clock) {
  clock_ = std::move(clock);
  return *this;
}

Builder& Builder::MaxBlockingThreads(size_t count) {
  blocking_.max_threads = count;
  return *this;
}

Builder& Builder::ThreadKeepAlive(absl::Duration keep_alive) {
  blocking_.keep_alive = keep_alive;
  return *this;
}

absl::StatusOr<Runtime> Builder::Build() {
  if (timer_resolution_ < absl::Microseconds(64) ||
      timer_resolution_ > absl::Seconds(1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TimerResolution(", absl::FormatDuration(timer_resolution_),
        "): choose one from 64us to 1s"));
  }
  if (blocking_.max_threads == 0) {
    return absl::InvalidArgumentError(
        "MaxBlockingThreads(0): choose 1 or more; none is started before it is "
        "needed");
  }
  absl::StatusOr<reactor::Reactor> reactor = reactor::Reactor::Create();
  if (!reactor.ok()) return reactor.status();

  size_t workers = 1;
  if (multi_thread_) {
    workers = worker_threads_ != 0
                  ? worker_threads_
                  : std::max(1u, std::thread::hardware_concurrency());
  }
  wheel::Options timer;
  timer.resolution = timer_resolution_;
  timer.clock = clock_ != nullptr ? clock_ : std::make_shared<Clock>();
  timer.shards = workers;
  scheduler::BlockingOptions blocking = blocking_;
  blocking.thread_name = absl::StrCat(thread_name_, "-blk");
  blocking.clock = timer.clock;
  Runtime runtime(std::make_unique<Runtime::Inner>(
      timer, *std::move(reactor), workers, seed_, std::move(blocking)));
  runtime.inner_->multi_thread = multi_thread_;
  if (multi_thread_) {
    absl::Status started = runtime.inner_->StartThreads(thread_name_);
    if (!started.ok()) return started;
  }
  return runtime;
}

}  // namespace rouse
