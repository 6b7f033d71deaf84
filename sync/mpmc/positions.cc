// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/mpmc/positions.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rouse/base/first_exception.h"
#include "rouse/base/lock/back_off.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::mpmc::internal {

using rouse::internal::PanicMovedAfterPoll;
using rouse::internal::PanicPolledAfterEnd;

// ---- Lines. The functions that need the lock come first.

// Returns whether a claim without the lock would succeed now.
bool Positions::CanClaim(Side side) {
  if (side == Side::kReceivers) return CountClaimable(1) > 0;
  // Relaxed: the answer may change at any moment.
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  return (tail & kFlags) == 0 && HasRoom(tail);
}

// Returns the number of units that are free and not promised, when the claims
// are at `claims`.
size_t Positions::Free(Side side, uint64_t claims) {
  // Acquire pairs with the releases of pushes, or of the claims of pops.
  size_t end = SupplyOf(side).load(std::memory_order_acquire) / kPosition;
  if (side == Side::kSenders) end += room_;
  size_t first = claims / kPosition;
  ROUSE_MUTABLE_CALL(first = Advance(first, PromisesOf(claims)));
  // Less than 0 if an old value was loaded.
  return std::max<int64_t>(0, Distance(first, end));
}

// Notes that the side is over, if it is: see the header.
void Positions::EndIfOver(Side side) {
  Line& line = LineOf(side);
  if (line.is_over) return;
  // Relaxed: the flag is set under the lock, which hands on what came before.
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  if ((tail & kNoMore) == 0) return;
  // Relaxed: a receiver that claims what is left acquires the messages.
  if (side == Side::kReceivers &&
      ready_.load(std::memory_order_relaxed) / kPosition != tail / kPosition) {
    return;
  }
  line.is_over = true;
  // Relaxed: nothing is handed on.
  ClaimsOf(side).fetch_and(~(kTurns | kPromises), std::memory_order_relaxed);
}

// Called when the last future has left the line, of which `promises` futures
// are promised units.
void Positions::StopWaiting(Side side, uint64_t promises) {
  // Relaxed, in both cases: nothing is handed on.
  SupplyOf(side).fetch_and(~kWanted, std::memory_order_relaxed);
  if (MutableCondition(LineOf(side).is_over)) return;
  ClaimsOf(side).fetch_add(promises * kPromise - kTurns,
                           std::memory_order_relaxed);
}

// Takes `waiter` out of the line, without a promise.
void Positions::Remove(Side side, Waiter& waiter) {
  Line& line = LineOf(side);
  waiter.Unlink();
  --line.waiting_count;
  if (line.waiting.IsEmpty()) StopWaiting(side, 0);
}

// Hands free units out to the futures that wait, or wakes the futures if the
// side is over, as many as fit into `woken`. Returns whether there is more to
// do.
bool Positions::Assign(Side side, WakeList& woken) {
  EndIfOver(side);
  Line& line = LineOf(side);
  if (line.waiting.IsEmpty()) return false;
  size_t most = line.waiting_count;
  if (!line.is_over) {
    // Relaxed: only holders of the lock change it while a future waits.
    const uint64_t claims = ClaimsOf(side).load(std::memory_order_relaxed);
    most =
        std::min({most, Free(side, claims), kMaxPromises - PromisesOf(claims)});
  }
  size_t count = 0;
  for (; count < std::min(most, kMaxWoken); ++count) {
    auto* const waiter = static_cast<Waiter*>(line.waiting.PopFront());
    waiter->promised.Write() = true;
    woken.Push(waiter->TakeWaker());
  }
  line.waiting_count -= count;
  if (line.waiting.IsEmpty()) {
    StopWaiting(side, count);
    return false;
  }
  if (!line.is_over && count > 0) {
    // Relaxed: nothing is handed on.
    ClaimsOf(side).fetch_add(count * kPromise, std::memory_order_relaxed);
  }
  return count < most;
}

