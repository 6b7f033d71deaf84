// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: blocking_client.h
// -----------------------------------------------------------------------------
//
// A client of Redis for programs without coroutines. Each call blocks its
// thread:
//
//   absl::StatusOr<redis_client::BlockingClient> client =
//       redis_client::BlockingClient::Connect("127.0.0.1:6379");
//   if (!client.ok()) return client.status();
//   absl::StatusOr<std::optional<std::string>> name = client->Get("name");

#ifndef ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_BLOCKING_CLIENT_H_
#define ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_BLOCKING_CLIENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/examples/ports/redis_client/client.h"
#include "rouse/rouse.h"

namespace redis_client {

class BlockingSubscriber;

// BlockingClient
//
// Owns a `Client`, and the current-thread runtime that the client runs on.
// Movable. The functions are those of `Client`, and must not be called in a
// task.
class BlockingClient {
 public:
  static absl::StatusOr<BlockingClient> Connect(std::string address);

  absl::StatusOr<std::string> Ping(
      std::optional<std::string> message = std::nullopt) {
    return runtime_.BlockOn(client_.Ping(std::move(message)));
  }
  absl::StatusOr<std::optional<std::string>> Get(std::string key) {
    return runtime_.BlockOn(client_.Get(std::move(key)));
  }
  absl::Status Set(std::string key, std::string value) {
    return runtime_.BlockOn(client_.Set(std::move(key), std::move(value)));
  }
  absl::Status SetExpires(std::string key, std::string value,
                          absl::Duration expiration) {
    return runtime_.BlockOn(
        client_.SetExpires(std::move(key), std::move(value), expiration));
  }
  absl::StatusOr<int64_t> Publish(std::string channel, std::string message) {
    return runtime_.BlockOn(
        client_.Publish(std::move(channel), std::move(message)));
  }
  absl::StatusOr<BlockingSubscriber> Subscribe(
      std::vector<std::string> channels) &&;

 private:
  BlockingClient(rouse::Runtime runtime, Client client)
      : runtime_(std::move(runtime)), client_(std::move(client)) {}

  rouse::Runtime runtime_;
  Client client_;
};

// BlockingSubscriber
//
// See `Subscriber`. Movable.
class BlockingSubscriber {
 public:
  // Blocks until a message has arrived. Returns nothing if the server has
  // closed the connection.
  absl::StatusOr<std::optional<Message>> NextMessage() {
    return runtime_.BlockOn(subscriber_.NextMessage());
  }
  absl::Status Subscribe(std::vector<std::string> channels) {
    return runtime_.BlockOn(subscriber_.Subscribe(std::move(channels)));
  }
  absl::Status Unsubscribe(std::vector<std::string> channels) {
    return runtime_.BlockOn(subscriber_.Unsubscribe(std::move(channels)));
  }
  const std::vector<std::string>& subscribed() const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return subscriber_.subscribed();
  }

 private:
  friend class BlockingClient;

  BlockingSubscriber(rouse::Runtime runtime, Subscriber subscriber)
      : runtime_(std::move(runtime)), subscriber_(std::move(subscriber)) {}

  rouse::Runtime runtime_;
  Subscriber subscriber_;
};

}  // namespace redis_client

#endif  // ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_BLOCKING_CLIENT_H_
