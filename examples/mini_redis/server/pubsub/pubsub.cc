// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/pubsub/pubsub.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "rouse/examples/mini_redis/resp/reply_writer.h"
#include "rouse/examples/mini_redis/store/glob.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/mpsc.h"
#include "rouse/waker/context.h"

namespace mini_redis {
namespace {

// What a message occupies in a queue in addition to the bytes.
constexpr size_t kMessageOverhead = 64;  // bytes

}  // namespace

Subscriber::Subscriber(size_t limit, rouse::CancellationToken kill)
    : Subscriber(limit, std::move(kill),
                 rouse::mpsc::UnboundedChannel<Message>()) {}

Subscriber::Subscriber(size_t limit, rouse::CancellationToken kill,
                       Channel channel)
    : limit_(limit),
      kill_(std::move(kill)),
      sender_(std::move(channel.first)),
      receiver_(std::move(channel.second)) {}

bool Subscriber::Push(const Message& message) {
  const size_t size = message->size() + kMessageOverhead;
  if (queued_.fetch_add(size, std::memory_order_relaxed) + size > limit_) {
    return false;
  }
  return sender_.Send(Message(message)).ok();
}

void Subscriber::Append(const Message& message, int protocol,
                        std::string& out) {
  queued_.fetch_sub(message->size() + kMessageOverhead,
                    std::memory_order_relaxed);
  out += protocol >= 3 ? '>' : '*';
  out += *message;
}

bool Subscriber::PollMessages(rouse::Context& cx, int protocol,
                              std::string& out) {
  bool any = false;
  for (;;) {
    auto message = receiver_.PollReceive(cx);
    // The channel is never closed, because the sender is a member, too.
    if (message.IsPending() || !message->has_value()) return any;
    Append(**message, protocol, out);
    any = true;
  }
}

void Subscriber::TakeMessages(int protocol, std::string& out) {
  for (;;) {
    const absl::StatusOr<Message> message = receiver_.TryReceive();
    if (!message.ok()) return;
    Append(*message, protocol, out);
  }
}

bool PubSub::Subscribe(Kind kind, std::string_view name,
                       Subscriber& subscriber) {
  const bool is_channel = kind == Kind::kChannel;
  auto& own = is_channel ? subscriber.channels_ : subscriber.patterns_;
  if (!own.emplace(name).second) return false;
  Names& names = is_channel ? channels_ : patterns_;
  names.try_emplace(name).first->second.insert(&subscriber);
  return true;
}

bool PubSub::Unsubscribe(Kind kind, std::string_view name,
                         Subscriber& subscriber) {
  const bool is_channel = kind == Kind::kChannel;
  auto& own = is_channel ? subscriber.channels_ : subscriber.patterns_;
  if (own.erase(name) == 0) return false;
  Names& names = is_channel ? channels_ : patterns_;
  const auto it = names.find(name);
  it->second.erase(&subscriber);
  if (it->second.empty()) names.erase(it);
  return true;
}

void PubSub::Remove(Subscriber& subscriber) {
  while (!subscriber.channels_.empty()) {
    const std::string name = *subscriber.channels_.begin();
    (void)Unsubscribe(Kind::kChannel, name, subscriber);
  }
  while (!subscriber.patterns_.empty()) {
    const std::string name = *subscriber.patterns_.begin();
    (void)Unsubscribe(Kind::kPattern, name, subscriber);
  }
}

size_t PubSub::Send(const Subscribers& subscribers, std::string bytes) {
  // The first byte says the protocol, and each subscriber adds the own one.
  bytes.erase(0, 1);
  const auto message = std::make_shared<const std::string>(std::move(bytes));
  for (Subscriber* const subscriber : subscribers) {
    if (!subscriber->Push(message)) subscriber->kill_.Cancel();
  }
  return subscribers.size();
}

size_t PubSub::Publish(std::string_view channel, std::string_view message) {
  size_t receivers = 0;
  if (const auto it = channels_.find(channel); it != channels_.end()) {
    std::string bytes;
    resp::ReplyWriter writer(bytes);
    writer.PushHeader(3);
    writer.Bulk("message");
    writer.Bulk(channel);
    writer.Bulk(message);
    receivers += Send(it->second, std::move(bytes));
  }
  for (const auto& [pattern, subscribers] : patterns_) {
    if (!GlobMatch(pattern, channel)) continue;
    std::string bytes;
    resp::ReplyWriter writer(bytes);
    writer.PushHeader(4);
    writer.Bulk("pmessage");
    writer.Bulk(pattern);
    writer.Bulk(channel);
    writer.Bulk(message);
    receivers += Send(subscribers, std::move(bytes));
  }
  return receivers;
}

size_t PubSub::SubscriberCount(std::string_view channel) const {
  const auto it = channels_.find(channel);
  return it == channels_.end() ? 0 : it->second.size();
}

void PubSub::ForEachChannel(
    absl::FunctionRef<void(std::string_view)> visit) const {
  for (const auto& [channel, subscribers] : channels_) visit(channel);
}

}  // namespace mini_redis