// Returns whether `waiter` has a turn, and puts it into the line if not. A
// waiter that need not wait is in no line.
Positions::Fate Positions::Check(Side side, Waiter& waiter) {
  EndIfOver(side);
  Line& line = LineOf(side);
  if (line.is_over) {
    // If `Settle()` has not got so far, the waiter is still in the line.
    if (waiter.IsLinked()) Remove(side, waiter);
    return Fate::kOver;
  }
  if (waiter.promised.Read()) return Fate::kPromised;
  if (waiter.IsLinked()) return Fate::kWaits;
  line.waiting.PushBack(&waiter);
  ++line.waiting_count;
  if (line.waiting_count > 1) return Fate::kWaits;
  // Relaxed, in both cases: nothing is handed on, and `Free()` acquires, and
  // reads the value of the second step or a later one.
  const uint64_t claims =
      ClaimsOf(side).fetch_or(kTurns, std::memory_order_relaxed);
  SupplyOf(side).fetch_or(kWanted, std::memory_order_relaxed);
  // The last push may have ended before kWanted was set.
  ROUSE_MUTABLE_CALL(EndIfOver(side));
  if (!line.is_over && (Free(side, claims) == 0 ||
                        MutableCondition(PromisesOf(claims) == kMaxPromises))) {
    return Fate::kWaits;
  }
  if (line.is_over) {
    Remove(side, waiter);
    return Fate::kOver;
  }
  waiter.Unlink();
  --line.waiting_count;
  waiter.promised.Write() = true;
  StopWaiting(side, 1);
  return Fate::kPromised;
}

// Claims up to `limit` positions for a future that has a turn.
Claim Positions::Redeem(Side side, Waiter& waiter, size_t limit) {
  if (LineOf(side).is_over) {
    return side == Side::kReceivers ? TryClaimPops(limit) : Claim{};
  }
  waiter.promised.Write() = false;
  // Relaxed: the compare-exchange acquires.
  uint64_t claims = ClaimsOf(side).load(std::memory_order_relaxed);
  size_t count;
  do {
    count = 1;
    if (limit > 1 && MutableCondition((claims & kTurns) == 0)) {
      count = std::min(limit, 1 + Free(side, claims));
    }
    // Acquire and release: as in TryClaimPush and in TryClaimPops.
  } while (!ClaimsOf(side).compare_exchange_weak(
      claims, claims + count * kPosition - kPromise, std::memory_order_acq_rel,
      std::memory_order_relaxed));
  const bool has_others =
      (claims & kTurns) != 0 && PromisesOf(claims) == kMaxPromises;
  return {claims / kPosition, count,
          side == Side::kReceivers && (claims & kWanted) != 0, has_others};
}

// Takes `waiter` out of the line, or takes its promise back. Returns whether
// the caller must call `Settle()`, because others wait.
bool Positions::GiveUp(Side side, Waiter& waiter) {
  Waker waker;  // destroyed without the lock
  const BriefLockHolder lock(mu_);
  Line& line = LineOf(side);
  const bool has_waited = waiter.IsLinked();
  if (has_waited) Remove(side, waiter);
  waiter.Leave(waker);
  if (has_waited) return false;
  if (MutableCondition(line.is_over) || !waiter.promised.Read()) return false;
  // Relaxed: nothing is handed on.
  ClaimsOf(side).fetch_sub(kPromise, std::memory_order_relaxed);
  return !line.waiting.IsEmpty();
}

void Positions::Settle(Side side) {
  FirstException first;
  for (bool goes_on = true; goes_on;) {
    WakeList woken;
    {
      const BriefLockHolder lock(mu_);
      goes_on = Assign(side, woken);
    }
    first.Catch([&woken] { woken.WakeAll(); });
  }
  first.Rethrow();
}

// ---- Calls that do not wait in a line.

Refusal Positions::ClaimPushNow(size_t& position) {
  for (;;) {
    const Refusal refusal = TryClaimPush<true>(position);
    if (refusal != Refusal::kTurns) return refusal;
    const BriefLockHolder lock(mu_);
    // Without the lock, a future that is about to find a place may have set the
    // flag.
    if (!senders_.waiting.IsEmpty()) return Refusal::kFull;
  }
}

Claim Positions::ClaimPopNow() {
  // Relaxed: a caller sees its own pushes, and those that happened before the
  // call.
  const size_t sent = tail_.load(std::memory_order_relaxed) / kPosition;
  BackOff back_off;
  // A push that began earlier may still be at work, although later pushes have
  // ended. It is only a few instructions from its end.
  for (;;) {
    const Claim claim = TryClaimPops(1);
    if (claim.count > 0) return claim;
    // Relaxed: a claim takes its order from the other steps.
    uint64_t head = head_.load(std::memory_order_relaxed);
    size_t waiting = 0;
    if ((head & kTurns) != 0) {
      const BriefLockHolder lock(mu_);
      EndIfOver(Side::kReceivers);
      // Relaxed: only holders of the lock change it while a future waits.
      head = head_.load(std::memory_order_relaxed);
      waiting = receivers_.waiting_count;
      if ((head & kTurns) != 0 &&
          MutableCondition(Free(Side::kReceivers, head) > waiting)) {
        // There are more messages than futures, and the futures keep theirs.
        // Release: as in TryClaimPops. `Free()` and the lock have acquired.
        head_.fetch_add(kPosition, std::memory_order_release);
        return {head / kPosition, 1, (head & kWanted) != 0};
      }
    }
    const size_t used = Advance(head / kPosition, PromisesOf(head) + waiting);
    if (Distance(used, sent) <= 0) return {};
    back_off.Wait();
  }
}

