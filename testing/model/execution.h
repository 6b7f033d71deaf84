// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: execution.h
// -----------------------------------------------------------------------------
//
// Runs the threads of a model: tracks what each thread waits for, and detects
// failures. Internal to the model checker: code under test gets here through
// atomic.h, cell.h, mutex.h, futex.h, thread.h and similar headers.
//
// Every call below that touches a shared object is a step: the thread announces
// the object, the search decides which thread goes first, and only then does
// the call have an effect. Anything that a thread does between two steps is
// either invisible to other threads, or a data race.

#ifndef ROUSE_TESTING_MODEL_EXECUTION_H_
#define ROUSE_TESTING_MODEL_EXECUTION_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "rouse/testing/model/fiber.h"
#include "rouse/testing/model/memory.h"
#include "rouse/testing/model/search.h"
#include "rouse/testing/model/spin_watcher.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

class Mutation;

using Site = std::source_location;

// ObjectHandle
//
// Identifies a shared object in the current execution. An object that outlives
// the execution begins anew in the next execution, with its first value.
struct ObjectHandle {
  uint32_t execution = 0;
  int32_t id = -1;
};

class Execution {
 public:
  struct Config {
    int max_steps = 10'000;
    int spurious_failures = 1;  // of each thread: compare-exchanges, waits
    Fiber::Kind fibers = Fiber::Kind::kStack;
  };

  // The result of one run of the body.
  enum class Outcome { kFinished, kPruned, kFailed };

  Execution(const Config& config, Search& search, Mutation* mutation);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Returns the execution whose threads run; null outside a model.
  static Execution* current() { return current_; }

  // Runs `body` as thread 0, and every thread that `body` starts, to the end.
  Outcome Run(absl::FunctionRef<void()> body);

  // Records every step of the following runs, for `Trace()`.
  void EnableTrace() { tracing_ = true; }
  std::string Trace() const;
  // Returns why the last run failed.
  const std::string& failure() const { return failure_; }

  ThreadSet unfinished() const;
  const std::array<Footprint, kMaxThreads>& next() const { return next_; }

  // ---- For the threads of the model.

  // Ends the execution as a failure. Does not return.
  [[noreturn]] void Fail(std::string message);

  // `kind` must be a string literal.
  void Construct(ObjectHandle& handle, const void* address, uint64_t value,
                 std::string_view kind, const Site& site);
  void Destroy(ObjectHandle& handle, const Site& site);

  // Atomics. `initial` is the first value of an object that existed before the
  // execution.
  uint64_t Load(ObjectHandle& handle, const void* address, uint64_t initial,
                std::memory_order order, const Site& site);
  void Store(ObjectHandle& handle, const void* address, uint64_t initial,
             uint64_t value, std::memory_order order, const Site& site);
  uint64_t Modify(ObjectHandle& handle, const void* address, uint64_t initial,
                  std::memory_order order,
                  absl::FunctionRef<uint64_t(uint64_t)> change,
                  std::string_view name, const Site& site);
  // Stores the value that was read in `expected`. Returns whether the exchange
  // succeeded.
  bool CompareExchange(ObjectHandle& handle, const void* address,
                       uint64_t initial, uint64_t& expected, uint64_t desired,
                       std::memory_order success, std::memory_order failure,
                       bool weak, const Site& site);
  void Fence(std::memory_order order, const Site& site);
  // Executes a full barrier in every thread at once.
  void FenceAllThreads(const Site& site);
  // Returns whether the system has such barriers. The first call chooses the
  // answer.
  bool HasFenceAllThreads() {
    if (!has_fence_all_.has_value()) has_fence_all_ = Choose(2) == 0;
    return *has_fence_all_;
  }

  // Plain data. Two accesses are a data race if at least one is a write, and
  // neither happens before the other.
  void ReadPlain(const void* address, const Site& site);
  void WritePlain(const void* address, const Site& site);
  // Record the construction and the destruction of plain data. Both are writes,
  // unless the data has static storage.
  void ConstructPlain(const void* address, const Site& site);
  void DestroyPlain(const void* address, const Site& site);

  // Mutexes.
  void Lock(ObjectHandle& handle, const void* address, const Site& site);
  bool TryLock(ObjectHandle& handle, const void* address, const Site& site);
  void Unlock(ObjectHandle& handle, const void* address, const Site& site);
  bool Holds(const ObjectHandle& handle) const;

  // Queues of waiting threads: condition variables and futexes. The queue of a
  // futex is separate from the atomic.
  //
  // Waits until woken. Returns at once if `word` does not have the value
  // `expected`; or, as the search decides, for no reason, or because time is up
  // if `timed` is true. Returns false if time is up, else true.
  bool FutexWait(ObjectHandle& word, const void* address, uint64_t initial,
                 uint64_t expected, bool timed, const Site& site);
  // Wakes at most `count` threads that wait at the address, chosen by the
  // search. As in the kernel, the word itself may have been destroyed.
  void FutexWake(const void* address, int count, const Site& site);
  // Waits on a condition variable, with the mutex unlocked during the wait.
  // Waits until woken; or, as the search decides, returns for no reason, or
  // because time is up if `timed` is true. Returns false if time is up, else
  // true.
  bool ConditionWait(ObjectHandle& queue, const void* address,
                     ObjectHandle& mutex, const void* mutex_address, bool timed,
                     const Site& site);
  void ConditionWake(ObjectHandle& queue, const void* address, int count,
                     const Site& site);

  // A loop calls this if the last round has not read the expected values. Waits
  // until a value changes, and the thread then does not read the same values
  // again. (A failed `TryLock()` counts as a read.) Fails the execution if the
  // loop would give up: see spin_watcher.h.
  void SpinHint(const Site& site);
  // Takes a step that touches nothing, so that other threads can go first.
  void Yield(const Site& site);

