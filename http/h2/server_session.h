// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_session.h
// -----------------------------------------------------------------------------
//
// `ServerSession` answers the requests of one HTTP/2 connection.

#ifndef ROUSE_HTTP_H2_SERVER_SESSION_H_
#define ROUSE_HTTP_H2_SERVER_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/request_fields.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/frame_budget.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/handler.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/http/serving/linger.h"
#include "rouse/http/serving/stop_wait.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

struct nghttp2_session;

namespace rouse::http::internal {

// ServerSession
//
// A future of the connection's end: see `ServeConnection()`. Not movable.
//
// # Tasks
//
// Only the task of this future uses nghttp2's session. Each request is a
// further task, a `StreamRun`, which calls the handler, and also reads the
// source of the response's body. The tasks share a `ServerLink`: a stream that
// a task has changed is put into the list `changed`, and the session takes the
// list at its next poll.
//
// # Callbacks
//
// nghttp2 calls back from within `nghttp2_session_mem_recv()` and
// `nghttp2_session_mem_send()`. A callback only changes the members of this
// class and of the streams. Anything that can run other code, such as waking a
// task, starting or aborting a handler's task, waits in a list until nghttp2
// has returned. No exception leaves a callback.
//
// # States
//
//   kServing   until the connection has nothing left to do, or has failed
//   kLinger    after the last frame: waits for the client to close, because an
//              early close could destroy the frames on their way
//   kEnding    waits until the tasks of all requests are destroyed
//   kDone
//
// # Files
//
//   server_session.cc     the connection: states, reading and writing
//   server_requests.cc    requests and responses
//   server_time.cc        limits of time, and the graceful end
//   server_callbacks.cc   what nghttp2 calls
class ServerSession {
 public:
  // REQUIRES: the numbers of `h2` are in their ranges.
  ServerSession(std::unique_ptr<Io> io, std::string received,
                std::shared_ptr<Handler> handler,
                std::shared_ptr<const ServerOptions> options, std::string peer,
                const h2::Options& h2);
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;
  ~ServerSession();

  PollResult<absl::Status> Poll(Context& cx);

 private:
  enum class State { kServing, kLinger, kEnding, kDone };

  // The callbacks for nghttp2.
  struct Callbacks;
  friend Callbacks;

  // Return whether the state has changed. Otherwise the session is pending.
  bool PollServing(Context& cx);
  bool PollLinger(Context& cx);
  bool PollEnding(Context& cx);

  // Begin the next state. Always return true. The connection ends with the
  // first error, which `status_` may already have.
  bool BeginLinger();
  bool Finish(absl::Status status);

  // Makes nghttp2's session, and submits the settings.
  absl::Status Open();
  // Does what the tasks of requests have asked for.
  void TakeChanges();
  // Reads as long as bytes are there, but not for ever. Returns whether more
  // bytes may be there.
  bool PollReads(Context& cx);
  // Passes bytes of the client to nghttp2.
  void Receive(std::string_view bytes);
  // Returns bytes of a body to the window of a stream, and of the connection.
  void Consume(const ServerStream& stream, size_t bytes);
  // Opens the window of the connection if it is worth a frame, and returns
  // whether it was. nghttp2 waits until half of the window was read, which
  // never happens if handlers leave the other half unread.
  bool OpenWindow();
  // Ends the connection of a client that has sent too many frames of no use.
  // Returns whether something must be written for that.
  bool EndFlood();
  // Writes what nghttp2 has to send, as long as the connection takes it.
  void PollWrites(Context& cx);
  // Start and stop the time in which the connection takes nothing.
  void BeginBlocked(const Context& cx);
  void EndBlocked();
  // Returns whether too much waits to be sent.
  bool MustNotRead() const;
  // Starts the tasks of the requests in `begun_`.
  void StartRuns();
  // Puts a waker, if any, into the list of those that `NotifyTasks()` wakes.
  void WakeLater(std::optional<Waker>& waker);
  // Wakes and aborts the tasks in the lists.
  void NotifyTasks();
  // Returns whether time was up for anything.
  bool CheckTime(Context& cx);
  // Ends what has taken too long. Arms the timer for the rest.
  void EndOverdue();
  void EndOverdueStream(ServerStream& stream);
  // Has the timer end at `time` or earlier.
  void ArmTimer(Instant time);
  // Registers the task with the `ServerLink`. Returns false if a stream has
  // changed in the meantime.
  bool Wait(Context& cx);
  // Begins the graceful end: a first GOAWAY, and then a PING; the PING's answer
  // causes the second GOAWAY.
  void BeginDrain();
  void EndDrain();
  // Detaches all streams, and aborts their tasks.
  void CloseAll();
  void Close(ServerStream& stream, bool aborts);

