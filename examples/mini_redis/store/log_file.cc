// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/log_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace mini_redis {
namespace {

// Calls `call` again while a signal interrupts the call.
template <class Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Flushes the directory of `path`, so that a new file survives a loss of power.
bool FlushDirectory(const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const int fd = Retry([&directory] {
    return open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  });
  if (fd < 0) return false;
  const absl::Cleanup close_fd = [fd] { close(fd); };
  return fsync(fd) == 0;
}

}  // namespace

absl::Status DiskLogFile::Error(int error, std::string_view call) const {
  return absl::ErrnoToStatus(error, absl::StrCat(call, " ", path_));
}

absl::StatusOr<std::shared_ptr<DiskLogFile>> DiskLogFile::Open(
    std::string path) {
  const int fd = Retry([&path] {
    return open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  });
  if (fd < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("open ", path, " (choose another --dir)"));
  }
  std::shared_ptr<DiskLogFile> file(new DiskLogFile(std::move(path), fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return absl::FailedPreconditionError(
          absl::StrCat(file->path_,
                       " is the log of a server that is running; stop that "
                       "server or choose another --dir"));
    }
    return file->Error(errno, "lock");
  }
  if (!FlushDirectory(file->path_)) {
    return file->Error(errno, "flush the directory of");
  }
  return file;
}

DiskLogFile::~DiskLogFile() { close(fd_); }

absl::StatusOr<size_t> DiskLogFile::Write(std::string_view bytes) {
  const ssize_t size =
      Retry([this, bytes] { return write(fd_, bytes.data(), bytes.size()); });
  if (size < 0) return Error(errno, "write");
  return static_cast<size_t>(size);
}

absl::Status DiskLogFile::Flush() {
  if (fdatasync(fd_) != 0) return Error(errno, "flush");
  return absl::OkStatus();
}

absl::StatusOr<std::string> DiskLogFile::Read(uint64_t offset,
                                              size_t size) const {
  std::string bytes(size, '\0');
  const ssize_t result = Retry([this, offset, &bytes] {
    return pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  });
  if (result < 0) return Error(errno, "read");
  bytes.resize(static_cast<size_t>(result));
  return bytes;
}

absl::Status DiskLogFile::Truncate(uint64_t size) {
  const int result =
      Retry([this, size] { return ftruncate(fd_, static_cast<off_t>(size)); });
  if (result != 0) return Error(errno, "cut off the end of");
  return Flush();
}

}  // namespace mini_redis
