// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: output_slot.h
// -----------------------------------------------------------------------------
//
// Room for the output of one future. Internal to this folder.

#ifndef ROUSE_FUTURE_OUTPUT_SLOT_H_
#define ROUSE_FUTURE_OUTPUT_SLOT_H_

#include <memory>
#include <optional>
#include <utility>

#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// OutputSlot
//
// Empty, then filled once with a `T`, a reference or nothing. Other than a
// `PollResult` it is never assigned to, so `T` need only be movable.
template <class T>
class OutputSlot {
 public:
  // Keeps what `result` has, if it is ready. Whether it is.
  bool Fill(PollResult<T> result) {
    if (result.IsPending()) return false;
    value_.emplace(std::move(result).value());
    return true;
  }
  template <class U>
  void Emplace(U&& value) {
    value_.emplace(std::forward<U>(value));
  }

  bool IsFull() const { return value_.has_value(); }

  // The output, moved out of the slot, which counts as full still.
  // REQUIRES: the slot is full.
  T&& Take() { return *std::move(value_); }

  // Null if empty.
  T* Peek() { return value_.has_value() ? &*value_ : nullptr; }

 private:
  std::optional<T> value_;
};

template <class T>
class OutputSlot<T&> {
 public:
  bool Fill(PollResult<T&> result) {
    if (result.IsPending()) return false;
    value_ = &result.value();
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
  bool Fill(PollResult<void> result) {
    full_ = result.IsReady();
    return full_;
  }

  bool IsFull() const { return full_; }
  void Take() {}

 private:
  bool full_ = false;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_OUTPUT_SLOT_H_
