// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: store.h
// -----------------------------------------------------------------------------
//
// Everything that commands read and change, behind one lock.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_STORE_STORE_H_
#define ROUSE_EXAMPLES_MINI_REDIS_STORE_STORE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/blocked_pops.h"
#include "rouse/examples/mini_redis/store/keyspace.h"
#include "rouse/future/co.h"
#include "rouse/timer/wheel/handle.h"

namespace mini_redis {

// Store
//
// The keyspace, the log of the keyspace, and the clients that wait for keys.
//
// Commands run one at a time, under `mu()`, whichever thread calls. One lock
// for all keys makes a transaction atomic and gives the log the order of the
// changes. No command waits while the lock is held, and most commands take less
// time than a system call, so the lock does not limit a few threads. With one
// worker thread nothing contends for the lock.
class Store {
 public:
  // Without a `log`, changes are kept in memory only. `log` must outlive the
  // store.
  Store(const rouse::wheel::Handle& timer, AppendLog* log);

  absl::Mutex& mu() ABSL_LOCK_RETURNED(mu_) { return mu_; }

  Keyspace& keyspace() ABSL_ATTRIBUTE_LIFETIME_BOUND
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return keyspace_;
  }
  BlockedPops& blocked_pops() ABSL_ATTRIBUTE_LIFETIME_BOUND
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return blocked_pops_;
  }

  // Returns the log, or null.
  AppendLog* log() const { return log_; }
  // Detaches the log during a replay, and attaches the log again. The caller
  // has the store for itself.
  void SetLog(AppendLog* log) { log_ = log; }

  // Logs a command that has changed database `db`.
  void Log(size_t db, absl::Span<const std::string_view> command)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (log_ != nullptr) (void)log_->Append(db, command);
  }

  // Notes that elements were pushed to a list for which clients may wait.
  void NotePush(size_t db, std::string_view key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (blocked_pops_.size() > 0) pushed_.emplace_back(db, key);
  }

  // Serves the clients that wait for the keys of `NotePush()`. Called after
  // each command or transaction, so that a client gets the first element of all
  // that were pushed.
  void ServePops() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (!pushed_.empty()) ServePushed();
  }

  // Removes keys whose deadlines have come, until the driver of the timer shuts
  // down. For a single task.
  rouse::Co<> ExpireKeys();

 private:
  void ServePushed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  AppendLog* log_;
  Keyspace keyspace_ ABSL_GUARDED_BY(mu_);
  BlockedPops blocked_pops_ ABSL_GUARDED_BY(mu_);
  std::vector<std::pair<size_t, std::string>> pushed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_STORE_STORE_H_
