// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: output_slot.h
// -----------------------------------------------------------------------------
//
// Room for the output of one future. Internal to this folder.

#ifndef ROUSE_FUTURE_CO_OUTPUT_SLOT_H_
#define ROUSE_FUTURE_CO_OUTPUT_SLOT_H_

#include <memory>
#include <new>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// OutputSlot
//
// Empty, then filled with a `T`, a reference or nothing. Other than a
// `PollResult` it is never assigned to, so `T` need only be movable.
template <class T>
class OutputSlot {
 public:
  // Keeps what `poll()`, a `PollResult<T>`, has, if it is ready. Whether it is.
  // REQUIRES: the slot is empty.
  template <class Poll>
  bool FillBy(Poll poll) {
    // Made where it stays: moving it shows, where every `co_await` passes. What
    // is there before is pending and has nothing to destroy.
    void* const place = &result_;
    ROUSE_TRY { ::new (place) PollResult<T>(poll()); }
    ROUSE_CATCH_ALL {
      ::new (place) PollResult<T>(kPending);
      ROUSE_RETHROW;
    }
    return result_.IsReady();
  }
  // In place of what is there: a `co_return` may be left by a destructor that
  // throws, and another one come after it.
  template <class U>
  void Emplace(U&& value) {
    if (result_.IsReady()) std::destroy_at(&result_);
    FillBy([&value] {
      return PollResult<T>(std::in_place, std::forward<U>(value));
    });
  }

  bool IsFull() const { return result_.IsReady(); }

  // The output, moved out of the slot, which counts as full still.
  // REQUIRES: the slot is full.
  T&& Take() { return *std::move(result_); }

  // Null if empty.
  T* Peek() { return result_.IsReady() ? &*result_ : nullptr; }

 private:
  PollResult<T> result_ = kPending;
};

template <class T>
class OutputSlot<T&> {
 public:
  template <class Poll>
  bool FillBy(Poll poll) {
    const PollResult<T&> result = poll();
    if (result.IsPending()) return false;
    value_ = std::addressof(result.value());
    return true;
  }
  void Emplace(T& value) { value_ = std::addressof(value); }

  bool IsFull() const { return value_ != nullptr; }
  T& Take() { return *value_; }
  T* Peek() { return value_; }

 private:
  T* value_ = nullptr;
};

template <>
class OutputSlot<void> {
 public:
  template <class Poll>
  bool FillBy(Poll poll) {
    full_ = poll().IsReady();
    return full_;
  }

  bool IsFull() const { return full_; }
  void Take() {}

 private:
  bool full_ = false;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_CO_OUTPUT_SLOT_H_
