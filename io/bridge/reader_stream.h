// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reader_stream.h
// -----------------------------------------------------------------------------
//
// The bytes of a reader as a stream of chunks, for example to send them through
// a channel:
//
//   rouse::ReaderStream chunks(std::move(file));
//   while (auto chunk = co_await rouse::Next(chunks)) {
//     co_await rouse::OrReturn(chunk->status());
//     co_await rouse::OrReturn(sender.Send(**std::move(chunk)));
//   }
//
// `StreamReader` (stream_reader.h) is the opposite.

#ifndef ROUSE_IO_BRIDGE_READER_STREAM_H_
#define ROUSE_IO_BRIDGE_READER_STREAM_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/io/async_read.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReaderStream
//
// A `Stream` of `absl::StatusOr<std::string>`: each item has the bytes of one
// read of an `R`, at least one and at most `capacity`. Owns the `R` or, if `R`
// is a reference, refers to the reader. Movable, except while a future waits
// for the next item. Not thread-safe.
//
// An error of the reader is the last item. Cancellation: nothing is lost when a
// future of `Next()` is destroyed.
//
// Cost: one allocation for each item, of the item's size, and one in the
// constructor. If `R` is an `AsyncBufRead`, items are copied from its buffer,
// and the `ReaderStream` has none.
template <class R>
class ReaderStream {
  static_assert(AsyncRead<R>);

 public:
  static constexpr size_t kDefaultCapacity = 4096;  // bytes

  using Waiter = IoWaiter<R>;

  // Panics if `capacity`, the largest size of an item in bytes, is 0.
  explicit ReaderStream(R&& reader, size_t capacity = kDefaultCapacity)
      : reader_(std::forward<R>(reader)), capacity_(capacity) {
    if (capacity == 0) {
      Panic("ReaderStream: the capacity is 0; choose at least 1");
    }
    if constexpr (!AsyncBufRead<R>) {
      buffer_ = std::make_unique_for_overwrite<char[]>(capacity);
    }
  }

  PollResult<std::optional<absl::StatusOr<std::string>>> PollNext(
      Context& cx, Waiter* waiter = nullptr) {
    using Item = std::optional<absl::StatusOr<std::string>>;
    if (has_ended_) return Item(std::nullopt);
    PollResult<absl::StatusOr<std::string_view>> bytes = PollBytes(cx, waiter);
    if (bytes.IsPending()) return kPending;
    if (!bytes->ok()) {
      has_ended_ = true;
      return Item((*std::move(bytes)).status());
    }
    if ((*bytes)->empty()) {
      has_ended_ = true;
      return Item(std::nullopt);
    }
    Item item(std::in_place, std::string(**bytes));
    Taken((*bytes)->size());
    return item;
  }

  // Returns the reader. Bytes read from the reader directly are missing here.
  std::remove_reference_t<R>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return reader_;
  }

  // Takes the reader out.
  R IntoInner() && { return std::forward<R>(reader_); }

 private:
  // Returns the bytes of the next item.
  PollResult<absl::StatusOr<std::string_view>> PollBytes(Context& cx,
                                                         Waiter* waiter) {
    using Result = absl::StatusOr<std::string_view>;
    if constexpr (AsyncBufRead<R>) {
      auto bytes = PollFillBuf(reader_, cx, waiter);
      if (bytes.IsPending() || !bytes->ok()) return bytes;
      return Result((*bytes)->substr(0, capacity_));
    } else {
      // Bytes stay here if no memory was left for their item.
      if (size_ == 0) {
        auto size = PollRead(reader_, cx,
                             absl::MakeSpan(buffer_.get(), capacity_), waiter);
        if (size.IsPending()) return kPending;
        if (!size->ok()) return Result((*std::move(size)).status());
        size_ = **size;
      }
      return Result(std::string_view(buffer_.get(), size_));
    }
  }

  // Called when an item of `size` bytes was made.
  void Taken([[maybe_unused]] size_t size) {
    if constexpr (AsyncBufRead<R>) {
      reader_.Consume(size);
    } else {
      size_ = 0;
    }
  }

  R reader_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;  // null if the reader has a buffer
  size_t size_ = 0;                 // number of bytes in `buffer_`
  bool has_ended_ = false;
};

template <class R>
ReaderStream(R&&) -> ReaderStream<R>;
template <class R>
ReaderStream(R&&, size_t) -> ReaderStream<R>;

}  // namespace rouse

#endif  // ROUSE_IO_BRIDGE_READER_STREAM_H_
