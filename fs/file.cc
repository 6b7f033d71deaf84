// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/file.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/fs/metadata.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::fs {

Operation<File> File::Open(std::string path, OpenOptions options) {
  return Operation<File>(
      [path = std::move(path), options]() mutable -> absl::StatusOr<File> {
        absl::StatusOr<OwnedFd> fd =
            internal::OpenFd(path, options.flags_, options.mode_);
        if (!fd.ok()) return std::move(fd).status();
        return File(*std::move(fd), std::move(path));
      });
}

Operation<std::string> File::ReadAt(uint64_t offset, size_t size) const {
  return Operation<std::string>([file = *this, offset, size] {
    return internal::ReadFdAt(file.fd(), file.path(), offset, size);
  });
}

Operation<void> File::WriteAt(uint64_t offset, std::string data) const {
  return Operation<void>([file = *this, offset, data = std::move(data)] {
    return internal::WriteFdAt(file.fd(), file.path(), offset, data);
  });
}

Operation<void> File::Sync() const {
  return Operation<void>(
      [file = *this] { return internal::SyncFd(file.fd(), file.path()); });
}

Operation<void> File::SyncData() const {
  return Operation<void>([file = *this] {
    while (fdatasync(file.fd()) != 0) {
      if (errno != EINTR) {
        return internal::PathError(errno, "fdatasync", file.path());
      }
    }
    return absl::OkStatus();
  });
}

Operation<void> File::SetSize(uint64_t size) const {
  return Operation<void>([file = *this, size] {
    if (size > uint64_t{std::numeric_limits<off_t>::max()}) {
      return absl::InvalidArgumentError(
          absl::StrCat("fs: '", file.path(), "' cannot have ", size, " bytes"));
    }
    while (ftruncate(file.fd(), static_cast<off_t>(size)) != 0) {
      if (errno != EINTR) {
        return internal::PathError(errno, "ftruncate", file.path());
      }
    }
    return absl::OkStatus();
  });
}

Operation<void> File::SetPermissions(mode_t permissions) const {
  return Operation<void>([file = *this, permissions] {
    if (fchmod(file.fd(), permissions) == 0) return absl::OkStatus();
    return internal::PathError(errno, "fchmod", file.path());
  });
}

Operation<Metadata> File::GetMetadata() const {
  return Operation<Metadata>([file = *this]() -> absl::StatusOr<Metadata> {
    struct stat raw;
    if (fstat(file.fd(), &raw) == 0) return Metadata(raw);
    return internal::PathError(errno, "fstat", file.path());
  });
}

Operation<void> File::Flock(int operation) const {
  return Operation<void>([file = *this, operation] {
    while (flock(file.fd(), operation) != 0) {
      if (errno == EWOULDBLOCK) {
        return absl::UnavailableError(
            absl::StrCat("fs: '", file.path(), "' is locked elsewhere"));
      }
      if (errno != EINTR) {
        return internal::PathError(errno, "flock", file.path());
      }
    }
    return absl::OkStatus();
  });
}

Operation<void> File::Lock() const { return Flock(LOCK_EX); }
Operation<void> File::LockShared() const { return Flock(LOCK_SH); }
Operation<void> File::TryLock() const { return Flock(LOCK_EX | LOCK_NB); }
Operation<void> File::TryLockShared() const { return Flock(LOCK_SH | LOCK_NB); }
Operation<void> File::Unlock() const { return Flock(LOCK_UN); }

}  // namespace rouse::fs
