// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: standard_streams.h
// -----------------------------------------------------------------------------
//
// The standard streams of this process, whether they are a terminal, a pipe, a
// socket or a file:
//
//   rouse::BufReader input{rouse::Stdin()};
//   rouse::Stdout output;
//   auto lines = rouse::Lines(input);
//   while (auto line = co_await rouse::Next(lines)) {
//     co_await rouse::OrReturn(line->status());
//     co_await rouse::OrReturn(rouse::WriteAll(output, Answer(**line)));
//   }
//
// # No thread waits for a terminal
//
// Terminals, pipes and sockets are watched by the reactor: a read that waits
// for a line holds no thread, ends with its task, and does not delay the end of
// a runtime. The open file of a standard stream is shared with other processes,
// such as the shell, so it is never made non-blocking: standard_file.h says how
// calls nevertheless do not block.
//
// Files and devices without readiness, such as /dev/null, are read and written
// on the blocking pool. So is a pipe or terminal of another user, but it is
// read only after the reactor has found it readable. If another process is
// faster and takes the bytes, a thread of the pool then waits for more: these
// calls are made where the end of the runtime does not wait for them (see
// `BlockingPool::lookups()`). Calls that never end occupy the threads there,
// which name lookups need, too.
//
// # Other users of the streams
//
// The classes know nothing of the buffers of `std::cin`, `std::cout` and
// `printf()`: flush those before writing here, and read from only one of them.
// Any number of objects can exist for the same stream. Each byte goes to one of
// those that read. What is written by different objects, or by other processes,
// can be mixed, between the writes into which `WriteAll()` divides its data. A
// pipe takes up to 4096 bytes as a whole. To write larger pieces as a whole,
// share an object behind a `Mutex`. If the stream is written on the blocking
// pool, flush an object before writing with another, even in one task: the
// order of their calls is not determined.
//
// If the program starts with a standard stream closed, another descriptor can
// take the number of the stream: open /dev/null first.

#ifndef ROUSE_PROCESS_STANDARD_STREAMS_H_
#define ROUSE_PROCESS_STANDARD_STREAMS_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// StandardInput
//
// The base class of `Stdin`, for any descriptor.
class StandardInput {
 public:
  using Waiter = reactor::Waiter;

  // `name`, which must be a literal, is for messages.
  StandardInput(int fd, std::string_view name);
  StandardInput(StandardInput&& other) noexcept;
  StandardInput& operator=(StandardInput&& other) noexcept;
  ~StandardInput();

  // Reads as described at `AsyncRead`. Without a `waiter`, the task that polled
  // last is woken.
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr);

 private:
  class Open;

  int fd_;
  std::string_view name_;
  std::unique_ptr<Open> open_;  // null before the first read
};

// StandardOutput
//
// The base class of `Stdout` and `Stderr`, for any descriptor.
class StandardOutput {
 public:
  using Waiter = reactor::Waiter;

  // `name`, which must be a literal, is for messages.
  StandardOutput(int fd, std::string_view name);
  StandardOutput(StandardOutput&& other) noexcept;
  StandardOutput& operator=(StandardOutput&& other) noexcept;
  ~StandardOutput();

  // Write as described at `AsyncWrite`, with one difference: `PollShutdown()`
  // only flushes, because other processes may still use the stream. Without a
  // `waiter`, the task that polled last is woken.
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr);
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr);
  PollResult<absl::Status> PollFlush(Context& cx);
  PollResult<absl::Status> PollShutdown(Context& cx) { return PollFlush(cx); }

 private:
  class Open;

  int fd_;
  std::string_view name_;
  std::unique_ptr<Open> open_;  // null before the first write
};

}  // namespace internal

// Stdin
//
// An `AsyncRead` of the standard input: read it with the functions of io/. The
// first read opens the stream, with the reactor that is current there or else
// with the fallback reactor (reactor/fallback.h). Not thread-safe: a single
// task reads. Movable, except while a future of the `Stdin` exists. Never
// closes the descriptor of the standard input.
//
// Cancellation: nothing is lost when a future is destroyed. Bytes that were
// read on the blocking pool for a destroyed future are returned by the next
// read of the same `Stdin`.
//
//   FailedPrecondition   The standard input is not open, or not open for
//                        reading. Or it is a file, a device, or a pipe or
//                        terminal that cannot be opened again, and the thread
//                        has no blocking pool: read in a task, or inside
//                        `Runtime::BlockOn()`.
//   Unavailable          The reactor or the blocking pool has been shut down.
//   ResourceExhausted    Out of descriptors, or of threads for a file.
//
// Other errors are those of the system calls, converted by
// `absl::ErrnoToStatus()`.
//
// Cost: a `Stdin` has 32 bytes. The first read allocates, and opens one
// descriptor or two. A read takes one system call; of a file, in addition, a
// task of the blocking pool for each buffer, or each 64 KiB of a larger buffer.
class Stdin : public internal::StandardInput {
 public:
  Stdin() : StandardInput(0, "standard input") {}
};

// Stdout
//
// An `AsyncWrite` to the standard output: write to it with the functions of
// io/. Has the contract of `Stdin`, except for what is said here. Nothing is
// gathered: use a `BufWriter` for many small writes. A write fails with
// FailedPrecondition if the reader has closed the stream (EPIPE); no SIGPIPE is
// raised.
//
// If the stream is written on the blocking pool, a write takes up to 64 KiB and
// is ready at once. The next write or flush waits for the end of that write,
// and returns its error. Bytes that were taken are written even if the
// `Stdout` is destroyed or the runtime is shut down. The end of the runtime
// waits for writes to files, but not for writes to devices, nor to pipes and
// terminals of another user. Flush before the end.
//
// Cancellation: a pending write has written nothing.
class Stdout : public internal::StandardOutput {
 public:
  Stdout() : StandardOutput(1, "standard output") {}
};

// Stderr
//
// An `AsyncWrite` to the standard error stream, like `Stdout`.
class Stderr : public internal::StandardOutput {
 public:
  Stderr() : StandardOutput(2, "standard error") {}
};

}  // namespace rouse

#endif  // ROUSE_PROCESS_STANDARD_STREAMS_H_
