// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: zip.h
// -----------------------------------------------------------------------------
//
// Makes a stream of pairs of the items of two streams:
//
//   auto answered = std::move(questions) | rouse::Zip(std::move(answers));
//   while (auto both = co_await rouse::Next(answered)) {
//     Print(both->first, both->second);
//   }

#ifndef ROUSE_FUTURE_STREAMS_ZIP_H_
#define ROUSE_FUTURE_STREAMS_ZIP_H_

#include <optional>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ZipStream
//
// See `Zip()`.
template <class A, class B>
class [[nodiscard]] ZipStream {
 public:
  using Item = std::pair<StreamItem<A>, StreamItem<B>>;

  ZipStream(A&& first, B&& second)
      : first_(std::in_place, std::forward<A>(first)),
        second_(std::in_place, std::forward<B>(second)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (!first_.has_value()) return std::nullopt;
    bool has_ended = false;
    const bool has_first = PollSide(first_->get(), first_item_, cx, has_ended);
    const bool has_second =
        !has_ended && PollSide(second_->get(), second_item_, cx, has_ended);
    if (has_ended) {
      End();
      return std::nullopt;
    }
    if (!has_first || !has_second) return kPending;
    PollResult<std::optional<Item>> item(std::in_place, std::in_place,
                                         *std::move(first_item_),
                                         *std::move(second_item_));
    first_item_.reset();
    second_item_.reset();
    return item;
  }

  bool BorrowsClosure() const {
    return first_.has_value() && (internal::BorrowsClosure(first_->get()) ||
                                  internal::BorrowsClosure(second_->get()));
  }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "Zip");
    if (!first_.has_value()) return;
    if (!first_item_.has_value()) branches.Add(first_->get());
    if (!second_item_.has_value()) branches.Add(second_->get());
  }

 private:
  // Returns whether `kept` has an item.
  template <class S>
  static bool PollSide(S& stream, std::optional<StreamItem<S>>& kept,
                       Context& cx, bool& has_ended) {
    if (kept.has_value()) return true;
    PollResult<std::optional<StreamItem<S>>> item = stream.PollNext(cx);
    if (item.IsPending()) return false;
    if (!item->has_value()) {
      has_ended = true;
      return false;
    }
    kept.emplace(**std::move(item));
    return true;
  }

  void End() {
    first_item_.reset();
    second_item_.reset();
    first_.reset();
    second_.reset();
  }

  // Both are empty once the stream has ended.
  std::optional<internal::OwnedOrRef<A>> first_;
  std::optional<internal::OwnedOrRef<B>> second_;
  // The item of one stream while the other stream has none yet.
  std::optional<StreamItem<A>> first_item_;
  std::optional<StreamItem<B>> second_item_;
};

// Zip()
//
// Returns a stream of `std::pair`s of the items of `first` and `second`. The
// stream ends when either stream ends, and then destroys the moved-in streams.
//
// Both streams are polled, and an item that comes before its partner is kept.
// The kept item is lost if the other stream ends, or if the result is
// destroyed, even if the streams were passed as lvalues.
template <Stream A, Stream B>
ZipStream<A, B> Zip(A&& first, B&& second) {
  return ZipStream<A, B>(std::forward<A>(first), std::forward<B>(second));
}

// Returns an adapter: `first | Zip(second)` is `Zip(first, second)`.
template <Stream B>
auto Zip(B&& second) {
  return StreamAdapter([second = internal::OwnedOrRef<B>(std::forward<B>(
                            second))]<Stream A>(A&& first) mutable {
    return Zip(std::forward<A>(first), static_cast<B&&>(second.get()));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_ZIP_H_
