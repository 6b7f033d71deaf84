// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client.h
// -----------------------------------------------------------------------------
//
// A client of Redis, over one connection that any number of tasks share:
//
//   rouse::Co<absl::StatusOr<int64_t>> CountVisit(std::string address) {
//     mini_redis::Client client = co_await rouse::OrReturn(
//         mini_redis::Client::Connect(std::move(address)));
//     co_await rouse::OrReturn(client.Set("greeting", "hello"));
//     co_return co_await client.Incr("visits");
//   }

#ifndef ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CLIENT_H_
#define ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/client/connection.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/examples/mini_redis/resp/value_decoder.h"
#include "rouse/future/co.h"
#include "rouse/net/split.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"

namespace mini_redis {

struct ClientOptions {
  // How long `Connect()` can take.
  absl::Duration connect_timeout = absl::Seconds(5);
  // How long a request waits for its reply, and for room before.
  absl::Duration request_timeout = absl::Seconds(5);
  // Largest number of requests, or batches of requests, without a reply.
  // Further requests wait.
  size_t max_in_flight = 10000;
  resp::ValueLimits limits;
};

// How `Client::Set()` sets a value.
struct SetOptions {
  enum class When { kAlways, kIfMissing, kIfPresent };
  When when = When::kAlways;
  // The value disappears after this time, which is rounded up to milliseconds.
  absl::Duration expires_after = absl::InfiniteDuration();
  // Keeps the time at which the former value would have disappeared.
  bool keep_ttl = false;
};

// Client
//
// A handle of a connection. Copies share the connection, which is closed when
// the last copy is destroyed and no request waits for a reply. Thread-safe.
//
// # Pipelining
//
// Requests are written in the order of the calls' first polls, without waiting
// for earlier replies. The requests of tasks that run at the same time share
// system calls. A command that changes how the server replies on a connection,
// such as SUBSCRIBE or MONITOR, is refused, because it would break the order: a
// `Subscriber` (subscriber.h) has a connection of its own.
//
// # Cancellation
//
// Destroying a pending request does not disturb the other requests. The request
// was sent, unless it still waited for room, and its reply is dropped.
//
// # Errors
//
// Each error names the address of the server and the command. See errors.h for
// an error reply of the server. Other errors:
//
//   DeadlineExceeded   There was no reply within the time. The connection stays
//                      usable.
//   InvalidArgument    The command is empty, or is not for this class.
//   Internal           The reply is not of the type that the command returns.
//   others             The connection has ended, now or earlier. The server may
//                      have executed the request. The client does not connect
//                      again: see `Pool` (pool.h).
class Client {
 public:
  using Value = resp::Value;
  using Command = resp::Command;

  // Connects to "host:port". Spawns two tasks on the current runtime.
  static rouse::Co<absl::StatusOr<Client>> Connect(
      std::string address, ClientOptions options = ClientOptions());

  // Makes a client of a connection that exists: a `TcpStream`, a `UnixStream`
  // or an end of a `Duplex`. Errors call the server `address`.
  template <class S>
  static Client FromStream(S stream, std::string address,
                           const ClientOptions& options = ClientOptions()) {
    auto connection = std::make_shared<internal::Connection>(
        std::move(address), options.max_in_flight);
    auto [reader, writer] = rouse::IntoSplit(std::move(stream));
    auto tasks = std::make_shared<Tasks>(
        connection,
        rouse::Spawn(
            internal::Connection::Write(connection, std::move(writer))),
        rouse::Spawn(internal::Connection::Read(connection, std::move(reader),
                                                options.limits)));
    return Client(std::move(connection), std::move(tasks),
                  options.request_timeout);
  }

  // Sends a command. Returns the reply. An error reply is an error. With g++
  // 12, write `Send(Command::Of("GET", key))` rather than `Send({"GET", key})`.
  rouse::Co<absl::StatusOr<Value>> Send(Command command) const {
    return Send(std::move(command), request_timeout_);
  }
  // Sends a command that can take longer than others, such as a BLPOP.
  rouse::Co<absl::StatusOr<Value>> Send(Command command,
                                        absl::Duration timeout) const;

  // Sends commands together: no command of another task comes between. Returns
  // as many replies. An error reply is a `Value` among the other replies.
  rouse::Co<absl::StatusOr<std::vector<Value>>> SendAll(
      std::vector<Command> commands) const;

  // Sends commands as a transaction (MULTI, EXEC), which the server executes as
  // a whole. Returns as many replies. If the server refuses a command before
  // the execution, none is executed, and the error is Aborted.
  rouse::Co<absl::StatusOr<std::vector<Value>>> Transaction(
      std::vector<Command> commands) const;

  rouse::Co<absl::Status> Ping() const;

