// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: constant_io.h
// -----------------------------------------------------------------------------
//
// Streams whose bytes are known in advance, as defaults and for tests: a reader
// without bytes, a reader that repeats a byte, and a writer that drops all
// bytes.
//
//   rouse::SinkWriter nowhere;
//   uint64_t size =
//       co_await rouse::OrReturn(rouse::Copy(response, nowhere));

#ifndef ROUSE_IO_ADAPT_CONSTANT_IO_H_
#define ROUSE_IO_ADAPT_CONSTANT_IO_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/io/async_write.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// EmptyReader
//
// An `AsyncRead` and `AsyncBufRead` that has ended. Never waits. Thread-safe.
class EmptyReader {
 public:
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char>) const {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return absl::StatusOr<size_t>(0);
  }
  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(Context& cx) const {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return absl::StatusOr<std::string_view>(std::string_view());
  }
  // Panics unless `size` is 0, because no bytes exist.
  void Consume(size_t size) const {
    if (size > 0) {
      Panic("EmptyReader::Consume: the reader has no bytes; consume 0");
    }
  }
};

// RepeatReader
//
// An `AsyncRead` that returns the same byte without end, as many as the buffer
// holds. Never waits. Thread-safe.
class RepeatReader {
 public:
  explicit RepeatReader(char byte) : byte_(byte) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) const {
    return PollReadVectored(cx, absl::MakeConstSpan(&buffer, 1));
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers) const {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    size_t size = 0;
    for (const absl::Span<char> buffer : buffers) {
      std::fill(buffer.begin(), buffer.end(), byte_);
      size += buffer.size();
    }
    return absl::StatusOr<size_t>(size);
  }

 private:
  char byte_;
};

// SinkWriter
//
// An `AsyncWrite` that takes all bytes and drops them. Never waits, and has no
// errors, even after a shutdown. Thread-safe.
class SinkWriter {
 public:
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) const {
    return PollWriteVectored(cx, absl::MakeConstSpan(&data, 1));
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) const {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return absl::StatusOr<size_t>(internal::TotalSize(parts));
  }
  PollResult<absl::Status> PollFlush(Context&) const {
    return absl::OkStatus();
  }
  PollResult<absl::Status> PollShutdown(Context&) const {
    return absl::OkStatus();
  }
};

}  // namespace rouse

#endif  // ROUSE_IO_ADAPT_CONSTANT_IO_H_
