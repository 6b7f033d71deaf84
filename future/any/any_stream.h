// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: any_stream.h
// -----------------------------------------------------------------------------
//
// `AnyStream<T>` holds a stream of any type whose items are `T`:
//
//   rouse::AnyStream<Event> Events(const Config& config) {
//     if (config.events.empty()) return Subscribe();   // an mpsc::Receiver
//     return rouse::Iter(config.events);
//   }
//
// A `Gen<T>` also hides its source, and allocates a frame. An `AnyStream`
// allocates nothing for a small stream.

#ifndef ROUSE_FUTURE_ANY_ANY_STREAM_H_
#define ROUSE_FUTURE_ANY_ANY_STREAM_H_

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/future/any/inline_box.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/stream.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// AnyStream
//
// Owns a stream of items `T`. A stream of at most 80 bytes is held in place,
// and a larger stream in a block of the `FramePool`. `FitsInline()` says which.
// A poll costs an indirect call. The waiter is the stream itself, even if the
// stream inside distinguishes waiters: see stream.h.
//
// Not thread-safe, and not copyable. An `AnyStream` can be moved when the
// stream inside can, and at any time if that stream is in a block. Polling an
// `AnyStream` that was moved from is a `Panic()`.
template <class T>
class [[nodiscard]] AnyStream {
 public:
  // Holds `stream`, which must be moved in. Allocates at most once.
  template <Stream S>
    requires(!std::same_as<std::remove_cvref_t<S>, AnyStream> &&
             std::same_as<StreamItem<S>, T>)
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  AnyStream(S&& stream)
      : box_(std::in_place_type<S>, kTable<S>, std::forward<S>(stream)) {
    static_assert(!std::is_reference_v<S>,
                  "an AnyStream owns its stream: move the stream, as in "
                  "AnyStream<T>(std::move(stream))");
  }
  AnyStream(AnyStream&&) = default;
  AnyStream& operator=(AnyStream&&) = default;

  // Returns whether a stream of type `S` is held without an allocation.
  template <Stream S>
  static constexpr bool FitsInline() {
    return internal::kFitsInline<S>;
  }

  PollResult<std::optional<T>> PollNext(Context& cx) {
    if (box_.table() == nullptr) [[unlikely]]
      PanicMovedFrom();
    return box_.table()->poll_next(box_.place(), cx);
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
    PollResult<std::optional<T>> (*poll_next)(void* place, Context& cx);
    bool (*borrows_closure)(const void* place);
    void (*trace)(const void* place, AwaitTrace& trace);
  };

  template <class S>
  static constexpr Table kTable = {
      &internal::BoxHolder<S>::Move,
      &internal::BoxHolder<S>::Destroy,
      [](void* place, Context& cx) -> PollResult<std::optional<T>> {
        return internal::BoxHolder<S>::Get(place).PollNext(cx);
      },
      [](const void* place) {
        return internal::BorrowsClosure(internal::BoxHolder<S>::Get(place));
      },
      [](const void* place, AwaitTrace& trace) {
        trace.Add(internal::BoxHolder<S>::Get(place));
      },
  };

  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMovedFrom() {
    Panic(
        "an AnyStream was polled after it was moved from; use the AnyStream "
        "that it was moved to");
  }

  internal::InlineBox<Table> box_;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_ANY_ANY_STREAM_H_
