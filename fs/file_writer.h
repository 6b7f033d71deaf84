// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: file_writer.h
// -----------------------------------------------------------------------------
//
// Writes a file from an offset on, as a stream of bytes:
//
//   rouse::fs::FileWriter writer(file);
//   co_await rouse::OrReturn(rouse::WriteAll(writer, "one line\n"));
//   co_await rouse::OrReturn(rouse::Flush(writer));

#ifndef ROUSE_FS_FILE_WRITER_H_
#define ROUSE_FS_FILE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/fs/file.h"
#include "rouse/fs/operation.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {

// FileWriter
//
// An `AsyncWrite` to a file. Has a buffer of `chunk` bytes, which is written on
// a thread of the blocking pool when it is full, and by a flush. The next bytes
// are taken while the buffer is written. Movable. Not thread-safe.
//
// **Flush before you destroy the writer.** Only then is it known that all bytes
// were written. A destroyed writer discards the bytes in its buffer, and bytes
// that wait for a thread; it logs an error that names the file and the number
// of bytes. Shutting down is flushing: the file stays open.
//
// An error of a write is returned by the next call, and by all later ones. The
// file then has a prefix of what was written, up to `flushed()` at least.
//
// Destroying a pending write or flush loses nothing. Errors are those of
// `File::WriteAt()`.
class FileWriter {
 public:
  static constexpr size_t kDefaultChunk = size_t{64} << 10;

  explicit FileWriter(File file, uint64_t offset = 0,
                      size_t chunk = kDefaultChunk);
  FileWriter(FileWriter&&) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data);
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts);
  PollResult<absl::Status> PollFlush(Context& cx);
  PollResult<absl::Status> PollShutdown(Context& cx) { return PollFlush(cx); }

  // Returns the offset at which the next byte is written.
  uint64_t position() const { return offset_ + buffer_.size(); }
  // Returns the offset behind the bytes that were written for certain.
  uint64_t flushed() const { return flushed_; }

  // Returns the file.
  const File& file() const { return file_; }

 private:
  // Waits until no thread writes. Returns the error of the writes, if any.
  PollResult<absl::Status> PollWritten(Context& cx);
  // Gives the buffer to a thread. REQUIRES: no thread writes.
  void Begin();

  File file_;
  size_t chunk_;
  uint64_t offset_;  // of the buffer
  uint64_t flushed_;
  std::string buffer_;
  std::optional<Operation<void>> write_;
  absl::Status error_;
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_FILE_WRITER_H_
