// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tee_reader.h
// -----------------------------------------------------------------------------
//
// Reads a stream, and writes a copy of all bytes read to another stream:
//
//   rouse::TeeReader request(connection, log);
//   co_await rouse::OrReturn(rouse::ReadLine(request, line));

#ifndef ROUSE_IO_ADAPT_TEE_READER_H_
#define ROUSE_IO_ADAPT_TEE_READER_H_

#include <cstddef>
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
#include "rouse/io/buf_reader.h"
#include "rouse/io/waiter.h"
#include "rouse/io/write_some.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// TeeReader
//
// An `AsyncBufRead` of the bytes of an `R`, which returns a byte only after it
// has been written to a `W`. The `TeeReader` owns each of the streams or, if
// the type is a reference, refers to the stream. Makes a single allocation, in
// the constructor. Movable, except while a future of the `TeeReader` exists.
// Not thread-safe.
//
// The reader goes no faster than the writer. The writer is not flushed: flush
// it at the end.
//
// Nothing is lost when a future is destroyed: bytes that were read and not yet
// written stay in the buffer, and so do bytes that were written and not yet
// taken. Bytes in the buffer are lost with the `TeeReader`.
//
// Errors are those of the streams. After an error of the writer the bytes stay
// in the buffer, and another read tries to write them again.
template <class R, class W>
class TeeReader {
  static_assert(AsyncRead<R>);
  static_assert(AsyncWrite<W>);

 public:
  static constexpr size_t kDefaultCapacity =
      BufReader<R>::kDefaultCapacity;  // bytes

  // A place to wait for either stream.
  struct Waiter {
    [[no_unique_address]] IoWaiter<R> reader;
    [[no_unique_address]] IoWaiter<W> writer;
  };

  // Panics if `capacity`, the size of the buffer in bytes, is 0.
  TeeReader(R&& reader, W&& writer, size_t capacity = kDefaultCapacity)
      : reader_(std::forward<R>(reader)),
        writer_(std::forward<W>(writer)),
        capacity_(capacity),
        buffer_(std::make_unique_for_overwrite<char[]>(capacity)) {
    if (capacity == 0) Panic("TeeReader: the capacity is 0; choose at least 1");
  }

  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(
      Context& cx, Waiter* waiter = nullptr) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    using Result = absl::StatusOr<std::string_view>;
    if (begin_ < written_) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
      return Result(Written());
    }
    if (written_ == end_) {
      auto size =
          rouse::PollRead(reader_, cx, absl::MakeSpan(buffer_.get(), capacity_),
                          waiter == nullptr ? nullptr : &waiter->reader);
      if (size.IsPending()) return kPending;
      if (!size->ok()) return Result((*std::move(size)).status());
      begin_ = 0;
      written_ = 0;
      end_ = **size;
      if (end_ == 0) return Result(std::string_view());
    }
    const std::string_view unwritten(buffer_.get() + written_, end_ - written_);
    auto size = internal::PollWriteSome(
        writer_, cx, unwritten, waiter == nullptr ? nullptr : &waiter->writer,
        "TeeReader");
    if (size.IsPending()) return kPending;
    if (!size->ok()) return Result((*std::move(size)).status());
    written_ += **size;
    return Result(Written());
  }

  // Takes the first `size` bytes of the last `PollFillBuf()`. Panics if these
  // were fewer.
  void Consume(size_t size) {
    if (size > written_ - begin_) {
      Panic(
          "TeeReader::Consume: the buffer has fewer bytes; consume at most the "
          "bytes that PollFillBuf() returned");
    }
    begin_ += size;
  }

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    return internal::PollReadBuffered(*this, cx,
                                      absl::MakeConstSpan(&buffer, 1), waiter);
  }

  // Return the streams. Bytes read from the reader directly are not copied.
  std::remove_reference_t<R>& reader() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return reader_;
  }
  std::remove_reference_t<W>& writer() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return writer_;
  }

  // Takes both streams out. The bytes in the buffer are lost.
  std::pair<R, W> IntoInner() && {
    return std::pair<R, W>(std::forward<R>(reader_), std::forward<W>(writer_));
  }

 private:
  std::string_view Written() const {
    return std::string_view(buffer_.get() + begin_, written_ - begin_);
  }

  R reader_;
  W writer_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  // The bytes from `begin_` to `written_` have been written, and those up to
  // `end_` have only been read.
  size_t begin_ = 0;
  size_t written_ = 0;
  size_t end_ = 0;
};

template <class R, class W>
TeeReader(R&&, W&&) -> TeeReader<R, W>;
template <class R, class W>
TeeReader(R&&, W&&, size_t) -> TeeReader<R, W>;

}  // namespace rouse

#endif  // ROUSE_IO_ADAPT_TEE_READER_H_
