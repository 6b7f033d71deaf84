// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: buf_stream.h
// -----------------------------------------------------------------------------
//
// Buffers both directions of a stream:
//
//   rouse::BufStream connection(std::move(stream));
//   while (co_await rouse::OrReturn(rouse::ReadLine(connection, line))) {
//     co_await rouse::OrReturn(rouse::WriteAll(connection, Answer(line)));
//     co_await rouse::OrReturn(rouse::Flush(connection));
//     line.clear();
//   }

#ifndef ROUSE_IO_BUFFER_BUF_STREAM_H_
#define ROUSE_IO_BUFFER_BUF_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buf_writer.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// BufStream
//
// An `AsyncBufRead` and `AsyncWrite` on an `S`: a `BufReader` and a `BufWriter`
// of the same stream, with their contracts. The `BufStream` owns the `S` or, if
// `S` is a reference, refers to the stream. Makes two allocations, in the
// constructor. Movable, except while a future of the `BufStream` exists.
//
// A read flushes nothing: flush a question before reading the answer. A stream
// with a single position, such as a file, needs a `Seek()` between a read and a
// write, because reads run ahead. Nothing is lost when a future is destroyed.
// Buffered bytes of both directions are lost when the `BufStream` is destroyed.
//
// Not thread-safe: a single task uses the `BufStream`.
template <class S>
class BufStream {
  static_assert(AsyncRead<S> && AsyncWrite<S>,
                "BufStream needs a stream that can be read and written; use "
                "BufReader or BufWriter for a single direction");

 public:
  static constexpr size_t kDefaultCapacity =
      BufReader<BufWriter<S>>::kDefaultCapacity;  // bytes

  using Waiter = IoWaiter<S>;

  // The capacities are in bytes. Panics if one of them is 0.
  explicit BufStream(S&& inner, size_t read_capacity = kDefaultCapacity,
                     size_t write_capacity = kDefaultCapacity)
      : both_(BufWriter<S>(std::forward<S>(inner), write_capacity),
              read_capacity) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    return both_.PollRead(cx, buffer, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) {
    return both_.PollReadVectored(cx, buffers, waiter);
  }
  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(
      Context& cx, Waiter* waiter = nullptr) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return both_.PollFillBuf(cx, waiter);
  }
  // Takes the first `size` bytes out of the buffer. Panics if the buffer has
  // fewer bytes.
  void Consume(size_t size) { both_.Consume(size); }

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) {
    return writer().PollWrite(cx, data, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) {
    return writer().PollWriteVectored(cx, parts, waiter);
  }
  PollResult<absl::Status> PollFlush(Context& cx, Waiter* waiter = nullptr) {
    return writer().PollFlush(cx, waiter);
  }
  PollResult<absl::Status> PollShutdown(Context& cx, Waiter* waiter = nullptr) {
    return writer().PollShutdown(cx, waiter);
  }

  // Seeks as `AsyncSeek` requires, after writing the bytes to be written, and
  // drops the bytes that were read and not taken. The present position is that
  // of the next byte to be read; after a write, it is that behind the written
  // bytes only if there was a seek between the last read and the write.
  PollResult<absl::StatusOr<uint64_t>> PollSeek(Context& cx, int64_t offset,
                                                SeekFrom from,
                                                Waiter* waiter = nullptr)
    requires AsyncSeek<S>
  {
    return both_.PollSeek(cx, offset, from, waiter);
  }

  // Returns the bytes that have been read from the stream and not been taken.
  std::string_view read_buffered() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return both_.buffered();
  }
  // Returns the bytes that have been taken and not been written to the stream.
  std::string_view write_buffered() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return both_.inner().buffered();
  }

  // Returns the stream. Bytes read from the stream directly are missing here,
  // and bytes written to it directly overtake buffered bytes.
  std::remove_reference_t<S>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return writer().inner();
  }

  // Takes the stream out. The buffered bytes of both directions are lost.
  S IntoInner() && {
    return std::move(std::move(both_).IntoInner()).IntoInner();
  }

 private:
  BufWriter<S>& writer() { return both_.inner(); }

  BufReader<BufWriter<S>> both_;
};

template <class S>
BufStream(S&&) -> BufStream<S>;
template <class S>
BufStream(S&&, size_t) -> BufStream<S>;
template <class S>
BufStream(S&&, size_t, size_t) -> BufStream<S>;

}  // namespace rouse

#endif  // ROUSE_IO_BUFFER_BUF_STREAM_H_
