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

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/request_fields.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/session_clock.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/h2/shared/transport.h"
#include "rouse/http/handler.h"
#include "rouse/http/server_options.h"
#include "rouse/http/serving/linger.h"
#include "rouse/http/serving/stop_wait.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

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
// nghttp2 calls back while `transport_` reads and writes. A callback only
// changes the members of this class and of the streams. Anything that can run
// other code, such as waking a task, starting or aborting a handler's task,
// waits in a list until nghttp2 has returned.
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
//   server_callbacks.cc   `Transport::Events`
class ServerSession final : private Transport::Events {
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

  // Return whether the state has changed. Otherwise the session is pending.
  bool PollServing(Context& cx);
  bool PollLinger(Context& cx);
  bool PollEnding(Context& cx);

  // Begin the next state. Always return true. The connection ends with the
  // first error, which `transport_` may already have.
  bool BeginLinger();
  bool Finish(absl::Status status = absl::OkStatus());

  // Makes nghttp2's session, and takes what was already received. Returns false
  // after a failure, which `transport_` has.
  bool Open();
  // Does what the tasks of requests have asked for.
  void TakeChanges();
  // Reads from the connection. Returns whether more bytes may be there.
  bool PollReads(Context& cx);
  // Writes to the connection.
  void PollWrites(Context& cx);
  // Starts the tasks of the requests in `begun_`.
  void StartRuns();
  // Wakes and aborts the tasks in the lists.
  void NotifyTasks();
  // Returns whether time was up for anything.
  bool CheckTime(Context& cx);
  // Ends what has taken too long. Arms the timer for the rest.
  void EndOverdue();
  void EndOverdueStream(ServerStream& stream);
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

  // What nghttp2 has received and sent: see `Transport::Events`.
  void OnBeginHeaders(const nghttp2_frame& frame) override;
  void OnField(const nghttp2_frame& frame, std::string_view name,
               std::string_view value) override;
  void OnFrame(const nghttp2_frame& frame) override;
  void OnData(int32_t id, std::string_view bytes) override;
  void OnStreamClose(int32_t id, uint32_t error) override;
  void OnSent(const nghttp2_frame& frame) override;
  void OnHeadersNotSent(const nghttp2_frame& frame, int error) override;
  ssize_t ReadBody(int32_t id, SharedStream& shared, char* to, size_t most,
                   uint32_t& flags) override;

  // What the callbacks do.
  void OnBeginRequest(int32_t id);
  // Stops the time of the header of stream `id`, or of the first SETTINGS if
  // `id` is 0.
  void EndHeader(int32_t id);
  void OnRequest(ServerStream& stream, bool has_ended);
  void OnTrailers(ServerStream& stream);
  void OnRequestEnd(ServerStream& stream);
  void OnHeaderSent(ServerStream& stream);
  void OnResponseEnd(ServerStream& stream);
  void Remove(ServerStream& stream);

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

  nghttp2_session* session() const { return transport_.session(); }
  // Returns the stream, or null if it has ended.
  ServerStream* StreamOf(int32_t id) const;

  const std::shared_ptr<ServerLink> link_;
  const std::shared_ptr<Handler> handler_;
  const std::shared_ptr<const ServerOptions> options_;
  const h2::Options h2_;

  State state_ = State::kServing;
  SessionClock clock_;
  Transport transport_;
  std::string received_;  // until the first poll
  bool client_has_ended_ = false;
  bool has_settings_ = false;  // the client's
  bool is_draining_ = false;
  bool has_yielded_ = false;
  // The last request that is answered, after the second GOAWAY was submitted.
  std::optional<int32_t> last_id_;

  std::vector<std::shared_ptr<ServerStream>> streams_;
  RequestFields fields_;

  // What waits until nghttp2 has returned.
  std::vector<std::shared_ptr<ServerStream>> begun_;  // with a request
  WakeList woken_;
  std::vector<AbortHandle> aborted_;
  std::vector<std::shared_ptr<SharedStream>> taken_;  // from `changed`

  // Time.
  int32_t header_id_ = 0;  // the stream whose header began last
  Instant header_end_ = Instant::Max();
  Instant idle_end_ = Instant::Max();
  Instant drain_end_ = Instant::Max();
  // When bytes of a response were last given to nghttp2.
  Instant data_sent_;
  StopWait stop_wait_;
  Linger linger_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SERVER_SESSION_H_
