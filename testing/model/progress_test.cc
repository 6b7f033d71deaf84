// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Failures of models whose threads cannot go on: deadlocks and livelocks.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/failures.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model::failures {
namespace {

using enum std::memory_order;

// ---- Deadlock.

void LocksInTwoOrders() {
  Mutex a;
  Mutex b;
  const Thread other([&] {
    const MutexLock first(&a);
    const MutexLock second(&b);
  });
  const MutexLock first(&b);
  const MutexLock second(&a);
}

void LocksTwice() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Mutex mutex;
  mutex.Lock();
  mutex.Lock();
}

void JoinsAThreadThatWaitsForItsLock() {
  Mutex mutex;
  Thread other([&] { const MutexLock lock(&mutex); });
  const MutexLock lock(&mutex);
  other.Join();
}

void JoinsInACycle() {
  Atomic<bool> started = false;
  Mutex mutex;
  CondVar changed;
  bool joined = false;
  std::optional<Thread> one;
  std::optional<Thread> two;
  const auto join = [&](std::optional<Thread>& other) {
    while (!started.load(acquire)) SpinHint();
    other->Join();
    const MutexLock lock(&mutex);
    joined = true;
    changed.SignalAll();
  };
  one.emplace([&] { join(two); });
  two.emplace([&] { join(one); });
  started.store(true, release);
  const MutexLock lock(&mutex);
  while (!joined) changed.Wait(&mutex);
}

// The condition is checked without the mutex.
void LosesAConditionVariablesWake() {
  Mutex mutex;
  CondVar changed;
  Atomic<bool> ready = false;
  const Thread other([&] {
    ready.store(true);
    changed.Signal();
  });
  while (!ready.load()) {
    const MutexLock lock(&mutex);
    changed.Wait(&mutex);
  }
}

// A waiter that is signalled when its time is up reports the timeout, and the
// signal is used up.
void PassesNoSignalOnAfterATimeout() {
  Mutex mutex;
  CondVar changed;
  bool ready = false;
  const Thread waiter([&] {
    const MutexLock lock(&mutex);
    while (!ready) changed.Wait(&mutex);
  });
  const Thread timed([&] {
    const MutexLock lock(&mutex);
    if (!ready && !changed.WaitWithTimeout(&mutex, absl::Seconds(1))) {
      changed.Signal();
    }
  });
  const MutexLock lock(&mutex);
  ready = true;
  changed.Signal();
}

// The signal wakes the wrong thread.
void SignalsOneOfTwo() {
  Mutex mutex;
  CondVar changed;
  int turn = 0;
  const auto wait_for = [&](int mine) {
    const MutexLock lock(&mutex);
    while (turn < mine) changed.Wait(&mutex);
  };
  const Thread one([&] { wait_for(1); });
  const Thread two([&] { wait_for(2); });
  for (int i = 0; i < 2; ++i) {
    const MutexLock lock(&mutex);
    ++turn;
    changed.Signal();
  }
}

// Wakes the waiter before the waiter's condition is true.
void LosesAFutexWake() {
  Atomic<uint32_t> word = 0;
  const Thread other([&] {
    FutexWakeOne(word);
    word.store(1);
  });
  while (word.load() == 0) FutexWait(word, 0);
}

// ---- Livelock.

void SpinsWithoutAHint() {
  Atomic<bool> ready = false;
  const Thread other([&] { ready.store(true); });
  while (!ready.load()) {
  }
}

void SpinsForever() {
  Atomic<bool> ready = false;
  Atomic<bool> unrelated = false;
  const Thread other([&] { unrelated.store(true); });
  while (!ready.load()) SpinHint();
}

void SpinsOnOneAnother() {
  Atomic<bool> one = false;
  Atomic<bool> two = false;
  const Thread other([&] {
    while (!one.load()) SpinHint();
    two.store(true);
  });
  while (!two.load()) SpinHint();
  one.store(true);
}

// Each round reads one flag at one place, and the other flag at another place.
void SpinsAtTwoPlaces() {
  Atomic<bool> one = false;
  Atomic<bool> two = false;
  const Thread other([&] { one.store(false); });
  for (;;) {
    if (one.load()) break;
    SpinHint();
    if (two.load()) break;
    SpinHint();
  }
}

