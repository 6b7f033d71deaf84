// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/file_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/fs/file.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {

FileWriter::FileWriter(File file, uint64_t offset, size_t chunk)
    : file_(std::move(file)),
      chunk_(std::max<size_t>(chunk, 1)),
      offset_(offset),
      flushed_(offset) {}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : file_(other.file_),
      chunk_(other.chunk_),
      offset_(other.offset_),
      flushed_(std::exchange(other.flushed_, other.offset_)),
      buffer_(std::exchange(other.buffer_, std::string())),
      write_(std::exchange(other.write_, std::nullopt)),
      error_(std::move(other.error_)) {}

FileWriter::~FileWriter() {
  const uint64_t unknown = position() - flushed_;
  if (unknown == 0 || !error_.ok()) return;
  LOG(ERROR) << "fs::FileWriter: up to " << unknown << " bytes for '"
             << file_.path()
             << "' were not written; flush the writer before you destroy it";
}

PollResult<absl::Status> FileWriter::PollWritten(Context& cx) {
  if (write_.has_value()) {
    PollResult<absl::Status> written = write_->Poll(cx);
    if (written.IsPending()) return kPending;
    write_.reset();
    error_ = *std::move(written);
    if (error_.ok()) flushed_ = offset_;
  }
  return error_;
}

void FileWriter::Begin() {
  const size_t size = buffer_.size();
  write_.emplace(file_.WriteAt(offset_, std::exchange(buffer_, std::string())));
  offset_ += size;
}

PollResult<absl::StatusOr<size_t>> FileWriter::PollWrite(
    Context& cx, std::string_view data) {
  return PollWriteVectored(cx, absl::MakeConstSpan(&data, 1));
}

PollResult<absl::StatusOr<size_t>> FileWriter::PollWriteVectored(
    Context& cx, absl::Span<const std::string_view> parts) {
  using Result = absl::StatusOr<size_t>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (buffer_.size() == chunk_ || !error_.ok()) {
    PollResult<absl::Status> written = PollWritten(cx);
    if (written.IsPending()) return kPending;
    unit->MadeProgress();
    if (!written->ok()) return Result(*std::move(written));
    Begin();
    // Starts the write. A later poll finds its end.
    (void)PollWritten(cx);
  }
  size_t taken = 0;
  for (const std::string_view part : parts) {
    const std::string_view some = part.substr(0, chunk_ - buffer_.size());
    buffer_.append(some);
    taken += some.size();
  }
  unit->MadeProgress();
  return Result(taken);
}

PollResult<absl::Status> FileWriter::PollFlush(Context& cx) {
  for (;;) {
    PollResult<absl::Status> written = PollWritten(cx);
    if (written.IsPending() || !written->ok() || buffer_.empty()) {
      return written;
    }
    Begin();
  }
}

}  // namespace rouse::fs
