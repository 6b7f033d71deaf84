// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: inspect.h
// -----------------------------------------------------------------------------
//
// Shows bytes to a function as they are read or written, for example to count
// or to hash them:
//
//   rouse::InspectReader body(reader, [&hash](std::string_view bytes) {
//     hash.Update(bytes);
//   });
//   co_await rouse::OrReturn(rouse::Copy(body, file));
//
// A `TeeReader` (tee_reader.h) writes the bytes to another stream.

#ifndef ROUSE_IO_ADAPT_INSPECT_H_
#define ROUSE_IO_ADAPT_INSPECT_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Calls `inspect` with the bytes of `data` that are among the first `size`
// bytes, unless there are none. Returns their number.
template <class F>
size_t ShowTo(F& inspect, std::string_view data, size_t size) {
  data = data.substr(0, size);
  if (!data.empty()) std::invoke(inspect, data);
  return data.size();
}

}  // namespace internal

// InspectReader
//
// An `AsyncRead` of the bytes of an `R`, which calls `inspect(bytes)` with the
// bytes of each read that returns any. A vectored read calls `inspect` for each
// buffer. The `InspectReader` owns the `R` or, if
// `R` is a reference, refers to the stream. If `R` can be written to, an
// `InspectReader` can be, too: it passes the bytes on, without showing them.
// Movable, except while a future of the `InspectReader` exists. Not
// thread-safe.
//
// Destroying a pending read loses nothing, and shows nothing. Errors are those
// of the stream. An exception of `inspect` leaves the read, whose bytes are
// lost. Cost: that of `inspect`.
template <class R, std::invocable<std::string_view> F>
class InspectReader {
  static_assert(AsyncRead<R>);

 public:
  using Waiter = IoWaiter<R>;

  InspectReader(R&& inner, F inspect)
      : inner_(std::forward<R>(inner)), inspect_(std::move(inspect)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) {
    auto size = rouse::PollRead(inner_, cx, buffer, waiter);
    if (size.IsReady() && size->ok()) {
      internal::ShowTo(inspect_, std::string_view(buffer.data(), buffer.size()),
                       **size);
    }
    return size;
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) {
    auto size = rouse::PollReadVectored(inner_, cx, buffers, waiter);
    if (size.IsReady() && size->ok()) {
      size_t left = **size;
      for (const absl::Span<char> buffer : buffers) {
        left -= internal::ShowTo(
            inspect_, std::string_view(buffer.data(), buffer.size()), left);
      }
    }
    return size;
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

  PollResult<absl::StatusOr<uint64_t>> PollSeek(Context& cx, int64_t offset,
                                                SeekFrom from,
                                                Waiter* waiter = nullptr)
    requires AsyncSeek<R>
  {
    return rouse::PollSeek(inner_, cx, offset, from, waiter);
  }

  // Returns the stream. Bytes read from the stream directly are not shown.
  std::remove_reference_t<R>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return inner_;
  }

  // Takes the stream out.
  R IntoInner() && { return std::forward<R>(inner_); }

 private:
  R inner_;
  [[no_unique_address]] F inspect_;
};

template <class R, class F>
InspectReader(R&&, F) -> InspectReader<R, F>;

// InspectWriter
//
// An `AsyncWrite` to a `W`, which calls `inspect(bytes)` with the bytes that
// each write has written. Has the contract of `InspectReader`, with the
// directions exchanged. A vectored write calls `inspect` for each part. An
// exception of `inspect` leaves the write, whose bytes were written.
template <class W, std::invocable<std::string_view> F>
class InspectWriter {
  static_assert(AsyncWrite<W>);

 public:
  using Waiter = IoWaiter<W>;

  InspectWriter(W&& inner, F inspect)
      : inner_(std::forward<W>(inner)), inspect_(std::move(inspect)) {}

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) {
    auto size = rouse::PollWrite(inner_, cx, data, waiter);
    if (size.IsReady() && size->ok()) {
      internal::ShowTo(inspect_, data, **size);
    }
    return size;
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) {
    auto size = rouse::PollWriteVectored(inner_, cx, parts, waiter);
    if (size.IsReady() && size->ok()) {
      size_t left = **size;
      for (const std::string_view part : parts) {
        left -= internal::ShowTo(inspect_, part, left);
      }
    }
    return size;
  }
  PollResult<absl::Status> PollFlush(Context& cx, Waiter* waiter = nullptr) {
    return rouse::PollFlush(inner_, cx, waiter);
  }
  PollResult<absl::Status> PollShutdown(Context& cx, Waiter* waiter = nullptr) {
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

  PollResult<absl::StatusOr<uint64_t>> PollSeek(Context& cx, int64_t offset,
                                                SeekFrom from,
                                                Waiter* waiter = nullptr)
    requires AsyncSeek<W>
  {
    return rouse::PollSeek(inner_, cx, offset, from, waiter);
  }

  // Returns the stream. Bytes written to the stream directly are not shown.
  std::remove_reference_t<W>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return inner_;
  }

  // Takes the stream out.
  W IntoInner() && { return std::forward<W>(inner_); }

 private:
  W inner_;
  [[no_unique_address]] F inspect_;
};

template <class W, class F>
InspectWriter(W&&, F) -> InspectWriter<W, F>;

}  // namespace rouse

#endif  // ROUSE_IO_ADAPT_INSPECT_H_
