// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: async_read.h
// -----------------------------------------------------------------------------
//
// The concept of an object from which bytes can be read: a socket, a pipe, a
// decrypting wrapper of another reader.
//
//   class Zeros {
//    public:
//     rouse::PollResult<absl::StatusOr<size_t>> PollRead(
//         rouse::Context& cx, absl::Span<char> buffer) {
//       rouse::PollResult<rouse::BudgetUnit> unit = rouse::PollProceed(cx);
//       if (unit.IsPending()) return rouse::kPending;
//       unit->MadeProgress();
//       std::fill(buffer.begin(), buffer.end(), '\0');
//       return absl::StatusOr<size_t>(buffer.size());
//     }
//   };
//   static_assert(rouse::AsyncRead<Zeros>);
//
// The functions for reading are `Read`, `ReadExact` and `ReadToEnd`, and on a
// `BufReader` also `ReadUntil` and `ReadLine`. Each has a header of its own.

#ifndef ROUSE_IO_ASYNC_READ_H_
#define ROUSE_IO_ASYNC_READ_H_

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// AsyncRead
//
// Says whether bytes can be read from an `R`, which may be a reference.
//
// `PollRead(cx, buffer)` fills the front of `buffer` with the available bytes,
// and returns their number. The number is at least 1, unless `buffer` is empty
// or the stream has ended; after the end it is always 0. Bytes of `buffer`
// behind the number may have been overwritten.
//
// A pending `PollRead()` has taken nothing, and has arranged a wake of the
// task, as `Future` requires; of several tasks, the task of the last poll is
// woken. After an error the stream must not be read any more, unless the
// stream's own contract allows it.
//
// `PollRead()` and `PollReadVectored()` take a unit of the task's budget (see
// context.h).
//
// `PollReadVectored(cx, buffers)` is optional. It fills `buffers`, an
// `absl::Span<const absl::Span<char>>`, in order, as if they were a single
// buffer; but it may return fewer bytes than are available. The free function
// below reads from any `AsyncRead`.
template <class R>
concept AsyncRead = requires(R& reader, Context& cx, absl::Span<char> buffer) {
  {
    reader.PollRead(cx, buffer)
  } -> std::same_as<PollResult<absl::StatusOr<size_t>>>;
};

// AsyncReadVectored
//
// Says whether an `R` has a `PollReadVectored()` of its own. Reads into several
// buffers then take no more operations than reads into a single buffer.
template <class R>
concept AsyncReadVectored =
    AsyncRead<R> && requires(R& reader, Context& cx,
                             absl::Span<const absl::Span<char>> buffers) {
      {
        reader.PollReadVectored(cx, buffers)
      } -> std::same_as<PollResult<absl::StatusOr<size_t>>>;
    };

// AsyncBufRead
//
// Says whether an `R` has a buffer of its own, so that bytes can be inspected
// before they are taken. `BufReader` is the usual one.
//
// `PollFillBuf(cx)` returns the bytes in the buffer. If the buffer is empty,
// `PollFillBuf()` reads some bytes first. An empty result means the end of the
// stream, and is the result from then on. Bytes stay in the buffer, and are
// returned again, until `Consume(n)` takes the first `n`, at most as many as
// were returned. Each call of `PollRead()`, `PollFillBuf()` and `Consume()`
// invalidates earlier results.
//
// A pending `PollFillBuf()` has taken nothing, and the task is woken as after
// `PollRead()`; errors are the same as for `PollRead()`. `PollFillBuf()` takes
// a unit of the budget, even if bytes are already in the buffer. `Consume()`
// never waits and cannot fail.
template <class R>
concept AsyncBufRead =
    AsyncRead<R> && requires(R& reader, Context& cx, size_t size) {
      {
        reader.PollFillBuf(cx)
      } -> std::same_as<PollResult<absl::StatusOr<std::string_view>>>;
      reader.Consume(size);
    };

