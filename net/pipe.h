// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pipe.h
// -----------------------------------------------------------------------------
//
// The two ends of a pipe, with or without a name (a named pipe is a FIFO):
//
//   auto [reader, writer] = co_await rouse::OrReturn(rouse::MakePipe());
//   co_await rouse::OrReturn(rouse::WriteAll(writer, "hello\n"));
//
//   rouse::PipeReader commands = co_await rouse::OrReturn(
//       rouse::PipeReader::OpenFifo("/run/app.commands"));
//
// The two classes model `AsyncRead` and `AsyncWrite`: use rouse/io to read and
// write.

#ifndef ROUSE_NET_PIPE_H_
#define ROUSE_NET_PIPE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/net/evented_base.h"
#include "rouse/net/pipe_io.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll_evented.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// PipeBase
//
// The base class of an end `P` of a pipe.
template <class P>
class PipeBase : public EventedBase<P, PipeEnd> {
 public:
  // Releases the descriptor and makes its open file blocking, for every
  // descriptor that shares the open file. A program that gets a pipe as a
  // standard stream expects a blocking one.
  OwnedFd IntoBlockingFd() && {
    return std::move(*this).IntoIo().IntoBlockingFd();
  }

 protected:
  explicit PipeBase(reactor::PollEvented<PipeEnd> evented)
      : EventedBase<P, PipeEnd>(std::move(evented)) {}
};

}  // namespace internal

// PipeReader
//
// Has the members in net/evented_base.h, such as `fd()` and `IntoFd()`. Owns
// the reading end and closes it on destruction. Movable, but not while one of
// its futures is alive. Const members are thread-safe.
//
// The stream ends when nobody has the pipe open for writing any more. A FIFO's
// stream continues if somebody opens the FIFO again. Before the first writer
// opens the FIFO, the stream has not ended: reading waits.
//
// Errors are those of the system calls, converted by `absl::ErrnoToStatus()`,
// and those of `reactor::Registration`. Every operation takes the task's
// cooperative budget (see context.h).
class PipeReader : public internal::PipeBase<PipeReader> {
 public:
  // The kinds of events for which a reader is registered.
  static constexpr reactor::Interest kInterest = reactor::Interest::kReadable;

  // Opens a FIFO without waiting for a writer. With `keep_open` also opens the
  // FIFO for writing, so that the stream never ends.
  //
  //   NotFound           no such path exists
  //   InvalidArgument    the path is not a FIFO
  //   PermissionDenied   no permission to read or, with `keep_open`, to write
  static absl::StatusOr<PipeReader> OpenFifo(
      const std::string& path, bool keep_open = false,
      const reactor::Handle& handle = reactor::Handle());

  // Takes over the reading end of a pipe and makes the open file non-blocking,
  // even for other descriptors that share the open file. On failure closes
  // `fd`. Returns InvalidArgument if `fd` is not a pipe, or not open for
  // reading; FailedPrecondition if `fd` is not an open descriptor.
  static absl::StatusOr<PipeReader> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  PipeReader(PipeReader&&) = default;
  PipeReader& operator=(PipeReader&&) = default;

  // Reads like `Read()`, but returns `std::nullopt` if nothing can be read now
  // (see net/evented_base.h). Takes no budget.
  std::optional<absl::StatusOr<size_t>> TryRead(absl::Span<char> buffer) const {
    return TryNow([this, buffer](Context& cx, Waiter* waiter) {
      return PollRead(cx, buffer, waiter);
    });
  }
  void TryRead(internal::NeedsAbslMakeSpan auto&& buffer) const = delete;

  // Like `TryRead()`, for several buffers.
  std::optional<absl::StatusOr<size_t>> TryReadVectored(
      absl::Span<const absl::Span<char>> buffers) const {
    return TryNow([this, buffers](Context& cx, Waiter* waiter) {
      return PollReadVectored(cx, buffers, waiter);
    });
  }

  // Read as described at `AsyncRead`. A vectored read takes one system call,
  // which fills at most the first 64 buffers.
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const;
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) const;

 private:
  friend EventedBase;
  friend absl::StatusOr<std::pair<PipeReader, class PipeWriter>> MakePipe(
      const reactor::Handle& handle);

  explicit PipeReader(Evented evented) : PipeBase(std::move(evented)) {}
};

// PipeWriter
//
// Like `PipeReader`, for the writing end. Writing fails with FailedPrecondition
// (EPIPE) when nobody has the pipe open for reading any more; the accompanying
// signal SIGPIPE is not delivered, regardless of how the program handles the
// signal. A write takes one system call from Linux 6.18 on. Before, a write
// takes three, or four on a thread that has SIGPIPE blocked.
//
// Up to 4096 bytes (PIPE_BUF), in up to 64 parts, are written atomically: bytes
// of other writers to the same pipe do not come in between.
class PipeWriter : public internal::PipeBase<PipeWriter> {
 public:
  // The kinds of events for which a writer is registered.
  static constexpr reactor::Interest kInterest = reactor::Interest::kWritable;

  // Opens a FIFO for writing.
  //
  //   NotFound           no such path exists; or nobody has the FIFO open for
  //                      reading, then try again later
  //   InvalidArgument    the path is not a FIFO
  //   PermissionDenied   no permission to write
  static absl::StatusOr<PipeWriter> OpenFifo(
      const std::string& path,
      const reactor::Handle& handle = reactor::Handle());

  // Like `PipeReader::FromFd()`, for the end that is open for writing.
  static absl::StatusOr<PipeWriter> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  PipeWriter(PipeWriter&&) = default;
  PipeWriter& operator=(PipeWriter&&) = default;

  // Write like `Write()` and `WriteVectored()`, but return `std::nullopt` if
  // nothing can be written now (see net/evented_base.h). Take no budget.
  std::optional<absl::StatusOr<size_t>> TryWrite(std::string_view data) const {
    return TryNow([this, data](Context& cx, Waiter* waiter) {
      return PollWrite(cx, data, waiter);
    });
  }
  std::optional<absl::StatusOr<size_t>> TryWriteVectored(
      absl::Span<const std::string_view> parts) const {
    return TryNow([this, parts](Context& cx, Waiter* waiter) {
      return PollWriteVectored(cx, parts, waiter);
    });
  }

  // Write as described at `AsyncWrite`, with one difference: a pipe can be shut
  // down only by closing it. `PollShutdown()` does nothing: destroy the writer
  // instead.
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

 private:
  friend EventedBase;
  friend absl::StatusOr<std::pair<PipeReader, PipeWriter>> MakePipe(
      const reactor::Handle& handle);

  explicit PipeWriter(Evented evented) : PipeBase(std::move(evented)) {}
};

// MakePipe()
//
// Makes an unnamed pipe and returns both ends. Returns ResourceExhausted if out
// of descriptors; other errors are those of `reactor::Registration::Create()`.
absl::StatusOr<std::pair<PipeReader, PipeWriter>> MakePipe(
    const reactor::Handle& handle = reactor::Handle());

}  // namespace rouse

#endif  // ROUSE_NET_PIPE_H_
