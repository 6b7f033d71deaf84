// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: metadata.h
// -----------------------------------------------------------------------------
//
// What the system knows about a file:
//
//   rouse::fs::Metadata data =
//       co_await rouse::OrReturn(rouse::fs::GetMetadata("a.txt"));
//   if (data.IsFile() && data.size() > 1000) ...

#ifndef ROUSE_FS_METADATA_H_
#define ROUSE_FS_METADATA_H_

#include "rouse/base/cxx20.h"

#include <sys/stat.h>

#include <cstdint>

#include "absl/time/time.h"

namespace rouse::fs {

// Metadata
//
// A value: a copy of what the system knew.
class Metadata {
 public:
  explicit Metadata(const struct stat& raw) : raw_(raw) {}

  // Return the kind of the file. All are false for a device, a pipe or a
  // socket.
  bool IsFile() const { return S_ISREG(raw_.st_mode); }
  bool IsDir() const { return S_ISDIR(raw_.st_mode); }
  bool IsSymlink() const { return S_ISLNK(raw_.st_mode); }

  // Returns the size in bytes; for a symbolic link, the length of its target.
  uint64_t size() const { return static_cast<uint64_t>(raw_.st_size); }
  // Returns the permissions: the lower 12 bits of the mode, such as 0644.
  mode_t permissions() const { return raw_.st_mode & 07777; }
  absl::Time modified() const { return absl::TimeFromTimespec(raw_.st_mtim); }
  absl::Time accessed() const { return absl::TimeFromTimespec(raw_.st_atim); }

  // Returns everything that stat(2) returns, such as the owner and the inode.
  const struct stat& raw() const { return raw_; }

 private:
  struct stat raw_;
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_METADATA_H_