  // Strings. A missing value is `std::nullopt`.
  rouse::Co<absl::StatusOr<std::optional<std::string>>> Get(
      std::string_view key) const;
  // Returns whether the value was set, which depends on `options.when`.
  rouse::Co<absl::StatusOr<bool>> Set(std::string_view key,
                                      std::string_view value,
                                      const SetOptions& options = {}) const;
  rouse::Co<absl::StatusOr<std::vector<std::optional<std::string>>>> MGet(
      std::vector<std::string> keys) const;
  rouse::Co<absl::Status> MSet(
      std::vector<std::pair<std::string, std::string>> values) const;
  // Returns the new number.
  rouse::Co<absl::StatusOr<int64_t>> Incr(std::string_view key,
                                          int64_t by = 1) const;
  // Returns the new size.
  rouse::Co<absl::StatusOr<int64_t>> Append(std::string_view key,
                                            std::string_view value) const;

  // Keys. `Del()` and `Exists()` return how many of the keys existed.
  rouse::Co<absl::StatusOr<int64_t>> Del(std::vector<std::string> keys) const;
  rouse::Co<absl::StatusOr<bool>> Del(std::string_view key) const;
  rouse::Co<absl::StatusOr<int64_t>> Exists(
      std::vector<std::string> keys) const;
  rouse::Co<absl::StatusOr<bool>> Exists(std::string_view key) const;
  // Returns whether the key exists. The time is rounded up to milliseconds.
  rouse::Co<absl::StatusOr<bool>> Expire(std::string_view key,
                                         absl::Duration after) const;
  rouse::Co<absl::StatusOr<bool>> Persist(std::string_view key) const;
  // Returns the time until the key disappears, which is infinite if it will
  // not, or `std::nullopt` if the key does not exist.
  rouse::Co<absl::StatusOr<std::optional<absl::Duration>>> Ttl(
      std::string_view key) const;

  // Lists. A push returns the new size.
  rouse::Co<absl::StatusOr<int64_t>> LPush(
      std::string_view key, std::vector<std::string> values) const;
  rouse::Co<absl::StatusOr<int64_t>> LPush(std::string_view key,
                                           std::string_view value) const;
  rouse::Co<absl::StatusOr<int64_t>> RPush(
      std::string_view key, std::vector<std::string> values) const;
  rouse::Co<absl::StatusOr<int64_t>> RPush(std::string_view key,
                                           std::string_view value) const;
  rouse::Co<absl::StatusOr<std::optional<std::string>>> LPop(
      std::string_view key) const;
  rouse::Co<absl::StatusOr<std::optional<std::string>>> RPop(
      std::string_view key) const;
  rouse::Co<absl::StatusOr<std::vector<std::string>>> LRange(
      std::string_view key, int64_t first, int64_t last) const;
  // Waits for an element of any of the lists, up to `timeout`; an infinite
  // timeout is forever. Returns the list's key and the element. The server
  // executes no later request of this connection in the meantime.
  rouse::Co<absl::StatusOr<std::optional<std::pair<std::string, std::string>>>>
  BLPop(std::vector<std::string> keys, absl::Duration timeout) const;

  // Sends a message to the subscribers of `channel`. Returns their number.
  rouse::Co<absl::StatusOr<int64_t>> Publish(std::string_view channel,
                                             std::string_view message) const;

  const std::string& address() const { return connection_->address(); }
  // Returns OK, or the reason why the connection has ended.
  absl::Status status() const { return connection_->status(); }
  // Returns whether the connection has not ended, and no reply is missing.
  bool IsIdle() const { return connection_->IsIdle(); }

 private:
  // Ends the connection and the connection's tasks.
  class Tasks {
   public:
    Tasks(std::shared_ptr<internal::Connection> connection,
          rouse::JoinHandle<void> writer, rouse::JoinHandle<void> reader)
        : connection_(std::move(connection)),
          writer_(std::move(writer)),
          reader_(std::move(reader)) {}
    Tasks(const Tasks&) = delete;
    Tasks& operator=(const Tasks&) = delete;
    ~Tasks();

   private:
    std::shared_ptr<internal::Connection> connection_;
    rouse::JoinHandle<void> writer_;
    rouse::JoinHandle<void> reader_;
  };

  Client(std::shared_ptr<internal::Connection> connection,
         std::shared_ptr<Tasks> tasks, absl::Duration request_timeout)
      : connection_(std::move(connection)),
        tasks_(std::move(tasks)),
        request_timeout_(request_timeout) {}

  // The coroutines own all of their parameters, so that they can be spawned.
  static rouse::Co<absl::StatusOr<Value>> SendBytes(
      Client client, std::string bytes, size_t requests, bool is_batch,
      std::string name, absl::Duration timeout);
  // Sends a command, and converts the reply with `convert`.
  template <class T>
  rouse::Co<absl::StatusOr<T>> Call(Command command,
                                    bool (*convert)(Value reply,
                                                    T& result)) const;

  std::shared_ptr<internal::Connection> connection_;
  std::shared_ptr<Tasks> tasks_;
  absl::Duration request_timeout_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_CLIENT_CLIENT_H_
