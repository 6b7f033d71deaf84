// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/subscriber.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "rouse/examples/mini_redis/client/client.h"
#include "rouse/examples/mini_redis/client/connect.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/tcp_stream.h"

namespace mini_redis {

namespace internal {

std::optional<Pushed> ParsePushed(resp::Value value) {
  using Type = resp::Value::Type;
  if (value.type() != Type::kArray && value.type() != Type::kPush) {
    return std::nullopt;
  }
  std::vector<resp::Value> parts = std::move(value).elements();
  const auto has_texts = [&parts](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (!parts[i].HasText()) return false;
    }
    return true;
  };
  if (parts.empty() || !parts[0].HasText()) return std::nullopt;
  Pushed pushed;
  pushed.kind = parts[0].text();
  const bool is_pattern = pushed.kind == "pmessage";
  if (is_pattern || pushed.kind == "message") {
    const size_t channel = is_pattern ? 2 : 1;
    if (parts.size() != channel + 2 || !has_texts(1, parts.size())) {
      return std::nullopt;
    }
    Message& message = pushed.message.emplace();
    if (is_pattern) message.pattern = std::move(parts[1]).text();
    message.channel = std::move(parts[channel]).text();
    message.payload = std::move(parts[channel + 1]).text();
    return pushed;
  }
  if (pushed.kind != "subscribe" && pushed.kind != "psubscribe" &&
      pushed.kind != "unsubscribe" && pushed.kind != "punsubscribe") {
    return std::nullopt;
  }
  if (parts.size() != 3 || parts[2].type() != Type::kInteger) {
    return std::nullopt;
  }
  pushed.remaining = parts[2].integer();
  return pushed;
}

}  // namespace internal

rouse::Co<absl::StatusOr<Subscriber>> ConnectSubscriber(std::string address,
                                                        ClientOptions options) {
  rouse::TcpStream stream = co_await rouse::OrReturn(
      internal::Connect(address, options.connect_timeout));
  co_return Subscriber(std::move(stream), std::move(address), options);
}

}  // namespace mini_redis
