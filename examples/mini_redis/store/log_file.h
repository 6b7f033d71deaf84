// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The file of an append-only log.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_STORE_LOG_FILE_H_
#define ROUSE_EXAMPLES_MINI_REDIS_STORE_LOG_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mini_redis {

// LogFile
//
// What an `AppendLog` needs of a file. The functions block. `Write()` and
// `Flush()` may be called concurrently.
class LogFile {
 public:
  virtual ~LogFile() = default;

  // Returns the name of the file, for messages.
  virtual std::string_view path() const = 0;

  // Appends the beginning of `bytes`. Returns how many bytes were appended, at
  // least one.
  virtual absl::StatusOr<size_t> Write(std::string_view bytes) = 0;

  // Flushes everything that has been written to the disk.
  virtual absl::Status Flush() = 0;
};

// DiskLogFile
//
// A file on a disk. The file is locked, so that no two servers write the same
// file.
class DiskLogFile : public LogFile {
 public:
  // Opens or creates `path`. Fails with FailedPrecondition if another process
  // has opened the file.
  static absl::StatusOr<std::shared_ptr<DiskLogFile>> Open(std::string path);

  ~DiskLogFile() override;
  DiskLogFile(const DiskLogFile&) = delete;
  DiskLogFile& operator=(const DiskLogFile&) = delete;

  std::string_view path() const override { return path_; }
  absl::StatusOr<size_t> Write(std::string_view bytes) override;
  absl::Status Flush() override;

  // Reads up to `size` bytes at `offset`. An empty result is the end.
  absl::StatusOr<std::string> Read(uint64_t offset, size_t size) const;

  // Removes everything behind `size`, and flushes the file.
  absl::Status Truncate(uint64_t size);

 private:
  DiskLogFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  absl::Status Error(int error, std::string_view call) const;

  const std::string path_;
  const int fd_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_STORE_LOG_FILE_H_
