// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_reader.h
// -----------------------------------------------------------------------------
//
// Reads a stream of chunks, such as the messages of a channel or the body of an
// HTTP request, as bytes:
//
//   rouse::StreamReader body(std::move(chunks));
//   while (co_await rouse::OrReturn(rouse::ReadLine(body, line))) ...
//
// `ReaderStream` (reader_stream.h) is the opposite.

#ifndef ROUSE_IO_BRIDGE_STREAM_READER_H_
#define ROUSE_IO_BRIDGE_STREAM_READER_H_

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/future/stream.h"
#include "rouse/io/async_read.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// The type of the chunks in a stream with items of type `T`.
template <class T>
struct ChunkOf {
  static constexpr bool kCanFail = false;
  using Type = T;
};
template <class T>
struct ChunkOf<absl::StatusOr<T>> {
  static constexpr bool kCanFail = true;
  using Type = T;
};

}  // namespace internal

// StreamReader
//
// An `AsyncBufRead` of the chunks of a `Stream` `S`, one after another. A chunk
// is a `std::string` or any other type that converts to a `std::string_view` of
// its bytes; an item is a chunk or an `absl::StatusOr` of a chunk. Owns the `S`
// or, if `S` is a reference, refers to the stream. Copies bytes only for
// `PollRead()`. Movable, except while a future of the `StreamReader` exists.
// Not thread-safe.
//
// An item that is an error is returned by the read that meets it. Another read
// then continues with the next item. Empty chunks are skipped.
//
// Destroying a pending read loses nothing. The bytes in `buffered()` are lost
// when the `StreamReader` is destroyed. Allocates nothing.
template <class S>
class StreamReader {
  static_assert(Stream<S>);
  using Of = internal::ChunkOf<StreamItem<S>>;
  using Chunk = typename Of::Type;
  static_assert(std::convertible_to<const Chunk&, std::string_view>,
                "the items must be bytes, such as a std::string or an "
                "absl::StatusOr<std::string>; use Map() to convert others");

 public:
  using Waiter =
      typename internal::NextWaiterOf<std::remove_reference_t<S>>::Type;

  explicit StreamReader(S&& stream) : stream_(std::forward<S>(stream)) {}

  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(
      Context& cx, Waiter* waiter = nullptr) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    using Result = absl::StatusOr<std::string_view>;
    for (;;) {
      // A stream might always have an item, and take no budget itself.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      if (has_ended_ || !buffered().empty()) {
        unit->MadeProgress();
        return Result(buffered());
      }
      auto item = PollItem(cx, waiter);
      if (item.IsPending()) return kPending;
      unit->MadeProgress();
      chunk_.reset();
      begin_ = 0;
      if (!item->has_value()) {
        has_ended_ = true;
      } else if constexpr (Of::kCanFail) {
        if (!(*item)->ok()) return Result((**std::move(item)).status());
        chunk_.emplace(***std::move(item));
      } else {
        chunk_.emplace(**std::move(item));
      }
      if (has_ended_ || !buffered().empty()) return Result(buffered());
    }
  }

  // Takes the first `size` bytes of the last `PollFillBuf()`. Panics if these
  // were fewer.
  void Consume(size_t size) {
    if (size > buffered().size()) {
      Panic(
          "StreamReader::Consume: the chunk has fewer bytes; consume at most "
          "the bytes that PollFillBuf() returned");
    }
    begin_ += size;
  }

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    return internal::PollReadBuffered(*this, cx,
                                      absl::MakeConstSpan(&buffer, 1), waiter);
  }

  // Returns the bytes of the present chunk that have not been taken.
  std::string_view buffered() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (!chunk_.has_value()) return {};
    const std::string_view bytes = *chunk_;
    return bytes.substr(begin_);
  }

  // Returns the stream. Items taken from the stream directly are missing here.
  std::remove_reference_t<S>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return stream_;
  }

  // Takes the stream out. The bytes in `buffered()` are lost.
  S IntoInner() && { return std::forward<S>(stream_); }

 private:
  PollResult<std::optional<StreamItem<S>>> PollItem(Context& cx,
                                                    Waiter* waiter) {
    if constexpr (std::is_same_v<Waiter, internal::NoNextWaiter>) {
      return stream_.PollNext(cx);
    } else {
      return stream_.PollNext(cx, waiter);
    }
  }

  S stream_;
  std::optional<Chunk> chunk_;
  size_t begin_ = 0;  // number of bytes of the chunk that were taken
  bool has_ended_ = false;
};

template <class S>
StreamReader(S&&) -> StreamReader<S>;

}  // namespace rouse

#endif  // ROUSE_IO_BRIDGE_STREAM_READER_H_
