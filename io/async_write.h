// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: async_write.h
// -----------------------------------------------------------------------------
//
// What bytes can be written to: a socket, a pipe, something that encrypts and
// writes to another one.
//
//   rouse::Co<absl::Status> Greet(rouse::AsyncWrite auto& writer) {
//     co_await rouse::OrReturn(rouse::WriteAll(writer, "hello\n"));
//     co_return co_await rouse::Flush(writer);
//   }
//
// To write there are `Write`, `WriteAll`, `Flush` and `Shutdown`, each in a
// header of its own.

#ifndef ROUSE_IO_ASYNC_WRITE_H_
#define ROUSE_IO_ASYNC_WRITE_H_

#include <concepts>
#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// AsyncWrite
//
// Whether bytes can be written to a `W`, which may be a reference.
//
// `PollWrite(cx, data)` takes bytes from the front of `data`, as many as it can
// now, and answers how many: at least one, unless `data` is empty.
//
// `PollWriteVectored(cx, data)` does the same with the parts of `data`, one
// after the other, as if they were one; it may take fewer than it could.
//
// `PollFlush(cx)` is ready when what was written has left the program.
//
// `PollShutdown(cx)` flushes, and then tells the reader that there is no more.
// Asked again it is ready at once. Nothing may be written afterwards.
//
// While it is pending, `PollWrite()` has taken nothing. Of several tasks that
// which polled last is woken, whichever of the four it polled. After an error
// it is not known how much has arrived.
//
// The first two take a unit of the task's budget (see context.h).
template <class W>
concept AsyncWrite = requires(W& writer, Context& cx, std::string_view data,
                              absl::Span<const std::string_view> parts) {
  {
    writer.PollWrite(cx, data)
  } -> std::same_as<PollResult<absl::StatusOr<size_t>>>;
  {
    writer.PollWriteVectored(cx, parts)
  } -> std::same_as<PollResult<absl::StatusOr<size_t>>>;
  { writer.PollFlush(cx) } -> std::same_as<PollResult<absl::Status>>;
  { writer.PollShutdown(cx) } -> std::same_as<PollResult<absl::Status>>;
};

// For futures: the same with a place to wait (see waiter.h). `waiter` may be
// null.
template <AsyncWrite W>
PollResult<absl::StatusOr<size_t>> PollWrite(W& writer, Context& cx,
                                             std::string_view data,
                                             IoWaiter<W>* waiter) {
  if constexpr (requires { writer.PollWrite(cx, data, waiter); }) {
    return writer.PollWrite(cx, data, waiter);
  } else {
    return writer.PollWrite(cx, data);
  }
}

template <AsyncWrite W>
PollResult<absl::StatusOr<size_t>> PollWriteVectored(
    W& writer, Context& cx, absl::Span<const std::string_view> parts,
    IoWaiter<W>* waiter) {
  if constexpr (requires { writer.PollWriteVectored(cx, parts, waiter); }) {
    return writer.PollWriteVectored(cx, parts, waiter);
  } else {
    return writer.PollWriteVectored(cx, parts);
  }
}

template <AsyncWrite W>
PollResult<absl::Status> PollFlush(W& writer, Context& cx,
                                   IoWaiter<W>* waiter) {
  if constexpr (requires { writer.PollFlush(cx, waiter); }) {
    return writer.PollFlush(cx, waiter);
  } else {
    return writer.PollFlush(cx);
  }
}

template <AsyncWrite W>
PollResult<absl::Status> PollShutdown(W& writer, Context& cx,
                                      IoWaiter<W>* waiter) {
  if constexpr (requires { writer.PollShutdown(cx, waiter); }) {
    return writer.PollShutdown(cx, waiter);
  } else {
    return writer.PollShutdown(cx);
  }
}

}  // namespace rouse

#endif  // ROUSE_IO_ASYNC_WRITE_H_
