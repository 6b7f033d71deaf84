// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/once/once_cell.h"

#include <atomic>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

absl::Status OnceCellCore::Begin() {
  bool is_set;
  {
    const BriefLockHolder lock(mu_);
    // Relaxed: `set_` is written under the lock.
    is_set = set_.load(std::memory_order_relaxed);
    if (!is_set && !is_taken_) {
      is_taken_ = true;
      return absl::OkStatus();
    }
  }
  if (is_set) {
    return absl::AlreadyExistsError(
        "OnceCell::Set: the cell already has a value; read the value with "
        "Get()");
  }
  return absl::UnavailableError(
      "OnceCell::Set: the cell is being initialized; wait for the value with "
      "GetOrInit()");
}

bool OnceCellCore::IsTaken() {
  const BriefLockHolder lock(mu_);
  return is_taken_;
}

OnceCellCore::Answer OnceCellCore::Join(Waiter& waiter, Waker& waker) {
  Waker left;  // destroyed without the lock
  const BriefLockHolder lock(mu_);
  // Relaxed: `set_` is written under the lock.
  if (set_.load(std::memory_order_relaxed)) {
    waiter.Leave(left);
    return Answer::kIsSet;
  }
  if (waiter.has_turn_ || MutableCondition(!is_taken_)) {
    waiter.Leave(left);
    is_taken_ = true;
    return Answer::kHasTurn;
  }
  if (!waiter.IsLinked()) waiters_.PushBack(&waiter);
  waiter.Register(waker);
  return Answer::kWaits;
}

void OnceCellCore::Leave(Waiter& waiter) {
  bool had_turn;
  {
    Waker waker;
    const BriefLockHolder lock(mu_);
    had_turn = waiter.has_turn_;
    waiter.Leave(waker);
  }
  if (had_turn) ROUSE_MUTABLE_CALL(PassOn());
}

void OnceCellCore::End() {
  mu_.Lock();
  // Release pairs with the acquire of IsSet.
  set_.store(true, std::memory_order_release);
  is_taken_ = false;
  WakeAll(mu_, waiters_, [](WaitNode*) {});
}

void OnceCellCore::PassOn() {
  Waker waker;
  {
    const BriefLockHolder lock(mu_);
    WaitNode* const next = waiters_.PopFront();
    is_taken_ = next != nullptr;
    if (next == nullptr) return;
    static_cast<Waiter*>(next)->has_turn_ = true;
    waker = next->TakeWaker();
  }
  std::move(waker).Wake();
}

}  // namespace rouse::internal
