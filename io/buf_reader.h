// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: buf_reader.h
// -----------------------------------------------------------------------------
//
// Reads in large pieces, and returns small pieces:
//
//   rouse::BufReader reader(stream);             // refers to `stream`
//   rouse::BufReader reader(std::move(stream));  // owns it
//   std::string line;
//   while (co_await rouse::OrReturn(rouse::ReadLine(reader, line))) ...

#ifndef ROUSE_IO_BUF_READER_H_
#define ROUSE_IO_BUF_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// BufReader
//
// An `AsyncBufRead` on an `R`. The `BufReader` owns the `R` or, if `R` is a
// reference, refers to the stream. If `R` can be written to, a `BufReader` can
// be, too: it passes the bytes on. If `R` is an `AsyncSeek`, so is the
// `BufReader`; seek before writing, because reads have run ahead. Makes a
// single allocation, in the constructor. Movable, except while a future of the
// `BufReader` exists.
//
// Not thread-safe: a single task reads. If `R` allows it, another task can
// write concurrently.
//
// Nothing is lost when a future is destroyed, because all bytes read are in the
// buffer. Buffered bytes are lost when the `BufReader` is destroyed, or when
// its stream is taken out; see `buffered()`.
//
// Errors are those of the stream.
template <class R>
class BufReader {
  static_assert(AsyncRead<R>);

 public:
  static constexpr size_t kDefaultCapacity = 8192;  // bytes

  using Waiter = IoWaiter<R>;

  explicit BufReader(R&& inner, size_t capacity = kDefaultCapacity)
      : inner_(std::forward<R>(inner)),
        capacity_(capacity),
        buffer_(std::make_unique_for_overwrite<char[]>(capacity)) {
    if (capacity == 0) Panic("BufReader: the capacity is 0; choose at least 1");
  }

  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(
      Context& cx, Waiter* waiter = nullptr) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    using Result = absl::StatusOr<std::string_view>;
    if (begin_ < end_) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
      return Result(buffered());
    }
    auto filled = PollFill(cx, waiter);
    if (filled.IsPending()) return kPending;
    if (!filled->ok()) return Result((*std::move(filled)).status());
    return Result(buffered());
  }

  // Takes the first `size` bytes out of the buffer. Panics if the buffer has
  // fewer bytes.
  void Consume(size_t size) {
    if (size > end_ - begin_) {
      Panic(
          "BufReader::Consume: the buffer has fewer bytes; consume at most the "
          "bytes that PollFillBuf() returned");
    }
    begin_ += size;
  }

  // Reads as `AsyncRead` requires. If no bytes are buffered, and `buffer` is at
  // least as large as the `BufReader`'s own buffer, the stream fills `buffer`
  // directly.
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    // The usual case, bytes in the buffer, does not go through `PollFillBuf()`,
    // whose result costs more than the copy of a small read.
    if (begin_ == end_) {
      if (buffer.size() >= capacity_) {
        return rouse::PollRead(inner_, cx, buffer, waiter);
      }
      if (buffer.empty()) return absl::StatusOr<size_t>(0);
      auto filled = PollFill(cx, waiter);
      if (filled.IsPending() || !filled->ok()) return filled;
    } else {
      if (buffer.empty()) return absl::StatusOr<size_t>(0);
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
    const size_t size = std::min(end_ - begin_, buffer.size());
    if (size > 0) std::memcpy(buffer.data(), buffer_.get() + begin_, size);
    begin_ += size;
    return absl::StatusOr<size_t>(size);
  }

  // Like `PollRead()`, for several buffers.
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) {
    if (begin_ == end_ && internal::TotalSize(buffers) >= capacity_) {
      return rouse::PollReadVectored(inner_, cx, buffers, waiter);
    }
    return internal::PollReadBuffered(*this, cx, buffers, waiter);
  }

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr)
    requires AsyncWrite<R>
  {
    return rouse::PollWrite(inner_, cx, data, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr)
    requires AsyncWrite<R>
  {
    return rouse::PollWriteVectored(inner_, cx, parts, waiter);
  }
  PollResult<absl::Status> PollFlush(Context& cx, Waiter* waiter = nullptr)
    requires AsyncWrite<R>
  {
    return rouse::PollFlush(inner_, cx, waiter);
  }
  PollResult<absl::Status> PollShutdown(Context& cx, Waiter* waiter = nullptr)
    requires AsyncWrite<R>
  {
    return rouse::PollShutdown(inner_, cx, waiter);
  }

  // Seeks as `AsyncSeek` requires, and drops the bytes in the buffer. The
  // present position is that of the next byte to be read, as if there were no
  // buffer. A seek that fails drops nothing.
  PollResult<absl::StatusOr<uint64_t>> PollSeek(Context& cx, int64_t offset,
                                                SeekFrom from,
                                                Waiter* waiter = nullptr)
    requires AsyncSeek<R>
  {
    using Result = absl::StatusOr<uint64_t>;
    if (from == SeekFrom::kCurrent) {
      // The stream is ahead by the bytes in the buffer.
      const auto ahead = static_cast<int64_t>(end_ - begin_);
      if (offset < std::numeric_limits<int64_t>::min() + ahead) {
        return Result(absl::InvalidArgumentError(
            "BufReader: the seek leads in front of the beginning"));
      }
      offset -= ahead;
    }
    auto position = rouse::PollSeek(inner_, cx, offset, from, waiter);
    if (position.IsReady() && position->ok()) {
      begin_ = 0;
      end_ = 0;
    }
    return position;
  }

  // Returns the bytes that have been read and not been taken.
  std::string_view buffered() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::string_view(buffer_.get() + begin_, end_ - begin_);
  }

  // Returns the stream. Bytes read from the stream directly are missing here.
  std::remove_reference_t<R>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return inner_;
  }
  const std::remove_reference_t<R>& inner() const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return inner_;
  }

  // Takes the stream out. The bytes in `buffered()` are lost.
  R IntoInner() && { return std::forward<R>(inner_); }

 private:
  // Reads into the buffer, which must be empty.
  PollResult<absl::StatusOr<size_t>> PollFill(Context& cx, Waiter* waiter) {
    auto size = rouse::PollRead(
        inner_, cx, absl::MakeSpan(buffer_.get(), capacity_), waiter);
    if (size.IsReady() && size->ok()) {
      begin_ = 0;
      end_ = **size;
    }
    return size;
  }

  R inner_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

template <class R>
BufReader(R&&) -> BufReader<R>;
template <class R>
BufReader(R&&, size_t) -> BufReader<R>;

}  // namespace rouse

#endif  // ROUSE_IO_BUF_READER_H_
