// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: file.h
// -----------------------------------------------------------------------------
//
// A `File` reads and writes an open file at any offset:
//
//   rouse::fs::File file = co_await rouse::OrReturn(
//       rouse::fs::File::Open("data", rouse::fs::ForUpdate()));
//   std::string header = co_await rouse::OrReturn(file.ReadAt(0, 512));
//   co_await rouse::OrReturn(file.WriteAt(512, std::move(record)));
//   co_await rouse::OrReturn(file.Sync());
//
// To read or write a file from its beginning to its end, see file_reader.h and
// file_writer.h; for whole files, see whole_file.h.

#ifndef ROUSE_FS_FILE_H_
#define ROUSE_FS_FILE_H_

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "rouse/fs/metadata.h"
#include "rouse/fs/operation.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::fs {

// OpenOptions
//
// How a file is opened. Each function changes the options and returns them.
class OpenOptions {
 public:
  // Creates a file that does not exist, with permissions `mode` less the
  // process's umask.
  OpenOptions& Create(mode_t mode = 0666) {
    flags_ |= O_CREAT;
    mode_ = mode;
    return *this;
  }
  // Like `Create()`, but opening fails with AlreadyExists if the file exists.
  OpenOptions& CreateNew(mode_t mode = 0666) {
    flags_ |= O_EXCL;
    return Create(mode);
  }
  // Removes the contents of a file that exists.
  OpenOptions& Truncate() { return Flags(O_TRUNC); }
  // Makes each write go to the end of the file, whatever its offset.
  OpenOptions& Append() { return Flags(O_APPEND); }
  // Adds flags of open(2), such as `O_DIRECT` or `O_NOFOLLOW`.
  OpenOptions& Flags(int flags) {
    flags_ |= flags;
    return *this;
  }

 private:
  friend class File;
  friend OpenOptions ForReading();
  friend OpenOptions ForWriting();
  friend OpenOptions ForUpdate();

  explicit OpenOptions(int flags) : flags_(flags | O_CLOEXEC) {}

  int flags_;
  mode_t mode_ = 0;
};

// Return options for a file that exists: only to be read, only to be written,
// or both. Writing does not remove the contents; see `Truncate()`.
inline OpenOptions ForReading() { return OpenOptions(O_RDONLY); }
inline OpenOptions ForWriting() { return OpenOptions(O_WRONLY); }
inline OpenOptions ForUpdate() { return OpenOptions(O_RDWR); }

// File
//
// An open file. Copyable: copies share the open file, which is closed when the
// last copy and the last operation are gone. Thread-safe: any number of
// operations may be under way at once. The order of operations that overlap is
// not determined.
//
// The operations make no use of the position in the open file. They fail with
// InvalidArgument or FailedPrecondition on files that have no offsets, such as
// pipes: see `Pipe` for these.
class File {
 public:
  // Opens the file at `path`.
  static Operation<File> Open(std::string path,
                              OpenOptions options = ForReading());

  // Takes over an open file. `path` appears in error messages.
  File(OwnedFd fd, std::string path)
      : state_(std::make_shared<const State>(
            State{std::move(fd), std::move(path)})) {}

  // Reads `size` bytes at `offset`, or fewer if the file ends before.
  Operation<std::string> ReadAt(uint64_t offset, size_t size) const;

  // Writes all of `data` at `offset`. After an error, a part may have been
  // written.
  Operation<void> WriteAt(uint64_t offset, std::string data) const;

  // Wait until the storage device has all data: with `Sync()`, also all
  // metadata; with `SyncData()`, only the metadata needed to read the data.
  Operation<void> Sync() const;
  Operation<void> SyncData() const;

  // Cuts the file off after `size` bytes, or extends it with zeros.
  Operation<void> SetSize(uint64_t size) const;
  Operation<void> SetPermissions(mode_t permissions) const;
  Operation<Metadata> GetMetadata() const;

  // Lock the file against other locks (flock(2)), shared or exclusive. The lock
  // belongs to the open file, and so to all copies, and ends with `Unlock()` or
  // when the open file is closed.
  //
  // `TryLock()` and `TryLockShared()` return Unavailable if another open file
  // holds a lock that excludes this one. `Lock()` and `LockShared()` wait on
  // their thread until the lock is free: a destroyed future goes on to wait,
  // and may take the lock, and the end of the runtime waits for it. To limit
  // the wait, call `TryLock()` now and then.
  Operation<void> Lock() const;
  Operation<void> LockShared() const;
  Operation<void> TryLock() const;
  Operation<void> TryLockShared() const;
  Operation<void> Unlock() const;

  // Returns the descriptor, which the copies continue to own.
  int fd() const { return state_->fd.get(); }
  const std::string& path() const { return state_->path; }

 private:
  struct State {
    OwnedFd fd;
    std::string path;
  };

  Operation<void> Flock(int operation) const;

  std::shared_ptr<const State> state_;
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_FILE_H_
