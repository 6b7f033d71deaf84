// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: append_log.h
// -----------------------------------------------------------------------------
//
// The append-only log: every change of the keyspace, as commands in RESP.
//
//   AppendLog log(std::move(file), Fsync::kAlways);
//   rouse::Spawn(log.Run()).Detach();
//   ...
//   {
//     const absl::MutexLock lock(&store_mu);
//     ... SET in the keyspace ...
//     end = log.Append(0, {"SET", "key", "value"});
//   }
//   absl::Status status = co_await log.Confirmed(end);
//   ... send the reply, or an error ...

#ifndef ROUSE_EXAMPLES_MINI_REDIS_STORE_APPEND_LOG_H_
#define ROUSE_EXAMPLES_MINI_REDIS_STORE_APPEND_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "rouse/examples/mini_redis/store/log_file.h"
#include "rouse/future/co.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/watch.h"

namespace mini_redis {

// When the log is flushed from the operating system to the disk.
enum class Fsync {
  kAlways,       // before a change is confirmed
  kEverySecond,  // once a second
  kNever,        // when the operating system chooses to
};

// AppendLog
//
// A buffer of changes in memory, and a task that writes the buffer to a file,
// through blocking calls. While a call is in progress, further changes gather
// in the buffer, and the next call writes all of these: with
// `Fsync::kAlways`, all clients that wait share an fsync.
//
// # Confirmation
//
// A change is confirmed when the operating system has the change or, with
// `Fsync::kAlways`, when the disk does. A server that sends replies to
// confirmed changes only loses no acknowledged change when the server is
// killed.
//
// # Errors
//
// If a write fails, as on a full disk, `error()` is not OK, and all waits for
// confirmations end with the error. The task tries again every second; after a
// success, `error()` is OK again and nothing is missing in the file. After a
// failed fsync the task does not try again, because the operating system may
// have dropped the data: the error is permanent.
class AppendLog {
 public:
  // Continues a log at the end of `file`.
  AppendLog(std::shared_ptr<LogFile> file, Fsync fsync);

  // Appends a command on database `db`. Returns the position behind the
  // command, for `Confirmed()`. REQUIRES: calls of `Append()`,
  // `BeginGroup()` and `EndGroup()` come one after another.
  uint64_t Append(size_t db, absl::Span<const std::string_view> command);

  // Makes the commands that are appended in between a transaction: a replay
  // runs all of the commands or none.
  void BeginGroup();
  void EndGroup();

  // Returns the position behind the last command.
  uint64_t end() const { return end_.load(std::memory_order_acquire); }

  // Returns why changes cannot be written at present, or OK.
  absl::Status error() const;

  // Waits until everything before `position` is confirmed, or `error()` is not
  // OK. Returns the error.
  rouse::Co<absl::Status> Confirmed(uint64_t position);

  // Writes the log until `Close()`. If the last changes cannot be written, the
  // result is the error. For a single task.
  rouse::Co<absl::Status> Run();

  // Ends `Run()` after everything has been written and flushed. No command may
  // be appended afterwards.
  void Close();

 private:
  // The state of the log for tasks that wait. A null `error` means OK.
  struct Progress {
    uint64_t confirmed = 0;
    std::shared_ptr<const absl::Status> error;
  };
  struct Written;

  void AppendCommand(absl::Span<const std::string_view> command,
                     std::string& out);
  rouse::Co<absl::Status> Write();
  rouse::Co<> FlushEverySecond();
  // Publishes that a call has written everything before `position`.
  void Confirm(uint64_t position);
  void Fail(absl::Status error);
  void FailPermanently(const absl::Status& error);

  const std::shared_ptr<LogFile> file_;
  const Fsync fsync_;

  // Used by the caller of `Append()`.
  size_t last_db_;
  enum class Group { kNone, kEmpty, kOpen } group_ = Group::kNone;

  mutable absl::Mutex mu_;
  std::string pending_ ABSL_GUARDED_BY(mu_);
  // Written under the lock. The release of `Append()` pairs with `end()`.
  std::atomic<uint64_t> end_{0};
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  rouse::Notify work_;
  rouse::CancellationToken closing_;

  // Position up to which the file has been written, and flushed.
  std::atomic<uint64_t> written_{0};
  uint64_t flushed_ = 0;

  // Confirmations without a wait take no lock. Acquire pairs with the releases
  // of `Confirm()` and `Fail()`.
  std::atomic<uint64_t> confirmed_{0};
  std::atomic<bool> failed_{false};
  bool failed_permanently_ = false;  // used by `Run()`
  rouse::watch::Sender<Progress> progress_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_STORE_APPEND_LOG_H_
