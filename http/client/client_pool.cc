// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/client/client_pool.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/co.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h1/client_exchange.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/semaphore.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::internal {
namespace {

// Closes idle connections of `weak` as they become old. Does not keep the pool
// alive.
Co<> Reap(std::weak_ptr<ClientPool> weak) {
  for (;;) {
    std::optional<Instant> next;
    {
      const std::shared_ptr<ClientPool> pool = weak.lock();
      if (pool == nullptr) co_return;
      next = pool->CloseExpired();
    }
    if (!next.has_value()) co_return;
    const SleepResult slept = co_await SleepUntil(*next);
    if (slept.ok()) continue;
    // The runtime has ended. A pool that lives on needs another reaper.
    const std::shared_ptr<ClientPool> pool = weak.lock();
    if (pool != nullptr) pool->EndReaper();
    co_return;
  }
}

}  // namespace

ClientPool::PerOrigin& ClientPool::Of(const std::string& origin,
                                      std::vector<PerOrigin>& forgotten) {
  const size_t before = origins_.size();
  PerOrigin& found = origins_[origin];
  if (origins_.size() == before) return found;
  found.permits = std::make_shared<Semaphore>(
      std::max<size_t>(options_.max_connections_per_origin, 1));
  // Forgets the servers that no request uses, in constant time on average.
  if ((origins_.size() & (origins_.size() - 1)) != 0) return found;
  absl::erase_if(origins_, [&](auto& entry) {
    PerOrigin& other = entry.second;
    if (!other.idle.empty() || entry.first == origin) return false;
    size_t uses = 1;  // each permit of a connection keeps the semaphore
    for (const Shared& shared : other.shared) {
      if (shared.connection->is_open()) return false;
      ++uses;
    }
    if (static_cast<size_t>(other.permits.use_count()) != uses ||
        other.turns.use_count() > 1) {
      return false;
    }
    forgotten.push_back(std::move(other));
    return true;
  });
  return origins_[origin];
}

std::shared_ptr<Semaphore> ClientPool::Permits(const std::string& origin) {
  std::vector<PerOrigin> destroyed_after_unlock;
  const ThreadMutexLock lock(&mu_);
  return Of(origin, destroyed_after_unlock).permits;
}

std::shared_ptr<Semaphore> ClientPool::Turns(const std::string& origin) {
  std::vector<PerOrigin> destroyed_after_unlock;
  const ThreadMutexLock lock(&mu_);
  std::shared_ptr<Semaphore>& turns = Of(origin, destroyed_after_unlock).turns;
  if (turns == nullptr) turns = std::make_shared<Semaphore>(1);
  return turns;
}

std::shared_ptr<SharedConnection> ClientPool::FindShared(
    const std::string& origin, bool even_if_full) {
  std::vector<Shared> destroyed_after_unlock;
  const ThreadMutexLock lock(&mu_);
  const auto found = origins_.find(origin);
  if (found == origins_.end()) return nullptr;
  std::vector<Shared>& shared = found->second.shared;
  const auto is_closed = [](const Shared& each) {
    return !each.connection->is_open();
  };
  if (std::any_of(shared.begin(), shared.end(), is_closed)) {
    std::vector<Shared> open;
    // Nothing is lost if memory runs out.
    open.reserve(shared.size());
    destroyed_after_unlock.reserve(shared.size());
    for (Shared& each : shared) {
      (is_closed(each) ? destroyed_after_unlock : open)
          .push_back(std::move(each));
    }
    shared.swap(open);
  }
  std::shared_ptr<SharedConnection> least;
  size_t fewest = 0;
  for (const Shared& each : shared) {
    const size_t requests = each.connection->requests();
    if (requests < each.connection->most_requests()) return each.connection;
    if (least == nullptr || requests < fewest) {
      least = each.connection;
      fewest = requests;
    }
  }
  return even_if_full ? least : nullptr;
}

