// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: subscriber.h
// -----------------------------------------------------------------------------
//
// Receives the messages of channels:
//
//   mini_redis::Subscriber news = co_await rouse::OrReturn(
//       mini_redis::ConnectSubscriber("127.0.0.1:6379"));
//   co_await rouse::OrReturn(news.Subscribe({"weather"}));
//   for (;;) {
//     mini_redis::Message message =
//         co_await rouse::OrReturn(news.Next());
//   }

#ifndef ROUSE_EXAMPLES_MINI_REDIS_CLIENT_SUBSCRIBER_H_
#define ROUSE_EXAMPLES_MINI_REDIS_CLIENT_SUBSCRIBER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/client/client.h"
#include "rouse/examples/mini_redis/client/errors.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/examples/mini_redis/resp/value_decoder.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/stream.h"
#include "rouse/io/framed.h"
#include "rouse/io/write_all.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/timeout.h"

namespace mini_redis {

// A message of a channel.
struct Message {
  // The pattern to which the channel belongs, or nothing if the channel itself
  // was subscribed to.
  std::optional<std::string> pattern;
  std::string channel;
  std::string payload;

  friend bool operator==(const Message& a, const Message& b) = default;
};

namespace internal {

// What a server sends to a subscriber: a message, or the confirmation of a
// subscription.
struct Pushed {
  std::optional<Message> message;
  std::string kind;       // "subscribe", for example
  int64_t remaining = 0;  // number of subscriptions, for a confirmation
};

// Returns nothing if `value` is none of these.
std::optional<Pushed> ParsePushed(resp::Value value);

}  // namespace internal

// BasicSubscriber
//
// A connection that receives messages. For one task at a time. Movable, except
// while a future of the subscriber exists.
//
// A subscriber that does not call `Next()` makes the server keep the messages.
// The server ends the connection if there are too many.
//
// # Cancellation
//
// Destroying a pending `Next()` loses no message. After destroying a pending
// `Subscribe()` or the like, the server may or may not have executed it.
//
// # Errors
//
// Each error names the address of the server. An error of the connection is
// final. A DeadlineExceeded is of `Subscribe()` and the like: the server has
// not confirmed within the time.
template <class S>
class BasicSubscriber {
 public:
  // Makes a subscriber of a connection that exists. Errors call the server
  // `address`.
  BasicSubscriber(S stream, std::string address,
                  const ClientOptions& options = ClientOptions())
      : address_(std::move(address)),
        timeout_(options.request_timeout),
        frames_(std::forward<S>(stream), resp::ValueDecoder(options.limits)) {}

  // Each waits for the server's confirmation. Messages that arrive before are
  // for the next `Next()`. A pattern is as for Redis: "news.*".
  rouse::Co<absl::Status> Subscribe(std::vector<std::string> channels) {
    return Change("SUBSCRIBE", std::move(channels));
  }
  rouse::Co<absl::Status> PSubscribe(std::vector<std::string> patterns) {
    return Change("PSUBSCRIBE", std::move(patterns));
  }
  rouse::Co<absl::Status> Unsubscribe(std::vector<std::string> channels) {
    return Change("UNSUBSCRIBE", std::move(channels));
  }
  rouse::Co<absl::Status> PUnsubscribe(std::vector<std::string> patterns) {
    return Change("PUNSUBSCRIBE", std::move(patterns));
  }

  // Waits for the next message.
  rouse::Co<absl::StatusOr<Message>> Next() {
    while (messages_.empty()) {
      co_await rouse::OrReturn(Receive());
    }
    Message message = std::move(messages_.front());
    messages_.pop_front();
    co_return message;
  }

  const std::string& address() const { return address_; }

  // Returns the number of channels and patterns that the server has confirmed.
  int64_t subscriptions() const { return subscriptions_; }

 private:
  rouse::Co<absl::Status> Change(std::string_view name,
                                 std::vector<std::string> arguments) {
    // Without an argument, the number of confirmations would be unknown.
    if (arguments.empty()) {
      return Fail(absl::InvalidArgumentError(
          absl::StrCat(address_, ": ", name, " needs a channel")));
    }
    resp::Command command = {name};
    for (const std::string& argument : arguments) command.Add(argument);
    std::string bytes;
    resp::AppendCommand(command, bytes);
    return ChangeInTime(std::move(bytes), std::string(name), arguments.size());
  }

  static rouse::Co<absl::Status> Fail(absl::Status error) { co_return error; }

  rouse::Co<absl::Status> ChangeInTime(std::string bytes, std::string name,
                                       size_t confirmations) {
    const absl::Status status = co_await rouse::Timeout(
        timeout_, Exchange(std::move(bytes), confirmations));
    if (rouse::TimedOut(status)) {
      co_return absl::DeadlineExceededError(
          absl::StrCat(address_, ": ", name, ": no confirmation within ",
                       absl::FormatDuration(timeout_)));
    }
    co_return status;
  }

  rouse::Co<absl::Status> Exchange(std::string bytes, size_t confirmations) {
    const absl::Status written =
        co_await rouse::WriteAll(frames_.stream(), bytes);
    if (!written.ok()) co_return Annotate(address_, written);
    // Confirmations of an earlier call that was cancelled come first.
    missing_ += confirmations;
    while (missing_ > 0) co_await rouse::OrReturn(Receive());
    co_return absl::OkStatus();
  }

  // Receives a message or a confirmation.
  rouse::Co<absl::Status> Receive() {
    auto value = co_await rouse::Next(frames_);
    if (!value.has_value()) {
      co_return absl::UnavailableError(
          absl::StrCat(address_, ": the server closed the connection"));
    }
    if (!value->ok()) co_return Annotate(address_, value->status());
    if ((*value)->IsError()) {
      if (missing_ > 0) --missing_;
      co_return MakeServerError(address_, (*value)->text());
    }
    const std::string text = (*value)->ToString().substr(0, 100);
    std::optional<internal::Pushed> pushed =
        internal::ParsePushed(**std::move(value));
    if (!pushed.has_value()) {
      co_return absl::InternalError(absl::StrCat(
          address_, ": neither a message nor a confirmation: ", text));
    }
    if (pushed->message.has_value()) {
      messages_.push_back(*std::move(pushed->message));
    } else {
      subscriptions_ = pushed->remaining;
      if (missing_ > 0) --missing_;
    }
    co_return absl::OkStatus();
  }

  std::string address_;
  absl::Duration timeout_;
  rouse::Framed<S, resp::ValueDecoder> frames_;
  // Messages that arrived before a confirmation.
  std::deque<Message> messages_;
  size_t missing_ = 0;  // number of confirmations
  int64_t subscriptions_ = 0;
};

using Subscriber = BasicSubscriber<rouse::TcpStream>;

// Connects to "host:port".
rouse::Co<absl::StatusOr<Subscriber>> ConnectSubscriber(
    std::string address, ClientOptions options = ClientOptions());

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_CLIENT_SUBSCRIBER_H_
