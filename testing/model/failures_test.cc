// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Failures that one or two steps of a model make: data races, errors of memory,
// and failures of a single thread. progress_test.cc has the models whose
// threads cannot go on.

#include "rouse/testing/model/failures.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "absl/base/config.h"
#include "absl/base/thread_annotations.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model::failures {
namespace {

using enum std::memory_order;
using testing::HasSubstr;

// ---- Data races.

void ReadRacesWithWrite() {
  Cell<int> data(0);
  const Thread other([&] { data.Write() = 1; });
  data.Read();
}

void WriteRacesWithWrite() {
  Cell<int> data(0);
  const Thread other([&] { data.Write() = 1; });
  data.Write() = 2;
}

void WriteRacesWithRead() {
  Cell<int> data(0);
  const Thread other([&] { data.Read(); });
  data.Write() = 1;
}

void ReadRacesAfterARelaxedFlag() {
  Cell<int> data(0);
  Atomic<bool> ready = false;
  const Thread other([&] {
    data.Write() = 42;
    ready.store(true, relaxed);
  });
  if (ready.load(acquire)) Require(data.Read() == 42);
}

void UseRacesWithMaking() {
  Atomic<bool> made = false;
  std::unique_ptr<Atomic<int>> object;
  Thread other([&] {
    object = std::make_unique<Atomic<int>>(1);
    made.store(true, relaxed);
  });
  if (made.load(acquire)) object->load(relaxed);
  other.Join();
}

void EndRacesWithUse() {
  auto used = std::make_unique<Atomic<int>>(1);
  Atomic<bool> done = false;
  Thread other([&] {
    used->store(2, relaxed);
    done.store(true, relaxed);
  });
  if (done.load(relaxed)) used.reset();
  other.Join();
}

// No thread has used the object.
void EndRacesWithMaking() {
  Atomic<bool> made = false;
  std::unique_ptr<Atomic<int>> object;
  Thread other([&] {
    object = std::make_unique<Atomic<int>>(1);
    made.store(true, relaxed);
  });
  if (made.load(relaxed)) object.reset();
  other.Join();
}

struct Config {
  Cell<int> port;
};

void ReadRacesWithMakingOfData() {
  Atomic<bool> made = false;
  std::unique_ptr<Config> config;
  Thread other([&] {
    config = std::make_unique<Config>(Cell<int>(80));
    made.store(true, relaxed);
  });
  if (made.load(relaxed)) config->port.Read();
  other.Join();
}

void EndOfDataRacesWithRead() {
  std::optional<Cell<int>> data;
  data.emplace();
  data->Write() = 1;
  Atomic<bool> done = false;
  Thread other([&] {
    data->Read();
    done.store(true, relaxed);
  });
  if (done.load(relaxed)) data.reset();
  other.Join();
}

void CopyRacesWithWrite() {
  Cell<int> data(0);
  const Thread other([&] { data.Write() = 1; });
  const Cell<int> copy = data;
}

// ---- Memory.

void UseAfterFree() {
  auto owned = std::make_unique<Atomic<int>>(1);
  const Atomic<int>* used = owned.get();
  Atomic<bool> destroyed = false;
  const Thread other([&] {
    if (destroyed.load(acquire)) used->load(relaxed);
  });
  owned.reset();
  destroyed.store(true, release);
}

void FreeAfterFree() {
  void* const block = ::operator new(16);
  const auto free = [&] { ::operator delete(block); };
  Thread other(free);
  other.Join();
  free();
}

// Both of two owners, or neither, may conclude that they are the last owner.
void CountsReferencesByLoadAndStore() {
  Atomic<int> references = 2;
  Atomic<int> frees = 0;
  void* const block = ::operator new(16);
  const auto drop = [&] {
    const int left = references.load() - 1;
    references.store(left);
    if (references.load() != 0) return;
    frees.fetch_add(1);
    ::operator delete(block);
  };
  {
    const Thread other(drop);
    drop();
  }
  if (frees.load() == 0) ::operator delete(block);
}

void DestroysTwice() {
  alignas(Atomic<int>) std::array<std::byte, sizeof(Atomic<int>)> storage;
  auto* object = new (storage.data()) Atomic<int>(1);
  std::destroy_at(object);
  std::destroy_at(object);
}

void Leaks() {
  const Atomic<int>* leaked = new Atomic<int>(1);
  leaked->load();
}

// The message names the object that was made first, in any order of checks.
void LeaksSeveral() {
  for (const size_t size : {3, 1, 4, 2, 5}) {
    auto* leaked = new std::vector<std::unique_ptr<Atomic<int>>>;
    leaked->reserve(size);
    while (leaked->size() < size) {
      leaked->push_back(std::make_unique<Atomic<int>>(1));
    }
  }
}

void LeaksAConditionVariable() {
  CondVar* leaked = new CondVar;
  leaked->SignalAll();
}

void SignalsADestroyedVariable() {
  auto owned = std::make_unique<CondVar>();
  CondVar* used = owned.get();
  Atomic<bool> destroyed = false;
  const Thread other([&] {
    if (destroyed.load(acquire)) used->Signal();
  });
  owned.reset();
  destroyed.store(true, release);
}

// ---- Failures of a single thread.

#ifdef ABSL_HAVE_EXCEPTIONS
void Throws() {
  const Thread other([] { throw std::runtime_error("boom"); });
}

void ThrowsANonException() { throw 42; }
#endif

void RequiresInVain() {
  Atomic<int> x = 0;
  const Thread other([&] { x.store(1); });
  Require(x.load() == 0, "x is still what it was");
}

void UnlocksAnUnheldMutex() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Mutex mutex;
  mutex.Unlock();
}

