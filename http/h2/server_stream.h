// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_stream.h
// -----------------------------------------------------------------------------
//
// The parts of an HTTP/2 connection that several tasks share: the task of the
// connection, the tasks of the handlers, and tasks that read the bodies of
// requests.

#ifndef ROUSE_HTTP_H2_SERVER_STREAM_H_
#define ROUSE_HTTP_H2_SERVER_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/body.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/headers.h"
#include "rouse/http/response.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {

// Most bytes of a response's body that wait for the client's window. The source
// of a body is not read while this many bytes wait.
inline constexpr size_t kMaxUnsent = size_t{64} << 10;

// Most bytes of a response's header, and of its trailers: the size of names and
// values, and 12 bytes for each field. nghttp2's clients end the connection
// after a few more, because they limit the frames of a header.
inline constexpr size_t kMaxSentHeader = size_t{128} << 10;

// WakeDropped()
//
// Wakes a task. Nothing can be done if the waker throws.
void WakeDropped(Waker waker) noexcept;

// ServerStream
//
// A request and its response. The members of the first part belong to the
// connection's task. Those of the second part are protected by the lock of the
// connection's `ServerLink`.
struct ServerStream {
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
  // The end of the time for the whole request.
  Instant request_end = Instant::Max();
  uint64_t received = 0;           // bytes of the request's body
  std::optional<uint64_t> length;  // the client's number of them
  // The end of the time for the rest of a request after the response.
  Instant discard_end = Instant::Max();

  // ---- Under the lock.

  // True while the stream is in `ServerLink::changed`.
  bool is_changed = false;
  // True when nothing that other tasks do is needed any more: the stream has
  // ended, or the whole response was sent before the end of the request.
  bool is_closed = false;

  // The body of the request: the unread bytes; the end behind these bytes; the
  // error behind these bytes, with a status of HTTP if the client is at fault;
  // and the number of bytes that were read and for which the window has not
  // been opened again.
  Buffer in;
  bool in_is_complete = false;
  absl::Status in_error;
  int in_failure = 0;
  Headers in_trailers;
  size_t consumed = 0;
  // The task that waits for the body.
  std::optional<Waker> reader;
  // True if the client waits for "100 Continue", and if the session must send
  // "100 Continue".
  bool expects_continue = false;
  bool wants_continue = false;

  // The response: its head and, if it is text, its body.
  std::optional<Response> answer;
  bool has_answer = false;  // an answer is or was there
  // The body of the response, if the handler's task reads the body from a
  // source: the size if known, the bytes that were not sent, and the end.
  // `out_has_failed` is also set if the task has ended without an answer.
  bool streams_out = false;
  std::optional<uint64_t> out_size;
  Buffer out;
  bool out_is_complete = false;
  bool out_has_failed = false;
  Headers out_trailers;
  // True while nghttp2 has no byte to send, and must be notified of more.
  bool is_deferred = false;
  // The handler's task, while it waits for room in `out`.
  std::optional<Waker> writer;
};

// ServerLink
//
// The state that the tasks of a connection share. A task other than the
// connection's changes a stream under the lock, calls `Change()`, and wakes the
// returned waker after having released the lock.
class ServerLink {
 public:
  ServerLink(std::string peer, size_t connection_window, size_t stream_window)
      : peer(std::move(peer)),
        connection_threshold_(connection_window / 4),
        stream_threshold_(stream_window / 4) {}

  // Adds the stream to `changed`, and returns the waker of the connection's
  // task, or a waker that does nothing.
  Waker Change(const std::shared_ptr<ServerStream>& stream)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Like `Change()`, for bytes that were read from a body. The waker does
  // nothing while few bytes were read and the window is not low, because
  // opening the window by a few bytes costs more than it gives.
  Waker Consume(const std::shared_ptr<ServerStream>& stream, size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // The client's address.
  const std::string peer;

  ThreadMutex mu;
  // The task of the connection, while it waits; otherwise does nothing.
  Waker session ABSL_GUARDED_BY(mu);
  std::vector<std::shared_ptr<ServerStream>> changed ABSL_GUARDED_BY(mu);
  // Number of bytes that were read from bodies since the session has taken
  // `changed`.
  size_t consumed ABSL_GUARDED_BY(mu) = 0;
  // True while little is left of the connection's window, and while nothing is
  // left; and the instant at which this last ended. The client cannot send any
  // body then.
  bool window_is_low ABSL_GUARDED_BY(mu) = false;
  bool window_is_closed ABSL_GUARDED_BY(mu) = false;
  Instant window_opened ABSL_GUARDED_BY(mu);
  // Number of handlers' tasks whose future exists, and of those that were not
  // polled yet.
  size_t runs ABSL_GUARDED_BY(mu) = 0;
  size_t unpolled ABSL_GUARDED_BY(mu) = 0;

 private:
  const size_t connection_threshold_;
  const size_t stream_threshold_;
};

// StreamBody
//
// The source of the body of a request that has not fully arrived.
class StreamBody final : public BodySource {
 public:
  StreamBody(std::shared_ptr<ServerLink> link,
             std::shared_ptr<ServerStream> stream,
             absl::Duration progress_timeout)
      : link_(std::move(link)),
        stream_(std::move(stream)),
        progress_timeout_(progress_timeout) {}
  // Gives the unread bytes back to the windows, and has later bytes discarded.
  ~StreamBody() override;

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) override;
  Headers TakeTrailers() override { return std::move(trailers_); }

 private:
  // Returns whether the client was too slow. The time during which the window
  // of the connection is closed does not count.
  bool IsTooSlow(Context& cx);

  const std::shared_ptr<ServerLink> link_;
  const std::shared_ptr<ServerStream> stream_;
  const absl::Duration progress_timeout_;
  std::optional<Sleep> timer_;  // while the client sends nothing
  bool timer_runs_ = false;
  bool is_done_ = false;
  Headers trailers_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SERVER_STREAM_H_