  // Return how to execute a step that mutants change: see mutable_step.h.
  bool ConditionAt(bool condition, const Site& site);
  bool MakesCall(const Site& site);
  bool KeepsOrder(const Site& site);

  // Threads.
  int Spawn(absl::AnyInvocable<void() &&> body, const Site& site);
  void Join(int thread, const Site& site);
  int running() const { return running_; }

  // Returns one of `count` outcomes. The search tries all outcomes.
  int Choose(int count);

  // Returns this thread's object for `key`. The first call makes the object
  // with `make`. When the thread ends, the objects are destroyed in reverse
  // order of construction.
  void* ThreadLocal(const void* key,
                    absl::FunctionRef<std::shared_ptr<void>()> make);

  // Memory. Called by operator new and delete. `Freed()` returns whether the
  // execution keeps the block from now on, so that no address is reused.
  void Allocated(void* block, size_t size);
  bool Freed(void* block);
  // Returns whether the code under test is running, rather than the checker's
  // own code.
  static bool tracks_memory() { return tracks_memory_; }

 private:
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

  struct Object {
    const void* address = nullptr;
    std::string_view kind;
    Site made;
    int maker = -1;  // -1: made before the execution, or unknown
    uint16_t made_at = 0;
    bool destroyed = false;
    VectorClock accesses;
    // The thread that holds the mutex.
    int owner = -1;
    View view;  // of a mutex or a queue
    std::vector<int> waiters;
  };

  struct PlainData {
    VectorClock reads;
    VectorClock writes;
    Site last_read;
    Site last_write;
    bool freed = false;
  };

  struct Allocation {
    size_t size = 0;
    bool freed = false;
  };

  struct Event {
    int thread;
    int step;
    std::string text;
    Site site;
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

  Thread& self() { return threads_[running_]; }
  int Resolve(ObjectHandle& handle, const void* address, uint64_t initial,
              std::string_view kind, const Site& site);
  int NewObject(const void* address, uint64_t value, std::string_view kind,
                const Site& site);
  void CheckAlive(int object, const Site& site);
  void End(Object& object, std::string_view how, const Site& site);

  // Announces a step and lets the search decide. Returns when this thread can
  // take the step.
  void Step(const Footprint& footprint, std::string_view name, int object,
            const Site& site);
  // Counts a step. Fails an execution with too many steps.
  void Count(const Site& site);
  void Schedule();
  void SwitchTo(int thread);
  bool Enabled(const Thread& thread) const;
  bool Alone() const;
  int DrainNext(ThreadSet enabled) const;
  void NobodyCanGoOn();
  void RunThread(int thread);
  void Finish();
  bool MayFailSpuriously() const;
  void FailedSpuriously();
  // Returns one of `count` outcomes of a step.
  int Decide(int count);
  // Returns whether `thread` can read another value than the watched value. Of
  // a mutex, returns whether the mutex is free.
  bool IsNews(int thread, const SpinWatcher::Watched& watched) const;
  void AwaitNews(const Site& site);
  // Returns whether this thread is being rehearsed. A rehearsal's steps have no
  // effect.
  bool rehearsing() const { return threads_[running_].spin.rehearsing(); }
  const Deed& Cue(Deed::Kind kind, const ObjectHandle* handle,
                  const Site& site);
  [[noreturn]] void GivesUp(const Site& site);
  // Records an action that cannot be rehearsed. During a rehearsal, the thread
  // gives up.
  void DoesOtherwise(const Site& site);
  int FutexQueue(const void* address, const Site& site);
  void Wake(int queue, int count, const Site& site);
  bool Sleep(int queue, bool timed, std::string_view name, const Site& site);
  // Executes the load of a compare-exchange that is torn, or whose store is
  // skipped.
  uint64_t LoadToCompare(ObjectHandle& handle, const void* address,
                         uint64_t initial, uint64_t expected,
                         std::memory_order match, std::memory_order differ,
                         const Site& site);
  // `how` is one of the k...Plain constants of execution.cc.
  void AccessPlain(const void* address, std::string_view how, const Site& site);
  bool InFreedBlock(const void* address) const;
  void CheckLeaks();
  void Abandon();
  void EndExecution();
  std::string Describe(int object) const;
  std::string Waiting(int thread) const;
  void Note(std::string text, const Site& site);
  std::string ReadFrom(int object, int message) const;

  static inline Execution* current_ = nullptr;
  static inline bool tracks_memory_ = false;

  const Config config_;
  Search& search_;
  Mutation* const mutation_;
  Memory memory_;
  std::unique_ptr<Fiber> host_;
  std::array<Thread, kMaxThreads> threads_;
  std::array<Footprint, kMaxThreads> next_;
  int thread_count_ = 0;
  int live_ = 0;
  int running_ = 0;
  int starter_ = -1;  // the parent of the thread that is starting
  int steps_ = 0;
  uint32_t number_ = 0;
  bool draining_ = false;
  std::optional<bool> has_fence_all_;
  SpinWatcher::Rehearsed rehearsed_;
  bool failed_ = false;
  std::string failure_;
  std::vector<Object> objects_;
  int object_count_ = 0;
  absl::flat_hash_map<const void*, int> futexes_;  // the queues' objects
  absl::flat_hash_map<const void*, PlainData> plain_;
  absl::flat_hash_map<void*, Allocation> allocations_;
  std::vector<void*> kept_;
  bool tracing_ = false;
  std::vector<Event> events_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_EXECUTION_H_
