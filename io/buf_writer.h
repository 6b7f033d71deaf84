// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: buf_writer.h
// -----------------------------------------------------------------------------
//
// Gathers small writes into large ones:
//
//   rouse::BufWriter writer(stream);             // refers to `stream`
//   rouse::BufWriter writer(std::move(stream));  // owns it
//   for (const Row& row : rows) {
//     co_await rouse::OrReturn(rouse::WriteAll(writer, row.text));
//   }
//   co_await rouse::OrReturn(rouse::Flush(writer));

#ifndef ROUSE_IO_BUF_WRITER_H_
#define ROUSE_IO_BUF_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
#include "rouse/io/write_some.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// BufWriter
//
// An `AsyncWrite` on a `W`. The `BufWriter` owns the `W` or, if `W` is a
// reference, refers to the stream. If `W` can be read from, a `BufWriter` can
// be, too: it passes the read on, without flushing anything first. If `W` is an
// `AsyncSeek`, so is the `BufWriter`. Makes a
// single allocation, in the constructor. Movable, except while a future of the
// `BufWriter` exists.
//
// Not thread-safe: a single task writes. If `W` allows it, another task can
// read concurrently.
//
// Nothing is lost when a future is destroyed, because all bytes taken are in
// the buffer. Buffered bytes are lost when the `BufWriter` is destroyed,
// because a destructor cannot wait. Call `Flush()` or `Shutdown()` first.
//
// Errors are those of the stream. An error is reported by the write or flush
// that meets it; the bytes concerned stay in the buffer.
template <class W>
class BufWriter {
  static_assert(AsyncWrite<W>);

 public:
  static constexpr size_t kDefaultCapacity = 8192;  // bytes

  using Waiter = IoWaiter<W>;

  explicit BufWriter(W&& inner, size_t capacity = kDefaultCapacity)
      : inner_(std::forward<W>(inner)),
        capacity_(capacity),
        buffer_(std::make_unique_for_overwrite<char[]>(capacity)) {
    if (capacity == 0) Panic("BufWriter: the capacity is 0; choose at least 1");
  }

  // Takes bytes into the buffer. Data at least as large as the buffer is passed
  // on at once, after the buffered bytes, because buffering would only add a
  // copy.
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) {
    return PollWriteVectored(cx, absl::MakeConstSpan(&data, 1), waiter);
  }

  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) {
    using Result = absl::StatusOr<size_t>;
    const size_t size = internal::TotalSize(parts);
    if (size > capacity_ - end_) {
      auto drained = PollDrain(cx, waiter);
      if (drained.IsPending()) return kPending;
      if (!drained->ok()) return Result(*std::move(drained));
    }
    if (size >= capacity_) {
      return rouse::PollWriteVectored(inner_, cx, parts, waiter);
    }
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    for (const std::string_view part : parts) {
      if (part.empty()) continue;
      std::memcpy(buffer_.get() + end_, part.data(), part.size());
      end_ += part.size();
    }
    if (size > 0) unit->MadeProgress();
    return Result(size);
  }

  PollResult<absl::Status> PollFlush(Context& cx, Waiter* waiter = nullptr) {
    auto drained = PollDrain(cx, waiter);
    if (drained.IsPending() || !drained->ok()) return drained;
    return rouse::PollFlush(inner_, cx, waiter);
  }

  PollResult<absl::Status> PollShutdown(Context& cx, Waiter* waiter = nullptr) {
    auto drained = PollDrain(cx, waiter);
    if (drained.IsPending() || !drained->ok()) return drained;
    return rouse::PollShutdown(inner_, cx, waiter);
  }

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr)
    requires AsyncRead<W>
  {
    return rouse::PollRead(inner_, cx, buffer, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr)
    requires AsyncRead<W>
  {
    return rouse::PollReadVectored(inner_, cx, buffers, waiter);
  }
  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(
      Context& cx, Waiter* waiter = nullptr)
    requires AsyncBufRead<W>
  {
    return rouse::PollFillBuf(inner_, cx, waiter);
  }
  void Consume(size_t size)
    requires AsyncBufRead<W>
  {
    inner_.Consume(size);
  }

  // Seeks as `AsyncSeek` requires, after writing the bytes in the buffer.
  PollResult<absl::StatusOr<uint64_t>> PollSeek(Context& cx, int64_t offset,
                                                SeekFrom from,
                                                Waiter* waiter = nullptr)
    requires AsyncSeek<W>
  {
    auto drained = PollDrain(cx, waiter);
    if (drained.IsPending()) return kPending;
    if (!drained->ok()) return absl::StatusOr<uint64_t>(*std::move(drained));
    return rouse::PollSeek(inner_, cx, offset, from, waiter);
  }

  // Returns the bytes that have been taken and not been written.
  std::string_view buffered() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::string_view(buffer_.get() + begin_, end_ - begin_);
  }

  // Returns the stream. Bytes written to the stream directly overtake buffered
  // bytes.
  std::remove_reference_t<W>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return inner_;
  }

  // Takes the stream out. The bytes in `buffered()` are lost.
  W IntoInner() && { return std::forward<W>(inner_); }

 private:
  // Empties the buffer into the stream.
  PollResult<absl::Status> PollDrain(Context& cx, Waiter* waiter) {
    while (begin_ < end_) {
      auto size =
          internal::PollWriteSome(inner_, cx, buffered(), waiter, "BufWriter");
      if (size.IsPending()) return kPending;
      if (!size->ok()) return (*std::move(size)).status();
      begin_ += **size;
    }
    begin_ = 0;
    end_ = 0;
    return absl::OkStatus();
  }

  W inner_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

template <class W>
BufWriter(W&&) -> BufWriter<W>;
template <class W>
BufWriter(W&&, size_t) -> BufWriter<W>;

}  // namespace rouse

#endif  // ROUSE_IO_BUF_WRITER_H_
