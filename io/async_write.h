// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: async_write.h
// -----------------------------------------------------------------------------
//
// The concept of an object to which bytes can be written: a socket, a pipe, an
// encrypting wrapper of another writer.
//
//   rouse::Co<absl::Status> Greet(rouse::AsyncWrite auto& writer) {
//     co_await rouse::OrReturn(rouse::WriteAll(writer, "hello\n"));
//     co_return co_await rouse::Flush(writer);
//   }
//
// The functions for writing are `Write` (write.h), `WriteAll` (write_all.h),
// and `Flush` and `Shutdown` (flush.h).

#ifndef ROUSE_IO_ASYNC_WRITE_H_
#define ROUSE_IO_ASYNC_WRITE_H_

#include <concepts>
#include <cstddef>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// AsyncWrite
//
// Says whether bytes can be written to a `W`, which may be a reference.
//
// `PollWrite(cx, data)` takes as many bytes from the front of `data` as it can
// now, and returns their number: at least 1, unless `data` is empty.
//
// `PollWriteVectored(cx, data)` does the same with the parts of `data`, in
// order, as if the parts were a single string; but it may take fewer bytes than
// it could.
//
// `PollFlush(cx)` is ready when all written bytes have left the program.
//
// `PollShutdown(cx)` flushes, and then notifies the reader that the stream has
// ended. A later `PollShutdown()` is ready at once. The caller must not write
// afterwards.
//
// A pending `PollWrite()` has taken nothing. Of several tasks, the task of the
// last poll is woken, whichever of the four functions the task polled. After an
// error, the number of bytes that have arrived is unknown.
//
// `PollWrite()` and `PollWriteVectored()` take a unit of the task's budget (see
// context.h).
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

namespace internal {

// Returns the number of bytes in `parts`.
inline size_t TotalSize(absl::Span<const std::string_view> parts) {
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  return size;
}

}  // namespace internal

// Polls like `writer.PollWrite()`, but takes a future's place to wait (see
// waiter.h). `waiter` may be null.
template <AsyncWrite W>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline PollResult<absl::StatusOr<size_t>>
PollWrite(W& writer, Context& cx, std::string_view data, IoWaiter<W>* waiter) {
  if constexpr (requires { writer.PollWrite(cx, data, waiter); }) {
    return writer.PollWrite(cx, data, waiter);
  } else {
    return writer.PollWrite(cx, data);
  }
}

// Polls like `writer.PollWriteVectored()`, but takes a future's place to wait.
// `waiter` may be null.
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

// Polls like `writer.PollFlush()`, but takes a future's place to wait. `waiter`
// may be null.
template <AsyncWrite W>
PollResult<absl::Status> PollFlush(W& writer, Context& cx,
                                   IoWaiter<W>* waiter) {
  if constexpr (requires { writer.PollFlush(cx, waiter); }) {
    return writer.PollFlush(cx, waiter);
  } else {
    return writer.PollFlush(cx);
  }
}

// Polls like `writer.PollShutdown()`, but takes a future's place to wait.
// `waiter` may be null.
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
