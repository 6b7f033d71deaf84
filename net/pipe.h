// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pipe.h
// -----------------------------------------------------------------------------
//
// The two ends of a pipe, without a name or with one (a FIFO):
//
//   auto [reader, writer] = co_await rouse::OrReturn(rouse::MakePipe());
//   co_await rouse::OrReturn(rouse::WriteAll(writer, "hello\n"));
//
//   rouse::PipeReader commands = co_await rouse::OrReturn(
//       rouse::PipeReader::OpenFifo("/run/app.commands"));
//
// They are `AsyncRead` and `AsyncWrite`: rouse/io has what reads and writes
// them.

#ifndef ROUSE_NET_PIPE_H_
#define ROUSE_NET_PIPE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/net/pipe_io.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll_evented.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// PipeReader
//
// Owns the end and closes it when it is destroyed. Movable, but not while a
// future of it lives. Const members are thread-safe.
//
// The stream ends when nobody has the pipe open for writing any more; for a
// FIFO that somebody opens again it goes on. That nobody has opened it yet is
// no end: then reading waits.
//
// Errors are those of the system calls, through `absl::ErrnoToStatus()`, and
// what is documented at `reactor::Registration`. Every operation takes the
// task's cooperative budget (see context.h).
class PipeReader {
 public:
  // The place of a future among those that wait: see rouse/io/waiter.h.
  using Waiter = reactor::Waiter;

  // Opens a FIFO; does not wait for a writer. With `keep_open` it is opened for
  // writing too, so that it never ends.
  //
  //   NotFound           there is no such path
  //   InvalidArgument    what is there is no FIFO
  //   PermissionDenied   it may not be read, or, to keep it open, not written
  static absl::StatusOr<PipeReader> OpenFifo(
      const std::string& path, bool keep_open = false,
      const reactor::Handle& handle = reactor::Handle());

  // Takes over the reading end of a pipe and makes it non-blocking, for whoever
  // shares its open file too. InvalidArgument if it is no pipe, or not open for
  // reading; FailedPrecondition if it is no open descriptor. On failure it is
  // closed.
  static absl::StatusOr<PipeReader> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  PipeReader(PipeReader&&) = default;
  PipeReader& operator=(PipeReader&&) = default;

  // As `AsyncRead` says.
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const;

  // The descriptor. It stays owned.
  int fd() const { return evented_.io().fd(); }

  // Takes the descriptor out. It stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

  // Takes the descriptor out and makes its open file blocking, for everyone
  // that shares it: what a program expects that gets it as a standard stream.
  OwnedFd IntoBlockingFd() &&;

 private:
  friend class PipeWriter;
  friend absl::StatusOr<std::pair<PipeReader, class PipeWriter>> MakePipe(
      const reactor::Handle& handle);

  using Evented = reactor::PollEvented<internal::PipeEnd>;

  explicit PipeReader(Evented evented) : evented_(std::move(evented)) {}

  static absl::StatusOr<PipeReader> FromEnd(internal::PipeEnd end,
                                            const reactor::Handle& handle);

  Evented evented_;
};

// PipeWriter
//
// As `PipeReader`. Writing is FailedPrecondition (EPIPE) when nobody has the
// pipe open for reading any more; the signal SIGPIPE that goes with it does not
// come, whatever the program has made of it. A write is one system call from
// Linux 6.18 on; before that it is three, or four on a thread that has the
// signal blocked.
//
// Up to 4096 bytes (PIPE_BUF), in up to 64 parts, are written as one: what
// others write to the same pipe does not come between them.
class PipeWriter {
 public:
  using Waiter = reactor::Waiter;

  // Opens a FIFO.
  //
  //   NotFound           there is no such path; or nobody has it open for
  //                      reading, then try again later
  //   InvalidArgument    what is there is no FIFO
  //   PermissionDenied   it may not be written
  static absl::StatusOr<PipeWriter> OpenFifo(
      const std::string& path,
      const reactor::Handle& handle = reactor::Handle());

  // As of `PipeReader`, with the end that is open for writing.
  static absl::StatusOr<PipeWriter> FromFd(
      OwnedFd fd, const reactor::Handle& handle = reactor::Handle());

  PipeWriter(PipeWriter&&) = default;
  PipeWriter& operator=(PipeWriter&&) = default;

  // As `AsyncWrite` says, with one difference: a pipe cannot be shut down but
  // by closing it. `PollShutdown()` does nothing: destroy the writer.
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

  // The descriptor. It stays owned.
  int fd() const { return evented_.io().fd(); }

  // Takes the descriptor out. It stays non-blocking.
  OwnedFd IntoFd() && { return std::move(evented_).IntoInner().IntoFd(); }

  // Takes the descriptor out and makes its open file blocking, for everyone
  // that shares it: what a program expects that gets it as a standard stream.
  OwnedFd IntoBlockingFd() &&;

 private:
  friend absl::StatusOr<std::pair<PipeReader, PipeWriter>> MakePipe(
      const reactor::Handle& handle);

  using Evented = reactor::PollEvented<internal::PipeEnd>;

  explicit PipeWriter(Evented evented) : evented_(std::move(evented)) {}

  static absl::StatusOr<PipeWriter> FromEnd(internal::PipeEnd end,
                                            const reactor::Handle& handle);

  Evented evented_;
};

// MakePipe()
//
// Both ends of a pipe without a name. ResourceExhausted if out of descriptors;
// else as `reactor::Registration::Create()`.
absl::StatusOr<std::pair<PipeReader, PipeWriter>> MakePipe(
    const reactor::Handle& handle = reactor::Handle());

}  // namespace rouse

#endif  // ROUSE_NET_PIPE_H_
