// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/pipe_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/io/fd/adopt_fd.h"
#include "rouse/io/fd/io_vectors.h"
#include "rouse/io/fd/quiet_write.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {
namespace {

bool IsPipe(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

// Returns whether open(2) failed with `error` because the path is of another
// kind: a directory or a socket. ENXIO also occurs for a FIFO without a reader.
bool IsOtherKind(const std::string& path, int error) {
  struct stat status;
  return (error == EISDIR || error == ENXIO) &&
         stat(path.c_str(), &status) == 0 && !S_ISFIFO(status.st_mode);
}

}  // namespace

absl::StatusOr<std::pair<PipeEnd, PipeEnd>> PipeEnd::OpenPair() {
  int fds[2];
  if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "pipe2");
  }
  return std::pair(PipeEnd(OwnedFd(fds[0])), PipeEnd(OwnedFd(fds[1])));
}

absl::StatusOr<PipeEnd> PipeEnd::OpenFifo(const std::string& path, int mode) {
  OwnedFd fd(open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC));
  const int error = errno;
  if (fd.IsValid() ? !IsPipe(fd.get()) : IsOtherKind(path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file is not a FIFO: ", path));
  }
  if (!fd.IsValid()) {
    return absl::ErrnoToStatus(error, absl::StrCat("open the FIFO ", path));
  }
  return PipeEnd(std::move(fd));
}

absl::StatusOr<PipeEnd> PipeEnd::Adopt(OwnedFd fd, int mode) {
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags < 0) return absl::ErrnoToStatus(errno, "fcntl(F_GETFL)");
  if (!IsPipe(fd.get())) return absl::InvalidArgumentError("not a pipe");
  const int found = flags & O_ACCMODE;
  if (found != mode && found != O_RDWR) {
    return absl::InvalidArgumentError(
        mode == O_RDONLY ? "the descriptor is not the reading end of a pipe"
                         : "the descriptor is not the writing end of a pipe");
  }
  absl::Status status = AdoptFd(fd.get());
  if (!status.ok()) return status;
  return PipeEnd(std::move(fd));
}

OwnedFd PipeEnd::IntoBlockingFd() && {
  // Cannot fail, because the descriptor is open.
  MakeBlocking(fd_.get()).IgnoreError();
  return std::move(fd_);
}

ssize_t PipeEnd::Read(absl::Span<char> buffer) const {
  return read(fd(), buffer.data(), buffer.size());
}

ssize_t PipeEnd::ReadParts(absl::Span<const absl::Span<char>> buffers) const {
  IoVectors vectors(buffers);
  return readv(fd(), vectors.data(), vectors.size());
}

ssize_t PipeEnd::Write(absl::Span<const std::string_view> parts) const {
  return QuietWrite(fd(), parts);
}

}  // namespace rouse::internal
