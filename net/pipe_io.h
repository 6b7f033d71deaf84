// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pipe_io.h
// -----------------------------------------------------------------------------
//
// For use in net/ only: the system calls on pipes.

#ifndef ROUSE_NET_PIPE_IO_H_
#define ROUSE_NET_PIPE_IO_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// PipeEnd
//
// Owns one end of a pipe, non-blocking and closed on exec. Functions that
// return `ssize_t` return the result of the system call, and set `errno`.
class PipeEnd {
 public:
  // Makes a pipe and returns the reading end and the writing end.
  static absl::StatusOr<std::pair<PipeEnd, PipeEnd>> OpenPair();

  // Opens a FIFO. `mode` is O_RDONLY, O_WRONLY or O_RDWR. Returns
  // InvalidArgument if `path` is not a FIFO.
  static absl::StatusOr<PipeEnd> OpenFifo(const std::string& path, int mode);

  // Takes over an end of a pipe. Returns InvalidArgument if `fd` is not a pipe,
  // or not open for `mode`, O_RDONLY or O_WRONLY.
  static absl::StatusOr<PipeEnd> Adopt(OwnedFd fd, int mode);

  int fd() const { return fd_.get(); }
  OwnedFd IntoFd() && { return std::move(fd_); }
  OwnedFd IntoBlockingFd() &&;

  ssize_t Read(absl::Span<char> buffer) const;
  // Reads into the first buffers that fit into a single call.
  ssize_t ReadParts(absl::Span<const absl::Span<char>> buffers) const;
  // Writes like `QuietWrite()`.
  ssize_t Write(absl::Span<const std::string_view> parts) const;

 private:
  explicit PipeEnd(OwnedFd fd) : fd_(std::move(fd)) {}

  OwnedFd fd_;
};

}  // namespace rouse::internal

#endif  // ROUSE_NET_PIPE_IO_H_
