// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/redis_client/client.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/rouse.h"

namespace redis_client {

namespace {

using mini_redis::resp::Command;
using mini_redis::resp::Value;
using rouse::Co;
using rouse::OrReturn;

absl::Status Closed() {
  return absl::UnavailableError("the server closed the connection");
}

absl::Status Unexpected(std::string_view request, const Value& reply) {
  return absl::InternalError(absl::StrCat(request, ": unexpected reply ",
                                          reply.ToString().substr(0, 100)));
}

}  // namespace

Co<absl::StatusOr<Client>> Client::Connect(std::string address) {
  rouse::TcpStream stream = co_await OrReturn(rouse::ConnectTcp(address));
  co_await OrReturn(stream.SetNoDelay(true));
  co_return Client(std::move(stream));
}

Co<absl::Status> Client::Write(const Command& command) {
  std::string bytes;
  mini_redis::resp::AppendCommand(command, bytes);
  co_return co_await rouse::WriteAll(frames_.stream(), bytes);
}

Co<absl::StatusOr<Value>> Client::Read() {
  auto value = co_await rouse::Next(frames_);
  if (!value.has_value()) co_return Closed();
  co_await OrReturn(value->status());
  if ((*value)->IsError()) co_return absl::AbortedError((*value)->text());
  co_return *std::move(value);
}

absl::Status Client::CheckIdle() const {
  if (!is_waiting_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the reply to an earlier request, which was cancelled, is missing; "
      "connect again");
}

Co<absl::StatusOr<Value>> Client::Request(Command command) {
  co_await OrReturn(CheckIdle());
  is_waiting_ = true;
  co_await OrReturn(Write(command));
  absl::StatusOr<Value> reply = co_await Read();
  is_waiting_ = false;
  co_return reply;
}

Co<absl::Status> Client::RequestOk(Command command) {
  const std::string name(command[0]);
  const Value reply = co_await OrReturn(Request(std::move(command)));
  if (reply != Value::SimpleString("OK")) co_return Unexpected(name, reply);
  co_return absl::OkStatus();
}

Co<absl::StatusOr<std::string>> Client::Ping(
    std::optional<std::string> message) {
  Command command = Command::Of("PING");
  if (message.has_value()) command.Add(*message);
  Value reply = co_await OrReturn(Request(std::move(command)));
  if (!reply.HasText()) co_return Unexpected("PING", reply);
  co_return std::move(reply).text();
}

Co<absl::StatusOr<std::optional<std::string>>> Client::Get(std::string key) {
  Value reply = co_await OrReturn(Request(Command::Of("GET", key)));
  if (reply.IsNull()) co_return std::nullopt;
  if (!reply.HasText()) co_return Unexpected("GET", reply);
  co_return std::move(reply).text();
}

Co<absl::Status> Client::Set(std::string key, std::string value) {
  co_return co_await RequestOk(Command::Of("SET", key, value));
}

Co<absl::Status> Client::SetExpires(std::string key, std::string value,
                                    absl::Duration expiration) {
  if (expiration <= absl::ZeroDuration() ||
      expiration == absl::InfiniteDuration()) {
    co_return absl::InvalidArgumentError(absl::StrCat(
        "SET: a key cannot expire after ", absl::FormatDuration(expiration),
        "; choose a positive, finite time"));
  }
  const absl::Duration rounded = absl::Ceil(expiration, absl::Milliseconds(1));
  const std::string milliseconds =
      absl::StrCat(absl::ToInt64Milliseconds(rounded));
  co_return co_await RequestOk(
      Command::Of("SET", key, value, "PX", milliseconds));
}

Co<absl::StatusOr<int64_t>> Client::Publish(std::string channel,
                                            std::string message) {
  const Value reply =
      co_await OrReturn(Request(Command::Of("PUBLISH", channel, message)));
  if (reply.type() != Value::Type::kInteger) {
    co_return Unexpected("PUBLISH", reply);
  }
  co_return reply.integer();
}

Co<absl::StatusOr<Subscriber>> Client::Subscribe(
    std::vector<std::string> channels) && {
  // A coroutine of a member function would refer to the client, which the
  // caller gives away.
  return SubscribeOn(std::move(*this), std::move(channels));
}

Co<absl::StatusOr<Subscriber>> Client::SubscribeOn(
    Client client, std::vector<std::string> channels) {
  co_await OrReturn(client.CheckIdle());
  Subscriber subscriber(std::move(client));
  co_await OrReturn(subscriber.Subscribe(std::move(channels)));
  co_return subscriber;
}

Co<absl::StatusOr<std::optional<Message>>> Subscriber::NextMessage() {
  while (messages_.empty()) {
    absl::StatusOr<Value> value = co_await client_.Read();
    if (absl::IsUnavailable(value.status())) co_return std::nullopt;
    co_await OrReturn(Take(co_await OrReturn(std::move(value))));
  }
  Message message = std::move(messages_.front());
  messages_.pop_front();
  co_return message;
}

rouse::Gen<absl::StatusOr<Message>> Subscriber::IntoStream() && {
  return Messages(std::move(*this));
}

rouse::Gen<absl::StatusOr<Message>> Subscriber::Messages(
    Subscriber subscriber) {
  for (;;) {
    std::optional<Message> message =
        co_await OrReturn(subscriber.NextMessage());
    if (!message.has_value()) co_return;
    co_yield *std::move(message);
  }
}

Co<absl::Status> Subscriber::Subscribe(std::vector<std::string> channels) {
  if (channels.empty()) {
    co_return absl::InvalidArgumentError(
        "SUBSCRIBE: there is no channel; name at least one");
  }
  const size_t confirmations = channels.size();
  co_return co_await Change("SUBSCRIBE", std::move(channels), confirmations);
}

Co<absl::Status> Subscriber::Unsubscribe(std::vector<std::string> channels) {
  // Without channels, the server confirms each subscription, or none once.
  const size_t confirmations = std::max<size_t>(
      1, channels.empty() ? subscribed_.size() : channels.size());
  co_return co_await Change("UNSUBSCRIBE", std::move(channels), confirmations);
}

Co<absl::Status> Subscriber::Change(std::string name,
                                    std::vector<std::string> channels,
                                    size_t confirmations) {
  Command command;
  command.Add(name);
  for (const std::string& channel : channels) command.Add(channel);
  co_await OrReturn(client_.Write(command));
  // Those of a change that was cancelled come first.
  missing_ += confirmations;
  while (missing_ > 0) {
    absl::StatusOr<Value> value = co_await client_.Read();
    // An error reply takes the place of all confirmations.
    if (absl::IsAborted(value.status())) missing_ -= confirmations;
    co_await OrReturn(Take(co_await OrReturn(std::move(value))));
  }
  co_return absl::OkStatus();
}

absl::Status Subscriber::Take(Value value) {
  const auto has_texts = [](const std::vector<Value>& parts, size_t count) {
    return parts.size() == 3 &&
           std::all_of(parts.begin(), parts.begin() + count,
                       [](const Value& part) { return part.HasText(); });
  };
  if (!value.HasElements()) return Unexpected("SUBSCRIBE", value);
  const std::vector<Value>& parts = value.elements();
  if (has_texts(parts, 3) && parts[0].text() == "message") {
    messages_.push_back(Message{parts[1].text(), parts[2].text()});
    return absl::OkStatus();
  }
  const bool is_end =
      parts.size() == 3 && parts[0] == Value::BulkString("unsubscribe");
  // The channel is null if there was no subscription to end.
  if (!has_texts(parts, is_end ? 1 : 2)) {
    return Unexpected("SUBSCRIBE", value);
  }
  if (parts[1].HasText()) {
    const std::string& channel = parts[1].text();
    std::erase(subscribed_, channel);
    if (!is_end) subscribed_.push_back(channel);
  }
  if (missing_ > 0) --missing_;
  return absl::OkStatus();
}

}  // namespace redis_client
