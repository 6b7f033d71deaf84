// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: threads.h
// -----------------------------------------------------------------------------
//
// Runs the threads of a model one at a time: the points at which the search
// chooses the next thread, what each thread waits for, and the failures that
// are noticed there. Internal to the model checker: the base of Execution,
// which adds what the threads' steps do.
//
// A step has two parts. The thread announces the objects that the step touches,
// and the search decides which thread goes first: `Step()`. The step has its
// effect after `Step()` has returned.

#ifndef ROUSE_TESTING_MODEL_THREADS_H_
#define ROUSE_TESTING_MODEL_THREADS_H_

#include <array>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "rouse/testing/model/fiber.h"
#include "rouse/testing/model/memory.h"
#include "rouse/testing/model/objects.h"
#include "rouse/testing/model/search.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/spin_watcher.h"
#include "rouse/testing/model/trace.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

class Threads {
 public:
  struct Config {
    int max_steps = 10'000;
    int spurious_failures = 1;  // of each thread: compare-exchanges, waits
    Fiber::Kind fibers = Fiber::Kind::kStack;
  };

  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Records every step of the following runs, for `trace()`.
  void EnableTrace() { trace_.Enable(); }
  const Trace& trace() const { return trace_; }
  // Returns why the last run failed.
  const std::string& failure() const { return failure_; }

  ThreadSet unfinished() const;
  const std::array<Footprint, kMaxThreads>& next() const { return next_; }

  // ---- For the threads of the model.

  // Ends the execution as a failure. Does not return.
  [[noreturn]] void Fail(std::string message);

  int Spawn(absl::AnyInvocable<void() &&> body, const Site& site);
  void Join(int thread, const Site& site);
  int running() const { return running_; }

  // Returns one of `count` outcomes. The search tries all outcomes.
  int Choose(int count);

  // A loop calls this if the last round has not read the expected values. Waits
  // until a value changes, and the thread then does not read the same values
  // again. (A failed `TryLock()` counts as a read.) Fails the execution if the
  // loop would give up: see spin_watcher.h.
  void SpinHint(const Site& site);
  // Takes a step that touches nothing, so that other threads can go first.
  void Yield(const Site& site);

  // Returns this thread's object for `key`. The first call makes the object
  // with `make`. When the thread ends, the objects are destroyed in reverse
  // order of construction.
  void* ThreadLocal(const void* key,
                    absl::FunctionRef<std::shared_ptr<void>()> make);

  // Returns whether the code under test is running, rather than the checker's
  // own code.
  static bool tracks_memory() { return tracks_memory_; }

 protected:
  using Deed = SpinWatcher::Deed;

  enum class State {
    kUnborn,
    kStarting,  // runs to its first step while the parent waits
    kReady,
    kJoining,
    kLocking,
    kAsleep,
    kSpinning,
    kFinished,
  };

  struct Operation {
    std::string_view name = "starts";
    int object = -1;
    Site site;
  };

  struct Local {
    const void* key;
    std::shared_ptr<void> value;
  };

  struct Thread {
    State state = State::kUnborn;
    Operation operation;
    int waits_for = -1;  // the thread that it joins, or the mutex
    bool timed = false;
    bool woken = false;
    bool timed_out = false;
    VectorClock waker;  // of the search, if woken before it slept
    int spurious_left = 0;
    SpinWatcher spin;
    absl::AnyInvocable<void() &&> body;
    std::vector<Local> locals;
    std::unique_ptr<Fiber> fiber;
    Site spawned;
  };

  // Exists while the checker's own code runs on a thread of the model.
  class Inside {
   public:
    Inside() : outer_(tracks_memory_) { tracks_memory_ = false; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { tracks_memory_ = outer_; }

   private:
    const bool outer_;
  };

  Threads(const Config& config, Search& search);
  ~Threads() = default;

  // Runs `body` as thread 0 of a new execution, and every thread that `body`
  // starts, until all have ended or the execution has failed.
  void RunThreads(absl::FunctionRef<void()> body);
  // Returns whether the execution has turned out equivalent to another.
  bool draining() const { return draining_; }
  bool failed() const { return failed_; }
  // Records a failure that is found after the threads have ended.
  void SetFailed(std::string message);
  // Keeps what an unfinished execution has left, and makes room for the threads
  // of the next execution.
  void AbandonUnfinished();

  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }
  Objects& objects() { return objects_; }
  const Objects& objects() const { return objects_; }
  Thread& self() { return threads_[running_]; }
  Thread& thread(int number) { return threads_[number]; }
  int thread_count() const { return thread_count_; }

  // Announces a step and lets the search decide. Returns when this thread can
  // take the step.
  void Step(const Footprint& footprint, std::string_view name, int object,
            const Site& site);
  // Takes a step that locks a mutex. Returns when the mutex is free, and this
  // thread can take the step.
  void StepToLock(int mutex, const Site& site);
  // Counts a step. Fails an execution with too many steps.
  void Count(const Site& site);
  // Returns one of `count` outcomes of a step.
  int Decide(int count) { return draining_ ? 0 : search_.Choose(count); }
  bool MayFailSpuriously() const {
    return threads_[running_].spurious_left > 0;
  }
  void FailedSpuriously();

  // Puts a thread that is in the queue to sleep until it is woken. If the
  // thread has been woken before, it leaves the queue at once. Returns false if
  // time is up.
  bool Sleep(int queue, bool timed, std::string_view name, const Site& site);
  // Wakes a thread that this thread has taken out of a queue.
  void WakeUp(int thread);

  // Returns whether this thread is being rehearsed. A rehearsal's steps have no
  // effect.
  bool rehearsing() const { return threads_[running_].spin.rehearsing(); }
  // Returns the expected action of a thread that is rehearsed. The thread gives
  // up if it does not do the same as in its last round.
  const Deed& Cue(Deed::Kind kind, const ObjectHandle* handle,
                  const Site& site);
  [[noreturn]] void GivesUp(const Site& site);
  // Records an action that cannot be rehearsed. During a rehearsal, the thread
  // gives up.
  void DoesOtherwise(const Site& site);

  // Adds an event of this thread to the trace. Callers check `tracing()` first.
  bool tracing() const { return trace_.enabled(); }
  void Note(std::string text, const Site& site) {
    trace_.Note(running_, memory_.step, std::move(text), site);
  }
  std::string Describe(int object) const { return objects_.Describe(object); }

 private:
  void Schedule();
  void SwitchTo(int thread);
  bool Enabled(const Thread& thread) const;
  bool Alone() const;
  int DrainNext(ThreadSet enabled) const;
  void NobodyCanGoOn();
  std::string Waiting(int thread) const;
  void RunThread(int thread);
  void Finish();
  // Returns whether `thread` can read another value than the watched value. Of
  // a mutex, returns whether the mutex is free.
  bool IsNews(int thread, const SpinWatcher::Watched& watched) const;
  void AwaitNews(const Site& site);

  static inline bool tracks_memory_ = false;

  const Config config_;
  Search& search_;
  Memory memory_;
  Objects objects_{memory_};
  Trace trace_;
  std::unique_ptr<Fiber> host_;
  std::array<Thread, kMaxThreads> threads_;
  std::array<Footprint, kMaxThreads> next_;
  int thread_count_ = 0;
  int live_ = 0;
  int running_ = 0;
  int starter_ = -1;  // the parent of the thread that is starting
  int steps_ = 0;
  bool draining_ = false;
  SpinWatcher::Rehearsed rehearsed_;
  bool failed_ = false;
  std::string failure_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_THREADS_H_
