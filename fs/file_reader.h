// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: file_reader.h
// -----------------------------------------------------------------------------
//
// Reads a file from an offset to its end, as a stream of bytes:
//
//   rouse::fs::FileReader reader(file);
//   std::string line;
//   for (;;) {
//     auto read = rouse::ReadLine(reader, line);
//     if (!co_await rouse::OrReturn(read)) break;
//     ...
//   }

#ifndef ROUSE_FS_FILE_READER_H_
#define ROUSE_FS_FILE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/fs/file.h"
#include "rouse/fs/operation.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {

// FileReader
//
// An `AsyncRead` and `AsyncBufRead` of a file. Has a buffer of its own, which
// `File::ReadAt()` fills, `chunk` bytes at a time. A chunk of more than
// `File::kMaxCachedRead` bytes is always read by a thread or by the back end;
// larger chunks then need fewer changes of the thread. Several readers of one
// file do not disturb each other. Movable. Not thread-safe.
//
// Destroying a pending read loses nothing: the bytes stay in the buffer. At the
// end of the file, reads return 0 bytes; if the file has grown since, the next
// read returns the new bytes. After an error the position is unchanged, and the
// reader can be used again. Errors are those of `File::ReadAt()`.
class FileReader {
 public:
  static constexpr size_t kDefaultChunk = size_t{64} << 10;

  explicit FileReader(File file, uint64_t offset = 0,
                      size_t chunk = kDefaultChunk);

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer);
  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(Context& cx)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;
  void Consume(size_t size);

  // Returns the offset of the next byte.
  uint64_t position() const { return offset_ - (buffer_.size() - consumed_); }
  // Makes `offset` the offset of the next byte. Discards the buffer.
  void Seek(uint64_t offset);

  // Returns the file.
  const File& file() const { return file_; }

 private:
  File file_;
  size_t chunk_;
  uint64_t offset_;  // behind the buffer
  std::string buffer_;
  size_t consumed_ = 0;  // bytes at the front of the buffer
  std::optional<Operation<std::string>> fill_;
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_FILE_READER_H_
