// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ref_counted.h
// -----------------------------------------------------------------------------
//
// `Ref<T>` is a shared owner of a reference-counted object. It is as wide as a
// pointer, and convertible to a plain pointer and back: a lock-free structure
// can thus hold a reference.
//
//   class Node : public rouse::heap::RefCounted<Node> {
//    public:
//     explicit Node(int value);
//   };
//
//   Ref<Node> node = MakeRef<Node>(42);
//   Ref<Node> other = node;             // shared
//   Node* raw = other.Release();        // whoever has `raw` has its reference
//   other = Ref<Node>::Adopt(raw);

#ifndef ROUSE_TIMER_HEAP_REF_COUNTED_H_
#define ROUSE_TIMER_HEAP_REF_COUNTED_H_

#include <atomic>
#include <cstddef>
#include <utility>

#include "absl/base/macros.h"
#include "rouse/base/atomic.h"

namespace rouse::heap {

template <class T>
class Ref;

// RefCounted
//
// The base of `T`. `MakeRef<T>()` makes the object, and the thread that drops
// the last reference deletes the object. Everything that a thread did before
// dropping a reference happens before the deletion.
template <class T>
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

 protected:
  RefCounted() = default;
  ~RefCounted() = default;

 private:
  friend class Ref<T>;

  void AddRef() {
    // Relaxed: the caller already has a reference, and the object is therefore
    // visible to the caller.
    references_.fetch_add(1, std::memory_order_relaxed);
  }

  void DropRef() {
    // Release pairs with the acquire of the drop of the last reference: all
    // uses of the object are over before the deletion.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete static_cast<T*>(this);
    }
  }

  // Cannot overflow: wide enough for as many references as fit in memory.
  Atomic<size_t> references_{1};
};

// Ref
//
// Null, or the owner of one reference to a `T`. Different `Ref`s are
// independent: threads need no lock for the count. A single `Ref` is, like any
// value, not thread-safe. Copying and dropping cost one atomic operation each,
// and moving costs no atomic operation.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) Counter(object_)->AddRef();
  }
  Ref(Ref&& other) noexcept : object_(other.Release()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Reset(); }

  // Takes over a reference of the caller, such as from `Release()`.
  static Ref Adopt(T* object) { return Ref(object); }

  // Adds a reference, for a caller that knows of an existing reference, such as
  // a member function of the object.
  static Ref Share(T* object) {
    Counter(object)->AddRef();
    return Ref(object);
  }

  // Becomes null, and gives the reference, if any, to the caller.
  [[nodiscard]] T* Release() { return std::exchange(object_, nullptr); }

  // Becomes null, and drops the reference if there was one.
  void Reset() {
    if (T* object = Release()) Counter(object)->DropRef();
  }

  // Returns the object, or null.
  T* get() const { return object_; }
  T& operator*() const {
    ABSL_ASSERT(object_ != nullptr);
    return *object_;
  }
  T* operator->() const {
    ABSL_ASSERT(object_ != nullptr);
    return object_;
  }
  explicit operator bool() const { return object_ != nullptr; }

  friend bool operator==(const Ref&, const Ref&) = default;

 private:
  explicit Ref(T* object) : object_(object) {}

  static RefCounted<T>* Counter(T* object) { return object; }

  T* object_ = nullptr;
};

// MakeRef
//
// Returns a new `T` and its first reference.
template <class T, class... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>::Adopt(new T(std::forward<Args>(args)...));
}

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_REF_COUNTED_H_