void ClientPool::AddShared(const std::string& origin,
                           std::shared_ptr<SharedConnection> connection,
                           Semaphore::OwnedPermit permit) {
  std::vector<PerOrigin> destroyed_after_unlock;
  std::vector<std::shared_ptr<SharedConnection>> others;
  {
    const ThreadMutexLock lock(&mu_);
    PerOrigin& per_origin = Of(origin, destroyed_after_unlock);
    per_origin.speaks_http1 = false;
    for (const Shared& each : per_origin.shared) {
      others.push_back(each.connection);
    }
    per_origin.shared.emplace_back(std::move(connection), std::move(permit));
  }
  // All of them, so that the connections have equally many afterwards.
  for (const auto& other : others) other->ReleaseWaiting();
}

bool ClientPool::SpeaksHttp1(const std::string& origin) const {
  const ThreadMutexLock lock(&mu_);
  const auto found = origins_.find(origin);
  return found != origins_.end() && found->second.speaks_http1;
}

void ClientPool::SetSpeaksHttp1(const std::string& origin) {
  std::vector<PerOrigin> destroyed_after_unlock;
  const ThreadMutexLock lock(&mu_);
  Of(origin, destroyed_after_unlock).speaks_http1 = true;
}

std::unique_ptr<ClientConnection> ClientPool::TakeIdle(
    const std::string& origin) {
  const Instant now = Now();
  // Both are closed after the unlock.
  std::vector<std::unique_ptr<ClientConnection>> expired;
  std::unique_ptr<ClientConnection> newest;
  const ThreadMutexLock lock(&mu_);
  const auto found = origins_.find(origin);
  if (found == origins_.end() || found->second.idle.empty()) return nullptr;
  auto& idle = found->second.idle;
  newest = std::move(idle.back());
  idle.pop_back();
  --idle_;
  if (newest->idle_since + options_.idle_timeout > now) return newest;
  // The others are older.
  expired.swap(idle);
  idle_ -= expired.size();
  return nullptr;
}

void ClientPool::Return(const std::string& origin,
                        std::unique_ptr<ClientConnection> connection) {
  connection->in.Shrink();
  connection->sender.Shrink();
  connection->idle_since = Now();
  bool starts_reaper = false;
  {
    const ThreadMutexLock lock(&mu_);
    const auto found = origins_.find(origin);
    if (found == origins_.end() ||
        found->second.idle.size() >= options_.max_idle_per_origin) {
      return;  // the caller's parameter is destroyed after the unlock
    }
    found->second.idle.push_back(std::move(connection));
    ++idle_;
    if (!has_reaper_ && options_.idle_timeout != absl::InfiniteDuration() &&
        scheduler::Current() != nullptr) {
      has_reaper_ = starts_reaper = true;
    }
  }
  if (starts_reaper) {
    Spawn(Reap(weak_from_this()), {.name = "http client: idle"}).Detach();
  }
}

void ClientPool::EndReaper() {
  const ThreadMutexLock lock(&mu_);
  has_reaper_ = false;
}

size_t ClientPool::idle_connections() const {
  const ThreadMutexLock lock(&mu_);
  size_t idle = idle_;
  for (const auto& [origin, per_origin] : origins_) {
    for (const Shared& shared : per_origin.shared) {
      const bool is_idle =
          shared.connection->is_open() && shared.connection->requests() == 0;
      if (is_idle) ++idle;
    }
  }
  return idle;
}

std::optional<Instant> ClientPool::CloseExpired() {
  const Instant now = Now();
  std::vector<std::unique_ptr<ClientConnection>> closed_after_unlock;
  const ThreadMutexLock lock(&mu_);
  std::optional<Instant> next;
  for (auto& [origin, per_origin] : origins_) {
    auto& idle = per_origin.idle;
    const auto expired = std::find_if(
        idle.begin(), idle.end(), [this, now](const auto& connection) {
          return connection->idle_since + options_.idle_timeout > now;
        });
    closed_after_unlock.insert(closed_after_unlock.end(),
                               std::make_move_iterator(idle.begin()),
                               std::make_move_iterator(expired));
    idle_ -= expired - idle.begin();
    idle.erase(idle.begin(), expired);
    if (!idle.empty()) {
      const Instant end = idle.front()->idle_since + options_.idle_timeout;
      next = next.has_value() ? std::min(*next, end) : end;
    }
  }
  has_reaper_ = next.has_value();
  return next;
}

}  // namespace rouse::http::internal
