// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: output_slot.h
// -----------------------------------------------------------------------------
//
// Holds the output of one future. Internal to this folder.

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
// Starts empty, and is then filled with a `T`, a reference or nothing. Unlike a
// `PollResult`, a slot is never assigned to, so `T` only needs to be movable.
template <class T>
class OutputSlot {
 public:
  // Calls `poll()`, which returns a `PollResult<T>`, and keeps the output if
  // the result is ready. Returns whether the result is ready.
  // REQUIRES: the slot is empty.
  template <class Poll>
  bool FillBy(Poll poll) {
    // The result is made in its final place, because every `co_await` passes
    // here and a move is measurable. The slot's previous content is pending and
    // has nothing to destroy.
    void* const place = &result_;
    ROUSE_TRY { ::new (place) PollResult<T>(poll()); }
    ROUSE_CATCH_ALL {
      ::new (place) PollResult<T>(kPending);
      ROUSE_RETHROW;
    }
    return result_.IsReady();
  }
  // Replaces the present output, if any: a destructor that throws can interrupt
  // a `co_return`, and another `co_return` can follow.
  template <class U>
  void Emplace(U&& value) {
    if (result_.IsReady()) std::destroy_at(&result_);
    FillBy([&value] {
      return PollResult<T>(std::in_place, std::forward<U>(value));
    });
  }

  // Destroys the output, if any.
  void Clear() {
    std::destroy_at(&result_);
    ::new (static_cast<void*>(&result_)) PollResult<T>(kPending);
  }

  bool IsFull() const { return result_.IsReady(); }

  // Returns the output for moving out of the slot. The slot still counts as
  // full.
  // REQUIRES: the slot is full.
  T&& Take() { return *std::move(result_); }

  // Returns a pointer to the output, or null if the slot is empty.
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
  void Clear() { value_ = nullptr; }

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
