// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: execution.h
// -----------------------------------------------------------------------------
//
// Runs a model once: executes the steps of the model's threads, and detects
// failures. Internal to the model checker: code under test gets here through
// atomic.h, cell.h, mutex.h, futex.h, thread.h and similar headers.
//
// Every call below that touches a shared object is a step: the thread announces
// the object, the search decides which thread goes first, and only then does
// the call have an effect. Anything that a thread does between two steps is
// either invisible to other threads, or a data race.
//
// The class has several sources: execution.cc (the run of an execution,
// objects' lifetimes, plain data, blocks), execution_atomics.cc (atomics and
// fences) and execution_waits.cc (mutexes, condition variables, futexes). Below
// are threads.h (which thread goes first), objects.h, plain_data.h, heap.h,
// trace.h and memory.h, none of which knows an execution.

#ifndef ROUSE_TESTING_MODEL_EXECUTION_H_
#define ROUSE_TESTING_MODEL_EXECUTION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "rouse/testing/model/heap.h"
#include "rouse/testing/model/objects.h"
#include "rouse/testing/model/plain_data.h"
#include "rouse/testing/model/search.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/threads.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

class Mutation;

class Execution : public Threads {
 public:
  // The result of one run of the body.
  enum class Outcome { kFinished, kPruned, kFailed };

  Execution(const Config& config, Search& search, Mutation* mutation);
  ~Execution();

  // Returns the execution whose threads run; null outside a model.
  static Execution* current() { return current_; }

  // Runs `body` as thread 0, and every thread that `body` starts, to the end.
  Outcome Run(absl::FunctionRef<void()> body);

  // ---- For the threads of the model.

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

  // Return how to execute a step that mutants change: see mutable_step.h.
  bool ConditionAt(bool condition, const Site& site);
  bool MakesCall(const Site& site);
  bool KeepsOrder(const Site& site);

  // Memory. Called by operator new and delete. `Freed()` returns whether the
  // execution keeps the block from now on, so that no address is reused.
  void Allocated(void* block, size_t size);
  bool Freed(void* block);

 private:
  // Called by the step that uses an object.
  void CheckAlive(int number, const Site& site) {
    Object& object = objects()[number];
    const VectorClock& happened = memory().happened(running());
    if (object.destroyed || !object.IsMadeFor(happened)) NotAlive(number, site);
    object.accesses[running()] = memory().Tick(running());
  }
  [[noreturn]] void NotAlive(int number, const Site& site);
  void End(int number, std::string_view how, const Site& site);

  // Executes the load of a compare-exchange that is torn, or whose store is
  // skipped.
  uint64_t LoadToCompare(ObjectHandle& handle, const void* address,
                         uint64_t initial, uint64_t expected,
                         std::memory_order match, std::memory_order differ,
                         const Site& site);
  // Returns the words of the trace for a message that was read.
  std::string ReadFrom(int object, int message) const;

  int FutexQueue(const void* address, const Site& site);
  void Wake(int queue, int count, const Site& site);

  // `how` is one of the k...Plain constants of execution.cc.
  void AccessPlain(const void* address, std::string_view how, const Site& site);
  void CheckLeaks();

  static inline Execution* current_ = nullptr;

  Mutation* const mutation_;
  std::optional<bool> has_fence_all_;
  absl::flat_hash_map<const void*, int> futexes_;  // the queues' objects
  PlainDataMap plain_;
  Heap heap_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_EXECUTION_H_
