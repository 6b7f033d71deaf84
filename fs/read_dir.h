// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read_dir.h
// -----------------------------------------------------------------------------
//
// Lists a directory:
//
//   rouse::fs::ReadDir entries("/etc");
//   for (;;) {
//     std::optional<absl::StatusOr<rouse::fs::DirEntry>> entry =
//         co_await rouse::Next(entries);
//     if (!entry.has_value()) break;
//     if (!entry->ok()) co_return entry->status();
//     Use((*entry)->name());
//   }

#ifndef ROUSE_FS_READ_DIR_H_
#define ROUSE_FS_READ_DIR_H_

#include <dirent.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "rouse/fs/operation.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {

// DirEntry
//
// A value. On some file systems the kind of the file is not known without a
// further system call: all four functions for the kind then return false, and
// `GetSymlinkMetadata()` returns the kind.
class DirEntry {
 public:
  DirEntry(std::string name, unsigned char type)
      : name_(std::move(name)), type_(type) {}

  // Returns the name, without the directory.
  const std::string& name() const { return name_; }
  // Return the kind of the file, if the system has told it.
  bool IsFile() const { return type_ == DT_REG; }
  bool IsDir() const { return type_ == DT_DIR; }
  bool IsSymlink() const { return type_ == DT_LNK; }
  bool IsKindKnown() const { return type_ != DT_UNKNOWN; }

 private:
  std::string name_;
  unsigned char type_;
};

// ReadDir
//
// A stream of `absl::StatusOr<DirEntry>`: the entries of a directory without
// "." and "..", in no particular order. Reads many entries at a time on a
// thread of the blocking pool. Whether entries that are added or removed
// meanwhile appear is not determined. Movable. Not thread-safe.
//
// The stream ends after an error, such as NotFound. Destroying a pending poll
// loses nothing.
class ReadDir {
 public:
  explicit ReadDir(std::string path);

  PollResult<std::optional<absl::StatusOr<DirEntry>>> PollNext(Context& cx);

 private:
  struct Close {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  struct Batch {
    std::unique_ptr<DIR, Close> dir;  // null at the end
    std::vector<DirEntry> entries;
  };

  static absl::StatusOr<Batch> Read(std::unique_ptr<DIR, Close> dir,
                                    const std::string& path);

  std::string path_;
  std::optional<Operation<Batch>> read_;  // empty if nothing is left to read
  std::unique_ptr<DIR, Close> dir_;
  std::vector<DirEntry> entries_;  // the last one comes next
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_READ_DIR_H_
