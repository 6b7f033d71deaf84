// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: pubsub.h
// -----------------------------------------------------------------------------
//
// Channels, patterns of channels, and the clients that have subscribed.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_PUBSUB_PUBSUB_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_PUBSUB_PUBSUB_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/mpsc.h"
#include "rouse/waker/context.h"

namespace mini_redis {

// Subscriber
//
// A client that subscribes: the names, and a queue of messages. One queue keeps
// the messages of all channels in the order in which they were published, and
// the client waits for one queue, however many channels there are.
//
// The queue is limited in bytes, not in messages, as in Redis. A client that
// reads too slowly is disconnected when the queue is full: the publisher never
// waits, and no message is left out silently.
class Subscriber {
 public:
  // `kill` is cancelled when more than `limit` bytes wait in the queue.
  Subscriber(size_t limit, rouse::CancellationToken kill);
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  // Returns the number of channels and patterns.
  size_t count() const { return channels_.size() + patterns_.size(); }
  const absl::flat_hash_set<std::string>& channels() const { return channels_; }
  const absl::flat_hash_set<std::string>& patterns() const { return patterns_; }

  // Moves the waiting messages to `out`, in the form of `protocol`, and returns
  // whether there were any. If there were none, wakes the task of `cx` for the
  // next message.
  bool PollMessages(rouse::Context& cx, int protocol, std::string& out);

  // Moves the waiting messages to `out` like `PollMessages()`, without a wake.
  void TakeMessages(int protocol, std::string& out);

 private:
  friend class PubSub;

  // A message without the first byte, which depends on the protocol. All
  // subscribers share the bytes.
  using Message = std::shared_ptr<const std::string>;

  using Channel = std::pair<rouse::mpsc::UnboundedSender<Message>,
                            rouse::mpsc::UnboundedReceiver<Message>>;

  Subscriber(size_t limit, rouse::CancellationToken kill, Channel channel);

  // Returns false if the queue is full.
  bool Push(const Message& message);
  void Append(const Message& message, int protocol, std::string& out);

  const size_t limit_;
  const rouse::CancellationToken kill_;
  rouse::mpsc::UnboundedSender<Message> sender_;
  rouse::mpsc::UnboundedReceiver<Message> receiver_;
  // Relaxed: the number orders nothing.
  std::atomic<size_t> queued_{0};  // bytes

  absl::flat_hash_set<std::string> channels_;
  absl::flat_hash_set<std::string> patterns_;
};

// PubSub
//
// Used by a single thread at a time: the lock of the `Store` guards the
// registry, so messages have one order for all subscribers.
class PubSub {
 public:
  enum class Kind { kChannel, kPattern };

  // Return whether the subscription is new, or existed.
  bool Subscribe(Kind kind, std::string_view name, Subscriber& subscriber);
  bool Unsubscribe(Kind kind, std::string_view name, Subscriber& subscriber);

  // Ends all subscriptions of `subscriber`.
  void Remove(Subscriber& subscriber);

  // Sends a message to all subscribers. Returns the number of subscribers.
  size_t Publish(std::string_view channel, std::string_view message);

  // Return the number of subscribers of a channel, and of patterns.
  size_t SubscriberCount(std::string_view channel) const;
  size_t pattern_count() const { return patterns_.size(); }

  // Visits each channel that has a subscriber.
  void ForEachChannel(absl::FunctionRef<void(std::string_view)> visit) const;

 private:
  using Subscribers = absl::flat_hash_set<Subscriber*>;
  using Names = absl::flat_hash_map<std::string, Subscribers>;

  static size_t Send(const Subscribers& subscribers, std::string bytes);

  Names channels_;
  Names patterns_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_PUBSUB_PUBSUB_H_
