// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: execution.h
// -----------------------------------------------------------------------------
//
// The threads of a model, what they wait for, and what is wrong with what they
// do. Internal to the model checker: code under test gets here through
// atomic.h, cell.h, mutex.h, futex.h, thread.h and their like.
//
// Every call below that touches a shared object is a step: the thread announces
// what it is about to touch, the search decides who goes first, and only then
// does the call have its effect. What a thread does between two steps is
// invisible to the others, or else a data race.

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
// How a shared object knows its place in the execution under way. An object
// that outlives the execution begins anew in the next, with its first value.
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

  // What one run of the body came to.
  enum class Outcome { kFinished, kPruned, kFailed };

  Execution(const Config& config, Search& search, Mutation* mutation);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // The one whose threads run; null outside of a model.
  static Execution* current() { return current_; }

  // Runs `body` as thread 0, with every thread it starts, to the end.
  Outcome Run(absl::FunctionRef<void()> body);

  // Notes every step of the runs to come, for `trace()`.
  void EnableTrace() { tracing_ = true; }
  std::string Trace() const;
  // Why the last run failed.
  const std::string& failure() const { return failure_; }

  ThreadSet unfinished() const;
  const std::array<Footprint, kMaxThreads>& next() const { return next_; }

  // ---- For the threads of the model.

  // Ends the execution as a failure. Does not return.
  [[noreturn]] void Fail(std::string message);

  // `kind`: a literal.
  void Construct(ObjectHandle& handle, const void* address, uint64_t value,
                 std::string_view kind, const Site& site);
  void Destroy(ObjectHandle& handle, const Site& site);

  // Atomics. `initial` is the value of an object from before the execution.
  uint64_t Load(ObjectHandle& handle, const void* address, uint64_t initial,
                std::memory_order order, const Site& site);
  void Store(ObjectHandle& handle, const void* address, uint64_t initial,
             uint64_t value, std::memory_order order, const Site& site);
  uint64_t Modify(ObjectHandle& handle, const void* address, uint64_t initial,
                  std::memory_order order,
                  absl::FunctionRef<uint64_t(uint64_t)> change,
                  std::string_view name, const Site& site);
  // Leaves the value read in `expected`.
  bool CompareExchange(ObjectHandle& handle, const void* address,
                       uint64_t initial, uint64_t& expected, uint64_t desired,
                       std::memory_order success, std::memory_order failure,
                       bool weak, const Site& site);
  void Fence(std::memory_order order, const Site& site);
  // A full barrier in every thread at one time.
  void FenceAllThreads(const Site& site);
  // Whether there are such: chosen when it is first asked for.
  bool HasFenceAllThreads() {
    if (!has_fence_all_.has_value()) has_fence_all_ = Choose(2) == 0;
    return *has_fence_all_;
  }

  // Plain data. An access that does not happen before or after every other one
  // of which one is a write is a data race.
  void ReadPlain(const void* address, const Site& site);
  void WritePlain(const void* address, const Site& site);
  // The same for the making and the end of plain data: they are writes, but for
  // what is as old as the program.
  void ConstructPlain(const void* address, const Site& site);
  void DestroyPlain(const void* address, const Site& site);

  // Mutexes.
  void Lock(ObjectHandle& handle, const void* address, const Site& site);
  bool TryLock(ObjectHandle& handle, const void* address, const Site& site);
  void Unlock(ObjectHandle& handle, const void* address, const Site& site);
  bool Holds(const ObjectHandle& handle) const;

  // Queues of waiting threads: condition variables, and futexes, whose queue is
  // apart from the atomic.
  //
  // Waits until woken, unless `word` does not have the value `expected`, or, as
  // the search decides, for no reason, or because time is up where `timed`.
  // Returns false for the last.
  bool FutexWait(ObjectHandle& word, const void* address, uint64_t initial,
                 uint64_t expected, bool timed, const Site& site);
  // Wakes up to `count` of the threads that wait at the address, any ones. As
  // in the kernel, the word itself may be gone.
  void FutexWake(const void* address, int count, const Site& site);
  // The same on a condition variable, with the mutex free meanwhile.
  bool ConditionWait(ObjectHandle& queue, const void* address,
                     ObjectHandle& mutex, const void* mutex_address, bool timed,
                     const Site& site);
  void ConditionWake(ObjectHandle& queue, const void* address, int count,
                     const Site& site);

  // In a loop: what this thread has read in the last round was not what it
  // waits for; waits until something of it changes, and does not read the same
  // again. (A failed `TryLock()` reads too.) A loop that would give up is a
  // failure: see spin_watcher.h.
  void SpinHint(const Site& site);
  // A step that touches nothing: lets others go first.
  void Yield(const Site& site);

  // Steps that mutants change: see mutable_step.h.
  bool ConditionAt(bool condition, const Site& site);
  bool MakesCall(const Site& site);
  bool KeepsOrder(const Site& site);

  // Threads.
  int Spawn(absl::AnyInvocable<void() &&> body, const Site& site);
  void Join(int thread, const Site& site);
  int running() const { return running_; }

  // One of `count` outcomes, all of which the search tries.
  int Choose(int count);

  // This thread's object for `key`, which `make` makes first. They are
  // destroyed, the last first, when the thread ends.
  void* ThreadLocal(const void* key,
                    absl::FunctionRef<std::shared_ptr<void>()> make);

  // Memory. `Freed` says whether the execution keeps the block from now on: it
  // reuses no address. Called by operator new and delete.
  void Allocated(void* block, size_t size);
  bool Freed(void* block);
  // Whether the code under test runs, not the checker's own.
  static bool tracks_memory() { return tracks_memory_; }

 private:
  using Deed = SpinWatcher::Deed;

  enum class State {
    kUnborn,
    kStarting,  // runs to its first step while its parent waits
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
    int waits_for = -1;  // a thread that it joins, or a mutex
    bool timed = false;
    bool woken = false;
    bool timed_out = false;
    VectorClock waker;  // the search's, if woken before it slept
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
    int maker = -1;  // -1: before the execution, or nobody knows
    uint16_t made_at = 0;
    bool destroyed = false;
    VectorClock accesses;
    // Of a mutex.
    int owner = -1;
    View view;  // also of a queue
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

  // While the checker's own code runs on a model's thread.
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

  // Announces a step and lets the search decide. When it returns the step is
  // this thread's to take.
  void Step(const Footprint& footprint, std::string_view name, int object,
            const Site& site);
  // Fails an execution that has gone on for too long.
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
  // One of `count` outcomes of a step.
  int Decide(int count);
  // Whether `thread` may read another value.
  bool IsNews(int thread, const SpinWatcher::Watched& watched) const;
  void AwaitNews(const Site& site);
  // Whether this thread is rehearsed: nothing it does has an effect.
  bool rehearsing() const { return threads_[running_].spin.rehearsing(); }
  const Deed& Cue(Deed::Kind kind, const ObjectHandle* handle,
                  const Site& site);
  [[noreturn]] void GivesUp(const Site& site);
  // Does what can not be rehearsed.
  void DoesOtherwise(const Site& site);
  int FutexQueue(const void* address, const Site& site);
  void Wake(int queue, int count, const Site& site);
  bool Sleep(int queue, bool timed, std::string_view name, const Site& site);
  // The load of a compare-exchange that is torn, or whose store is skipped.
  uint64_t LoadToCompare(ObjectHandle& handle, const void* address,
                         uint64_t initial, uint64_t expected,
                         std::memory_order match, std::memory_order differ,
                         const Site& site);
  // `how`: one of the k...Plain of execution.cc.
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
  int starter_ = -1;  // of the thread that is starting
  int steps_ = 0;
  uint32_t number_ = 0;
  bool draining_ = false;
  std::optional<bool> has_fence_all_;
  SpinWatcher::Rehearsed rehearsed_;
  bool failed_ = false;
  std::string failure_;
  std::vector<Object> objects_;
  int object_count_ = 0;
  absl::flat_hash_map<const void*, int> futexes_;  // the queue's object
  absl::flat_hash_map<const void*, PlainData> plain_;
  absl::flat_hash_map<void*, Allocation> allocations_;
  std::vector<void*> kept_;
  bool tracing_ = false;
  std::vector<Event> events_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_EXECUTION_H_
