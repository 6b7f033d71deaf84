// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/redis_client/blocking_client.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "rouse/examples/ports/redis_client/client.h"
#include "rouse/rouse.h"

namespace redis_client {

absl::StatusOr<BlockingClient> BlockingClient::Connect(std::string address) {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::CurrentThread().Build();
  if (!runtime.ok()) return runtime.status();
  absl::StatusOr<Client> client =
      runtime->BlockOn(Client::Connect(std::move(address)));
  if (!client.ok()) return client.status();
  return BlockingClient(*std::move(runtime), *std::move(client));
}

absl::StatusOr<BlockingSubscriber> BlockingClient::Subscribe(
    std::vector<std::string> channels) && {
  absl::StatusOr<Subscriber> subscriber =
      runtime_.BlockOn(std::move(client_).Subscribe(std::move(channels)));
  if (!subscriber.ok()) return subscriber.status();
  return BlockingSubscriber(std::move(runtime_), *std::move(subscriber));
}

}  // namespace redis_client
