// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: async_read.h
// -----------------------------------------------------------------------------
//
// What bytes can be read from: a socket, a pipe, something that decrypts
// another one.
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
// To read there are `Read`, `ReadExact`, `ReadToEnd`, and on a `BufReader`
// `ReadUntil` and `ReadLine`, each in a header of its own.

#ifndef ROUSE_IO_ASYNC_READ_H_
#define ROUSE_IO_ASYNC_READ_H_

#include <concepts>
#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// AsyncRead
//
// Whether bytes can be read from an `R`, which may be a reference.
//
// `PollRead(cx, buffer)` fills the front of `buffer` with what there is, and
// answers how many bytes that is: at least one, unless `buffer` is empty or the
// stream has ended, where it is 0 from then on. Bytes behind that number may
// have been overwritten.
//
// While it is pending it has taken nothing, and has seen to it that the task is
// woken, as `Future` says; of several tasks, that which polled last. After an
// error the stream is not to be read any more, unless it says so itself.
//
// It takes a unit of the task's budget (see context.h).
template <class R>
concept AsyncRead = requires(R& reader, Context& cx, absl::Span<char> buffer) {
  {
    reader.PollRead(cx, buffer)
  } -> std::same_as<PollResult<absl::StatusOr<size_t>>>;
};

// AsyncBufRead
//
// Whether an `R` has a buffer of its own, in which what it has read can be
// looked at before it is taken; the usual one is `BufReader`.
//
// `PollFillBuf(cx)` answers the bytes in the buffer, and if there are none
// reads some first. Empty: the stream has ended, and is so from then on. They
// stay, and are answered again, until `Consume(n)` takes the first `n`, at most
// as many as were answered. Each of the three calls invalidates earlier
// answers.
//
// While it is pending it has taken nothing, and the task is woken as after
// `PollRead()`; errors are as there. It takes a unit of the budget, also if the
// bytes are there already. `Consume()` waits for nothing and cannot fail.
template <class R>
concept AsyncBufRead =
    AsyncRead<R> && requires(R& reader, Context& cx, size_t size) {
      {
        reader.PollFillBuf(cx)
      } -> std::same_as<PollResult<absl::StatusOr<std::string_view>>>;
      reader.Consume(size);
    };

namespace internal {

// Whether a `T` is no buffer to read into before `absl::MakeSpan()` has made
// one of it, such as a `std::string`. Functions that take a buffer have a
// deleted overload for it: its name tells what to do.
template <class T>
concept NeedsAbslMakeSpan = !std::convertible_to<T, absl::Span<char>>;

}  // namespace internal

// For futures: the same with a place to wait (see waiter.h). `waiter` may be
// null.
template <AsyncRead R>
PollResult<absl::StatusOr<size_t>> PollRead(R& reader, Context& cx,
                                            absl::Span<char> buffer,
                                            IoWaiter<R>* waiter) {
  if constexpr (requires { reader.PollRead(cx, buffer, waiter); }) {
    return reader.PollRead(cx, buffer, waiter);
  } else {
    return reader.PollRead(cx, buffer);
  }
}

template <AsyncBufRead R>
PollResult<absl::StatusOr<std::string_view>> PollFillBuf(R& reader, Context& cx,
                                                         IoWaiter<R>* waiter) {
  if constexpr (requires { reader.PollFillBuf(cx, waiter); }) {
    return reader.PollFillBuf(cx, waiter);
  } else {
    return reader.PollFillBuf(cx);
  }
}

}  // namespace rouse

#endif  // ROUSE_IO_ASYNC_READ_H_
