// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models the readiness of one source under concurrent events, attempts, and
// waits.

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/readiness_word.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::reactor::internal {
namespace {

using model::Require;
using model::Thread;

constexpr uint64_t kReadEdge = ReadinessWord::EdgeOf(Direction::kRead);
constexpr uint64_t kWriteEdge = ReadinessWord::EdgeOf(Direction::kWrite);
constexpr uint64_t kReaders = ReadinessWord::WaitersOf(Direction::kRead);

bool Always() { return true; }

// Reports an event for which a waiter may exist; returns whether one did.
bool Report(ReadinessWord& word, Ready ready) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (!word.Post(ready, Always)) return false;
  word.Unlock(word.Held() & ~ReadinessWord::WaitersOf(ready));
  return true;
}

// Begins a wait; returns false if the edge is already raised.
bool Await(ReadinessWord& word) {
  word.Lock();
  const uint64_t held = word.Held();
  const bool wait = (held & kReadEdge) == 0;
  word.Unlock(wait ? held | kReaders : held);
  return wait;
}

MODEL_TEST(ReadinessWord, AnEventShowsWhatCameBeforeIt) {
  ReadinessWord word;
  Cell<int> data(0);
  Thread reporting([&] {
    data.Write() = 1;
    Report(word, Ready::kReadable);
  });
  if ((word.Load() & kReadEdge) != 0) Require(data.Read() == 1);
}

MODEL_TEST(ReadinessWord, AnEventShowsWhatCameBeforeAnEarlierOne) {
  ReadinessWord word;
  Cell<int> data(0);
  Thread reporting([&] {
    data.Write() = 1;
    Report(word, Ready::kReadable);
  });
  Thread changing([&] { word.Lower(Direction::kWrite, 0, Ready()); });
  if ((word.Load() & kReadEdge) != 0) Require(data.Read() == 1);
}

MODEL_TEST(ReadinessWord, TheLockExcludesOtherThreads) {
  ReadinessWord word;
  Cell<int> data(0);
  const auto add = [&] {
    word.Lock();
    ++data.Write();
    word.Unlock(word.Held());
  };
  Thread other(add);
  add();
  other.Join();
  Require(data.Read() == 2);
}

MODEL_TEST(ReadinessWord, AnEventIsSeenOrFindsTheWaiter) {
  ReadinessWord word;
  bool found = false;
  Thread reporting([&] { found = Report(word, Ready::kReadable); });
  const bool waits = Await(word);
  reporting.Join();
  Require(waits == found);
  Require((word.Load() & kReadEdge) != 0);
}

// The waiter has written its place under the lock, so the event can find it.
MODEL_TEST(ReadinessWord, AnEventSeesWhatTheWaiterWrote) {
  ReadinessWord word;
  Cell<int> place(0);
  Thread reporting([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!word.Post(Ready::kReadable, Always)) return;
    Require(place.Read() == 1);
    place.Write() = 2;
    word.Unlock(word.Held() & ~kReaders);
  });
  word.Lock();
  if ((word.Held() & kReadEdge) == 0) {
    place.Write() = 1;
    word.Unlock(word.Held() | kReaders);
  } else {
    word.Unlock(word.Held());
  }
  reporting.Join();
  Require(place.Read() != 1);
}

// The event's exchange takes the lock of a word that another thread has
// unlocked.
MODEL_TEST(ReadinessWord, AnEventHoldsTheLock) {
  ReadinessWord word;
  word.Lock();
  word.Unlock(word.Held() | kReaders);
  Cell<int> data(0);
  Thread reporting([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!word.Post(Ready::kReadable, Always)) return;
    ++data.Write();
    word.Unlock(word.Held());
  });
  word.Lock();
  ++data.Write();
  word.Unlock(word.Held());
  reporting.Join();
  Require(data.Read() == 2);
}

MODEL_TEST(ReadinessWord, AnEventAfterTheCheckIsKept) {
  ReadinessWord word;
  Report(word, Ready::kReadable);
  const uint64_t seen = word.Load();
  Thread reporting([&] { Report(word, Ready::kReadable); });
  word.Lower(Direction::kRead, seen, Ready());
  reporting.Join();
  Require((word.Load() & kReadEdge) != 0);
}

// Covers tokio #8054.
MODEL_TEST(ReadinessWord, DirectionsAreClearedIndependently) {
  ReadinessWord word;
  Report(word, Ready::kReadable | Ready::kWritable);
  const uint64_t seen = word.Load();
  Thread writing([&] { word.Lower(Direction::kWrite, seen, Ready()); });
  Thread reporting([&] { Report(word, Ready::kWritable); });
  word.Lower(Direction::kRead, seen, Ready());
  writing.Join();
  reporting.Join();
  Require((word.Load() & kReadEdge) == 0);
  Require((word.Load() & kWriteEdge) != 0);
}

// A holder of the lock changes the word with a plain store.
MODEL_TEST(ReadinessWord, AClearedDirectionStaysClearedUnderTheLock) {
  ReadinessWord word;
  Report(word, Ready::kWritable);
  const uint64_t seen = word.Load();
  Thread waiting([&] { Await(word); });
  word.Lower(Direction::kWrite, seen, Ready());
  waiting.Join();
  Require((word.Load() & kWriteEdge) == 0);
  Require((word.Load() & kReaders) != 0);
}

MODEL_TEST(ReadinessWord, AnEventUnderTheLockIsNotLost) {
  ReadinessWord word;
  Thread reporting([&] { Report(word, Ready::kWritable); });
  Await(word);
  reporting.Join();
  Require((word.Load() & kWriteEdge) != 0);
  Require((word.Load() & kReaders) != 0);
}

MODEL_TEST(ReadinessWord, TwoEventsAreCountedAsTwo) {
  ReadinessWord word;
  Thread reporting([&] { Report(word, Ready::kReadable); });
  Report(word, Ready::kWritable);
  reporting.Join();
  const uint64_t both = kReadEdge | kWriteEdge;
  Require((word.Load() & both) == both);
}

// The source and its generation end: an event of the source raises nothing for
// the next source, whether the event comes before or after the end.
MODEL_TEST(ReadinessWord, AStaleEventRaisesNothing) {
  ReadinessWord word;
  Atomic<uint32_t> generation(0);
  Thread reporting([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const auto is_current = [&] {
      return generation.load(std::memory_order_relaxed) == 0;
    };
    if (word.Post(Ready::kReadable, is_current)) word.Unlock(word.Held());
  });
  word.Lock();
  generation.store(1, std::memory_order_relaxed);
  word.Unlock(ReadinessWord::Forgotten(word.Held()));
  reporting.Join();
  Require((word.Load() & kReadEdge) == 0);
}

MODEL_MUTANTS(ReadinessWord, "reactor/slot/readiness_word.");

}  // namespace
}  // namespace rouse::reactor::internal
