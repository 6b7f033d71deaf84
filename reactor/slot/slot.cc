// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/slot/slot.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/optimization.h"
#include "rouse/base/intrusive_list.h"
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

// Returns whether an edge is raised, or no further edge will come.
bool IsSettled(uint64_t word, Direction direction) {
  return (word &
          (ReadinessWord::EdgeOf(direction) | ReadinessWord::kShutdown)) != 0;
}

size_t IndexOf(Direction direction) { return static_cast<size_t>(direction); }

}  // namespace

// The waker is cloned before the lock is taken, and a replaced waker is dropped
// after the unlock, because both run foreign code.
template <Direction kDirection>
uint64_t Slot::WaitFor(const Waker& waker, Waiter& waiter) {
  // Acquire pairs with the release by which the reactor gives up the waiter.
  const uintptr_t before = waiter.state_.load(std::memory_order_acquire);
  if (ABSL_PREDICT_FALSE((before & Waiter::kQueued) != 0 &&
                         Waiter::SlotOf(before) != this)) {
    waiter.Forget();
  }
  Waker clone = waker.Clone();

  const uint64_t word = word_.Lock();
  if (MutableCondition(IsSettled(word, kDirection))) {
    word_.Unlock(word);
    return word;
  }
  Waker replaced;
  // Relaxed, here and below: ordered by the lock. A queued waiter belongs to
  // the holder of the lock.
  if (ABSL_PREDICT_FALSE((waiter.state_.load(std::memory_order_relaxed) &
                          Waiter::kQueued) != 0)) {
    replaced = Waker(waiter.waker_.Read());
  } else {
    waiters_.Write().PushBack(&waiter);
  }
  waiter.waker_.Write() = std::move(clone).Release();
  waiter.state_.store(
      reinterpret_cast<uintptr_t>(this) | Waiter::kQueued |
          (kDirection == Direction::kWrite ? Waiter::kToWrite : 0),
      std::memory_order_relaxed);
  word_.Unlock(word | ReadinessWord::WaitersOf(kDirection));
  return 0;
}

template uint64_t Slot::WaitFor<Direction::kRead>(const Waker& waker,
                                                  Waiter& waiter);
template uint64_t Slot::WaitFor<Direction::kWrite>(const Waker& waker,
                                                   Waiter& waiter);

uint64_t Slot::WaitWithoutWaiter(Direction direction, const Waker& waker) {
  Waker clone = waker.Clone();
  const uint64_t word = word_.Lock();
  if (MutableCondition(IsSettled(word, direction))) {
    word_.Unlock(word);
    return word;
  }
  std::swap(wakers_[IndexOf(direction)].Write(), clone);
  word_.Unlock(word | ReadinessWord::WaitersOf(direction));
  return 0;
}

void Slot::Forget(Waiter& waiter) {
  Waker forgotten;
  const uint64_t word = word_.Lock();
  const uintptr_t state = waiter.state_.load(std::memory_order_relaxed);
  // An event may have removed the waiter first.
  if ((state & Waiter::kQueued) != 0) {
    // The neighbours of the waiter change too, in whatever list they are.
    waiters_.Write();
    waiter.Unlink();
    forgotten = Waker(waiter.waker_.Read());
    waiter.state_.store(state & ~Waiter::kQueued, std::memory_order_relaxed);
  }
  // The bit that says that a waiter may exist is possibly stale now, which
  // costs the next event a check.
  word_.Unlock(word);
  forgotten.Reset();
}

// Removes a waiter, and adds its waker to `woken`.
void Slot::Take(Waiter* waiter, WakeBatch& woken) {
  // Release pairs with the acquire of the waiter's owner, who owns the waiter
  // from there on: the waiter may be destroyed before the next line.
  ROUSE_MUTABLE_ORDER(
      woken.Push(Waker(waiter->waker_.Read())),
      waiter->state_.store(
          waiter->state_.load(std::memory_order_relaxed) & ~Waiter::kQueued,
          std::memory_order_release));
}

bool Slot::TakeWaiters(Ready ready, WakeBatch& woken) {
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    if (Concerning(direction, ready).IsEmpty()) continue;
    Waker& waker = wakers_[IndexOf(direction)].Write();
    if (!waker.IsNoop()) woken.Push(std::move(waker));
  }
  bool has_others = false;
  waiters_.Write().ForEach([&](Waiter* waiter) {
    if (!waiter->IsConcernedBy(ready)) return;
    if (woken.IsFull()) {
      has_others = true;
      return;
    }
    waiter->Unlink();
    Take(waiter, woken);
  });
  if (ABSL_PREDICT_FALSE(has_others)) TakeOtherWaiters(ready, woken);
  return has_others;
}

void Slot::TakeOtherWaiters(Ready ready, WakeBatch& woken) {
  // The waiters are moved to a separate list so that the loop ends even if
  // woken tasks wait again at once. They are still queued, and can be forgotten
  // while the lock is free.
  IntrusiveList<Waiter> others;
  waiters_.Write().ForEach([&](Waiter* waiter) {
    if (!waiter->IsConcernedBy(ready)) return;
    waiter->Unlink();
    others.PushBack(waiter);
  });
  do {
    word_.Unlock(word_.Held());
    woken.WakeAll();
    word_.Lock();
    while (!woken.IsFull()) {
      Waiter* waiter = others.PopFront();
      if (waiter == nullptr) break;
      Take(waiter, woken);
    }
  } while (!others.IsEmpty());
}

void Slot::Post(uint32_t generation, Ready ready, WakeBatch& woken) {
  woken.MakeRoom(2);
  const auto is_current = [this, generation] {
    // Relaxed: ordered by the word, see `ReadinessWord::Post()`.
    return MutableCondition(generation_.load(std::memory_order_relaxed) ==
                            generation);
  };
  if (!word_.Post(ready, is_current)) return;
  const bool unlocked = TakeWaiters(ready, woken);
  // All concerned waiters have been taken, unless new ones came meanwhile.
  word_.Unlock(
      word_.Held() &
      ~(MutableCondition(unlocked) ? 0 : ReadinessWord::WaitersOf(ready)));
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
