// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handle_ptr.h
// -----------------------------------------------------------------------------
//
// The sender or the receiver of a channel refers to the channel with a
// `HandlePtr`, or with a `CountedHandlePtr` if the handle can be copied.
// Internal to `sync/`.

#ifndef ROUSE_SYNC_INTERNAL_HANDLE_PTR_H_
#define ROUSE_SYNC_INTERNAL_HANDLE_PTR_H_

#include "rouse/base/cxx20.h"

#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"

namespace rouse::internal {

// Panics and reports that a `handle`, such as "mpsc::Sender", was used after it
// was moved from.
[[noreturn]] ABSL_ATTRIBUTE_COLD void PanicMovedFrom(std::string_view handle);

// HandlePtr
//
// A pointer that becomes null when its handle is moved from. After the move,
// `*` and `->` are a `Panic()` with the name of the handle. A `HandlePtr` owns
// nothing.
template <class T, const auto& kHandle>
class HandlePtr {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): stands for a pointer
  HandlePtr(T* pointer) : pointer_(pointer) {}

  T& operator*() const { return *Get(); }
  T* operator->() const { return Get(); }
  T* Get() const {
    if (ABSL_PREDICT_FALSE(pointer_ == nullptr)) Panic();
    return pointer_;
  }

  // Comparisons never panic.
  bool operator==(const HandlePtr& other) const = default;
  bool operator==(decltype(nullptr)) const { return pointer_ == nullptr; }

 private:
  // Out of line, so that the caller inlines only a comparison.
  [[noreturn]] ABSL_ATTRIBUTE_COLD ABSL_ATTRIBUTE_NOINLINE static void Panic() {
    PanicMovedFrom(kHandle);
  }

  T* pointer_;
};

// What a `CountedHandlePtr` counts. Templates, because a message may hold a
// handle of its own channel, and is incomplete then.
struct CountSenders {
  static void Add(auto& channel) { channel.AddSender(); }
  static void Drop(auto& channel) { channel.DropSender(); }
};
struct CountWeakSenders {
  static void Add(auto& channel) { channel.AddWeakSender(); }
  static void Drop(auto& channel) { channel.DropWeakSender(); }
};
struct CountReceivers {
  static void Add(auto& channel) { channel.AddReceiver(); }
  static void Drop(auto& channel) { channel.DropReceiver(); }
};

// CountedHandlePtr
//
// A `HandlePtr` of a handle that is counted: each pointer stands for a handle.
// A copy calls `Count::Add()`, and the destructor calls `Count::Drop()`.
template <class T, const auto& kHandle, class Count>
class CountedHandlePtr : public HandlePtr<T, kHandle> {
  using Base = HandlePtr<T, kHandle>;

 public:
  // Takes over a handle that was counted. `pointer` may be null.
  explicit CountedHandlePtr(T* pointer) : Base(pointer) {}
  CountedHandlePtr(const CountedHandlePtr& other) : Base(other) {
    if (*this != nullptr) Count::Add(**this);
  }
  CountedHandlePtr(CountedHandlePtr&& other) noexcept
      : Base(std::exchange(static_cast<Base&>(other), nullptr)) {}
  CountedHandlePtr& operator=(CountedHandlePtr other) noexcept {
    std::swap(static_cast<Base&>(*this), static_cast<Base&>(other));
    return *this;
  }
  ~CountedHandlePtr() {
    if (*this != nullptr) Count::Drop(**this);
  }
};

}  // namespace rouse::internal

#endif  // ROUSE_SYNC_INTERNAL_HANDLE_PTR_H_
