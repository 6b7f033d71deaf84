// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/session/session.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/reply_writer.h"
#include "rouse/examples/mini_redis/server/commands/executor.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/future/co.h"
#include "rouse/sync/broadcast.h"
#include "rouse/waker/context.h"

namespace mini_redis {
namespace {

// Largest size of an empty buffer.
constexpr size_t kKeptSize = 131072;  // bytes

}  // namespace

Session::Session(Service& service, uint64_t id, std::string address)
    : service_(service),
      client_(id, std::move(address), service.kill_all.ChildToken()),
      killed_(client_.kill.Cancelled()),
      stopped_(service.stop.Cancelled()) {
  const absl::MutexLock lock(&service_.store.mu());
  client_.connected = service_.store.keyspace().Now();
  client_.last_command_time = client_.connected;
  service_.clients.emplace(client_.id, &client_);
  ++service_.stats.connections;
}

Session::~Session() {
  monitor_line_.reset();
  const absl::MutexLock lock(&service_.store.mu());
  Disconnect(service_, client_);
  service_.clients.erase(client_.id);
}

void Session::Run(const resp::Command& request) {
  {
    const absl::MutexLock lock(&service_.store.mu());
    if (!round_time_.has_value()) {
      round_time_ = service_.store.keyspace().Now();
      client_.last_command_time = *round_time_;
    }
    // RESET may destroy the receiver of the future.
    if (client_.monitor.has_value()) monitor_line_.reset();
    Execute(service_, client_, request);
  }
  if (client_.out.size() > service_.options.output_limit) {
    LOG(WARNING) << "client " << client_.address
                 << " is disconnected: the replies exceed the limit of "
                 << service_.options.output_limit << " bytes (--output_limit)";
    client_.out.clear();
    client_.unconfirmed.clear();
    Close();
  }
}

bool Session::PollMonitor(rouse::Context& cx) {
  bool any = false;
  while (client_.monitor.has_value()) {
    if (!monitor_line_.has_value()) {
      monitor_line_.emplace(client_.monitor->Receive());
    }
    auto line = monitor_line_->Poll(cx);
    if (line.IsPending()) return any;
    monitor_line_.reset();
    any = true;
    if (line->has_value()) {
      client_.out += ***line;
      continue;
    }
    LOG(WARNING) << "client " << client_.address
                 << " is disconnected: MONITOR missed " << line->lagged()
                 << " commands, because the client reads too slowly";
    Close();
    return true;
  }
  return any;
}

bool Session::PollPushes(rouse::Context& cx) {
  if (!ReceivesPushes()) return false;
  bool any = false;
  if (client_.subscriber.has_value()) {
    any = client_.subscriber->PollMessages(cx, client_.protocol, client_.out);
  }
  return PollMonitor(cx) || any;
}

bool Session::PollEnd(rouse::Context& cx) {
  if (killed_.Poll(cx).IsPending() && stopped_.Poll(cx).IsPending()) {
    return false;
  }
  Close();
  return true;
}

void Session::CloseAfterError(const absl::Status& error) {
  // Other errors are errors of the stream: nobody would read a reply.
  if (absl::IsInvalidArgument(error) || absl::IsResourceExhausted(error)) {
    resp::ReplyWriter(client_.out, client_.protocol)
        .Error(absl::StrCat("ERR ", error.message()));
  }
  Close();
}

bool Session::PollElement(rouse::Context& cx) {
  auto element = client_.blocked->element.Poll(cx);
  if (element.IsPending()) return false;
  if (element->ok()) element_ = **std::move(element);
  return true;
}

void Session::Unblock() {
  const absl::MutexLock lock(&service_.store.mu());
  if (!element_.has_value()) {
    // The element may have arrived since the last poll.
    auto element = client_.blocked->element.TryReceive();
    if (element.ok()) element_ = *std::move(element);
  }
  service_.store.blocked_pops().Remove(client_.blocked->id);
  client_.blocked.reset();
  resp::ReplyWriter reply(client_.out, client_.protocol);
  const size_t begin = client_.out.size();
  if (!element_.has_value()) {
    if (!IsClosing()) reply.NullArray();
    return;
  }
  reply.ArrayHeader(2);
  reply.Bulk(element_->key);
  reply.Bulk(element_->element);
  element_.reset();
  if (const AppendLog* const log = service_.store.log()) {
    client_.log_position = log->end();
    client_.unconfirmed.emplace_back(begin, client_.out.size());
  }
}

void Session::ClearOut() {
  client_.out.clear();
  if (client_.out.capacity() > kKeptSize) client_.out = std::string();
}

rouse::Co<> Session::Confirm() {
  const absl::Status status =
      co_await service_.store.log()->Confirmed(client_.log_position);
  if (!status.ok()) ReplaceUnconfirmed(status);
  client_.unconfirmed.clear();
}

void Session::ReplaceUnconfirmed(const absl::Status& error) {
  std::string out;
  resp::ReplyWriter reply(out, client_.protocol);
  size_t copied = 0;
  for (const auto& [begin, end] : client_.unconfirmed) {
    out.append(client_.out, copied, begin - copied);
    reply.Error(LogError(error));
    copied = end;
  }
  out.append(client_.out, copied);
  client_.out = std::move(out);
}

}  // namespace mini_redis
