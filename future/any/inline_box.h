// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: inline_box.h
// -----------------------------------------------------------------------------
//
// Holds an object of a type known only at run time: in place if the object is
// small, and otherwise in a block of memory. Internal to this folder.

#ifndef ROUSE_FUTURE_ANY_INLINE_BOX_H_
#define ROUSE_FUTURE_ANY_INLINE_BOX_H_

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/base/frame_pool.h"

namespace rouse::internal {

// Number of bytes for an object in place. The usual leaves fit: a `Co` (8), a
// `Sleep` (56), a read or write of a socket (64), `Cancelled()` (64), a
// `Select` of a `Co` and a `Sleep` (72), a `Timeout` of a `Co` (72), and
// `Notified()` (80). `Semaphore::Acquire()` (128) and a `Send()` with a value
// (160) do not.
inline constexpr size_t kInlineBoxBytes = 80;

// True if an object of type `X` is held in place.
template <class X>
inline constexpr bool kFitsInline =
    sizeof(X) <= kInlineBoxBytes && alignof(X) <= alignof(void*) &&
    std::is_move_constructible_v<X>;

// BoxHolder
//
// Constructs, finds, moves and destroys an object in a place of
// `kInlineBoxBytes` bytes. The place has the object itself, or the pointer to a
// block with the object. If a move throws, both places are unchanged.
template <class X, bool kInline = kFitsInline<X>>
class BoxHolder {
 public:
  template <class Arg>
  static void Construct(void* place, Arg&& arg) {
    ::new (place) X(std::forward<Arg>(arg));
  }
  static X& Get(void* place) { return *std::launder(static_cast<X*>(place)); }
  static const X& Get(const void* place) {
    return *std::launder(static_cast<const X*>(place));
  }
  static void Move(void* from, void* to) {
    ::new (to) X(std::move(Get(from)));
    Destroy(from);
  }
  static void Destroy(void* place) { std::destroy_at(&Get(place)); }
};

template <class X>
class BoxHolder<X, false> {
  static constexpr bool kPooled = alignof(X) <= FramePool::kAlignment;

 public:
  template <class Arg>
  static void Construct(void* place, Arg&& arg) {
    void* const block = Allocate();
    ROUSE_TRY { ::new (block) X(std::forward<Arg>(arg)); }
    ROUSE_CATCH_ALL {
      Free(block);
      ROUSE_RETHROW;
    }
    ::new (place) X*(static_cast<X*>(block));
  }
  static X& Get(void* place) { return *Pointer(place); }
  static const X& Get(const void* place) {
    return **std::launder(static_cast<X* const*>(place));
  }
  static void Move(void* from, void* to) { ::new (to) X*(Pointer(from)); }
  static void Destroy(void* place) {
    X* const object = Pointer(place);
    std::destroy_at(object);
    Free(object);
  }

 private:
  static X* Pointer(void* place) {
    return *std::launder(static_cast<X**>(place));
  }
  static void* Allocate() {
    if constexpr (kPooled) {
      return FramePool::Allocate(sizeof(X));
    } else {
      return ::operator new(sizeof(X), std::align_val_t(alignof(X)));
    }
  }
  static void Free(void* block) {
    if constexpr (kPooled) {
      FramePool::Free(block, sizeof(X));
    } else {
      ::operator delete(block, std::align_val_t(alignof(X)));
    }
  }
};

// InlineBox
//
// Owns an object in a place, or nothing. `Table` has the functions `move` and
// `destroy` of the object's `BoxHolder`, among others.
template <class Table>
class InlineBox {
 public:
  // Constructs an object with the functions `table` from `arg`.
  template <class X, class Arg>
  InlineBox(std::in_place_type_t<X>, const Table& table, Arg&& arg) {
    BoxHolder<X>::Construct(place_, std::forward<Arg>(arg));
    table_ = &table;
  }
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  InlineBox(InlineBox&& other) { TakeFrom(other); }
  InlineBox& operator=(InlineBox&& other) {
    if (this != &other) {
      Reset();
      TakeFrom(other);
    }
    return *this;
  }
  ~InlineBox() { Reset(); }

  // Returns the functions of the object, or null if there is no object.
  const Table* table() const { return table_; }
  void* place() { return place_; }
  const void* place() const { return place_; }

 private:
  void Reset() {
    if (table_ == nullptr) return;
    std::exchange(table_, nullptr)->destroy(place_);
  }
  // REQUIRES: there is no object.
  void TakeFrom(InlineBox& other) {
    if (other.table_ == nullptr) return;
    other.table_->move(other.place_, place_);
    table_ = std::exchange(other.table_, nullptr);
  }

  const Table* table_ = nullptr;
  alignas(void*) std::byte place_[kInlineBoxBytes];
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_ANY_INLINE_BOX_H_