void WaitsWithoutTheMutex() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Mutex mutex;
  CondVar changed;
  changed.Wait(&mutex);
}

void AssertsThatItHolds() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Mutex mutex;
  const MutexLock lock(&mutex);
  const Thread other([&] { mutex.AssertHeld(); });
}

INSTANTIATE_TEST_SUITE_P(
    Failures, FailureTest,
    testing::Values(
        Failure{"ReadRacesWithWrite",
                &ReadRacesWithWrite,
                {"data race: ", "thread 0 reads plain data at failures_test.cc",
                 "thread 1 wrote it at failures_test.cc",
                 "neither happens before the other"}},
        Failure{
            "WriteRacesWithWrite",
            &WriteRacesWithWrite,
            {"data race: ", "thread 0 writes plain data", "thread 1 wrote"}},
        Failure{"WriteRacesWithRead",
                &WriteRacesWithRead,
                {"data race: ", "thread 0 writes plain data", "thread 1 read"}},
        Failure{"ReadRacesAfterARelaxedFlag",
                &ReadRacesAfterARelaxedFlag,
                {"data race: ", "thread 0 reads plain data", "thread 1 wrote"}},
        Failure{"UseRacesWithMaking",
                &UseRacesWithMaking,
                {"data race: ", "thread 0 uses atomic #",
                 "its creation by thread 1 does not happen before"}},
        Failure{"EndRacesWithUse",
                &EndRacesWithUse,
                {"data race: ", "thread 0 destroys atomic #",
                 "its use by thread 1 does not happen before"}},
        Failure{"EndRacesWithMaking",
                &EndRacesWithMaking,
                {"data race: ", "thread 0 destroys atomic #",
                 "its creation by thread 1 does not happen before"}},
        Failure{"ReadRacesWithMakingOfData",
                &ReadRacesWithMakingOfData,
                {"data race: ", "thread 0 reads plain data", "thread 1 wrote"}},
        Failure{"EndOfDataRacesWithRead",
                &EndOfDataRacesWithRead,
                {"data race: ", "thread 0 destroys plain data at failures_test",
                 "thread 1 read"}},
        Failure{"CopyRacesWithWrite",
                &CopyRacesWithWrite,
                {"data race: ", "thread 0 reads plain data", "thread 1 wrote"}},
        Failure{"UseAfterFree",
                &UseAfterFree,
                {"use after free: ", "thread 1 uses atomic #",
                 "which was destroyed"}},
        Failure{"FreeAfterFree",
                &FreeAfterFree,
                {"double free: ", "thread 0 frees a block of 16 bytes again"}},
        Failure{"CountsReferencesByLoadAndStore",
                &CountsReferencesByLoadAndStore,
                {"double free: ", "frees a block of 16 bytes again"}},
        Failure{"DestroysTwice",
                &DestroysTwice,
                {"double free: ", "thread 0 destroys atomic #", "again"}},
        Failure{"Leaks",
                &Leaks,
                {"leak: ", "with atomic #", "of failures_test.cc",
                 "was never freed"}},
        Failure{
            "LeaksSeveral", &LeaksSeveral, {"leak: ", "with atomic #1 of "}},
        Failure{"LeaksAConditionVariable",
                &LeaksAConditionVariable,
                {"leak: ", "with condition variable #1 of failures_test.cc"}},
        Failure{"SignalsADestroyedVariable",
                &SignalsADestroyedVariable,
                {"use after free: ", "thread 1 uses condition variable #",
                 "which was destroyed"}},
#ifdef ABSL_HAVE_EXCEPTIONS
        Failure{
            "Throws", &Throws, {"an exception escaped from thread 1: boom"}},
        Failure{"ThrowsANonException",
                &ThrowsANonException,
                {"an exception escaped from thread 0"}},
#endif
        Failure{"RequiresInVain",
                &RequiresInVain,
                {"requirement failed at failures_test.cc:",
                 ": x is still what it was"}},
        Failure{"UnlocksAnUnheldMutex",
                &UnlocksAnUnheldMutex,
                {"thread 0 unlocks mutex #", "without holding it"}},
        Failure{"WaitsWithoutTheMutex",
                &WaitsWithoutTheMutex,
                {"thread 0 waits on condition variable #",
                 "without holding the mutex"}},
        Failure{"AssertsThatItHolds",
                &AssertsThatItHolds,
                {"a thread does not hold a mutex that it must hold"}}),
    NameOfFailure);

TEST(FailureTest, TheTraceShowsWhatEachThreadDid) {
  const Result result = Check({}, &ReadRacesAfterARelaxedFlag);
  EXPECT_THAT(result.trace, HasSubstr("thread 0  spawns thread 1"));
  EXPECT_THAT(result.trace, HasSubstr(".store(1, relaxed)"));
  EXPECT_THAT(result.trace, HasSubstr(".load(acquire) = 1, of step "));
  EXPECT_THAT(result.trace, HasSubstr("[failures_test.cc:"));
}

}  // namespace
}  // namespace rouse::model::failures
