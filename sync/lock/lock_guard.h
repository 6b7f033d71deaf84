// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: lock_guard.h
// -----------------------------------------------------------------------------
//
// The common part of the guards of `Mutex` and `RwLock`. Internal to
// `sync/lock/`.

#ifndef ROUSE_SYNC_LOCK_LOCK_GUARD_H_
#define ROUSE_SYNC_LOCK_LOCK_GUARD_H_

#include "rouse/base/cxx20.h"

#include <memory>
#include <utility>

#include "absl/base/macros.h"

namespace rouse::internal {

// LockGuard
//
// Holds the permits of a lock, and points to the protected value or to a part
// of the value. Returns the permits when destroyed. Move-only.
//
// `Core` is the type of the pointer to the lock's core, which is a plain
// pointer or a `std::shared_ptr`. `Access::Release(*core)` returns the permits.
template <class T, class Access, class Core>
class LockGuard {
 protected:
  LockGuard(Core core, T& value)
      : core_(std::move(core)), value_(std::addressof(value)) {}
  LockGuard(LockGuard&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), value_(other.value_) {}
  LockGuard& operator=(LockGuard&& other) noexcept {
    // The replaced lock is released now, not when `other` is destroyed.
    LockGuard replaced(std::move(other));
    std::swap(core_, replaced.core_);
    std::swap(value_, replaced.value_);
    return *this;
  }
  ~LockGuard() {
    if (core_ != nullptr) Access::Release(*core_);
  }

  T& value() const {
    ABSL_ASSERT(core_ != nullptr);
    return *value_;
  }

  auto& core() const {
    ABSL_ASSERT(core_ != nullptr);
    return *core_;
  }

  // Returns the pointer to the core, with which the permits pass to the caller.
  // Leaves this guard moved-from.
  Core TakeCore() { return std::exchange(core_, nullptr); }

 private:
  Core core_;  // null if moved from
  T* value_;
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_LOCK_LOCK_GUARD_H_
