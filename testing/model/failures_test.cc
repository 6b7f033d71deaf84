// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that every kind of failure is found in every mode, is named correctly,
// and can be run again from the replay string.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Failure {
  std::string name;
  void (*body)();
  std::vector<std::string> words;  // in the message; the first begins it
  int max_steps = 10'000;
};

void PrintTo(const Failure& failure, std::ostream* out) {
  *out << failure.name;
}

class FailureTest : public testing::TestWithParam<Failure> {
 protected:
#ifdef ABSL_HAVE_THREAD_SANITIZER
  // The checker does not see allocations.
  void SetUp() override {
    for (const std::string name :
         {"UseAfterFree", "FreeAfterFree", "CountsReferencesByLoadAndStore",
          "DestroysTwice", "Leaks", "LeaksSeveral", "LeaksAConditionVariable",
          "SignalsWhatIsGone"}) {
      if (GetParam().name == name) GTEST_SKIP() << "not with ThreadSanitizer";
    }
  }
#endif

  static Result Run(const Options& options) {
    Options with_limit = options;
    with_limit.max_steps = GetParam().max_steps;
    return Check(with_limit, GetParam().body);
  }
};

TEST_P(FailureTest, IsFoundAndCalledWhatItIs) {
  const Result result = Run({});
  EXPECT_TRUE(result.failed);
  EXPECT_FALSE(result.complete);
  EXPECT_THAT(result.message, StartsWith(GetParam().words.front()));
  for (const std::string& word : GetParam().words) {
    EXPECT_THAT(result.message, HasSubstr(word));
  }
  EXPECT_GE(result.executions, 1);
}

TEST_P(FailureTest, IsReplayed) {
  const Result found = Run({});
  ASSERT_THAT(found.replay, StartsWith("m2:"));
  const Result replayed = Run({.replay = found.replay});
  EXPECT_TRUE(replayed.failed);
  EXPECT_EQ(replayed.message, found.message);
  EXPECT_EQ(replayed.trace, found.trace);
  EXPECT_EQ(replayed.executions, 1);
  EXPECT_EQ(replayed.pruned, 0);
}

TEST_P(FailureTest, IsTheSameOnSystemThreads) {
  const Result expected = Run({});
  const Result result = Run({.system_threads = true});
  EXPECT_TRUE(result.failed);
  EXPECT_EQ(result.message, expected.message);
  EXPECT_EQ(result.trace, expected.trace);
  EXPECT_EQ(result.replay, expected.replay);
  EXPECT_EQ(result.executions, expected.executions);
  EXPECT_EQ(result.pruned, expected.pruned);
}