Claim Positions::ClaimRest() {
  BackOff back_off;
  for (;;) {
    const Claim claim = TryClaimPops(kUnlimited);
    // Relaxed: the caller has set kNoMore, or has seen it.
    if (claim.count > 0 || size() == 0) return claim;
    back_off.Wait();
  }
}

void Positions::SetNoMore() {
  const BriefLockHolder lock(mu_);
  // Release pairs with the acquire of TryClaimPush: a refused push sees
  // everything before the end.
  tail_.fetch_or(kNoMore, std::memory_order_release);
}

size_t Positions::available() const {
  // Acquire pairs with the releases of the claims of pops: the pushes are
  // visible, so the tail is not behind the head.
  size_t head = head_.load(std::memory_order_acquire) / kPosition;
  for (;;) {
    // Acquire pairs with the release of TryClaimPush: the pops that made room
    // for the push are visible.
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    if ((tail & kTurns) != 0) return 0;
    // If the head is still the same, both were true at once. Acquire: as above.
    const size_t now = head_.load(std::memory_order_acquire) / kPosition;
    if (now == head) {
      const size_t used = Distance(head, tail / kPosition) + PromisesOf(tail);
      return capacity_ - std::min(capacity_, used);
    }
    head = now;
  }
}

// ---- PendingTurn.

PendingTurn::PendingTurn(PendingTurn&& other)
    : positions_(other.positions_), side_(other.side_), state_(other.state_) {
  if (other.state_ == State::kQueued) PanicMovedAfterPoll(other.waiter_.call);
  other.state_ = State::kDone;
}

PollResult<Claim> PendingTurn::PollSlowly(Context& cx, const char* call) {
  return DoPoll(cx, call, /*redeems=*/true);
}

PollResult<void> PendingTurn::PollTurn(Context& cx, const char* call) {
  if (DoPoll(cx, call, /*redeems=*/false).IsPending()) return kPending;
  return {};
}

PollResult<Claim> PendingTurn::DoPoll(Context& cx, const char* call,
                                      bool redeems) {
  if (state_ == State::kDone) PanicPolledAfterEnd(call);
  const bool has_budget = cx.HasBudget();
  if (state_ == State::kNew) {
    if (!has_budget && positions_->CanClaim(side_)) return YieldForBudget(cx);
    if (redeems && has_budget && side_ == Side::kReceivers &&
        positions_->IsAtEnd()) {
      TakeUnitIfAny(cx);
      Finish();
      return Claim{};
    }
    std::construct_at(&waiter_, call);
    state_ = State::kQueued;
  }
  Claim claim;
  {
    Waker waker = waiter_.CloneIfNew(cx.waker());  // destroyed without the lock
    const BriefLockHolder lock(positions_->mu_);
    const Positions::Fate fate = positions_->Check(side_, waiter_);
    if (fate == Positions::Fate::kWaits) {
      waiter_.Register(waker);
      return kPending;
    }
    if (has_budget) {
      waiter_.Leave(waker);
      if (redeems) claim = positions_->Redeem(side_, waiter_, 1);
    }
  }
  if (!has_budget) return YieldForBudget(cx);
  TakeUnitIfAny(cx);
  if (redeems) End();
  return claim;
}

Claim PendingTurn::Redeem(size_t limit) {
  if (limit == 0) {
    Cancel();
    return {};
  }
  Claim claim;
  {
    const BriefLockHolder lock(positions_->mu_);
    claim = positions_->Redeem(side_, waiter_, limit);
  }
  End();
  return claim;
}

void PendingTurn::End() {
  std::destroy_at(&waiter_);
  state_ = State::kDone;
}

void PendingTurn::Cancel() {
  const bool has_others = positions_->GiveUp(side_, waiter_);
  End();
  if (has_others) ROUSE_MUTABLE_CALL(positions_->Settle(side_));
}

}  // namespace rouse::mpmc::internal
