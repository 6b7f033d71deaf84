// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: chain_reader.h
// -----------------------------------------------------------------------------
//
// Reads one stream after another, for example bytes that were read too early,
// and then the rest of the connection:
//
//   rouse::ChainReader whole(std::move(early), std::move(stream));
//   co_await rouse::OrReturn(rouse::ReadToEnd(whole, text));

#ifndef ROUSE_IO_ADAPT_CHAIN_READER_H_
#define ROUSE_IO_ADAPT_CHAIN_READER_H_

#include <cstddef>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ChainReader
//
// An `AsyncRead` of all bytes of an `A`, and then of all bytes of a `B`. The
// `ChainReader` owns each of the streams or, if the type is a reference, refers
// to the stream. Movable, except while a future of the `ChainReader` exists.
// Not thread-safe.
//
// Destroying a pending read loses nothing. Errors are those of the streams; an
// error of the first stream does not begin the second.
template <class A, class B>
class ChainReader {
  static_assert(AsyncRead<A>);
  static_assert(AsyncRead<B>);

 public:
  // A place to wait for either stream.
  struct Waiter {
    [[no_unique_address]] IoWaiter<A> first;
    [[no_unique_address]] IoWaiter<B> second;
  };

  ChainReader(A&& first, B&& second)
      : first_(std::forward<A>(first)), second_(std::forward<B>(second)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    // A read into an empty buffer does not show whether the stream has ended.
    if (buffer.empty()) return absl::StatusOr<size_t>(0);
    if (!first_has_ended_) {
      auto size = rouse::PollRead(first_, cx, buffer,
                                  waiter == nullptr ? nullptr : &waiter->first);
      if (size.IsPending() || !size->ok() || **size > 0) return size;
      first_has_ended_ = true;
    }
    return rouse::PollRead(second_, cx, buffer,
                           waiter == nullptr ? nullptr : &waiter->second);
  }

  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) {
    if (internal::TotalSize(buffers) == 0) return absl::StatusOr<size_t>(0);
    if (!first_has_ended_) {
      auto size = rouse::PollReadVectored(
          first_, cx, buffers, waiter == nullptr ? nullptr : &waiter->first);
      if (size.IsPending() || !size->ok() || **size > 0) return size;
      first_has_ended_ = true;
    }
    return rouse::PollReadVectored(
        second_, cx, buffers, waiter == nullptr ? nullptr : &waiter->second);
  }

  // Return the streams. Bytes read from a stream directly are missing here.
  std::remove_reference_t<A>& first() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return first_;
  }
  std::remove_reference_t<B>& second() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return second_;
  }

  // Takes both streams out.
  std::pair<A, B> IntoInner() && {
    return std::pair<A, B>(std::forward<A>(first_), std::forward<B>(second_));
  }

 private:
  A first_;
  B second_;
  bool first_has_ended_ = false;
};

template <class A, class B>
ChainReader(A&&, B&&) -> ChainReader<A, B>;

}  // namespace rouse

#endif  // ROUSE_IO_ADAPT_CHAIN_READER_H_