  // What the callbacks do.
  void OnBeginRequest(int32_t id);
  // Stops the time of the header of stream `id`, or of the first SETTINGS if
  // `id` is 0.
  void EndHeader(int32_t id);
  void OnRequest(ServerStream& stream, bool has_ended);
  void OnTrailers(ServerStream& stream);
  void OnData(ServerStream& stream, std::string_view bytes);
  void OnRequestEnd(ServerStream& stream);
  void OnHeaderSent(ServerStream& stream);
  void OnResponseEnd(ServerStream& stream);
  void OnStreamClose(ServerStream& stream);
  void OnUselessFrame();

  // Ends the stream with RST_STREAM and an error code of HTTP/2.
  void Reset(const ServerStream& stream, uint32_t error);
  // Fails the body of a request.
  void FailBody(ServerStream& stream, int failure, absl::Status error);
  // Answers a request without calling the handler.
  void Refuse(ServerStream& stream, const Refusal& refusal);
  // Passes the stream's response to nghttp2. `size` is the value of
  // `content-length`, if that field is sent.
  void Submit(ServerStream& stream, bool streams_out,
              std::optional<uint64_t> size);
  void SubmitText(ServerStream& stream, std::string text, int status);
  // Notes that bytes of the stream's response wait.
  void BeginWaiting(ServerStream& stream);

  // Returns the time of this poll.
  Instant Time();

  const std::shared_ptr<ServerLink> link_;
  const std::unique_ptr<Io> io_;
  const std::shared_ptr<Handler> handler_;
  const std::shared_ptr<const ServerOptions> options_;
  const h2::Options h2_;

  State state_ = State::kServing;
  nghttp2_session* session_ = nullptr;
  std::string received_;  // until the first poll
  Buffer out_;
  bool must_flush_ = false;
  bool client_has_ended_ = false;
  bool has_settings_ = false;  // the client's
  bool is_draining_ = false;
  bool has_yielded_ = false;
  bool is_flooded_ = false;
  bool skips_reads_ = false;  // `PollReads()` has read nothing, and not waited
  // The last request that is answered, after the second GOAWAY was submitted.
  std::optional<int32_t> last_id_;
  absl::Status status_;
  absl::Status callback_error_;

  std::vector<std::shared_ptr<ServerStream>> streams_;
  // The window of the connection, and the bytes of it that were given to bodies
  // and were not consumed.
  const int32_t window_;
  size_t unread_ = 0;
  RequestFields fields_;

  // What waits until nghttp2 has returned.
  std::vector<std::shared_ptr<ServerStream>> begun_;  // with a request
  std::vector<Waker> woken_;
  std::vector<AbortHandle> aborted_;
  std::vector<std::shared_ptr<SharedStream>> taken_;  // from `changed`

  // Time.
  std::optional<Instant> now_;
  std::optional<FrameBudget> budget_;
  Sleep timer_;
  Instant armed_ = Instant::Max();
  bool timer_is_late_ = false;  // `timer_` must be reset to `armed_`
  int32_t header_id_ = 0;       // the stream whose header began last
  Instant header_end_ = Instant::Max();
  Instant idle_end_ = Instant::Max();
  Instant drain_end_ = Instant::Max();
  Instant write_end_ = Instant::Max();  // while the connection takes nothing
  // When the connection last took bytes after having taken none, and when bytes
  // of a response were last given to nghttp2.
  Instant unblocked_;
  Instant data_sent_;
  StopWait stop_wait_;
  Linger linger_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SERVER_SESSION_H_
