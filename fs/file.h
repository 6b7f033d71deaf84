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
// A read of bytes that the page cache has is ready at once, without another
// thread. To have other operations made by io_uring, see uring/uring.h.
//
// To read or write a file from its beginning to its end, see file_reader.h and
// file_writer.h; for whole files, see whole_file.h.

#ifndef ROUSE_FS_FILE_H_
#define ROUSE_FS_FILE_H_

#include <fcntl.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "rouse/fs/metadata.h"
#include "rouse/fs/operation.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::fs {

class Backend;

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
  // Has reads, writes and syncs of the file made by `backend` (backend.h)
  // instead of the blocking pool. With null, the pool makes them.
  OpenOptions& Via(std::shared_ptr<Backend> backend) {
    backend_ = std::move(backend);
    return *this;
  }
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
  std::shared_ptr<Backend> backend_;
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
// not determined. A file that was moved from can only be assigned and
// destroyed; any other use is a `Panic()`.
//
// The operations make no use of the position in the open file. They fail with
// InvalidArgument or FailedPrecondition on files that have no offsets, such as
// pipes: see `Pipe` for these.
class File {
 public:
  // Opens the file at `path`.
  static Operation<File> Open(std::string path,
                              OpenOptions options = ForReading());

  // The largest read that can be ready without another thread. A longer copy
  // would delay other tasks by more than the other thread costs.
  static constexpr size_t kMaxCachedRead = size_t{64} << 10;

  // Takes over an open file. `path` appears in error messages. For `backend`,
  // see `OpenOptions::Via()`.
  File(OwnedFd fd, std::string path,
       std::shared_ptr<Backend> backend = nullptr);

  // Reads `size` bytes at `offset`, or fewer if the file ends before.
  //
  // The first poll of a read of at most `kMaxCachedRead` bytes tries to copy
  // the bytes from the page cache, in one system call, and takes units of the
  // task's budget for them. If bytes are missing there, a thread or the back
  // end reads them. Not tried with `O_DIRECT`, which would wait for the device,
  // nor again on a file system that has refused it.
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
  int fd() const { return state().fd.get(); }
  const std::string& path() const { return state().path; }

 private:
  struct State {
    State(OwnedFd fd, std::string path);

    OwnedFd fd;
    std::string path;
    // False if reads do not try the page cache. Relaxed: a mere hint.
    mutable std::atomic<bool> tries_cache;
  };

  // Panics and reports that a file was used after it was moved from.
  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMovedFrom();

  // Returns the state. A `Panic()` if the file was moved from.
  const State& state() const {
    if (ABSL_PREDICT_FALSE(state_ == nullptr)) PanicMovedFrom();
    return *state_;
  }
  // Returns a copy for an operation. A `Panic()` if the file was moved from.
  File Copy() const {
    static_cast<void>(state());
    return *this;
  }

  // Reads without a try of the page cache.
  Operation<std::string> ReadElsewhere(uint64_t offset, size_t size) const;
  // Returns whether `bytes` is the result of the read.
  bool ReadCached(uint64_t offset, size_t size, std::string& bytes) const;
  Operation<void> Flock(int operation) const;

  // Returns the file for its back end, which must not own itself.
  File WithoutBackend() const {
    static_cast<void>(state());
    return File(state_);
  }

  explicit File(std::shared_ptr<const State> state)
      : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;  // null if moved from
  std::shared_ptr<Backend> backend_;    // or null
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_FILE_H_
