// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: simplex.h
// -----------------------------------------------------------------------------
//
// A pipe inside the program, in memory: one direction of a `Duplex`.
//
//   auto [reader, writer] = rouse::Simplex(4096);
//   rouse::Spawn(Compress(std::move(reader)));
//   co_await rouse::OrReturn(rouse::WriteAll(writer, text));
//   co_await rouse::OrReturn(rouse::Shutdown(writer));

#ifndef ROUSE_IO_MEMORY_SIMPLEX_H_
#define ROUSE_IO_MEMORY_SIMPLEX_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/memory/memory_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

class SimplexWriter;

// SimplexReader
//
// The reading end: an `AsyncRead`. Bytes are read in the order in which they
// were written. Movable, except while a future of the `SimplexReader` exists.
// Const members are thread-safe, and the two ends can be on different threads.
// A single task reads; of several, the task that polled last is woken.
//
// The stream ends when the writer was shut down or destroyed, and earlier bytes
// were read. No errors exist. Destroying the reader makes later writes fail.
class SimplexReader {
 public:
  using Waiter = internal::MemoryPipeWaiter;

  SimplexReader(SimplexReader&&) = default;
  SimplexReader& operator=(SimplexReader&& other) noexcept;
  ~SimplexReader();

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const {
    return pipe_->PollRead(cx, absl::MakeConstSpan(&buffer, 1), waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) const {
    return pipe_->PollRead(cx, buffers, waiter);
  }

 private:
  friend std::pair<SimplexReader, SimplexWriter> Simplex(size_t capacity);

  explicit SimplexReader(std::shared_ptr<internal::MemoryPipe> pipe)
      : pipe_(std::move(pipe)) {}

  std::shared_ptr<internal::MemoryPipe> pipe_;  // null if moved from
};

// SimplexWriter
//
// The writing end: an `AsyncWrite`, like `SimplexReader`. A single task writes.
// Destroying the writer ends the stream, as `PollShutdown()` does.
//
// Writing fails with FailedPrecondition after the reader was destroyed, or
// after `PollShutdown()`. There are no other errors.
class SimplexWriter {
 public:
  using Waiter = internal::MemoryPipeWaiter;

  SimplexWriter(SimplexWriter&&) = default;
  SimplexWriter& operator=(SimplexWriter&& other) noexcept;
  ~SimplexWriter();

  // Writes as `AsyncWrite` requires. Pending while unread bytes fill the
  // capacity.
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) const {
    return pipe_->PollWrite(cx, absl::MakeConstSpan(&data, 1), waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) const {
    return pipe_->PollWrite(cx, parts, waiter);
  }
  // Flushes, which is always ready, because written bytes can be read at once.
  PollResult<absl::Status> PollFlush(Context&) const {
    return absl::OkStatus();
  }
  PollResult<absl::Status> PollShutdown(Context&) const {
    pipe_->CloseWriter();
    return absl::OkStatus();
  }

 private:
  friend std::pair<SimplexReader, SimplexWriter> Simplex(size_t capacity);

  explicit SimplexWriter(std::shared_ptr<internal::MemoryPipe> pipe)
      : pipe_(std::move(pipe)) {}

  std::shared_ptr<internal::MemoryPipe> pipe_;  // null if moved from
};

// Simplex()
//
// Returns both ends of a pipe that holds up to `capacity` bytes. Panics if
// `capacity` is 0. Allocates twice.
std::pair<SimplexReader, SimplexWriter> Simplex(size_t capacity);

}  // namespace rouse

#endif  // ROUSE_IO_MEMORY_SIMPLEX_H_
