// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: duplex.h
// -----------------------------------------------------------------------------
//
// A connection inside the program, for tests, and for parts of a program that
// communicate as if over a network:
//
//   auto [client, server] = rouse::Duplex(64);
//   rouse::Spawn(Serve(std::move(server)));
//   co_await rouse::OrReturn(rouse::WriteAll(client, "hello\n"));

#ifndef ROUSE_IO_DUPLEX_H_
#define ROUSE_IO_DUPLEX_H_

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

// DuplexStream
//
// An end of a connection: `AsyncRead` and `AsyncWrite`. Bytes written to either
// end are read from the other end, in order. Movable, except while a future of
// the `DuplexStream` exists.
//
// Const members are thread-safe, and the two ends can be on different threads.
// A single task reads from an end, and a single task writes to the end; of
// several, the task that polled last is woken.
//
// Destroying an end also ends the stream of the other end, from which earlier
// bytes can still be read.
//
// Writing fails with FailedPrecondition after the other end was destroyed, or
// after `PollShutdown()`. There are no other errors.
class DuplexStream {
 public:
  using Waiter = internal::MemoryPipeWaiter;

  DuplexStream(DuplexStream&&) = default;
  DuplexStream& operator=(DuplexStream&& other) noexcept;
  ~DuplexStream() { Close(); }

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) const;
  // Writes as `AsyncWrite` requires. Pending while unread bytes fill the
  // capacity.
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) const;
  // Flushes, which is always ready, because written bytes can be read at once.
  PollResult<absl::Status> PollFlush(Context& cx) const;
  PollResult<absl::Status> PollShutdown(Context& cx) const;

  // Ends the stream for the other end, as `PollShutdown()` does. Always returns
  // OK.
  absl::Status ShutdownWrite() const;

 private:
  friend std::pair<DuplexStream, DuplexStream> Duplex(size_t capacity);

  using Pipe = internal::MemoryPipe;

  DuplexStream(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out)
      : in_(std::move(in)), out_(std::move(out)) {}

  void Close();

  std::shared_ptr<Pipe> in_;  // null if moved from
  std::shared_ptr<Pipe> out_;
};

// Duplex()
//
// Returns both ends of a connection that holds up to `capacity` bytes in each
// direction. `capacity` must be at least 1.
std::pair<DuplexStream, DuplexStream> Duplex(size_t capacity);

}  // namespace rouse

#endif  // ROUSE_IO_DUPLEX_H_
