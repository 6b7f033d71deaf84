// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: child_pipe.h
// -----------------------------------------------------------------------------
//
// The pipes to the standard streams of a `Child`:
//
//   std::optional<ChildStdin> input = child.TakeStdin();
//   co_await OrReturn(input->WriteAll("one line\n"));
//   input.reset();   // the child reads to the end
//
//   std::optional<ChildStdout> output = child.TakeStdout();
//   size_t size = co_await OrReturn(output->Read(absl::MakeSpan(buffer)));

#ifndef ROUSE_PROCESS_CHILD_PIPE_H_
#define ROUSE_PROCESS_CHILD_PIPE_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/read.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ChildStdin
//
// The writing end of a pipe to a child's standard input. Movable, except while
// a future of the `ChildStdin` exists; const members are thread-safe.
// Destroying the pipe notifies the child that the stream has ended.
//
// Each operation is a future of io/ that does nothing before it is polled,
// borrows the pipe and the data, and allocates nothing. The future can be moved
// until its first poll; polling it after it was ready is a `Panic()`.
//
// Cancellation: destroying `Write()` before it is ready means that nothing was
// written; `WriteAll()` may have written a part.
//
// Errors: FailedPrecondition if the child has closed its end, or has ended
// (EPIPE; no SIGPIPE is raised). Unavailable if the reactor has been shut down.
class ChildStdin {
 public:
  using Waiter = reactor::Waiter;
  using WriteFuture = rouse::WriteFuture<const ChildStdin>;
  using WriteAllFuture = rouse::WriteAllFuture<const ChildStdin>;

  // Takes over the writing end of a pipe and makes it non-blocking.
  static absl::StatusOr<ChildStdin> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  // Writes at least one byte of `data`, and as many bytes as can be written
  // now. Returns a future of `absl::StatusOr<size_t>`: 0 only if `data` is
  // empty.
  WriteFuture Write(std::string_view data) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteFuture(*this, data);
  }

  // Writes all of `data`. Returns a future of `absl::Status`.
  WriteAllFuture WriteAll(std::string_view data) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return WriteAllFuture(*this, data);
  }

  // Write like the futures above, for use in your own futures, and as
  // `AsyncWrite` (io/async_write.h) requires, with a single difference: only
  // closing a pipe shuts the pipe down. `PollShutdown()` does nothing: destroy
  // the pipe. Without a `waiter`, the task that polled last is woken.
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) const;
  PollResult<absl::Status> PollFlush(Context&) const {
    return absl::OkStatus();
  }
  PollResult<absl::Status> PollShutdown(Context&) const {
    return absl::OkStatus();
  }

  // Returns the descriptor. The `ChildStdin` still owns the descriptor.
  int fd() const { return pipe_.fd(); }

  // Takes the descriptor out and makes its open file blocking, as a program
  // expects of a standard stream.
  OwnedFd IntoBlockingFd() &&;

 private:
  explicit ChildStdin(reactor::AsyncFd<OwnedFd> pipe)
      : pipe_(std::move(pipe)) {}

  reactor::AsyncFd<OwnedFd> pipe_;
};

// ChildStdout
//
// The reading end of a pipe from a child's standard output, or from its
// standard error. Has the contract of `ChildStdin`, except for what is said
// here. Destroying the pipe makes the child's next write fail.
class ChildStdout {
 public:
  using Waiter = reactor::Waiter;
  using ReadFuture = rouse::ReadFuture<const ChildStdout>;

  // Takes over the reading end of a pipe and makes it non-blocking.
  static absl::StatusOr<ChildStdout> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  // Reads available bytes, up to the size of `buffer`, as soon as there are
  // any. Returns a future of `absl::StatusOr<size_t>`: 0 if all owners of the
  // other end have closed the other end, or if `buffer` is empty.
  //
  // Cancellation: destroying the future before it is ready means that nothing
  // was read.
  ReadFuture Read(absl::Span<char> buffer) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return ReadFuture(*this, buffer);
  }
  void Read(internal::NeedsAbslMakeSpan auto&& buffer) const = delete;

  // Reads like `Read()`, for use in your own futures: see `AsyncRead`
  // (io/async_read.h).
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const;

  // Returns the descriptor. The `ChildStdout` still owns the descriptor.
  int fd() const { return pipe_.fd(); }
  // Takes the descriptor out and makes its open file blocking.
  OwnedFd IntoBlockingFd() &&;

 private:
  explicit ChildStdout(reactor::AsyncFd<OwnedFd> pipe)
      : pipe_(std::move(pipe)) {}

  reactor::AsyncFd<OwnedFd> pipe_;
};

// The reading end of a pipe from a child's standard error.
using ChildStderr = ChildStdout;

}  // namespace rouse

#endif  // ROUSE_PROCESS_CHILD_PIPE_H_
