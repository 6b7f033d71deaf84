// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: any_future.h
// -----------------------------------------------------------------------------
//
// `AnyFuture<T>` holds a future of any type whose output is `T`:
//
//   class Store {
//    public:
//     virtual rouse::AnyFuture<absl::StatusOr<Row>> Find(int id) = 0;
//   };
//
//   rouse::AnyFuture<absl::StatusOr<Row>> MemoryStore::Find(int id) {
//     return rouse::Ready(rows_.Get(id));  // allocates nothing
//   }
//
// A `Co<T>` also hides what it awaits, and allocates a frame. An `AnyFuture`
// allocates nothing for a small future.

#ifndef ROUSE_FUTURE_ANY_ANY_FUTURE_H_
#define ROUSE_FUTURE_ANY_ANY_FUTURE_H_

#include <concepts>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/any/inline_box.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/future.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// AnyFuture
//
// Owns a future whose output is `T`: an object, a reference or void. A future
// of at most 80 bytes is held in place, and a larger future in a block of the
// `FramePool`. `FitsInline()` says which. A poll costs an indirect call.
//
// Not thread-safe, and not copyable. Destroying an `AnyFuture` destroys, and so
// cancels, the future.
//
// An `AnyFuture` can be moved until its first poll. Later, it can be moved if
// the future inside can, or is in a block. The panics of the future inside, for
// a move or a poll too late, pass through. Polling an `AnyFuture` that was
// moved from is a `Panic()`.
template <class T = void>
class [[nodiscard]] AnyFuture {
 public:
  // Holds `future`, which must be moved in, or a callable that returns a future
  // and is kept, as by `Join()`. Allocates at most once.
  template <IntoFuture F>
    requires(!std::same_as<std::remove_cvref_t<F>, AnyFuture> &&
             std::same_as<FutureOutput<internal::FutureFrom<F>>, T>)
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  AnyFuture(F&& future)
      : box_(std::in_place_type<internal::FutureFrom<F>>,
             kTable<internal::FutureFrom<F>>, internal::ToFuture<F>(future)) {
    static_assert(!std::is_reference_v<internal::FutureFrom<F>>,
                  "an AnyFuture owns its future: move the future, as in "
                  "AnyFuture<T>(std::move(future))");
  }
  AnyFuture(AnyFuture&&) = default;
  AnyFuture& operator=(AnyFuture&&) = default;

  // Returns whether a future of type `F` is held without an allocation.
  template <IntoFuture F>
  static constexpr bool FitsInline() {
    return internal::kFitsInline<internal::FutureFrom<F>>;
  }

  PollResult<T> Poll(Context& cx) {
    if (box_.table() == nullptr) [[unlikely]]
      PanicMovedFrom();
    return box_.table()->poll(box_.place(), cx);
  }

  bool BorrowsClosure() const {
    return box_.table() != nullptr &&
           box_.table()->borrows_closure(box_.place());
  }
  void Trace(AwaitTrace& trace) const {
    if (box_.table() != nullptr) box_.table()->trace(box_.place(), trace);
  }

 private:
  struct Table {
    void (*move)(void* from, void* to);
    void (*destroy)(void* place);
    PollResult<T> (*poll)(void* place, Context& cx);
    bool (*borrows_closure)(const void* place);
    void (*trace)(const void* place, AwaitTrace& trace);
  };

  template <class F>
  static constexpr Table kTable = {
      &internal::BoxHolder<F>::Move,
      &internal::BoxHolder<F>::Destroy,
      [](void* place, Context& cx) -> PollResult<T> {
        return internal::BoxHolder<F>::Get(place).Poll(cx);
      },
      [](const void* place) {
        return internal::BorrowsClosure(internal::BoxHolder<F>::Get(place));
      },
      [](const void* place, AwaitTrace& trace) {
        trace.Add(internal::BoxHolder<F>::Get(place));
      },
  };

  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMovedFrom() {
    Panic(
        "an AnyFuture was polled after it was moved from; use the AnyFuture "
        "that it was moved to");
  }

  internal::InlineBox<Table> box_;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_ANY_ANY_FUTURE_H_
