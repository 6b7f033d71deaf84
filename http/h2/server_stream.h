// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_stream.h
// -----------------------------------------------------------------------------
//
// The parts of a server's HTTP/2 connection that several tasks share: the task
// of the connection, the tasks of the handlers, and tasks that read the bodies
// of requests.

#ifndef ROUSE_HTTP_H2_SERVER_STREAM_H_
#define ROUSE_HTTP_H2_SERVER_STREAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/timer/instant.h"

namespace rouse::http::internal {

// ServerStream
//
// A request and its response. The members of the first part belong to the
// connection's task. Those of the second part, and of the base, are protected
// by the lock of the connection's `ServerLink`.
struct ServerStream : SharedStream {
  explicit ServerStream(int32_t id) : id(id) {}

  // ---- For the connection's task.

  const int32_t id;
  // Position in the connection's list.
  size_t index = 0;
  bool is_head = false;            // the method is HEAD
  bool has_answered = false;       // the response was submitted to nghttp2
  bool has_sent_all = false;       // the end of the response was sent
  std::optional<AbortHandle> run;  // after the handler's task has begun
  std::string name;                // method and target, if needed for the log
  // The response that is sent, and the number of bytes sent of its text.
  Response response;
  size_t text_sent = 0;
  bool sends_text = false;  // otherwise from `out`
  // True while bytes wait for the client's window or for the connection. The
  // second member is the instant at which a byte was last sent, or at which the
  // first byte was there.
  bool is_waiting = false;
  Instant waiting_since;
  // The request, until the handler's task has begun. The task then takes it.
  std::optional<Request> request;
  // The end of the time for the whole request.
  Instant request_end = Instant::Max();
  uint64_t received = 0;           // bytes of the request's body
  std::optional<uint64_t> length;  // the client's number of them
  // The end of the time for the rest of a request after the response.
  Instant discard_end = Instant::Max();

  // ---- Under the lock.

  // The response: its head and, if it is text, its body.
  std::optional<Response> answer;
  bool has_answer = false;  // an answer is or was there
  // True if the handler's task reads the body of the response from a source,
  // whose size `out_size` is, if known. `out_has_failed` is also set if the
  // task has ended without an answer.
  bool streams_out = false;
  std::optional<uint64_t> out_size;
};

// ServerLink
//
// The state that the tasks of a server's connection share.
class ServerLink : public StreamLink {
 public:
  ServerLink(std::string peer, size_t connection_window, size_t stream_window)
      : StreamLink(connection_window, stream_window), peer(std::move(peer)) {}

  // The client's address.
  const std::string peer;

  // Number of handlers' tasks whose future exists.
  size_t runs ABSL_GUARDED_BY(mu) = 0;
  // Number of those that were not polled yet. Relaxed: the session only uses
  // the number to choose the time of a write.
  std::atomic<size_t> unpolled = 0;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SERVER_STREAM_H_
