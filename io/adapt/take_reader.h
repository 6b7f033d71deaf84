// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: take_reader.h
// -----------------------------------------------------------------------------
//
// Reads only the first bytes of a stream, for example a body of a known size:
//
//   rouse::TakeReader body(reader, content_length);
//   co_await rouse::OrReturn(rouse::Copy(body, file));

#ifndef ROUSE_IO_ADAPT_TAKE_READER_H_
#define ROUSE_IO_ADAPT_TAKE_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/io/async_read.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// TakeReader
//
// An `AsyncRead` of the first `limit` bytes of an `R`, or of all bytes if the
// stream has fewer: `limit()` then says how many are missing. The `TakeReader`
// owns the `R` or, if `R` is a reference, refers to the stream. If `R` is an
// `AsyncBufRead`, so is the `TakeReader`. Movable, except while a future of the
// `TakeReader` exists. Not thread-safe.
//
// Bytes behind the limit stay in the stream. Destroying a pending read loses
// nothing. Errors are those of the stream.
template <class R>
class TakeReader {
  static_assert(AsyncRead<R>);

 public:
  using Waiter = IoWaiter<R>;

  TakeReader(R&& inner, uint64_t limit)
      : inner_(std::forward<R>(inner)), limit_(limit) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    if (limit_ == 0) return TakeUnitFor(cx, absl::StatusOr<size_t>(0));
    buffer = buffer.first(AtMostLimit(buffer.size()));
    auto size = rouse::PollRead(inner_, cx, buffer, waiter);
    if (size.IsReady() && size->ok()) limit_ -= **size;
    return size;
  }

  // Like `PollRead()`, for several buffers. Fills only whole buffers if the
  // limit ends within a later buffer.
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) {
    if (limit_ == 0) return TakeUnitFor(cx, absl::StatusOr<size_t>(0));
    size_t count = 0;
    size_t room = 0;
    while (count < buffers.size() && buffers[count].size() <= limit_ - room) {
      room += buffers[count++].size();
    }
    if (room == 0 && count < buffers.size()) {
      return PollRead(cx, buffers[count], waiter);
    }
    auto size =
        rouse::PollReadVectored(inner_, cx, buffers.first(count), waiter);
    if (size.IsReady() && size->ok()) limit_ -= **size;
    return size;
  }

  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(
      Context& cx, Waiter* waiter = nullptr) ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires AsyncBufRead<R>
  {
    using Result = absl::StatusOr<std::string_view>;
    if (limit_ == 0) return TakeUnitFor(cx, Result(std::string_view()));
    auto bytes = rouse::PollFillBuf(inner_, cx, waiter);
    if (bytes.IsPending() || !bytes->ok()) return bytes;
    return Result((*bytes)->substr(0, AtMostLimit((*bytes)->size())));
  }
  // Takes the first `size` bytes of the last `PollFillBuf()`. Panics if that
  // exceeds the limit.
  void Consume(size_t size)
    requires AsyncBufRead<R>
  {
    if (size > limit_) {
      Panic(
          "TakeReader::Consume: more bytes than the limit; consume at most the "
          "bytes that PollFillBuf() returned");
    }
    inner_.Consume(size);
    limit_ -= size;
  }

  // Returns how many bytes can still be read.
  uint64_t limit() const { return limit_; }
  // Replaces `limit()`, for example to continue with the next part of the
  // stream.
  void set_limit(uint64_t limit) { limit_ = limit; }

  // Returns the stream. Bytes read from the stream directly do not count.
  std::remove_reference_t<R>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return inner_;
  }

  // Takes the stream out.
  R IntoInner() && { return std::forward<R>(inner_); }

 private:
  size_t AtMostLimit(size_t size) const {
    return static_cast<size_t>(std::min<uint64_t>(size, limit_));
  }

  template <class Result>
  static PollResult<Result> TakeUnitFor(Context& cx, Result result) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return result;
  }

  R inner_;
  uint64_t limit_;
};

template <class R>
TakeReader(R&&, uint64_t) -> TakeReader<R>;

}  // namespace rouse

#endif  // ROUSE_IO_ADAPT_TAKE_READER_H_
