// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client.h
// -----------------------------------------------------------------------------
//
// A client of Redis with one request at a time, and the messages of channels as
// a stream:
//
//   rouse::Co<absl::Status> Main() {
//     redis_client::Client client = co_await rouse::OrReturn(
//         redis_client::Client::Connect("127.0.0.1:6379"));
//     co_await rouse::OrReturn(client.Set("greeting", "hello"));
//     redis_client::Subscriber news = co_await rouse::OrReturn(
//         std::move(client).Subscribe({"news"}));
//     auto messages = std::move(news).IntoStream();
//     while (auto message = co_await rouse::Next(messages)) {
//       co_await rouse::OrReturn(message->status());
//       std::cout << (*message)->content << "\n";
//     }
//     co_return absl::OkStatus();
//   }

#ifndef ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_CLIENT_H_
#define ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/examples/mini_redis/resp/value_decoder.h"
#include "rouse/rouse.h"

namespace redis_client {

class Subscriber;

// Client
//
// Owns a connection. Movable, except while a future of the client exists. For
// one request at a time: the next request begins when the future of the request
// before is ready. See buffered_client.h for a client that tasks share.
//
// # Cancellation
//
// A request that was sent has a reply, which arrives even if nobody waits. A
// client whose future was destroyed while pending refuses further requests with
// FailedPrecondition, because it would take the reply for another's.
//
// # Errors
//
// An error reply of the server is an Aborted with the text of the reply, and
// the client stays usable. An Unavailable says that the server has closed the
// connection. Other errors are those of the connection.
class Client {
 public:
  // Connects to "host:port".
  static rouse::Co<absl::StatusOr<Client>> Connect(std::string address);

  // Returns "PONG", or `message` if there is one.
  rouse::Co<absl::StatusOr<std::string>> Ping(
      std::optional<std::string> message = std::nullopt)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns nothing if the key does not exist.
  rouse::Co<absl::StatusOr<std::optional<std::string>>> Get(std::string key)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  rouse::Co<absl::Status> Set(std::string key,
                              std::string value) ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // The key disappears after `expiration`, which is rounded up to milliseconds.
  // InvalidArgument if `expiration` is not positive, or is infinite.
  rouse::Co<absl::Status> SetExpires(std::string key, std::string value,
                                     absl::Duration expiration)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the number of subscribers that got the message.
  rouse::Co<absl::StatusOr<int64_t>> Publish(
      std::string channel, std::string message) ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Turns the client into a subscriber, when the server has confirmed.
  rouse::Co<absl::StatusOr<Subscriber>> Subscribe(
      std::vector<std::string> channels) &&;

 private:
  friend class Subscriber;

  using Command = mini_redis::resp::Command;
  using Value = mini_redis::resp::Value;

  explicit Client(rouse::TcpStream stream) : frames_(std::move(stream)) {}

  static rouse::Co<absl::StatusOr<Subscriber>> SubscribeOn(
      Client client, std::vector<std::string> channels);

  // Returns an error if the reply to a cancelled request is missing.
  absl::Status CheckIdle() const;
  // Sends a request, and returns the reply.
  rouse::Co<absl::StatusOr<Value>> Request(Command command);
  rouse::Co<absl::Status> RequestOk(Command command);
  rouse::Co<absl::Status> Write(const Command& command);
  // Returns the next reply. An error reply is an error.
  rouse::Co<absl::StatusOr<Value>> Read();

  rouse::Framed<rouse::TcpStream, mini_redis::resp::ValueDecoder> frames_;
  bool is_waiting_ = false;  // for a reply
};

// A message of a channel.
struct Message {
  std::string channel;
  std::string content;

  friend bool operator==(const Message& a, const Message& b) = default;
};

// Subscriber
//
// Owns a connection that receives messages. Movable, except while a future of
// the subscriber exists. Errors are those of `Client`.
//
// Destroying a pending `NextMessage()` loses nothing. Destroying a pending
// `Subscribe()` or `Unsubscribe()` loses no message, but leaves open whether
// the server has executed it.
class Subscriber {
 public:
  // Returns the next message, or nothing if the server has closed the
  // connection, or the connection has failed with Unavailable.
  rouse::Co<absl::StatusOr<std::optional<Message>>> NextMessage()
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the messages as a stream, which ends with the connection. An error
  // is the last item.
  rouse::Gen<absl::StatusOr<Message>> IntoStream() &&;

  // Subscribes to more channels. Returns when the server has confirmed.
  rouse::Co<absl::Status> Subscribe(std::vector<std::string> channels)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Ends the subscriptions to `channels`, or to all if there is none.
  rouse::Co<absl::Status> Unsubscribe(std::vector<std::string> channels)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the channels that are subscribed to, in the order of subscribing.
  const std::vector<std::string>& subscribed() const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return subscribed_;
  }

 private:
  friend class Client;

  explicit Subscriber(Client client) : client_(std::move(client)) {}

  static rouse::Gen<absl::StatusOr<Message>> Messages(Subscriber subscriber);

  // Sends `name` with `channels`, and waits until `confirmations` have come.
  rouse::Co<absl::Status> Change(std::string name,
                                 std::vector<std::string> channels,
                                 size_t confirmations);
  // Takes a message or a confirmation from the server.
  absl::Status Take(mini_redis::resp::Value value);

  Client client_;
  std::vector<std::string> subscribed_;
  std::deque<Message> messages_;  // that came before a confirmation
  size_t missing_ = 0;            // number of confirmations
};

}  // namespace redis_client

#endif  // ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_CLIENT_H_
