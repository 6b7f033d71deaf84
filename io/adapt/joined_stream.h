// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: joined_stream.h
// -----------------------------------------------------------------------------
//
// Makes one stream of a stream to read from and a stream to write to, such as
// the two pipes of a child:
//
//   rouse::JoinedStream pipes(*child.TakeStdout(), *child.TakeStdin());
//   rouse::Framed connection(std::move(pipes), rouse::LineCodec());

#ifndef ROUSE_IO_ADAPT_JOINED_STREAM_H_
#define ROUSE_IO_ADAPT_JOINED_STREAM_H_

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// JoinedStream
//
// An `AsyncRead` of an `R`, and an `AsyncBufRead` if `R` is, which is also an
// `AsyncWrite` to a `W`. The `JoinedStream` owns each of the streams or, if the
// type is a reference, refers to the stream. Movable, except while a future of
// the `JoinedStream` exists. A task can read while another writes if `R` and
// `W` do not depend on each other.
//
// `Unsplit()` (locked_split.h) and `Reunite()` (rouse/net/split.h) make one
// stream of two halves that were one stream before, and need no
// `JoinedStream`.
//
// Destroying a future loses what the stream of the future loses. Errors are
// those of the streams.
template <class R, class W>
class JoinedStream {
  static_assert(AsyncRead<R>);
  static_assert(AsyncWrite<W>);

 public:
  // A place to wait for either stream.
  struct Waiter {
    [[no_unique_address]] IoWaiter<R> reader;
    [[no_unique_address]] IoWaiter<W> writer;
  };

  JoinedStream(R&& reader, W&& writer)
      : reader_(std::forward<R>(reader)), writer_(std::forward<W>(writer)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    return rouse::PollRead(reader_, cx, buffer, ReaderOf(waiter));
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) {
    return rouse::PollReadVectored(reader_, cx, buffers, ReaderOf(waiter));
  }
  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(
      Context& cx, Waiter* waiter = nullptr) ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires AsyncBufRead<R>
  {
    return rouse::PollFillBuf(reader_, cx, ReaderOf(waiter));
  }
  void Consume(size_t size)
    requires AsyncBufRead<R>
  {
    reader_.Consume(size);
  }

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) {
    return rouse::PollWrite(writer_, cx, data, WriterOf(waiter));
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) {
    return rouse::PollWriteVectored(writer_, cx, parts, WriterOf(waiter));
  }
  PollResult<absl::Status> PollFlush(Context& cx, Waiter* waiter = nullptr) {
    return rouse::PollFlush(writer_, cx, WriterOf(waiter));
  }
  PollResult<absl::Status> PollShutdown(Context& cx, Waiter* waiter = nullptr) {
    return rouse::PollShutdown(writer_, cx, WriterOf(waiter));
  }

  // Return the streams.
  std::remove_reference_t<R>& reader() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return reader_;
  }
  std::remove_reference_t<W>& writer() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return writer_;
  }

  // Takes both streams out.
  std::pair<R, W> IntoInner() && {
    return std::pair<R, W>(std::forward<R>(reader_), std::forward<W>(writer_));
  }

 private:
  static IoWaiter<R>* ReaderOf(Waiter* waiter) {
    return waiter == nullptr ? nullptr : &waiter->reader;
  }
  static IoWaiter<W>* WriterOf(Waiter* waiter) {
    return waiter == nullptr ? nullptr : &waiter->writer;
  }

  R reader_;
  W writer_;
};

template <class R, class W>
JoinedStream(R&&, W&&) -> JoinedStream<R, W>;

}  // namespace rouse

#endif  // ROUSE_IO_ADAPT_JOINED_STREAM_H_
