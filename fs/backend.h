// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: backend.h
// -----------------------------------------------------------------------------
//
// A `Backend` reads and writes open files by other means than the blocking
// pool:
//
//   absl::StatusOr<std::shared_ptr<rouse::fs::Backend>> ring =
//       rouse::fs::uring::CreateBackend();
//   // If the kernel refuses, the pool makes the calls.
//   auto options = rouse::fs::ForReading().Via(ring.value_or(nullptr));
//   auto open = rouse::fs::File::Open("data", std::move(options));
//
// `File` calls the functions. A program calls them only to compare back ends.

#ifndef ROUSE_FS_BACKEND_H_
#define ROUSE_FS_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "rouse/fs/file.h"
#include "rouse/fs/operation.h"

namespace rouse::fs {

// Backend
//
// Implementations are thread-safe. The operations follow the contracts of the
// functions of `File` with the same names, and own the file, all memory that
// the kernel uses, and a share of the back end.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Make an operation for the function of `File` with the same name.
  virtual Operation<std::string> ReadAt(File file, uint64_t offset,
                                        size_t size) = 0;
  virtual Operation<void> WriteAt(File file, uint64_t offset,
                                  std::string data) = 0;
  virtual Operation<void> Sync(File file) = 0;
  virtual Operation<void> SyncData(File file) = 0;
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_BACKEND_H_
