// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/slot/slot.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/readiness_word.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/reactor/slot/wake_batch.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor {

// NOLINTNEXTLINE(performance-noexcept-move-constructor): see the declaration
Waiter::Waiter(Waiter&& other) {
  // Relaxed: ordered by the transfer of `other` to this thread.
  if (other.state_.load(std::memory_order_relaxed) != 0) {
    Panic(
        "a future that waits for I/O was moved after it was polled; move the "
        "future before its first poll, or keep it behind a pointer");
  }
}

void Waiter::Forget() {
  SlotOf(state_.load(std::memory_order_relaxed))->Forget(*this);
}

namespace internal {
namespace {

// Concerns both directions.
constexpr Ready kEverything =
    Ready::kReadable | Ready::kWritable | Ready::kError;

}  // namespace

// A replaced waker is dropped after the unlock, because that runs foreign code.
uint64_t Slot::WaitAgain(Direction direction, const Waker& waker,
                         Waiter& waiter) {
  // Relaxed, here and below: the caller has acquired, and a queued waiter
  // belongs to the holder of the lock.
  const uintptr_t queued_here = Waiter::StateOf(this, direction);
  if (waiter.state_.load(std::memory_order_relaxed) == queued_here) {
    Waker clone = waker.Clone();
    const uint64_t word = word_.Lock();
    // An event may have removed the waiter first.
    if (waiter.state_.load(std::memory_order_relaxed) == queued_here &&
        !IsSettled(word, direction)) {
      const Waker replaced(
          std::exchange(waiter.waker_.Write(), std::move(clone).Release()));
      word_.Unlock(word);
      return 0;
    }
    word_.Unlock(word);
  }
  waiter.Forget();
  return Wait(direction, waker, &waiter);
}

uint64_t Slot::UnlockAndDrop(uint64_t word, const Waiter& waiter) {
  word_.Unlock(word);
  Waker(waiter.waker_.Read()).Reset();
  return word;
}

uint64_t Slot::WaitWithoutWaiter(Direction direction, const Waker& waker) {
  Waker clone = waker.Clone();
  const uint64_t word = word_.Lock();
  if (MutableCondition(IsSettled(word, direction))) {
    word_.Unlock(word);
    return word;
  }
  std::swap(lines_[IndexOf(direction)].Write().latest, clone);
  word_.Unlock(word | ReadinessWord::WaitersOf(direction));
  return 0;
}

void Slot::Forget(Waiter& waiter) {
  Waker forgotten;
  const uint64_t word = word_.Lock();
  const uintptr_t state = waiter.state_.load(std::memory_order_relaxed);
  // An event may have removed the waiter first.
  if ((state & Waiter::kQueued) != 0) {
    // The neighbors of the waiter change too, in whatever ring they are.
    waiter.Unlink(lines_[IndexOf(Waiter::DirectionOf(state))].Write().first);
    forgotten = Waker(waiter.waker_.Read());
    waiter.state_.store(state & ~Waiter::kQueued, std::memory_order_relaxed);
  }
  // The bit that says that a waiter may exist is possibly stale now, which
  // costs the next event a check.
  word_.Unlock(word);
  forgotten.Reset();
}

bool Slot::TakeWaiters(Ready ready, WakeBatch& woken) {
  // All waiters to be woken move to a ring of their own, of which `end` is the
  // end, so that the loop ends even if woken tasks wait again at once. The
  // waiters in that ring are still queued, and can be forgotten while the lock
  // is free.
  Waiter end;
  Waiter* ring = nullptr;
  end.Link(ring);
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    if (Concerning(direction, ready).IsEmpty()) continue;
    Line& line = lines_[IndexOf(direction)].Write();
    if (!line.latest.IsNoop()) woken.Push(std::move(line.latest));
    if (line.first == nullptr) continue;
    end.LinkBefore(*std::exchange(line.first, nullptr));
  }
  bool unlocked = false;
  while (!end.IsAlone()) {
    if (woken.IsFull()) {
      word_.Unlock(word_.Held());
      woken.WakeAll();
      word_.Lock();
      unlocked = true;
      continue;
    }
    Waiter& waiter = *end.next_;
    waiter.Unlink(ring);
    woken.Push(Waker(Take(waiter)));
  }
  return unlocked;
}

void Slot::WakeSeveral(Ready ready, WakeBatch& woken) {
  const bool unlocked = TakeWaiters(ready, woken);
  // All concerned waiters have been taken, unless new ones came meanwhile.
  word_.Unlock(
      word_.Held() &
      ~(MutableCondition(unlocked) ? 0 : ReadinessWord::WaitersOf(ready)));
  woken.WakeAll();
}

void Slot::Shutdown(WakeBatch& woken) {
  woken.MakeRoom(2);
  word_.Lock();
  // Sets the bit first, so that no task waits again while the lock is free.
  word_.Unlock(word_.Held() | ReadinessWord::kShutdown);
  word_.Lock();
  TakeWaiters(kEverything, woken);
  word_.Unlock(word_.Held());
}

bool Slot::Release(WakeBatch& woken) {
  woken.MakeRoom(2);
  word_.Lock();
  // Relaxed: readers are ordered by the word, whose ticks change together with
  // the generation.
  const uint32_t next = generation_.load(std::memory_order_relaxed) + 1;
  generation_.store(next, std::memory_order_relaxed);
  word_.Unlock(ReadinessWord::Forgotten(word_.Held()));
  bool again;
  do {
    word_.Lock();
    again = TakeWaiters(kEverything, woken);
    word_.Unlock(ReadinessWord::Forgotten(word_.Held()));
    woken.MakeRoom(2);
  } while (again);
  return next != 0;
}

}  // namespace internal
}  // namespace rouse::reactor
