// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of an execution that wait for another thread, or wake a waiting
// thread: mutexes, condition variables and futexes.

#include <atomic>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rouse/testing/model/execution.h"
#include "rouse/testing/model/memory.h"
#include "rouse/testing/model/mutation.h"
#include "rouse/testing/model/objects.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/threads.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

// ---- Mutexes.

bool Execution::Holds(const ObjectHandle& handle) const {
  return objects().Contains(handle) && objects()[handle.id].owner == running();
}

void Execution::Lock(ObjectHandle& handle, const void* address,
                     const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  const int object = objects().Resolve(handle, address, 0, kMutex, site);
  StepToLock(object, site);
  CheckAlive(object, site);
  objects()[object].owner = running();
  memory().Subscribe(running(), objects()[object].view, /*happens=*/true);
  if (tracing()) Note(absl::StrCat("locks ", Describe(object)), site);
}

bool Execution::TryLock(ObjectHandle& handle, const void* address,
                        const Site& site) {
  const Inside inside;
  if (rehearsing()) {
    Cue(Deed::kTryLock, &handle, site);
    return false;
  }
  const int object = objects().Resolve(handle, address, 0, kMutex, site);
  Step({.object = object, .writes = true}, "try_lock", object, site);
  CheckAlive(object, site);
  const bool is_free = objects()[object].owner < 0;
  const bool locked = is_free && !(MayFailSpuriously() && Decide(2) == 1);
  if (locked) {
    self().spin.DidOtherwise();
    objects()[object].owner = running();
    memory().Subscribe(running(), objects()[object].view, /*happens=*/true);
  } else {
    self().spin.Did({.kind = Deed::kTryLock, .object = object});
    if (is_free) FailedSpuriously();
  }
  if (tracing()) {
    Note(absl::StrCat(locked    ? "locks "
                      : is_free ? "spuriously fails to lock "
                                : "finds locked ",
                      Describe(object)),
         site);
  }
  return locked;
}

void Execution::Unlock(ObjectHandle& handle, const void* address,
                       const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  const int object = objects().Resolve(handle, address, 0, kMutex, site);
  Step({.object = object, .writes = true}, "unlock", object, site);
  CheckAlive(object, site);
  if (objects()[object].owner != running()) {
    Fail(absl::StrFormat("thread %d unlocks %s at %s without holding it",
                         running(), Describe(object), Where(site)));
  }
  memory().Publish(running(), objects()[object].view, /*happens=*/true);
  objects()[object].owner = -1;
  if (tracing()) Note(absl::StrCat("unlocks ", Describe(object)), site);
}

// ---- Queues of waiting threads.

int Execution::FutexQueue(const void* address, const Site& site) {
  const auto [entry, is_new] = futexes_.try_emplace(address, -1);
  if (is_new) entry->second = objects().New(nullptr, 0, kFutex, site);
  return entry->second;
}

bool Execution::FutexWait(ObjectHandle& word, const void* address,
                          uint64_t initial, uint64_t expected, bool timed,
                          const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  const int object = objects().Resolve(word, address, initial, "atomic", site);
  const int queue = FutexQueue(address, site);
  Step({.object = object, .queue = queue}, "futex wait", object, site);
  CheckAlive(object, site);
  // The kernel reads the word under a lock that the wakers take too, so a wake
  // that found no waiter comes before the read. This orders what is read. There
  // is no promise that this synchronizes, nor that a wake learns anything about
  // the waiters.
  memory().Subscribe(running(), objects()[queue].view, /*happens=*/false);
  const Memory::Access access =
      memory().Load(running(), object, std::memory_order_relaxed,
                    [this](int n) { return Decide(n); });
  self().spin.Did(
      {.kind = Deed::kLoad, .object = object, .read = access.value});
  if (access.value != expected) {
    if (tracing()) {
      Note(absl::StrFormat("futex wait on %s: %d, %s, is not %d",
                           Describe(object), access.value,
                           ReadFrom(object, access.read), expected),
           site);
    }
    return true;
  }
  const bool spurious = MayFailSpuriously();
  const int outcome = Decide(1 + (spurious ? 1 : 0) + (timed ? 1 : 0));
  if (outcome != 0) {
    const bool woken = spurious && outcome == 1;
    if (woken) --self().spurious_left;
    if (tracing()) {
      Note(absl::StrFormat("futex wait on %s %s", Describe(object),
                           woken ? "returns spuriously" : "times out"),
           site);
    }
    return woken;
  }
  if (tracing()) {
    Note(absl::StrFormat("futex wait on %s: is %d, sleeps", Describe(object),
                         expected),
         site);
  }
  self().woken = false;
  self().timed_out = false;
  objects()[queue].waiters.push_back(running());
  return Sleep(queue, timed, "futex wait", site);
}

bool Execution::ConditionWait(ObjectHandle& queue_handle, const void* address,
                              ObjectHandle& mutex, const void* mutex_address,
                              bool timed, const Site& site) {
  bool woken = true;
  {
    const Inside inside;
    DoesOtherwise(site);
    const int queue =
        objects().Resolve(queue_handle, address, 0, "condition variable", site);
    if (!Holds(mutex)) {
      Fail(absl::StrFormat(
          "thread %d waits on %s at %s without holding the mutex", running(),
          Describe(queue), Where(site)));
    }
    Step({.queue = queue}, "wait", queue, site);
    CheckAlive(queue, site);
    const bool spurious = MayFailSpuriously();
    const int outcome = Decide(1 + (spurious ? 1 : 0) + (timed ? 1 : 0));
    self().woken = outcome != 0;
    self().waker = VectorClock();
    self().timed = timed;
    self().timed_out = outcome != 0 && !(spurious && outcome == 1);
    if (outcome != 0 && !self().timed_out) --self().spurious_left;
    if (outcome == 0) objects()[queue].waiters.push_back(running());
    if (tracing()) Note(absl::StrCat("waits on ", Describe(queue)), site);
    Unlock(mutex, mutex_address, site);
    woken = Sleep(queue, timed, "wait", site);
  }
  Lock(mutex, mutex_address, site);
  return woken;
}

void Execution::FutexWake(const void* address, int count, const Site& site) {
  const Inside inside;
  Wake(FutexQueue(address, site), count, site);
}

void Execution::ConditionWake(ObjectHandle& handle, const void* address,
                              int count, const Site& site) {
  const Inside inside;
  Wake(objects().Resolve(handle, address, 0, "condition variable", site), count,
       site);
}

void Execution::Wake(int queue, int count, const Site& site) {
  if (mutation_ != nullptr && mutation_->IsSkipped(site, Role::kWake)) return;
  DoesOtherwise(site);
  Step({.queue = queue}, "wake", queue, site);
  CheckAlive(queue, site);
  Object& object = objects()[queue];
  // A condition variable orders nothing. The mutex orders accesses.
  if (object.kind == kFutex) {
    memory().Publish(running(), object.view, /*happens=*/false);
  }
  for (; count > 0 && !object.waiters.empty(); --count) {
    const int index = Decide(static_cast<int>(object.waiters.size()));
    const int woken = object.waiters[index];
    object.waiters.erase(object.waiters.begin() + index);
    WakeUp(woken);
    // The thread's time may be up as well, and the thread may report that. The
    // signal is used up then.
    if (thread(woken).timed && object.kind != kFutex && Decide(2) == 1) {
      thread(woken).timed_out = true;
    }
    if (tracing()) {
      Note(absl::StrCat("wakes thread ", woken, " on ", Describe(queue)), site);
    }
  }
}

}  // namespace rouse::model
