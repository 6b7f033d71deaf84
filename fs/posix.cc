// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/posix.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::fs::internal {

size_t NextReadStep(size_t done, size_t size) {
  return std::min(size - done, std::max(done, size_t{1} << 20));
}

absl::Status PathError(int error, std::string_view call,
                       std::string_view path) {
  return absl::ErrnoToStatus(error, absl::StrCat(call, " of '", path, "'"));
}

absl::Status CheckPath(std::string_view path) {
  if (path.find('\0') == std::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("fs: the path '", path.substr(0, path.find('\0')),
                   "...' contains a zero byte"));
}

absl::Status CheckOffset(uint64_t offset, uint64_t size,
                         std::string_view path) {
  constexpr uint64_t kMax = std::numeric_limits<off_t>::max();
  if (offset <= kMax && size <= kMax - offset) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("fs: offset ", offset, " plus size ", size, " in '", path,
                   "' is more than a file can have"));
}

absl::StatusOr<OwnedFd> OpenFd(const std::string& path, int flags,
                               mode_t mode) {
  if (absl::Status status = CheckPath(path); !status.ok()) return status;
  for (;;) {
    OwnedFd fd(open(path.c_str(), flags | O_CLOEXEC, mode));
    if (fd.IsValid()) return fd;
    if (errno != EINTR) return PathError(errno, "open", path);
  }
}

absl::StatusOr<std::string> ReadFdAt(int fd, const std::string& path,
                                     uint64_t offset, size_t size) {
  if (absl::Status status = CheckOffset(offset, size, path); !status.ok()) {
    return status;
  }
  std::string bytes;
  while (bytes.size() < size) {
    const size_t before = bytes.size();
    const size_t step = NextReadStep(before, size);
    bytes.resize(before + step);
    const ssize_t result = pread(fd, bytes.data() + before, step,
                                 static_cast<off_t>(offset + before));
    const int error = errno;
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(result, 0)));
    if (result == 0) break;
    if (result < 0 && error != EINTR) return PathError(error, "pread", path);
  }
  return bytes;
}

int ReadCachedFdAt(int fd, uint64_t offset, size_t size, std::string& bytes) {
  if (!CheckOffset(offset, size, "").ok()) return EINVAL;
  bytes.resize(size);
  const iovec part = {bytes.data(), size};
  const ssize_t result =
      preadv2(fd, &part, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  if (result < 0) return errno;
  if (static_cast<size_t>(result) == size) return 0;
  // The rest is not in the cache, or the file has ended. Linux 5.9 and 5.10
  // also return too little in the middle of a file.
  struct stat raw;
  if (fstat(fd, &raw) != 0) return errno;
  if (!S_ISREG(raw.st_mode)) return EAGAIN;
  bytes.resize(static_cast<size_t>(result));
  const uint64_t end = offset + bytes.size();
  return end >= static_cast<uint64_t>(raw.st_size) ? 0 : EAGAIN;
}

absl::Status WriteFd(int fd, const std::string& path, std::string_view data) {
  while (!data.empty()) {
    const ssize_t result = write(fd, data.data(), data.size());
    if (result < 0) {
      if (errno == EINTR) continue;
      return PathError(errno, "write", path);
    }
    // The system accepts no byte only if something is broken.
    if (result == 0) return PathError(EIO, "write", path);
    data.remove_prefix(static_cast<size_t>(result));
  }
  return absl::OkStatus();
}

absl::Status WriteFdAt(int fd, const std::string& path, uint64_t offset,
                       std::string_view data) {
  if (absl::Status status = CheckOffset(offset, data.size(), path);
      !status.ok()) {
    return status;
  }
  while (!data.empty()) {
    const ssize_t result =
        pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (result < 0) {
      if (errno == EINTR) continue;
      return PathError(errno, "pwrite", path);
    }
    // The system accepts no byte only if something is broken.
    if (result == 0) return PathError(EIO, "pwrite", path);
    data.remove_prefix(static_cast<size_t>(result));
    offset += static_cast<uint64_t>(result);
  }
  return absl::OkStatus();
}

absl::Status SyncFd(int fd, const std::string& path) {
  while (fsync(fd) != 0) {
    if (errno != EINTR) return PathError(errno, "fsync", path);
  }
  return absl::OkStatus();
}

absl::Status CloseFd(OwnedFd fd, const std::string& path) {
  if (close(fd.Release()) == 0 || errno == EINTR) return absl::OkStatus();
  return PathError(errno, "close", path);
}

}  // namespace rouse::fs::internal
