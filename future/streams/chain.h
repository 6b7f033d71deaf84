// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: chain.h
// -----------------------------------------------------------------------------
//
// Makes a stream of the items of one stream, and then of another:
//
//   auto all = std::move(stored) | rouse::Chain(std::move(live));

#ifndef ROUSE_FUTURE_STREAMS_CHAIN_H_
#define ROUSE_FUTURE_STREAMS_CHAIN_H_

#include <optional>
#include <utility>

#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/future/streams/same_items.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ChainStream
//
// See `Chain()`.
template <class A, class B>
class [[nodiscard]] ChainStream : public internal::EndingStream<A> {
  using Base = internal::EndingStream<A>;

 public:
  using Item = StreamItem<A>;

  ChainStream(A&& first, B&& second)
      : Base(std::forward<A>(first)), second_(std::forward<B>(second)) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    if (!this->HasEnded()) {
      PollResult<std::optional<Item>> item = this->PollSource(cx);
      if (!this->HasEnded()) return item;
    }
    return second_.get().PollNext(cx);
  }

  bool BorrowsClosure() const {
    return Base::BorrowsClosure() || internal::BorrowsClosure(second_.get());
  }

  void Trace(AwaitTrace& trace) const {
    if (this->HasEnded()) {
      trace.Add(second_.get());
    } else {
      Base::Trace(trace);
    }
  }

 private:
  internal::OwnedOrRef<B> second_;
};

// Chain()
//
// Returns a stream of the items of `first` and then of the items of `second`.
// `second` is not polled before `first` has ended. A moved-in `first` is
// destroyed at its end.
template <Stream A, Stream B>
  requires internal::SameItems<A, B>
ChainStream<A, B> Chain(A&& first, B&& second) {
  return ChainStream<A, B>(std::forward<A>(first), std::forward<B>(second));
}

// Returns an adapter: `first | Chain(second)` is `Chain(first, second)`.
template <Stream B>
auto Chain(B&& second) {
  return StreamAdapter([second = internal::OwnedOrRef<B>(std::forward<B>(
                            second))]<Stream A>(A&& first) mutable {
    static_assert(internal::SameItems<A, B>,
                  "first | Chain(second): both streams must have items of the "
                  "same type; change one of them with Map(f)");
    return Chain(std::forward<A>(first), static_cast<B&&>(second.get()));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_CHAIN_H_
