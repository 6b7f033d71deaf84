// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: uring.h
// -----------------------------------------------------------------------------
//
// Has operations of open files made by io_uring(7) instead of threads, if the
// kernel allows this:
//
//   absl::StatusOr<std::shared_ptr<rouse::fs::Backend>> ring =
//       rouse::fs::uring::CreateBackend();
//   if (!ring.ok()) LOG(INFO) << "no io_uring: " << ring.status();
//   auto open = rouse::fs::File::Open(
//       "data", rouse::fs::ForReading().Via(ring.value_or(nullptr)));
//
// docs/guide/files.md has figures of when this pays.

#ifndef ROUSE_FS_URING_URING_H_
#define ROUSE_FS_URING_URING_H_

#include "rouse/base/cxx20.h"

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "rouse/fs/backend.h"

namespace rouse::fs::uring {

// Options
//
// The options of a ring.
struct Options {
  // The number of operations that the kernel works on at once, from 1 to 4096.
  // Rounded up to a power of two. Further operations wait in user space, first
  // in, first out.
  uint32_t max_operations = 256;
};

// CreateBackend()
//
// Makes a ring for `File::ReadAt()`, `WriteAt()`, `Sync()` and `SyncData()`.
// One ring serves any number of files and threads. Other operations, such as
// `File::Open()`, remain with the blocking pool.
//
// Must be called where a runtime is current. A task of this runtime waits for
// completions, so a current-thread runtime must run. After the runtime has
// ended, operations of the ring fail with Unavailable.
//
// Destroying an operation that the kernel has not begun takes it back, as far
// as the kernel can. Otherwise the operation goes on, with memory that the ring
// owns. Destroying the ring's last operation, file and pointer waits for such
// operations: they are system calls on files, which end by themselves, unless a
// network file system does not answer.
//
//   PermissionDenied    kernel.io_uring_disabled, or a filter of system calls,
//                       forbids io_uring
//   Unimplemented       the kernel has no io_uring, or one without reads
//                       (before Linux 5.6)
//   ResourceExhausted   out of descriptors or memory; before Linux 5.12, also
//                       RLIMIT_MEMLOCK
//   InvalidArgument     `max_operations` is out of range
//   FailedPrecondition  no runtime is current
//   Unavailable         the runtime is shutting down
absl::StatusOr<std::shared_ptr<Backend>> CreateBackend(Options options = {});

}  // namespace rouse::fs::uring

#endif  // ROUSE_FS_URING_URING_H_