TEST_P(FailureTest, IsFoundInTheOtherModes) {
  for (const Options& options :
       {Options{.mode = Mode::kNaive}, Options{.mode = Mode::kBounded},
        Options{.mode = Mode::kRandom, .max_executions = 10'000}}) {
    const Result result = Run(options);
    EXPECT_TRUE(result.failed) << static_cast<int>(options.mode);
    EXPECT_THAT(result.message, StartsWith(GetParam().words.front()));
    EXPECT_EQ(Run({.replay = result.replay}).message, result.message);
  }
}

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
  Atomic<bool> gone = false;
  const Thread other([&] {
    if (gone.load(acquire)) used->load(relaxed);
  });
  owned.reset();
  gone.store(true, release);
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

void SignalsWhatIsGone() {
  auto owned = std::make_unique<CondVar>();
  CondVar* used = owned.get();
  Atomic<bool> gone = false;
  const Thread other([&] {
    if (gone.load(acquire)) used->Signal();
  });
  owned.reset();
  gone.store(true, release);
}

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

void JoinsWhoWaitsForItsLock() {
  Mutex mutex;
  Thread other([&] { const MutexLock lock(&mutex); });
  const MutexLock lock(&mutex);
  other.Join();
}

void JoinsInACircle() {
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
void PassesNoSignalOnWhenItsTimeIsUp() {
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

void SpinsForEver() {
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

void FencesForEver() {
  for (;;) AtomicThreadFence(acquire);
}

void MakesAtomicsForEver() {
  for (;;) const Atomic<int> atomic = 1;
}

// ---- Failures of a single thread.

#ifdef ABSL_HAVE_EXCEPTIONS
void Throws() {
  const Thread other([] { throw std::runtime_error("boom"); });
}

void ThrowsWhatIsNoException() { throw 42; }
#endif

void RequiresInVain() {
  Atomic<int> x = 0;
  const Thread other([&] { x.store(1); });
  Require(x.load() == 0, "x is still what it was");
}

void UnlocksWhatItDoesNotHold() ABSL_NO_THREAD_SAFETY_ANALYSIS {
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
                 "its making by thread 1 does not happen before"}},
        Failure{"EndRacesWithUse",
                &EndRacesWithUse,
                {"data race: ", "thread 0 destroys atomic #",
                 "its use by thread 1 does not happen before"}},
        Failure{"EndRacesWithMaking",
                &EndRacesWithMaking,
                {"data race: ", "thread 0 destroys atomic #",
                 "its making by thread 1 does not happen before"}},
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
        Failure{
            "UseAfterFree",
            &UseAfterFree,
            {"use after free: ", "thread 1 uses atomic #", "which is gone"}},
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
        Failure{"SignalsWhatIsGone",
                &SignalsWhatIsGone,
                {"use after free: ", "thread 1 uses condition variable #",
                 "which is gone"}},
        Failure{"LocksInTwoOrders",
                &LocksInTwoOrders,
                {"deadlock: ", "thread 0 locks mutex #", "held by thread 1",
                 "thread 1 locks mutex #", "held by thread 0"}},
        Failure{
            "LocksTwice",
            &LocksTwice,
            {"deadlock: ", "thread 0 locks mutex #", "which it holds itself"}},
        Failure{"JoinsWhoWaitsForItsLock",
                &JoinsWhoWaitsForItsLock,
                {"deadlock: ", "thread 0 joins thread 1",
                 "thread 1 locks mutex #", "held by thread 0"}},
        Failure{"JoinsInACircle",
                &JoinsInACircle,
                {"deadlock: ", "thread 0 sleeps in wait",
                 "thread 1 joins thread 2", "thread 2 joins thread 1"}},
        Failure{"LosesAConditionVariablesWake",
                &LosesAConditionVariablesWake,
                {"deadlock: ", "thread 0 sleeps in wait on condition variable",
                 "nobody wakes it"}},
        Failure{"PassesNoSignalOnWhenItsTimeIsUp",
                &PassesNoSignalOnWhenItsTimeIsUp,
                {"deadlock: ", "sleeps in wait on condition variable"}},
        Failure{"SignalsOneOfTwo",
                &SignalsOneOfTwo,
                {"deadlock: ", "sleeps in wait on condition variable",
                 "thread 0 joins thread"}},
        Failure{"LosesAFutexWake",
                &LosesAFutexWake,
                {"deadlock: ", "thread 0 sleeps in futex wait on",
                 "nobody wakes it"}},
        Failure{"SpinsWithoutAHint",
                &SpinsWithoutAHint,
                {"livelock: ", "100 steps and no end", "SpinHint"},
                100},
        Failure{"SpinsForEver",
                &SpinsForEver,
                {"livelock: ", "nothing will change what is spun on",
                 "thread 0 spins at failures_test.cc"}},
        Failure{"SpinsOnOneAnother",
                &SpinsOnOneAnother,
                {"livelock: ", "thread 0 spins", "thread 1 spins"}},
        Failure{"SpinsAtTwoPlaces",
                &SpinsAtTwoPlaces,
                {"livelock: ", "nothing will change what is spun on",
                 "thread 0 spins at failures_test.cc", "on atomic #1 of",
                 "and atomic #2 of"}},
        Failure{"SpinsOnItsOwnMutex",
                &SpinsOnItsOwnMutex,
                {"livelock: ", "nothing will change what is spun on",
                 "thread 0 spins at failures_test.cc", "on mutex #1 of"}},
        Failure{"SpinsPastAPulse",
                &SpinsPastAPulse,
                {"livelock: ", "nothing will change what is spun on"}},
        Failure{"SpinsOnSomethingElseEachTime",
                &SpinsOnSomethingElseEachTime,
                {"livelock: ", "100 steps and no end",
                 "read the same atomics in each"},
                100},
        Failure{"FencesForEver",
                &FencesForEver,
                {"livelock: ", "100 steps and no end"},
                100},
        Failure{"MakesAtomicsForEver",
                &MakesAtomicsForEver,
                {"livelock: ", "100 steps and no end"},
                100},
#ifdef ABSL_HAVE_EXCEPTIONS
        Failure{"Throws", &Throws, {"an exception left thread 1: boom"}},
        Failure{"ThrowsWhatIsNoException",
                &ThrowsWhatIsNoException,
                {"an exception left thread 0"}},
#endif
        Failure{"RequiresInVain",
                &RequiresInVain,
                {"required at failures_test.cc:", ": x is still what it was"}},
        Failure{"UnlocksWhatItDoesNotHold",
                &UnlocksWhatItDoesNotHold,
                {"thread 0 unlocks mutex #", "without holding it"}},
        Failure{
            "WaitsWithoutTheMutex",
            &WaitsWithoutTheMutex,
            {"thread 0 waits on condition variable #", "without the mutex"}},
        Failure{"AssertsThatItHolds",
                &AssertsThatItHolds,
                {"a mutex is not held that must be"}}),
    [](const testing::TestParamInfo<Failure>& info) {
      return info.param.name;
    });

// ---- Reports, and failures that are not those of the program.

TEST(FailureTest, TheTraceSaysWhatEachThreadDid) {
  const Result result = Check({}, &ReadRacesAfterARelaxedFlag);
  EXPECT_THAT(result.trace, HasSubstr("thread 0  spawns thread 1"));
  EXPECT_THAT(result.trace, HasSubstr(".store(1, relaxed)"));
  EXPECT_THAT(result.trace, HasSubstr(".load(acquire) = 1, of step "));
  EXPECT_THAT(result.trace, HasSubstr("[failures_test.cc:"));
}

// The message names the race at the lowest address, in every execution.
TEST(FailureTest, FreeingABlockNamesTheFirstOfItsRaces) {
#ifdef ABSL_HAVE_THREAD_SANITIZER
  GTEST_SKIP() << "the checker does not see what is freed";
#endif
  struct Block {
    std::array<Cell<int>, 8> cells;
  };
  const auto first = std::source_location::current();
  const auto others = std::source_location::current();
  const auto body = [&] {
    // Freed without destruction, which would go from the last to the first.
    void* const place = ::operator new(sizeof(Block));
    auto* const block = new (place) Block;
    Atomic<bool> written = false;
    Thread other([&] {
      for (size_t i = block->cells.size(); i-- > 0;) {
        block->cells[i].Write(i == 0 ? first : others) = 1;
      }
      written.store(true, relaxed);
    });
    const bool early = written.load(relaxed);
    if (early) ::operator delete(place);
    other.Join();
    if (!early) ::operator delete(place);
  };
  const Result result = Check({}, body);
  EXPECT_THAT(result.message, StartsWith("data race: "));
  EXPECT_THAT(result.message,
              HasSubstr(absl::StrCat("failures_test.cc:", first.line())));
}

TEST(FailureTest, WhatFailsOtherwiseFails) {
  bool failed = false;
  const auto body = [&] {
    Atomic<int> x = 0;
    const Thread other([&] { x.store(1); });
    failed = x.load() != 0;  // as an EXPECT_ would
  };
  const auto failed_otherwise = [&] { return failed; };
  const Result result = Check({}, body, failed_otherwise);
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.message, HasSubstr("an expectation does not hold"));
  EXPECT_THAT(result.trace, Not(IsEmpty()));
  EXPECT_EQ(Check({.replay = result.replay}, body, failed_otherwise).message,
            result.message);
}

TEST(FailureTest, ABodyMustDoTheSameEachTime) {
  int times = 0;
  const Result result = Check({}, [&] {
    Atomic<int> x = 0;
    ++times;
    const Thread other([&] { x.store(1); });
    if (times % 2 == 0) x.store(2);
    x.load();
  });
  EXPECT_TRUE(result.failed);
  EXPECT_FALSE(result.complete);
  EXPECT_THAT(result.message, HasSubstr("not deterministic"));
}

// One thread has ended, and the other does not know: the other thread's steps
// are decisions, both for the replay and for the search.
TEST(FailureTest, AReplayIsOfTheSameExecution) {
  const auto body = [] {
    Atomic<int> x = 0;
    Atomic<int> y = 0;
    Atomic<int> z = 0;
    Thread other([&] {
      y.store(1, relaxed);
      x.store(1, relaxed);
      z.store(1, relaxed);
    });
    if (x.load(relaxed) == 1) Require(y.load(relaxed) == 1, "stale");
    other.Join();
  };
  for (const Mode mode : {Mode::kExhaustive, Mode::kNaive, Mode::kBounded}) {
    const Result found = Check({.mode = mode}, body);
    EXPECT_THAT(found.message, HasSubstr("stale"));
    const Result replayed = Check({.replay = found.replay}, body);
    EXPECT_EQ(replayed.message, found.message);
    EXPECT_EQ(replayed.trace, found.trace);
  }
}

TEST(FailureTest, AFailureThatIsNotReplayedHasNoTrace) {
  int times = 0;
  const Result result = Check({}, [&] {
    Choose(8);
    Require(++times != 3, "the third");
  });
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.message, HasSubstr("the third"));
  EXPECT_THAT(result.message, HasSubstr("not deterministic"));
  EXPECT_THAT(result.replay, IsEmpty());
  EXPECT_THAT(result.trace, IsEmpty());
}

