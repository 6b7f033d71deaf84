// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: set_once.h
// -----------------------------------------------------------------------------
//
// A `SetOnce<T>` has no value until it is given one, for good, and can be
// waited for:
//
//   rouse::SetOnce<Config> config;
//   ...
//   config.Set(Load(file)).IgnoreError();            // in one task
//   ...
//   const Config& loaded = co_await config.Wait();   // in the others
//
// Where the value is made by whoever is the first to need it, take a
// `OnceCell`.

#ifndef ROUSE_SYNC_ONCE_SET_ONCE_H_
#define ROUSE_SYNC_ONCE_SET_ONCE_H_

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace internal {

// Whether there is a value, and who waits for it.
class SetOnceCore {
 public:
  // A future for the value to be there.
  class Wait {
   public:
    explicit Wait(SetOnceCore& core) : core_(&core) {}
    // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
    Wait(Wait&& other) : core_(other.core_) {
      if (other.waits_) PanicMoved();
      other.core_ = nullptr;
    }
    Wait& operator=(Wait&&) = delete;
    ~Wait() {
      if (waits_) core_->StopWaiting(node_);
    }

    // Whether it is; then the future has finished.
    bool Poll(Context& cx);

   private:
    [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMoved();

    SetOnceCore* core_;  // null: finished, or moved from
    bool waits_ = false;
    WaitNode node_;
  };

  SetOnceCore() = default;
  SetOnceCore(const SetOnceCore&) = delete;
  SetOnceCore& operator=(const SetOnceCore&) = delete;

  bool IsSet() const {
    // Acquire pairs with the release of End: the value is visible.
    return state_.load(std::memory_order_acquire) == kSet;
  }

  // Whether the caller is to make the value. `End()` says that it is there,
  // `Abandon()` that it could not be made.
  bool Begin();
  void End();
  void Abandon();

 private:
  // kEmpty -> kSetting -> kSet, and back from kSetting to kEmpty. The room for
  // the value is, while kSetting, of the one who made it that.
  enum State : uint8_t { kEmpty, kSetting, kSet };

  bool Join(WaitNode& node, Waker& waker);
  void StopWaiting(WaitNode& node);

  Atomic<uint8_t> state_{kEmpty};
  BriefLock mu_;
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace internal

// SetOnce
//
// Thread-safe. Nothing allocates. The value stays where it is, and goes with
// the object.
//
// It must outlive its futures and what refers to its value. Who has waited may
// destroy it though `Set()` has not returned yet, unless that wakes more than
// 32. Not so who has seen a value by `Get()`: it takes no lock, and `Set()` may
// still use what it is in.
template <class T>
class SetOnce {
 public:
  class WaitFuture;

  SetOnce() {}
  SetOnce(const SetOnce&) = delete;
  SetOnce& operator=(const SetOnce&) = delete;
  ~SetOnce() {
    if (core_.IsSet()) std::destroy_at(&value_);
  }

  // Makes the value of `value`, and wakes all that wait. O(number that wait).
  //
  // kAlreadyExists: there is a value, or another call is making it, which
  // `Get()` may not show yet. `value` is untouched then. If making it throws
  // there is none, and another call may set it.
  template <class U = T>
    requires std::constructible_from<T, U&&>
  absl::Status Set(U&& value) {
    if (!core_.Begin()) {
      return absl::AlreadyExistsError(
          "SetOnce::Set: it has been set before; read what there is by Get()");
    }
    ROUSE_TRY { std::construct_at(&value_, std::forward<U>(value)); }
    ROUSE_CATCH_ALL {
      core_.Abandon();
      ROUSE_RETHROW;
    }
    core_.End();
    return absl::OkStatus();
  }

  // The value, or null. One load.
  const T* Get() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return core_.IsSet() ? &value_ : nullptr;
  }

  // A future of the value, a `const T&`, which is ready when there is one. Any
  // number may wait. Destroying it stops its waiting. It takes a lock, which
  // `Get()` does not: look first, where there mostly is a value.
  [[nodiscard]] WaitFuture Wait() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WaitFuture(*this);
  }

 private:
  internal::SetOnceCore core_;
  // In a union, so that there need be none.
  union {
    T value_;
  };
};

// SetOnce::WaitFuture
//
// See `Wait()`. Moved only before it is polled.
template <class T>
class [[nodiscard]] SetOnce<T>::WaitFuture {
 public:
  PollResult<const T&> Poll(Context& cx) {
    if (!wait_.Poll(cx)) return kPending;
    return *value_;
  }

 private:
  friend class SetOnce;

  explicit WaitFuture(SetOnce& cell)
      : wait_(cell.core_), value_(std::addressof(cell.value_)) {}

  internal::SetOnceCore::Wait wait_;
  const T* value_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_ONCE_SET_ONCE_H_