void SpinsOnItsOwnMutex() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Mutex mutex;
  mutex.Lock();
  while (!mutex.TryLock()) SpinHint();
}

// A thread that spins need not see a value that exists only for a moment.
void SpinsPastAPulse() {
  Atomic<bool> pulse = false;
  const Thread other([&] {
    pulse.store(true);
    pulse.store(false);
  });
  while (!pulse.load()) SpinHint();
}

// No round is like the round before.
void SpinsOnSomethingElseEachTime() {
  std::array<Atomic<bool>, 9> flags = {};
  for (size_t i = 0; !flags[i].load(); i = (i + 1) % flags.size()) SpinHint();
}

void FencesForever() {
  for (;;) AtomicThreadFence(acquire);
}

void MakesAtomicsForever() {
  for (;;) const Atomic<int> atomic = 1;
}

INSTANTIATE_TEST_SUITE_P(
    Failures, FailureTest,
    testing::Values(
        Failure{"LocksInTwoOrders",
                &LocksInTwoOrders,
                {"deadlock: ", "thread 0 locks mutex #", "held by thread 1",
                 "thread 1 locks mutex #", "held by thread 0"}},
        Failure{"LocksTwice",
                &LocksTwice,
                {"deadlock: ", "thread 0 locks mutex #",
                 "which the same thread holds"}},
        Failure{"JoinsAThreadThatWaitsForItsLock",
                &JoinsAThreadThatWaitsForItsLock,
                {"deadlock: ", "thread 0 joins thread 1",
                 "thread 1 locks mutex #", "held by thread 0"}},
        Failure{"JoinsInACycle",
                &JoinsInACycle,
                {"deadlock: ", "thread 0 sleeps in wait",
                 "thread 1 joins thread 2", "thread 2 joins thread 1"}},
        Failure{"LosesAConditionVariablesWake",
                &LosesAConditionVariablesWake,
                {"deadlock: ", "thread 0 sleeps in wait on condition variable",
                 "no thread wakes it"}},
        Failure{"PassesNoSignalOnAfterATimeout",
                &PassesNoSignalOnAfterATimeout,
                {"deadlock: ", "sleeps in wait on condition variable"}},
        Failure{"SignalsOneOfTwo",
                &SignalsOneOfTwo,
                {"deadlock: ", "sleeps in wait on condition variable",
                 "thread 0 joins thread"}},
        Failure{"LosesAFutexWake",
                &LosesAFutexWake,
                {"deadlock: ", "thread 0 sleeps in futex wait on",
                 "no thread wakes it"}},
        Failure{"SpinsWithoutAHint",
                &SpinsWithoutAHint,
                {"livelock: ", "did not end within 100 steps", "SpinHint"},
                100},
        Failure{"SpinsForever",
                &SpinsForever,
                {"livelock: ",
                 "no thread will change the values that a thread spins on",
                 "thread 0 spins at progress_test.cc"}},
        Failure{"SpinsOnOneAnother",
                &SpinsOnOneAnother,
                {"livelock: ", "thread 0 spins", "thread 1 spins"}},
        Failure{"SpinsAtTwoPlaces",
                &SpinsAtTwoPlaces,
                {"livelock: ",
                 "no thread will change the values that a thread spins on",
                 "thread 0 spins at progress_test.cc", "on atomic #1 of",
                 "and atomic #2 of"}},
        Failure{"SpinsOnItsOwnMutex",
                &SpinsOnItsOwnMutex,
                {"livelock: ",
                 "no thread will change the values that a thread spins on",
                 "thread 0 spins at progress_test.cc", "on mutex #1 of"}},
        Failure{"SpinsPastAPulse",
                &SpinsPastAPulse,
                {"livelock: ",
                 "no thread will change the values that a thread spins on"}},
        Failure{"SpinsOnSomethingElseEachTime",
                &SpinsOnSomethingElseEachTime,
                {"livelock: ", "did not end within 100 steps",
                 "read the same atomics in each"},
                100},
        Failure{"FencesForever",
                &FencesForever,
                {"livelock: ", "did not end within 100 steps"},
                100},
        Failure{"MakesAtomicsForever",
                &MakesAtomicsForever,
                {"livelock: ", "did not end within 100 steps"},
                100}),
    NameOfFailure);

}  // namespace
}  // namespace rouse::model::failures
