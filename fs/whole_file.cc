// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/whole_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::fs {
namespace {

using internal::CloseFd;
using internal::OpenFd;
using internal::PathError;
using internal::WriteFd;

constexpr size_t kSmallestStep = size_t{16} << 10;
// The size of a file may be wrong: that of /proc/kcore is the address space.
constexpr size_t kLargestStep = size_t{1} << 30;

absl::StatusOr<std::string> ReadAll(const std::string& path, size_t limit) {
  absl::StatusOr<OwnedFd> fd = OpenFd(path, O_RDONLY, 0);
  if (!fd.ok()) return std::move(fd).status();
  // The size is a mere guess: files of /proc have none.
  struct stat raw = {};
  if (fstat(fd->get(), &raw) != 0) return PathError(errno, "fstat", path);
  const size_t size = std::min(static_cast<size_t>(raw.st_size), limit);
  std::string bytes;
  for (;;) {
    const size_t before = bytes.size();
    // One byte more shows whether the file has more.
    const size_t wanted =
        before < size ? size - before + 1 : std::max(before, kSmallestStep);
    const size_t step =
        std::min({wanted, std::max(limit, limit + 1) - before, kLargestStep});
    bytes.resize(before + step);
    const ssize_t result = read(fd->get(), bytes.data() + before, step);
    const int error = errno;
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(result, 0)));
    if (result == 0) return bytes;
    if (result < 0 && error != EINTR) return PathError(error, "read", path);
    if (bytes.size() > limit) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "fs: '", path, "' has more than the limit of ", limit, " bytes"));
    }
  }
}

absl::Status Overwrite(const std::string& path, std::string_view data,
                       mode_t mode) {
  absl::StatusOr<OwnedFd> fd = OpenFd(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
  if (!fd.ok()) return std::move(fd).status();
  if (absl::Status status = WriteFd(fd->get(), path, data); !status.ok()) {
    return status;
  }
  return CloseFd(*std::move(fd), path);
}

// Returns a path in the directory of `path`. Another call may return the same
// path, in another container or after a crash.
std::string TemporaryPath(const std::string& path) {
  // Relaxed: a mere counter.
  static std::atomic<uint64_t> count{0};
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return absl::StrCat(path.substr(0, name), ".rouse-", getpid(), "-",
                      count.fetch_add(1, std::memory_order_relaxed), ".tmp");
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status Replace(const std::string& path, std::string_view data,
                     mode_t mode) {
  if (absl::Status status = internal::CheckPath(path); !status.ok()) {
    return status;
  }
  std::string temporary;
  absl::StatusOr<OwnedFd> fd;
  do {
    temporary = TemporaryPath(path);
    fd = OpenFd(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
  } while (absl::IsAlreadyExists(fd.status()));
  if (!fd.ok()) return std::move(fd).status();
  absl::Cleanup remove = [&temporary] { unlink(temporary.c_str()); };
  if (absl::Status status = WriteFd(fd->get(), temporary, data); !status.ok()) {
    return status;
  }
  if (absl::Status status = internal::SyncFd(fd->get(), temporary);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = CloseFd(*std::move(fd), temporary); !status.ok()) {
    return status;
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return PathError(errno, "rename", path);
  }
  std::move(remove).Cancel();
  const std::string directory = DirectoryOf(path);
  absl::StatusOr<OwnedFd> opened = OpenFd(directory, O_RDONLY | O_DIRECTORY, 0);
  if (!opened.ok()) return std::move(opened).status();
  return internal::SyncFd(opened->get(), directory);
}

}  // namespace

Operation<std::string> ReadFile(std::string path, size_t limit) {
  return Operation<std::string>(
      [path = std::move(path), limit] { return ReadAll(path, limit); });
}

Operation<void> WriteFile(std::string path, std::string data, mode_t mode) {
  return Operation<void>([path = std::move(path), data = std::move(data),
                          mode] { return Overwrite(path, data, mode); });
}

Operation<void> WriteFileAtomically(std::string path, std::string data,
                                    mode_t mode) {
  return Operation<void>([path = std::move(path), data = std::move(data),
                          mode] { return Replace(path, data, mode); });
}

}  // namespace rouse::fs
