// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/fs/backend.h"
#include "rouse/fs/metadata.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {
namespace {

// Returns whether bytes of the page cache can be had without waiting. A read
// with O_DIRECT waits for the device, whatever else was asked for.
bool UsesCache(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) == 0;
}

}  // namespace

File::State::State(OwnedFd fd, std::string path)
    : fd(std::move(fd)),
      path(std::move(path)),
      tries_cache(UsesCache(this->fd.get())) {}

File::File(OwnedFd fd, std::string path, std::shared_ptr<Backend> backend)
    : state_(std::make_shared<const State>(std::move(fd), std::move(path))),
      backend_(std::move(backend)) {}

void File::PanicMovedFrom() {
  Panic(
      "fs::File was used after it was moved from; use the object that it was "
      "moved to, or a copy made before the move");
}

Operation<File> File::Open(std::string path, OpenOptions options) {
  const auto open = [](std::string path,
                       OpenOptions options) -> absl::StatusOr<File> {
    absl::StatusOr<OwnedFd> fd =
        internal::OpenFd(path, options.flags_, options.mode_);
    if (!fd.ok()) return std::move(fd).status();
    return File(*std::move(fd), std::move(path), std::move(options.backend_));
  };
  return Operation<File>(
      [open, path = std::move(path), options = std::move(options)]() mutable {
        return open(std::move(path), std::move(options));
      });
}

Operation<std::string> File::ReadAt(uint64_t offset, size_t size) const {
  // Relaxed: see `State`.
  if (!state().tries_cache.load(std::memory_order_relaxed) ||
      size > kMaxCachedRead) {
    return ReadElsewhere(offset, size);
  }
  using Read = Operation<std::string>;
  return Read([file = Copy(), offset, size, elsewhere = std::optional<Read>()](
                  Context& cx) mutable -> PollResult<Read::Result> {
    if (!elsewhere.has_value()) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      std::string bytes;
      if (file.ReadCached(offset, size, bytes)) {
        unit->MadeProgress(bytes.size());
        return Read::Result(std::move(bytes));
      }
      elsewhere.emplace(file.ReadElsewhere(offset, size));
    }
    return elsewhere->Poll(cx);
  });
}

bool File::ReadCached(uint64_t offset, size_t size, std::string& bytes) const {
  // Otherwise whether a read fails would depend on the page cache.
  if (backend_ == nullptr && scheduler::CurrentBlockingPool() == nullptr) {
    return false;
  }
  const int error = internal::ReadCachedFdAt(fd(), offset, size, bytes);
  // Filters of system calls answer with the last two. Any other error is found
  // again by the call that may wait, and reported.
  if (error == EOPNOTSUPP || error == ENOSYS || error == EPERM) {
    // Relaxed: see `State`.
    state().tries_cache.store(false, std::memory_order_relaxed);
  }
  return error == 0;
}

Operation<std::string> File::ReadElsewhere(uint64_t offset, size_t size) const {
  if (backend_ != nullptr) {
    return backend_->ReadAt(WithoutBackend(), offset, size);
  }
  return Operation<std::string>([file = Copy(), offset, size] {
    return internal::ReadFdAt(file.fd(), file.path(), offset, size);
  });
}

Operation<void> File::WriteAt(uint64_t offset, std::string data) const {
  if (backend_ != nullptr) {
    return backend_->WriteAt(WithoutBackend(), offset, std::move(data));
  }
  return Operation<void>([file = Copy(), offset, data = std::move(data)] {
    return internal::WriteFdAt(file.fd(), file.path(), offset, data);
  });
}

Operation<void> File::Sync() const {
  if (backend_ != nullptr) return backend_->Sync(WithoutBackend());
  return Operation<void>(
      [file = Copy()] { return internal::SyncFd(file.fd(), file.path()); });
}

Operation<void> File::SyncData() const {
  if (backend_ != nullptr) return backend_->SyncData(WithoutBackend());
  return Operation<void>([file = Copy()] {
    while (fdatasync(file.fd()) != 0) {
      if (errno != EINTR) {
        return internal::PathError(errno, "fdatasync", file.path());
      }
    }
    return absl::OkStatus();
  });
}

Operation<void> File::SetSize(uint64_t size) const {
  return Operation<void>([file = Copy(), size] {
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
  return Operation<void>([file = Copy(), permissions] {
    if (fchmod(file.fd(), permissions) == 0) return absl::OkStatus();
    return internal::PathError(errno, "fchmod", file.path());
  });
}

Operation<Metadata> File::GetMetadata() const {
  return Operation<Metadata>([file = Copy()]() -> absl::StatusOr<Metadata> {
    struct stat raw;
    if (fstat(file.fd(), &raw) == 0) return Metadata(raw);
    return internal::PathError(errno, "fstat", file.path());
  });
}

Operation<void> File::Flock(int operation) const {
  return Operation<void>([file = Copy(), operation] {
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
