// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/redis_client/buffered_client.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/examples/ports/redis_client/client.h"
#include "rouse/rouse.h"

namespace redis_client {

BufferedClient BufferedClient::Buffer(Client client) {
  auto [sender, receiver] = rouse::mpsc::Channel<Request>(32);
  rouse::Spawn(Run(std::move(client), std::move(receiver))).Detach();
  return BufferedClient(std::move(sender));
}

rouse::Co<> BufferedClient::Run(Client client,
                                rouse::mpsc::Receiver<Request> requests) {
  while (std::optional<Request> request = co_await requests.Receive()) {
    Reply reply = std::nullopt;
    if (request->value.has_value()) {
      const absl::Status status = co_await client.Set(
          std::move(request->key), *std::move(request->value));
      if (!status.ok()) reply = status;
    } else {
      reply = co_await client.Get(std::move(request->key));
    }
    // Fails if the caller has given up, which does not matter.
    request->reply.Send(std::move(reply));
  }
}

rouse::Co<BufferedClient::Reply> BufferedClient::Send(
    rouse::mpsc::Sender<Request> requests, std::string key,
    std::optional<std::string> value) {
  auto [sender, reply] = rouse::oneshot::Channel<Reply>();
  Request request(std::move(key), std::move(value), std::move(sender));
  co_await rouse::OrReturn(requests.Send(std::move(request)));
  co_return co_await reply;
}

rouse::Co<absl::Status> BufferedClient::SendSet(
    rouse::mpsc::Sender<Request> requests, std::string key, std::string value) {
  const Reply reply =
      co_await Send(std::move(requests), std::move(key), std::move(value));
  co_return reply.status();
}

// The coroutines own a copy of the sender, so that they can be spawned.

rouse::Co<absl::StatusOr<std::optional<std::string>>> BufferedClient::Get(
    std::string key) const {
  return Send(requests_, std::move(key), std::nullopt);
}

rouse::Co<absl::Status> BufferedClient::Set(std::string key,
                                            std::string value) const {
  return SendSet(requests_, std::move(key), std::move(value));
}

}  // namespace redis_client