TEST(FailureTest, AModelHasSevenThreadsBesidesItsBody) {
  const auto with = [](int count) {
    return Check({}, [count] {
      std::vector<Thread> threads;
      threads.reserve(count);
      for (int i = 0; i < count; ++i) threads.emplace_back([] {});
    });
  };
  EXPECT_FALSE(with(7).failed);
  EXPECT_THAT(with(8).message, HasSubstr("threads at the most"));
}

// Two threads store once each.
void StoresTwice() {
  Atomic<int> x = 0;
  const Thread other([&] { x.store(1); });
  x.store(2);
}

TEST(FailureTest, AReplayStringMustBeOneOfThisModel) {
  const std::string message = "the replay string is not one of this model";
  // One string names a thread that does not exist; one has too many steps.
  for (const std::string replay : {"m2:7", "m2:0000000000000000000000"}) {
    const Result result = Check({.replay = replay}, &StoresTwice);
    EXPECT_TRUE(result.failed) << replay;
    EXPECT_THAT(result.message, HasSubstr(message)) << replay;
    EXPECT_FALSE(result.complete) << replay;
  }
}

TEST(FailureTest, AReplayOfWhatHasBeenMendedPasses) {
  bool mended = false;
  const auto body = [&] {
    Atomic<int> x = 0;
    const Thread other([&] { x.store(1); });
    const int seen = x.load();
    Require(mended || seen == 0);
  };
  const Result found = Check({}, body);
  ASSERT_TRUE(found.failed);
  mended = true;
  const Result replayed = Check({.replay = found.replay}, body);
  EXPECT_FALSE(replayed.failed) << replayed.message;
  EXPECT_FALSE(replayed.complete);
}

TEST(FailureDeathTest, AReplayStringMustBeOne) {
  EXPECT_DEATH(Check({.replay = "nonsense"}, &Leaks), "not a replay string");
  EXPECT_DEATH(Check({.replay = "m1:"}, &Leaks), "not a replay string");
}

TEST(FailureDeathTest, ARequirementOutsideOfAModelAborts) {
  Require(true);
  EXPECT_DEATH(Require(false, "the reason"), "the reason");
}

}  // namespace
}  // namespace rouse::model
