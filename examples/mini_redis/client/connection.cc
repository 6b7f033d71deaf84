// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/connection.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/future/co.h"
#include "rouse/sync/oneshot.h"
#include "rouse/sync/semaphore.h"

namespace mini_redis::internal {

rouse::Co<Connection::Result> Connection::Request(
    std::shared_ptr<Connection> connection, std::string bytes, size_t requests,
    bool is_batch) {
  absl::StatusOr<rouse::Semaphore::Permit> permit =
      co_await connection->room_.Acquire();
  // Only `Break()` closes the semaphore.
  if (!permit.ok()) co_return connection->status();
  absl::StatusOr<rouse::oneshot::Receiver<Result>> reply =
      connection->Add(bytes, requests, is_batch, *std::move(permit));
  if (!reply.ok()) co_return reply.status();
  // The connection keeps its own copy while the reply is missing.
  bytes = std::string();
  co_return co_await *std::move(reply);
}

absl::StatusOr<rouse::oneshot::Receiver<Connection::Result>> Connection::Add(
    std::string_view bytes, size_t requests, bool is_batch,
    rouse::Semaphore::Permit permit) {
  auto [sender, receiver] = rouse::oneshot::Channel<Result>();
  {
    const absl::MutexLock lock(&mu_);
    if (!reason_.ok()) return reason_;
    entries_.emplace_back(requests, is_batch, std::move(sender),
                          std::move(permit));
    unsent_ += bytes;
  }
  added_.NotifyOne();
  return std::move(receiver);
}

bool Connection::Take(std::string& bytes) {
  bytes.clear();
  const absl::MutexLock lock(&mu_);
  if (!reason_.ok()) return false;
  std::swap(bytes, unsent_);
  return true;
}

bool Connection::Deliver(resp::Value reply) {
  // A message of a server that speaks version 3, such as of a key that has
  // changed. No request waits for it.
  if (reply.type() == resp::Value::Type::kPush) return true;
  std::optional<Entry> done;
  absl::Status unexpected;
  {
    const absl::MutexLock lock(&mu_);
    if (!reason_.ok()) return false;
    if (entries_.empty()) {
      // A server says so if it has too many clients, for example.
      unexpected = absl::UnavailableError(absl::StrCat(
          "the server sent a reply to no request: ", reply.ToString()));
    } else {
      Entry& entry = entries_.front();
      --entry.left;
      if (entry.is_batch) entry.replies.push_back(std::move(reply));
      if (entry.left > 0) return true;
      done.emplace(std::move(entry));
      entries_.pop_front();
    }
  }
  if (!unexpected.ok()) {
    Break(unexpected);
    return false;
  }
  if (done->is_batch) reply = resp::Value::Array(std::move(done->replies));
  // Fails if the task that asked was cancelled.
  (void)done->sender.Send(Result(std::move(reply)));
  return true;
}

void Connection::Break(const absl::Status& reason) {
  std::deque<Entry> entries;
  {
    const absl::MutexLock lock(&mu_);
    if (!reason_.ok()) return;
    reason_ = reason;
    entries = std::exchange(entries_, {});
    unsent_ = std::string();
  }
  room_.Close();
  added_.NotifyOne();
  for (Entry& entry : entries) (void)entry.sender.Send(Result(reason));
}

bool Connection::IsIdle() const {
  const absl::MutexLock lock(&mu_);
  return reason_.ok() && entries_.empty();
}

absl::Status Connection::status() const {
  const absl::MutexLock lock(&mu_);
  return reason_;
}

}  // namespace mini_redis::internal
