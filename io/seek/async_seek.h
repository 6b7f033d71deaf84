// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: async_seek.h
// -----------------------------------------------------------------------------
//
// The concept of a stream with a position that can be moved: a file, or a
// `Cursor` on bytes in memory.
//
//   rouse::Co<absl::Status> PatchHeader(rouse::AsyncSeek auto& file,
//                                       std::string_view header) {
//     co_await rouse::OrReturn(rouse::Rewind(file));
//     co_await rouse::OrReturn(rouse::WriteAll(file, header));
//     co_return co_await rouse::Flush(file);
//   }
//
// The functions for seeking are in seek.h.

#ifndef ROUSE_IO_SEEK_ASYNC_SEEK_H_
#define ROUSE_IO_SEEK_ASYNC_SEEK_H_

#include <concepts>
#include <cstdint>

#include "absl/status/statusor.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// SeekFrom
//
// Says from where an offset counts: from the beginning of the stream, from the
// present position, or from the end.
enum class SeekFrom { kBegin, kCurrent, kEnd };

// AsyncSeek
//
// Says whether an `S`, which may be a reference, has a position that can be
// moved. Reads and writes begin at the position, and advance it.
//
// `PollSeek(cx, offset, from)` moves the position to `offset` bytes behind the
// place that `from` names, and returns the new position, counted from the
// beginning. A negative offset is in front of the place. The position can be
// behind the end: a read then finds the end, and a write fills the gap with
// zeros. A position in front of the beginning is InvalidArgument, and changes
// nothing.
//
// A pending `PollSeek()` must be polled again with the same arguments before
// any other function of the stream. If the seek is abandoned, the position is
// unknown until the next seek from the beginning or the end. Of several tasks,
// the task of the last poll is woken.
//
// `PollSeek()` takes a unit of the task's budget (see context.h).
template <class S>
concept AsyncSeek =
    requires(S& stream, Context& cx, int64_t offset, SeekFrom from) {
      {
        stream.PollSeek(cx, offset, from)
      } -> std::same_as<PollResult<absl::StatusOr<uint64_t>>>;
    };

// Polls like `stream.PollSeek()`, but takes a future's place to wait (see
// waiter.h). `waiter` may be null.
template <AsyncSeek S>
PollResult<absl::StatusOr<uint64_t>> PollSeek(S& stream, Context& cx,
                                              int64_t offset, SeekFrom from,
                                              IoWaiter<S>* waiter) {
  if constexpr (requires { stream.PollSeek(cx, offset, from, waiter); }) {
    return stream.PollSeek(cx, offset, from, waiter);
  } else {
    return stream.PollSeek(cx, offset, from);
  }
}

}  // namespace rouse

#endif  // ROUSE_IO_SEEK_ASYNC_SEEK_H_
