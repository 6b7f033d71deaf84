// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of the work queue. An item is waiting, leased or acknowledged.
//
//   Add() --> waiting --Take()--> leased --Acknowledge()--> acknowledged
//                ^                   |
//                +---Return(), ExpireLeases()
//
// A lease ends once: by whichever of Acknowledge(), Return() and
// ExpireLeases() comes first. An item is therefore acknowledged once, although
// it can be worked on several times.

#ifndef ROUSE_EXAMPLES_GRPC_WORK_QUEUE_QUEUE_H_
#define ROUSE_EXAMPLES_GRPC_WORK_QUEUE_QUEUE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"
#include "work_queue.pb.h"

namespace work_queue {

// Thread-safe. Must outlive the futures of `Take()`.
class Queue {
 public:
  explicit Queue(absl::Duration lease_time) : lease_time_(lease_time) {}

  void Add(Item item) {
    {
      const absl::MutexLock lock(&mu_);
      waiting_.push_back(std::move(item));
    }
    Changed();
  }

  // Returns the next item with a lease, as soon as there is an item. Destroying
  // the coroutine while it waits takes nothing.
  rouse::Co<Lease> Take() {
    for (;;) {
      {
        std::optional<Lease> lease = TryTake();
        if (lease.has_value()) co_return *std::move(lease);
      }
      co_await available_.Notified();
    }
  }

  // Ends a lease whose item is done. Returns the id of the item, or nothing if
  // the lease has ended before.
  std::optional<int64_t> Acknowledge(int64_t lease_id) {
    std::optional<int64_t> item;
    {
      const absl::MutexLock lock(&mu_);
      const auto lease = leased_.find(lease_id);
      if (lease == leased_.end()) {
        ++refused_;
      } else {
        item = lease->second.item.id();
        leased_.erase(lease);
        ++acknowledged_;
      }
    }
    Changed();
    return item;
  }

  // Ends a lease whose item is not done. Does nothing if the lease has ended.
  void Return(int64_t lease_id) {
    {
      const absl::MutexLock lock(&mu_);
      const auto lease = leased_.find(lease_id);
      if (lease == leased_.end()) return;
      waiting_.push_front(std::move(lease->second.item));
      leased_.erase(lease);
      ++returned_;
    }
    Changed();
  }

  // Ends the leases that have lasted too long.
  void ExpireLeases(absl::Time now) {
    std::vector<int64_t> expired;
    {
      const absl::MutexLock lock(&mu_);
      for (const auto& [id, lease] : leased_) {
        if (lease.expires <= now) expired.push_back(id);
      }
    }
    for (const int64_t id : expired) Return(id);
  }

  Counts counts() const {
    const absl::MutexLock lock(&mu_);
    Counts counts;
    counts.set_waiting(static_cast<int64_t>(waiting_.size()));
    counts.set_leased(static_cast<int64_t>(leased_.size()));
    counts.set_acknowledged(acknowledged_);
    counts.set_returned(returned_);
    counts.set_refused(refused_);
    return counts;
  }

  // Changes whenever the counts do.
  rouse::watch::Receiver<int64_t> Changes() { return changes_.Subscribe(); }

 private:
  struct Leased {
    Item item;
    absl::Time expires;
  };

  std::optional<Lease> TryTake() {
    Lease lease;
    {
      const absl::MutexLock lock(&mu_);
      if (waiting_.empty()) return std::nullopt;
      lease.set_lease_id(++last_lease_);
      *lease.mutable_item() = std::move(waiting_.front());
      waiting_.pop_front();
      leased_[lease.lease_id()] = {lease.item(), absl::Now() + lease_time_};
    }
    Changed();
    return lease;
  }

  // After `TryTake()`, too: `Notify` keeps one permit, so of two items added at
  // once one could wait while a taker sleeps.
  void Changed() {
    available_.NotifyOne();
    changes_.SendModify([](int64_t& number) { ++number; });
  }

  const absl::Duration lease_time_;
  rouse::Notify available_;
  rouse::watch::Sender<int64_t> changes_{int64_t{0}};
  mutable absl::Mutex mu_;
  std::deque<Item> waiting_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, Leased> leased_ ABSL_GUARDED_BY(mu_);
  int64_t last_lease_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t acknowledged_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t returned_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t refused_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace work_queue

#endif  // ROUSE_EXAMPLES_GRPC_WORK_QUEUE_QUEUE_H_
