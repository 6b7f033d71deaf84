// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/read_dir.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {
namespace {

constexpr size_t kMaxBatch = 256;

}  // namespace

ReadDir::ReadDir(std::string path)
    : path_(std::move(path)),
      read_(std::in_place, [path = path_]() -> absl::StatusOr<Batch> {
        if (absl::Status status = internal::CheckPath(path); !status.ok()) {
          return status;
        }
        std::unique_ptr<DIR, Close> dir(opendir(path.c_str()));
        if (dir == nullptr) return internal::PathError(errno, "opendir", path);
        return Read(std::move(dir), path);
      }) {}

absl::StatusOr<ReadDir::Batch> ReadDir::Read(std::unique_ptr<DIR, Close> dir,
                                             const std::string& path) {
  Batch batch;
  while (batch.entries.size() < kMaxBatch) {
    errno = 0;
    const dirent* const entry = readdir(dir.get());
    if (entry == nullptr) {
      if (errno != 0) return internal::PathError(errno, "readdir", path);
      dir.reset();
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    batch.entries.emplace_back(std::string(name), entry->d_type);
  }
  // Entries are taken from the back.
  std::reverse(batch.entries.begin(), batch.entries.end());
  batch.dir = std::move(dir);
  return batch;
}

PollResult<std::optional<absl::StatusOr<DirEntry>>> ReadDir::PollNext(
    Context& cx) {
  using Item = std::optional<absl::StatusOr<DirEntry>>;
  while (entries_.empty()) {
    if (!read_.has_value()) {
      if (dir_ == nullptr) return Item();
      read_.emplace([dir = std::move(dir_), path = path_]() mutable {
        return Read(std::move(dir), path);
      });
    }
    PollResult<absl::StatusOr<Batch>> batch = read_->Poll(cx);
    if (batch.IsPending()) return kPending;
    read_.reset();
    if (!batch->ok()) return Item((*std::move(batch)).status());
    dir_ = std::move((**batch).dir);
    entries_ = std::move((**batch).entries);
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  unit->MadeProgress();
  Item item(std::in_place, std::move(entries_.back()));
  entries_.pop_back();
  return item;
}

}  // namespace rouse::fs
