// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/append_log.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/examples/mini_redis/store/log_file.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/watch.h"
#include "rouse/timer/interval.h"
#include "rouse/timer/sleep.h"

namespace mini_redis {
namespace {

constexpr absl::Duration kFlushPeriod = absl::Seconds(1);
constexpr absl::Duration kRetryWrite = absl::Seconds(1);

// Largest size of a buffer that is kept for the next write.
constexpr size_t kKeptSize = size_t{1} << 20;  // bytes

}  // namespace

// The result of a blocking call that writes.
struct AppendLog::Written {
  std::string bytes;  // what was to be written
  size_t size = 0;    // how much was written
  absl::Status write;
  absl::Status flush;
};

AppendLog::AppendLog(std::shared_ptr<LogFile> file, Fsync fsync)
    : file_(std::move(file)),
      fsync_(fsync),
      last_db_(std::numeric_limits<size_t>::max()),
      progress_(rouse::watch::Channel<Progress>(Progress()).first) {}

void AppendLog::AppendCommand(absl::Span<const std::string_view> command,
                              std::string& out) {
  absl::StrAppend(&out, "*", command.size(), "\r\n");
  for (std::string_view argument : command) {
    absl::StrAppend(&out, "$", argument.size(), "\r\n", argument, "\r\n");
  }
}

uint64_t AppendLog::Append(size_t db,
                           absl::Span<const std::string_view> command) {
  bool was_empty;
  uint64_t end;
  {
    const absl::MutexLock lock(&mu_);
    was_empty = pending_.empty();
    const size_t before = pending_.size();
    if (group_ == Group::kEmpty) {
      AppendCommand({"MULTI"}, pending_);
      group_ = Group::kOpen;
    }
    if (db != last_db_) {
      AppendCommand({"SELECT", absl::StrCat(db)}, pending_);
      last_db_ = db;
    }
    AppendCommand(command, pending_);
    // Relaxed load: only this function and EndGroup() write, under the lock.
    end = end_.load(std::memory_order_relaxed) + pending_.size() - before;
    end_.store(end, std::memory_order_release);
  }
  // A group is confirmed as a whole, so `EndGroup()` wakes the task.
  if (was_empty && group_ == Group::kNone) work_.NotifyOne();
  return end;
}

void AppendLog::BeginGroup() { group_ = Group::kEmpty; }

void AppendLog::EndGroup() {
  if (std::exchange(group_, Group::kNone) != Group::kOpen) return;
  {
    const absl::MutexLock lock(&mu_);
    const size_t before = pending_.size();
    AppendCommand({"EXEC"}, pending_);
    end_.store(end_.load(std::memory_order_relaxed) + pending_.size() - before,
               std::memory_order_release);
  }
  work_.NotifyOne();
}

absl::Status AppendLog::error() const {
  if (!failed_.load(std::memory_order_acquire)) return absl::OkStatus();
  const auto progress = progress_.Borrow();
  return progress->error == nullptr ? absl::OkStatus() : *progress->error;
}

void AppendLog::Confirm(uint64_t position) {
  if (failed_permanently_) return;
  confirmed_.store(position, std::memory_order_release);
  failed_.store(false, std::memory_order_release);
  (void)progress_.SendReplace(Progress{position, nullptr});
}

void AppendLog::Fail(absl::Status error) {
  const uint64_t confirmed = confirmed_.load(std::memory_order_relaxed);
  (void)progress_.SendReplace(Progress{
      confirmed, std::make_shared<const absl::Status>(std::move(error))});
  failed_.store(true, std::memory_order_release);
}

void AppendLog::FailPermanently(const absl::Status& error) {
  failed_permanently_ = true;
  Fail(error);
  LOG(ERROR) << "the server refuses all writes until the server is started "
                "again: "
             << error;
}

rouse::Co<absl::Status> AppendLog::Confirmed(uint64_t position) {
  if (confirmed_.load(std::memory_order_acquire) >= position) {
    co_return absl::OkStatus();
  }
  rouse::watch::Receiver<Progress> receiver = progress_.Subscribe();
  auto is_decided = [position](const Progress& progress) {
    return progress.confirmed >= position || progress.error != nullptr;
  };
  absl::StatusOr<Progress> progress =
      co_await receiver.WaitForValue(std::move(is_decided));
  if (!progress.ok()) co_return progress.status();
  if (progress->confirmed >= position) co_return absl::OkStatus();
  co_return *progress->error;
}

rouse::Co<absl::Status> AppendLog::Write() {
  std::string bytes;
  uint64_t target = 0;
  for (;;) {
    bool closed;
    {
      const absl::MutexLock lock(&mu_);
      // After a failed write, `bytes` holds what is left of the write.
      if (bytes.empty()) {
        std::swap(bytes, pending_);
      } else {
        bytes += pending_;
        pending_.clear();
      }
      target = end_.load(std::memory_order_relaxed);
      closed = closed_;
    }
    if (bytes.empty()) {
      if (closed) co_return absl::OkStatus();
      co_await work_.Notified();
      continue;
    }
    auto write = [file = file_, bytes = std::move(bytes),
                  flush = fsync_ == Fsync::kAlways]() mutable {
      Written written;
      while (written.write.ok() && written.size < bytes.size()) {
        const absl::StatusOr<size_t> size =
            file->Write(std::string_view(bytes).substr(written.size));
        if (size.ok()) {
          written.size += *size;
        } else {
          written.write = size.status();
        }
      }
      if (flush && written.write.ok()) written.flush = file->Flush();
      written.bytes = std::move(bytes);
      return written;
    };
    absl::StatusOr<Written> written =
        co_await rouse::SpawnBlocking(std::move(write));
    if (!written.ok()) co_return written.status();
    if (!written->flush.ok()) {
      FailPermanently(written->flush);
      co_return written->flush;
    }
    bytes = std::move(written->bytes);
    if (written->write.ok()) {
      if (failed_.load(std::memory_order_relaxed)) {
        LOG(INFO) << file_->path() << " can be written again";
      }
      written_.store(target, std::memory_order_release);
      Confirm(target);
      bytes.clear();
      if (bytes.capacity() > kKeptSize) bytes = std::string();
      continue;
    }
    bytes.erase(0, written->size);
    if (failed_permanently_) co_return written->write;
    if (!failed_.load(std::memory_order_relaxed)) {
      LOG(ERROR) << "the server refuses writes until the log can be written: "
                 << written->write;
    }
    Fail(written->write);
    if (closed) {
      LOG(ERROR) << "the last " << bytes.size()
                 << " bytes of the log could not be written";
      co_return written->write;
    }
    // If the log is closed meanwhile, the next write is the last attempt.
    (void)co_await closing_.RunUntilCancelled(rouse::Sleep(kRetryWrite));
  }
}

rouse::Co<> AppendLog::FlushEverySecond() {
  rouse::IntervalOptions options;
  options.missed_ticks = rouse::MissedTicks::kDelay;
  rouse::Interval interval(kFlushPeriod, options);
  while (!closing_.IsCancelled()) {
    (void)co_await closing_.RunUntilCancelled(interval.Tick());
    const uint64_t target = written_.load(std::memory_order_acquire);
    if (target == flushed_) continue;
    auto flush = [file = file_] { return file->Flush(); };
    const absl::Status flushed = co_await rouse::SpawnBlocking(flush);
    if (!flushed.ok()) {
      FailPermanently(flushed);
      co_return;
    }
    flushed_ = target;
  }
}

rouse::Co<absl::Status> AppendLog::Run() {
  absl::Status status;
  if (fsync_ == Fsync::kEverySecond) {
    auto [written, flushed] = co_await rouse::Join(Write(), FlushEverySecond());
    status = written;
  } else {
    status = co_await Write();
  }
  if (status.ok()) status = error();
  if (!status.ok()) co_return status;
  auto flush = [file = file_] { return file->Flush(); };
  co_return co_await rouse::SpawnBlocking(flush);
}

void AppendLog::Close() {
  {
    const absl::MutexLock lock(&mu_);
    closed_ = true;
  }
  closing_.Cancel();
  work_.NotifyOne();
}

}  // namespace mini_redis