namespace internal {

// Says whether a `T`, such as a `std::string`, needs `absl::MakeSpan()` to
// become a buffer to read into. Functions with a buffer parameter have a
// deleted overload for such a `T`: the name of the concept says what to do.
template <class T>
concept NeedsAbslMakeSpan = !std::convertible_to<T, absl::Span<char>>;

}  // namespace internal

// Polls like `reader.PollRead()`, but takes a future's place to wait (see
// waiter.h). `waiter` may be null.
template <AsyncRead R>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline PollResult<absl::StatusOr<size_t>> PollRead(
    R& reader, Context& cx, absl::Span<char> buffer, IoWaiter<R>* waiter) {
  if constexpr (requires { reader.PollRead(cx, buffer, waiter); }) {
    return reader.PollRead(cx, buffer, waiter);
  } else {
    return reader.PollRead(cx, buffer);
  }
}

// Polls like `reader.PollFillBuf()`, but takes a future's place to wait.
// `waiter` may be null.
template <AsyncBufRead R>
PollResult<absl::StatusOr<std::string_view>> PollFillBuf(R& reader, Context& cx,
                                                         IoWaiter<R>* waiter) {
  if constexpr (requires { reader.PollFillBuf(cx, waiter); }) {
    return reader.PollFillBuf(cx, waiter);
  } else {
    return reader.PollFillBuf(cx);
  }
}

namespace internal {

// Returns the number of bytes for which `buffers` have room.
inline size_t TotalSize(absl::Span<const absl::Span<char>> buffers) {
  size_t size = 0;
  for (const absl::Span<char> buffer : buffers) size += buffer.size();
  return size;
}

// Copies the first bytes of `bytes` into `buffers`, in order. Returns their
// number.
inline size_t Scatter(std::string_view bytes,
                      absl::Span<const absl::Span<char>> buffers) {
  size_t copied = 0;
  for (const absl::Span<char> buffer : buffers) {
    copied += bytes.substr(copied).copy(buffer.data(), buffer.size());
  }
  return copied;
}

// Reads into `buffers` as `PollReadVectored()` must, from the buffer of the
// reader. `waiter` may be null.
template <AsyncBufRead R>
PollResult<absl::StatusOr<size_t>> PollReadBuffered(
    R& reader, Context& cx, absl::Span<const absl::Span<char>> buffers,
    IoWaiter<R>* waiter) {
  using Result = absl::StatusOr<size_t>;
  if (TotalSize(buffers) == 0) return Result(0);
  auto bytes = PollFillBuf(reader, cx, waiter);
  if (bytes.IsPending()) return kPending;
  if (!bytes->ok()) return Result((*std::move(bytes)).status());
  const size_t size = Scatter(**bytes, buffers);
  reader.Consume(size);
  return Result(size);
}

}  // namespace internal

// Polls like `reader.PollReadVectored()`, but takes a future's place to wait. A
// reader without that function fills `buffers` from its own buffer or, if it
// has none, fills the first of `buffers` that is not empty. `waiter` may be
// null.
template <AsyncRead R>
PollResult<absl::StatusOr<size_t>> PollReadVectored(
    R& reader, Context& cx, absl::Span<const absl::Span<char>> buffers,
    IoWaiter<R>* waiter) {
  if constexpr (requires { reader.PollReadVectored(cx, buffers, waiter); }) {
    return reader.PollReadVectored(cx, buffers, waiter);
  } else if constexpr (AsyncReadVectored<R>) {
    return reader.PollReadVectored(cx, buffers);
  } else if constexpr (AsyncBufRead<R>) {
    return internal::PollReadBuffered(reader, cx, buffers, waiter);
  } else {
    for (const absl::Span<char> buffer : buffers) {
      if (!buffer.empty()) return PollRead(reader, cx, buffer, waiter);
    }
    return absl::StatusOr<size_t>(0);
  }
}

}  // namespace rouse

#endif  // ROUSE_IO_ASYNC_READ_H_
