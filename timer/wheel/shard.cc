// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/shard.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "rouse/base/lock/spin_lock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/core.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/timer/wheel/wheel.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel::internal {

void Shard::Batch::Add(Registration& registration, State state) {
  // Makes a second waker of the same bits. The life of the first waker ends
  // here, without a destructor.
  if (state == State::kElapsed) has_elapsed_ = true;
  wakers_.Push(Waker(registration.waker_.Read().raw()));
  if (!registration.owns_reference()) TakeReference();
  // Release pairs with the acquire of Registration::state(). After this the
  // registration may have been destroyed.
  registration.SetState(state, Registration::kOwnsReference,
                        std::memory_order_release);
}

// Counts the references for a whole batch at once.
void Shard::Batch::TakeReference() {
  if (spare_references_ == 0) {
    spare_references_ = WakeList::kCapacity;
    core_.Ref(spare_references_);
  }
  --spare_references_;
}

Shard::Batch::~Batch() {
  // The driver has a reference in addition to these.
  if (spare_references_ != 0) core_.Unref(spare_references_);
}

Shard::State Shard::Insert(Registration& registration, uint64_t tick,
                           Waker& waker) {
  const SpinLockHolder lock(mu_);
  if (shut_down_) return State::kShutDown;
  if (!wheel_.Insert(registration, tick)) return State::kElapsed;
  std::construct_at(&registration.waker_, std::move(waker));
  registration.SetState(State::kWaiting, 0);
  return State::kWaiting;
}

Shard::State Shard::ReplaceWaker(Registration& registration, Waker waker) {
  // `waker` is destroyed when the lock is free: the previous waker, or the new
  // one.
  const SpinLockHolder lock(mu_);
  const State state = registration.own_state();
  if (state == State::kWaiting) std::swap(registration.waker_.Write(), waker);
  return state;
}

void Shard::Remove(Registration& registration) {
  Waker waker;  // destroyed when the lock is free
  // The shard may be destroyed as soon as the lock is free, which unlocking
  // permits.
  const SpinLockHolder lock(mu_);
  if (registration.own_state() != State::kWaiting) return;
  wheel_.Remove(registration);
  waker = Waker(registration.waker_.Read().raw());
  registration.SetState(State::kIdle, 0);
}

bool Shard::Move(Registration& registration, Instant deadline, uint64_t tick,
                 Waker& due) {
  const SpinLockHolder lock(mu_);
  if (registration.own_state() != State::kWaiting) return false;
  // Relaxed: the driver reads the deadline under the lock.
  registration.deadline_.store(deadline.nanoseconds(),
                               std::memory_order_relaxed);
  // An entry that is placed at an earlier tick is placed again when that tick
  // comes.
  if (tick >= registration.when()) return true;
  wheel_.Remove(registration);
  if (wheel_.Insert(registration, tick)) return true;
  // No longer linked.
  if (!registration.owns_reference()) core_.Ref();
  due = Waker(registration.waker_.Read().raw());
  registration.SetState(State::kElapsed, Registration::kOwnsReference);
  return true;
}

std::optional<uint64_t> Shard::NextExpiration() {
  const SpinLockHolder lock(mu_);
  return wheel_.NextExpiration();
}

std::optional<uint64_t> Shard::NextTurn() {
  const SpinLockHolder lock(mu_);
  return wheel_.NextTurn();
}

void Shard::Fire(uint64_t now, Batch& batch) {
  int put_off = 0;
  mu_.Lock();
  for (;;) {
    const Wheel::Step step = wheel_.Advance(now);
    if (!step.more) break;
    if (step.due != nullptr) {
      auto& registration = static_cast<Registration&>(*step.due);
      const Instant deadline = registration.deadline();
      if (deadline > ticks_.StartOf(registration.when()) &&
          wheel_.Insert(registration, ticks_.AtOrAfter(deadline))) {
        // The owner has put the deadline off.
        if (++put_off % Wheel::kMovesPerStep != 0) continue;
      } else {
        batch.Add(registration, State::kElapsed);
        if (!batch.IsFull()) continue;
      }
    }
    // After a full batch, or after entries have moved, other threads have their
    // turn.
    mu_.Unlock();
    batch.Wake();
    mu_.Lock();
  }
  wheel_.Prepare();
  mu_.Unlock();
}

bool Shard::ShutDownSome(Batch& batch) {
  const SpinLockHolder lock(mu_);
  shut_down_ = true;
  bool any = false;
  while (!batch.IsFull()) {
    Entry* const entry = wheel_.PopAny();
    if (entry == nullptr) break;
    batch.Add(static_cast<Registration&>(*entry), State::kShutDown);
    any = true;
  }
  return any;
}

bool Shard::IsShutDown() {
  const SpinLockHolder lock(mu_);
  return shut_down_;
}

}  // namespace rouse::wheel::internal
