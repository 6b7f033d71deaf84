// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: buffered_client.h
// -----------------------------------------------------------------------------
//
// A client of Redis that tasks share. A task owns the connection, and gets the
// requests through a channel:
//
//   auto client = redis_client::BufferedClient::Buffer(std::move(connection));
//   for (std::string key : keys) {
//     rouse::Spawn(Refresh(client, std::move(key))).Detach();
//   }

#ifndef ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_BUFFERED_CLIENT_H_
#define ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_BUFFERED_CLIENT_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/examples/ports/redis_client/client.h"
#include "rouse/rouse.h"

namespace redis_client {

// BufferedClient
//
// A handle. Copies share the connection, which is closed when the last copy was
// destroyed and the last request has its reply. Up to 32 requests wait in the
// channel; a further request waits for room. Thread-safe.
//
// A request whose future is destroyed while it waits for room is not sent.
// Later it is sent, and its reply is dropped. Errors are those of `Client`, and
// Cancelled if the runtime of the task has ended.
class BufferedClient {
 public:
  // Spawns a task that owns `client` on the current runtime.
  static BufferedClient Buffer(Client client);

  rouse::Co<absl::StatusOr<std::optional<std::string>>> Get(
      std::string key) const;
  rouse::Co<absl::Status> Set(std::string key, std::string value) const;

 private:
  using Reply = absl::StatusOr<std::optional<std::string>>;

  struct Request {
    Request(std::string key, std::optional<std::string> value,
            rouse::oneshot::Sender<Reply> reply)
        : key(std::move(key)),
          value(std::move(value)),
          reply(std::move(reply)) {}

    std::string key;
    std::optional<std::string> value;  // nothing: a GET
    rouse::oneshot::Sender<Reply> reply;
  };

  explicit BufferedClient(rouse::mpsc::Sender<Request> requests)
      : requests_(std::move(requests)) {}

  static rouse::Co<> Run(Client client,
                         rouse::mpsc::Receiver<Request> requests);
  static rouse::Co<Reply> Send(rouse::mpsc::Sender<Request> requests,
                               std::string key,
                               std::optional<std::string> value);
  static rouse::Co<absl::Status> SendSet(rouse::mpsc::Sender<Request> requests,
                                         std::string key, std::string value);

  rouse::mpsc::Sender<Request> requests_;
};

}  // namespace redis_client

#endif  // ROUSE_EXAMPLES_PORTS_REDIS_CLIENT_BUFFERED_CLIENT_H_
