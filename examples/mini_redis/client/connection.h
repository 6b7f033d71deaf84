// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: connection.h
// -----------------------------------------------------------------------------
//
// Internal to client.h: the requests of one connection, and the tasks that
// write the requests and read the replies.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CONNECTION_H_
#define ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CONNECTION_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/examples/mini_redis/resp/value_decoder.h"
#include "rouse/future/co.h"
#include "rouse/future/stream.h"
#include "rouse/io/framed.h"
#include "rouse/io/write_all.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/oneshot.h"
#include "rouse/sync/semaphore.h"

namespace mini_redis::internal {

// Connection
//
// A server replies in the order of the requests, and a reply does not say to
// which request it belongs. Each request therefore leaves an entry in a queue,
// and each reply takes the entry at the front. The entry of a request whose
// task was cancelled stays in the queue, so that its reply is not taken for the
// reply of the next request.
//
// The requests that are added while a write is under way are written together
// by the next write.
//
// Thread-safe. The tasks share the connection with its clients.
class Connection {
 public:
  // The reply to a request, or an array of the replies to a batch of requests.
  using Result = absl::StatusOr<resp::Value>;

  Connection(std::string address, size_t max_in_flight)
      : address_(std::move(address)), room_(max_in_flight) {}

  const std::string& address() const { return address_; }

  // Waits until there is room for one more request or batch, and adds it.
  // `bytes` are `requests` requests. Returns the reply, or the reason why there
  // is none.
  //
  // Cancellation: the request is not sent if the future is destroyed before
  // there was room. Later, the request is sent, and its reply is dropped.
  static rouse::Co<Result> Request(std::shared_ptr<Connection> connection,
                                   std::string bytes, size_t requests,
                                   bool is_batch);

  // Ends the connection, unless it has ended: all requests that wait, and all
  // later requests, get `reason`.
  void Break(const absl::Status& reason);

  // Returns whether the connection has not ended, and no reply is missing.
  bool IsIdle() const;
  // Returns OK, or the reason why the connection has ended.
  absl::Status status() const;

  // Writes the requests, until the connection ends.
  template <class W>
  static rouse::Co<> Write(std::shared_ptr<Connection> connection, W half) {
    std::string bytes;
    while (connection->Take(bytes)) {
      if (bytes.empty()) {
        co_await connection->added_.Notified();
        continue;
      }
      const absl::Status written = co_await rouse::WriteAll(half, bytes);
      if (!written.ok()) connection->Break(written);
    }
  }

  // Reads the replies, until the connection ends.
  template <class R>
  static rouse::Co<> Read(std::shared_ptr<Connection> connection, R half,
                          resp::ValueLimits limits) {
    rouse::Framed replies(std::move(half), resp::ValueDecoder(limits));
    for (;;) {
      auto reply = co_await rouse::Next(replies);
      if (!reply.has_value()) {
        connection->Break(
            absl::UnavailableError("the server closed the connection"));
        co_return;
      }
      if (!reply->ok()) {
        connection->Break(reply->status());
        co_return;
      }
      if (!connection->Deliver(**std::move(reply))) co_return;
    }
  }

 private:
  // A request or a batch whose replies are missing.
  struct Entry {
    Entry(size_t left, bool is_batch, rouse::oneshot::Sender<Result> sender,
          rouse::Semaphore::Permit permit)
        : left(left),
          is_batch(is_batch),
          sender(std::move(sender)),
          permit(std::move(permit)) {}

    size_t left;  // number of missing replies
    bool is_batch;
    std::vector<resp::Value> replies;
    rouse::oneshot::Sender<Result> sender;
    rouse::Semaphore::Permit permit;
  };

  absl::StatusOr<rouse::oneshot::Receiver<Result>> Add(
      std::string_view bytes, size_t requests, bool is_batch,
      rouse::Semaphore::Permit permit);
  // Takes the bytes that are to be written. Returns false if the connection has
  // ended.
  bool Take(std::string& bytes);
  // Takes a reply. Returns false if the connection has ended.
  bool Deliver(resp::Value reply);

  const std::string address_;
  // Limits the entries.
  rouse::Semaphore room_;
  // Notifies the task that writes.
  rouse::Notify added_;
  mutable absl::Mutex mu_;
  absl::Status reason_ ABSL_GUARDED_BY(mu_);
  std::string unsent_ ABSL_GUARDED_BY(mu_);
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mini_redis::internal

#endif  // ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CONNECTION_H_
