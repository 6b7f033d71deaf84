// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: shared_stream.h
// -----------------------------------------------------------------------------
//
// The parts of an HTTP/2 connection that several tasks share, on a server and
// on a client: the task of the connection, the tasks of the requests, and tasks
// that read bodies.

#ifndef ROUSE_HTTP_H2_SHARED_SHARED_STREAM_H_
#define ROUSE_HTTP_H2_SHARED_SHARED_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
#include "rouse/http/h2/shared/session_clock.h"
#include "rouse/http/headers.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {

// Most bytes of a body that wait for the peer's window. The source of a body is
// not read while this many bytes wait.
inline constexpr size_t kMaxUnsent = size_t{64} << 10;

// Most bytes of a header that is sent, and of its trailers: the size of names
// and values, and 12 bytes for each field. nghttp2's peers end the connection
// after a few more, because they limit the frames of a header.
inline constexpr size_t kMaxSentHeader = size_t{128} << 10;

// IsTooLarge()
//
// Returns whether nghttp2 would refuse to send the fields, with `more` bytes of
// other fields.
bool IsTooLarge(const Headers& fields, size_t more = 0);

// WakeDropped()
//
// Wakes a task. Nothing can be done if the waker throws.
void WakeDropped(Waker waker) noexcept;

// WakeList
//
// The tasks that are woken when nghttp2 has returned, or a lock was released.
// Not thread-safe.
class WakeList {
 public:
  // Takes the waker, if any.
  void Add(std::optional<Waker>& waker) {
    if (!waker.has_value()) return;
    wakers_.push_back(std::move(*waker));
    waker.reset();
  }
  // Makes room for `more` wakers, so that `Add()` cannot fail.
  void Reserve(size_t more) { wakers_.reserve(wakers_.size() + more); }
  // Wakes the tasks, and empties the list.
  void WakeAll();

 private:
  std::vector<Waker> wakers_;
};

// SharedStream
//
// The bodies of a request and of its response: one of them arrives, and the
// other is sent. Protected by the lock of the connection's `StreamLink`.
struct SharedStream {
  // True while the stream is in `StreamLink::changed`.
  bool is_changed = false;
  // True when nothing that other tasks do is needed any more: the stream has
  // ended, or the whole response was sent before the end of the request.
  bool is_closed = false;

  // The body that arrives: the unread bytes; the end behind these bytes; the
  // error behind these bytes, with a status of HTTP if a client is at fault;
  // and the number of bytes that were read and for which the window has not
  // been opened again.
  Buffer in;
  bool in_is_complete = false;
  absl::Status in_error;
  int in_failure = 0;
  Headers in_trailers;
  size_t consumed = 0;
  // The task that waits for the body, or for the response.
  std::optional<Waker> reader;
  // True if the client waits for "100 Continue", and if the session must send
  // "100 Continue".
  bool expects_continue = false;
  bool wants_continue = false;

  // The body that is sent, if a task reads it from a source: the bytes that
  // were not sent, and the end.
  Buffer out;
  bool out_is_complete = false;
  bool out_has_failed = false;
  Headers out_trailers;
  // True while nghttp2 has no byte to send, and must be notified of more.
  bool is_deferred = false;
  // The task that reads the source, while it waits for room in `out`.
  std::optional<Waker> writer;
};

// StreamLink
//
// The state that the tasks of a connection share. A task other than the
// connection's changes a stream under the lock, calls `Change()`, and wakes the
// returned waker after having released the lock.
class StreamLink {
 public:
  StreamLink(size_t connection_window, size_t stream_window)
      : connection_threshold_(connection_window / 4),
        stream_threshold_(stream_window / 4) {}
  StreamLink(const StreamLink&) = delete;
  StreamLink& operator=(const StreamLink&) = delete;

  // Adds the stream to `changed`, and returns the waker of the connection's
  // task, or a waker that does nothing.
  Waker Change(const std::shared_ptr<SharedStream>& stream)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Like `Change()`, for bytes that were read from a body. The waker does
  // nothing while few bytes were read and the window is not low, because
  // opening the window by a few bytes costs more than it gives.
  Waker Consume(const std::shared_ptr<SharedStream>& stream, size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Has `Change()` and `Consume()` return `waker`, which belongs to the
  // connection's task. `left` is what is left of the connection's window.
  void Wait(const Waker& waker, int32_t left, SessionClock& clock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  ThreadMutex mu;
  // The task of the connection, while it waits; otherwise does nothing.
  Waker session ABSL_GUARDED_BY(mu);
  std::vector<std::shared_ptr<SharedStream>> changed ABSL_GUARDED_BY(mu);
  // Number of bytes that were read from bodies since the session has taken
  // `changed`.
  size_t consumed ABSL_GUARDED_BY(mu) = 0;
  // True while little is left of the connection's window, and while nothing is
  // left; and the instant at which this last ended. The peer cannot send any
  // body then.
  bool window_is_low ABSL_GUARDED_BY(mu) = false;
  bool window_is_closed ABSL_GUARDED_BY(mu) = false;
  Instant window_opened ABSL_GUARDED_BY(mu);

 private:
  const size_t connection_threshold_;
  const size_t stream_threshold_;
};

// StreamBody
//
// The source of a body that has not fully arrived.
class StreamBody final : public BodySource {
 public:
  StreamBody(std::shared_ptr<StreamLink> link,
             std::shared_ptr<SharedStream> stream,
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
  // Returns whether the peer was too slow. The time during which the window of
  // the connection is closed does not count.
  bool IsTooSlow(Context& cx);

  const std::shared_ptr<StreamLink> link_;
  const std::shared_ptr<SharedStream> stream_;
  const absl::Duration progress_timeout_;
  std::optional<Sleep> timer_;  // while the peer sends nothing
  bool timer_runs_ = false;
  bool is_done_ = false;
  Headers trailers_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SHARED_SHARED_STREAM_H_
