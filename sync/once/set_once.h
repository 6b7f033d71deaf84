// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: set_once.h
// -----------------------------------------------------------------------------
//
// A `SetOnce<T>` has no value until a task sets the value, permanently. Other
// tasks can wait for the value:
//
//   rouse::SetOnce<Config> config;
//   ...
//   config.Set(Load(file)).IgnoreError();            // in one task
//   ...
//   const Config& loaded = co_await config.Wait();   // in the others
//
// If the first task to need the value should also make it, use a `OnceCell`.
// The constructors are constant expressions, so a `SetOnce` can be a global
// variable
// (`constinit`).

#ifndef ROUSE_SYNC_ONCE_SET_ONCE_H_
#define ROUSE_SYNC_ONCE_SET_ONCE_H_

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace internal {

// The name of a call in panic messages.
inline constexpr char kSetOnceWait[] = "SetOnce::Wait";

// The state of a `SetOnce`: whether the value exists, and the list of waiters.
class SetOnceCore {
 public:
  SetOnceCore() = default;
  // Starts with a value if `set` is true.
  explicit constexpr SetOnceCore(bool set) : state_(set ? kSet : kEmpty) {}
  SetOnceCore(const SetOnceCore&) = delete;
  SetOnceCore& operator=(const SetOnceCore&) = delete;

  // Notes that the value no longer exists, while nobody else uses the object.
  void ClearAlone() {
    // Relaxed: nobody else can see the store.
    state_.store(kEmpty, std::memory_order_relaxed);
  }

  bool IsSet() const {
    // Acquire pairs with the release of End: the value is visible.
    return state_.load(std::memory_order_acquire) == kSet;
  }

  // Returns whether the caller must make the value. If so, the caller must call
  // `End()` when the value exists, or `Abandon()` if the value could not be
  // made.
  bool Begin();
  void End();
  void Abandon();

  // Returns false if the value exists. Otherwise `waker` will be woken when the
  // value exists.
  bool Wait(WaitNode& node, const Waker& waker);
  void StopWaiting(WaitNode& node) { node.LeaveWith(mu_); }

 private:
  // The state goes kEmpty -> kSetting -> kSet, or back from kSetting to kEmpty.
  // During kSetting, the storage of the value belongs to the caller that set
  // kSetting.
  enum State : uint8_t { kEmpty, kSetting, kSet };

  Atomic<uint8_t> state_{kEmpty};
  BriefLock mu_;
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace internal

// SetOnce
//
// `SetOnce` is thread-safe, except for `IntoInner()`, and allocates nothing.
// The value stays in place and is destroyed with the object.
//
// The object must outlive its futures and all references to its value. A task
// that has waited may destroy the object even if `Set()` has not returned yet,
// unless `Set()` wakes more than 32 waiters. A task that has seen the value
// through `Get()` may not: `Get()` takes no lock, and `Set()` may still be
// using the object.
template <class T>
class SetOnce {
 public:
  class WaitFuture;

  constexpr SetOnce() {}
  // Creates an object that has the value `value`.
  explicit constexpr SetOnce(T value)
      : core_(/*set=*/true), value_(std::move(value)) {}
  SetOnce(const SetOnce&) = delete;
  SetOnce& operator=(const SetOnce&) = delete;
  ~SetOnce() {
    if (core_.IsSet()) std::destroy_at(&value_);
  }

  // Constructs the value from `value`, and wakes all waiters. O(number of
  // waiters).
  //
  // Returns `kAlreadyExists` if there is a value, or if another call is making
  // a value, which `Get()` may not show yet. In both cases `value` is
  // untouched. If the construction throws, there is no value, and another call
  // may set the value.
  template <class U = T>
    requires std::constructible_from<T, U&&>
  absl::Status Set(U&& value) {
    if (!core_.Begin()) {
      return absl::AlreadyExistsError(
          "SetOnce::Set: the value was already set; read the value with Get()");
    }
    ROUSE_TRY { std::construct_at(&value_, std::forward<U>(value)); }
    ROUSE_CATCH_ALL {
      core_.Abandon();
      ROUSE_RETHROW;
    }
    core_.End();
    return absl::OkStatus();
  }

  // Returns the value, or null if there is no value. Costs one load.
  const T* Get() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return core_.IsSet() ? &value_ : nullptr;
  }

  // Moves the value out and returns it, or returns `std::nullopt` if there is
  // no value. The object is empty afterwards. Not thread-safe: no future of the
  // object may exist, and nobody else may use the object or the value.
  std::optional<T> IntoInner() && {
    if (!core_.IsSet()) return std::nullopt;
    std::optional<T> value(std::move(value_));
    core_.ClearAlone();
    std::destroy_at(&value_);
    return value;
  }

  // Returns a future of the value, a `const T&`. The future is ready when the
  // value exists. Any number of futures may wait. Destroying a future ends its
  // wait. The future takes a lock, which `Get()` does not: if the value usually
  // exists, call `Get()` first.
  [[nodiscard]] WaitFuture Wait() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WaitFuture(*this);
  }

 private:
  internal::SetOnceCore core_;
  // In a union, because the object may be empty. An empty one has `no_value_`,
  // because g++ 12 requires that the initializer of a global constant
  // initializes a member.
  union {
    char no_value_ = 0;
    T value_;
  };
};

// SetOnce::WaitFuture
//
// See `Wait()`. Can be moved only before the first poll.
template <class T>
class [[nodiscard]] SetOnce<T>::WaitFuture {
 public:
  PollResult<const T&> Poll(Context& cx) {
    if (wait_.Poll(cx, &internal::SetOnceCore::Wait).IsPending()) {
      return kPending;
    }
    return *value_;
  }

 private:
  friend class SetOnce;

  explicit WaitFuture(SetOnce& cell)
      : wait_(&cell.core_), value_(std::addressof(cell.value_)) {}

  internal::PendingWait<internal::SetOnceCore, internal::kSetOnceWait> wait_;
  const T* value_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_ONCE_SET_ONCE_H_
