// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: posix.h
// -----------------------------------------------------------------------------
//
// Internal to fs/: system calls of files, repeated after a signal and after a
// partial result, with errors that name the call and the path. All functions
// except `ReadCachedFdAt()` block the calling thread.

#ifndef ROUSE_FS_POSIX_H_
#define ROUSE_FS_POSIX_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::fs::internal {

// Returns the error `error` (errno) of `call` for `path`.
absl::Status PathError(int error, std::string_view call, std::string_view path);

// Returns InvalidArgument if the path contains a zero byte, which would cut it
// off.
absl::Status CheckPath(std::string_view path);

// Returns InvalidArgument if no file has `size` bytes at `offset`.
absl::Status CheckOffset(uint64_t offset, uint64_t size, std::string_view path);

// Returns how many bytes a read of `size` bytes asks for after `done` bytes: at
// most 1 MiB at first. A string that grows step by step costs less for a size
// that the file does not have.
size_t NextReadStep(size_t done, size_t size);

absl::StatusOr<OwnedFd> OpenFd(const std::string& path, int flags, mode_t mode);

// Reads until `size` bytes are read, or the file ends.
absl::StatusOr<std::string> ReadFdAt(int fd, const std::string& path,
                                     uint64_t offset, size_t size);
// Reads like `ReadFdAt()`, but only what is in the page cache, and never waits
// for the storage device. Returns 0 if `bytes` is the whole result. Otherwise
// `bytes` is worth nothing, and the result is an errno: EAGAIN if something is
// not in the cache, another number if the call failed.
int ReadCachedFdAt(int fd, uint64_t offset, size_t size, std::string& bytes);
// Writes all of `data`, at the position of the open file or at `offset`.
absl::Status WriteFd(int fd, const std::string& path, std::string_view data);
absl::Status WriteFdAt(int fd, const std::string& path, uint64_t offset,
                       std::string_view data);
absl::Status SyncFd(int fd, const std::string& path);
// Some file systems report an error of a write only when the file is closed.
absl::Status CloseFd(OwnedFd fd, const std::string& path);

}  // namespace rouse::fs::internal

#endif  // ROUSE_FS_POSIX_H_
