// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/file_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/fs/file.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {

FileReader::FileReader(File file, uint64_t offset, size_t chunk)
    : file_(std::move(file)),
      chunk_(std::max<size_t>(chunk, 1)),
      offset_(offset) {}

PollResult<absl::StatusOr<std::string_view>> FileReader::PollFillBuf(
    Context& cx) {
  using Result = absl::StatusOr<std::string_view>;
  if (consumed_ < buffer_.size()) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return Result(std::string_view(buffer_).substr(consumed_));
  }
  if (!fill_.has_value()) fill_.emplace(file_.ReadAt(offset_, chunk_));
  auto filled = fill_->Poll(cx);
  if (filled.IsPending()) return kPending;
  fill_.reset();
  if (!filled->ok()) return Result((*std::move(filled)).status());
  buffer_ = **std::move(filled);
  consumed_ = 0;
  offset_ += buffer_.size();
  return Result(std::string_view(buffer_));
}

PollResult<absl::StatusOr<size_t>> FileReader::PollRead(
    Context& cx, absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  if (buffer.empty()) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return Result(0);
  }
  auto bytes = PollFillBuf(cx);
  if (bytes.IsPending()) return kPending;
  if (!bytes->ok()) return Result(bytes->status());
  const size_t size = std::min(buffer.size(), (*bytes)->size());
  std::copy_n((*bytes)->data(), size, buffer.data());
  Consume(size);
  return Result(size);
}

void FileReader::Consume(size_t size) {
  if (size > buffer_.size() - consumed_) {
    Panic(absl::StrCat("FileReader::Consume: the buffer has only ",
                       buffer_.size() - consumed_, " bytes; not ", size));
  }
  consumed_ += size;
}

void FileReader::Seek(uint64_t offset) {
  fill_.reset();
  buffer_.clear();
  consumed_ = 0;
  offset_ = offset;
}

}  // namespace rouse::fs
