// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ref_counted.h
// -----------------------------------------------------------------------------
//
// `Ref<T>` is a shared owner of an object that counts its own references: one
// pointer wide, and convertible to a plain pointer and back, which is how a
// lock-free structure holds a reference.
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
// The base of `T`, which is made by `MakeRef<T>()` and deleted with its last
// reference, by the thread that drops it. What any thread did before it dropped
// a reference happens before the deletion.
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
    // Relaxed: whoever adds a reference has one, and with it whatever made the
    // object visible.
    references_.fetch_add(1, std::memory_order_relaxed);
  }

  void DropRef() {
    // Release pairs with the acquire of the drop that finds itself the last
    // one: uses of the object are over before it is deleted.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete static_cast<T*>(this);
    }
  }

  // Wide enough for as many as fit in memory: it cannot overflow.
  Atomic<size_t> references_{1};
};

// Ref
//
// Null, or the owner of one reference to a `T`. Two of them are independent:
// threads need no lock for the count. One and the same is, like any value, not
// thread-safe. Copying and dropping each cost one atomic operation, moving
// none.
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

  // Takes over a reference that the caller has, as from `Release()`.
  static Ref Adopt(T* object) { return Ref(object); }

  // Adds a reference, for a caller who knows that there is one already: an
  // object's member function, say.
  static Ref Share(T* object) {
    Counter(object)->AddRef();
    return Ref(object);
  }

  // Becomes null; the reference, if there was one, is the caller's.
  [[nodiscard]] T* Release() { return std::exchange(object_, nullptr); }

  // Becomes null, and drops the reference if there was one.
  void Reset() {
    if (T* object = Release()) Counter(object)->DropRef();
  }

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
// A new `T`, and its first reference.
template <class T, class... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>::Adopt(new T(std::forward<Args>(args)...));
}

}  // namespace rouse::heap

#endif  // ROUSE_TIMER_HEAP_REF_COUNTED_H_
