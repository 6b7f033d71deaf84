// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/store.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/examples/mini_redis/store/entry.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace mini_redis {

Store::Store(const rouse::wheel::Handle& timer, AppendLog* log)
    : log_(log), keyspace_(timer) {
  const absl::MutexLock lock(&mu_);
  // The lock is held whenever a key expires. A replay removes the key at the
  // same place, because keys do not expire by themselves in a replay.
  keyspace_.SetOnExpired([this](size_t db, std::string_view key) {
    if (log_ != nullptr) (void)log_->Append(db, {"DEL", key});
  });
}

void Store::ServePushed() {
  for (const auto& [db, key] : std::exchange(pushed_, {})) {
    Entry* const entry = keyspace_.Find(db, key);
    if (entry == nullptr || entry->list() == nullptr) continue;
    for (const bool left : blocked_pops_.Serve(db, key, *entry->list())) {
      Log(db, {left ? "LPOP" : "RPOP", key});
    }
    if (entry->list()->empty()) (void)keyspace_.Erase(db, key);
  }
}

rouse::Co<> Store::ExpireKeys() {
  // The queue of deadlines is for one thread at a time, so each poll is under
  // the lock. The lock is not held while the task waits.
  auto poll = [this](rouse::Context& cx) {
    const absl::MutexLock lock(&mu_);
    return keyspace_.PollExpired(cx);
  };
  while (co_await rouse::PollFn(poll)) {
  }
}

}  // namespace mini_redis
