// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_run.h
// -----------------------------------------------------------------------------
//
// `StreamRun` is the task that answers one request of an HTTP/2 connection.

#ifndef ROUSE_HTTP_H2_STREAM_RUN_H_
#define ROUSE_HTTP_H2_STREAM_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/await_trace.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/body_sender.h"
#include "rouse/http/handler.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/serving/handler_call.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// StreamRun
//
// A future that calls the handler, gives the answer to the connection, and, if
// the body of the response has a source, reads the source as far as the
// connection has room. Movable before the first poll. The task of the
// connection aborts the task of this future when the client resets the stream.
class StreamRun {
 public:
  // REQUIRES: `stream` has a request.
  StreamRun(std::shared_ptr<ServerLink> link,
            std::shared_ptr<ServerStream> stream,
            std::shared_ptr<Handler> handler);
  StreamRun(StreamRun&& other) noexcept = default;
  StreamRun& operator=(StreamRun&&) = delete;
  ~StreamRun();

  // Counts the task in `link.runs` until destroyed. A future that was not
  // counted does nothing.
  // REQUIRES: `link` is the constructor's; called once, before the first poll.
  void Count(ServerLink& link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(link.mu);

  PollResult<void> Poll(Context& cx);
  void Trace(AwaitTrace& trace) const;

 private:
  enum class State { kUncounted, kNew, kHandler, kBody, kDone };

  // Returns an error for the user's part of the response, if any.
  absl::Status Check(const Response& response) const;
  // Gives the answer to the connection.
  void Respond(absl::StatusOr<Response>&& answer);
  // Reads from the source of the response's body. Returns whether it has ended.
  bool PollBody(Context& cx);
  // Ends the body. A status that is not OK resets the stream.
  void EndBody(absl::Status status);
  void Log(const absl::Status& error) const;

  std::shared_ptr<ServerLink> link_;  // null if moved from
  std::shared_ptr<ServerStream> stream_;
  std::shared_ptr<Handler> handler_;
  State state_ = State::kUncounted;
  // For the log.
  std::string method_;
  std::string target_;
  HandlerCall call_;
  // Reads the source of the response's body.
  BodySender sender_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_STREAM_RUN_H_
