// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_connection.h
// -----------------------------------------------------------------------------
//
// `ServerConnection` answers the requests of one HTTP/1.1 connection.

#ifndef ROUSE_HTTP_H1_SERVER_CONNECTION_H_
#define ROUSE_HTTP_H1_SERVER_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/sender.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/handler.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/http/serving/handler_call.h"
#include "rouse/http/serving/linger.h"
#include "rouse/http/serving/stop_wait.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

class ServerChannel;

// ServerConnection
//
// A future of the connection's end: see `ServeConnection()`. Not movable.
//
// # States
//
//   kHead      waits for the head of a request, and writes earlier responses
//   kHandler   runs the handler; the handler may read the body
//   kSend      writes the response; its source may read the request's body
//   kDiscard   reads what the handler has left of the request's body
//   kUpgrade   runs the coroutine that has taken over the connection
//   kLinger    after the last response: waits for the client to close, because
//              an early close could destroy the response on its way
//   kDone
//
//   kHead -> kHandler -> kSend -> kHead       a request without a body
//                        kSend -> kDiscard -> kHead
//                        kSend -> kUpgrade -> kDone
//   kHead -> kSend -> kLinger -> kDone        a request that is refused
//
// # The body of a request
//
// A body that has not fully arrived is read by a `RequestBody`, which the
// handler may pass to another task. The connection and the `RequestBody` share
// a `ServerChannel` with a lock. The connection takes the lock only while such
// a body exists. The channel has the number of the exchange whose body may be
// read; the connection changes the number when the response was sent, and from
// then on the `RequestBody` does not touch the connection.
class ServerConnection {
 public:
  ServerConnection(std::unique_ptr<Io> io, std::shared_ptr<Handler> handler,
                   std::shared_ptr<const ServerOptions> options,
                   std::string peer);
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;
  ~ServerConnection();

  PollResult<absl::Status> Poll(Context& cx);

 private:
  enum class State {
    kHead,
    kHandler,
    kSend,
    kDiscard,
    kUpgrade,
    kLinger,
    kDone,
  };
  enum class Phase { kNone, kIdle, kHead, kRequest, kProgress, kLinger };

  // Return whether the state has changed. Otherwise the connection is pending.
  bool PollHead(Context& cx);
  bool PollHandler(Context& cx);
  bool PollSend(Context& cx);
  bool PollDiscard(Context& cx);
  bool PollUpgrade(Context& cx);
  bool PollLinger(Context& cx);

  // Begin the next state. Always return true.
  bool BeginRequest();
  bool Respond(absl::StatusOr<Response>&& answer);
  bool Refuse(Refusal refusal, absl::Status error);
  bool EndExchange();
  bool Finish(absl::Status status);

  // Polls the sender, and makes an error of an exception.
  PollResult<absl::Status> PollSender(Context& cx);
  // Reads ahead while the connection waits for something else. Returns false if
  // the client has closed the connection.
  bool ClientIsThere(Context& cx);
  // Returns an error for the user's part of the response, if any.
  absl::Status CheckResponse(const Response& response) const;
  // Returns whether the time of the phase, which begins with the first call, is
  // up.
  bool TimeIsUp(Context& cx, Phase phase);
  absl::Duration TimeOf(Phase phase) const;
  // Returns whether the request's body has failed, by the client's fault.
  bool RequestHasFailed();
  // Takes the request's body from the handler. Returns whether the body was
  // read to the end.
  bool DetachBody();
  void Log(const absl::Status& error) const;

  const std::shared_ptr<ServerChannel> channel_;
  const std::shared_ptr<Handler> handler_;
  const std::shared_ptr<const ServerOptions> options_;
  const std::string peer_;

  State state_ = State::kHead;
  Phase phase_ = Phase::kNone;
  ResponseContext context_;
  bool wants_upgrade_ = false;
  bool is_connect_ = false;
  bool client_has_ended_ = false;
  size_t discarded_ = 0;
  absl::Status status_;

  Sender sender_;
  Sleep timer_;
  std::optional<Instant> request_end_;

  // For the log.
  std::string method_;
  std::string target_;

  std::optional<Request> request_;  // until the handler has started
  HandlerCall call_;
  Response::Upgrade upgrade_;
  std::optional<Co<>> upgraded_;
  StopWait stop_wait_;
  Linger linger_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H1_SERVER_CONNECTION_H_
