// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_session.h
// -----------------------------------------------------------------------------
//
// `ClientSession` carries the requests of one HTTP/2 connection of a client.

#ifndef ROUSE_HTTP_H2_CLIENT_CLIENT_SESSION_H_
#define ROUSE_HTTP_H2_CLIENT_CLIENT_SESSION_H_

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/client/response_head.h"
#include "rouse/http/h2/shared/session_clock.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/h2/shared/transport.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// ClientSession
//
// A future of the connection's end. Not movable. Destroying the future fails
// the requests under way.
//
// # Tasks
//
// Only the task of this future uses nghttp2's session. The tasks of the users
// share a `ClientLink` with this task: see `StreamExchange`. They put new
// requests into the list `waiting`, and streams that they have changed into the
// list `changed`. The session takes the lists at its next poll.
//
// # Callbacks
//
// As in `ServerSession`, a callback only changes the members of this class and
// of the streams. Wakers wait in a list until nghttp2 has returned.
//
// # States
//
//   kServing   until nothing is left to do, or the connection has failed
//   kClosing   after the last frame: shuts the connection down
//   kDone
class ClientSession final : private Transport::Events {
 public:
  ClientSession(std::unique_ptr<Io> io, std::shared_ptr<ClientLink> link,
                uint32_t connection_window, uint32_t stream_window,
                absl::Duration idle_timeout);
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;
  ~ClientSession();

  PollResult<void> Poll(Context& cx);

 private:
  enum class State { kServing, kClosing, kDone };

  // Returns whether the state has changed. Otherwise the session is pending.
  bool PollServing(Context& cx);
  // Begin the next state. The first returns true. Without an error in `status`,
  // the requests that are left fail because the connection has ended.
  bool BeginClosing();
  void Finish(absl::Status status = absl::OkStatus());

  // Does what the tasks of users have asked for.
  void TakeChanges();
  // Submits the requests that the server allows.
  void StartRequests();
  void Submit(const std::shared_ptr<ClientStream>& stream);
  // Lets the connection take no more requests. Those that wait fail, and can be
  // sent on another connection.
  void Retire();
  // Returns how often a request that this connection does not take is sent on
  // others. Each connection that has answered is progress.
  Repeat RepeatElsewhere() const;
  // Ends the connection if nobody needs it any more.
  void EndIfUnused();
  // Reads from the connection. Returns whether more bytes may be there.
  bool PollReads(Context& cx);
  // Writes to the connection.
  void PollWrites(Context& cx);
  // Returns whether time was up for anything.
  bool CheckTime(Context& cx);
  // Registers the task with the `ClientLink`. Returns false if there is
  // something to do.
  bool Wait(Context& cx);
  // Closes all streams with `status`.
  void FailAll(const absl::Status& status);

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
  void OnHead(ClientStream& stream, bool ends);
  void OnEnd(ClientStream& stream);
  void Remove(ClientStream& stream, uint32_t error);
  // `most` is the server's limit of concurrent requests.
  void OnSettings(uint32_t most);

  // Closes a stream that is not in the list of nghttp2 any more. `status` is
  // the error of a response that is not complete.
  void Close(ClientStream& stream, absl::Status status, Repeat repeat);
  // Returns why a stream was closed.
  absl::Status CloseReason(const ClientStream& stream, uint32_t error) const;

  nghttp2_session* session() const { return transport_.session(); }
  // Returns the stream, or null if it has ended.
  ClientStream* StreamOf(int32_t id) const;

  const std::shared_ptr<ClientLink> link_;
  const absl::Duration idle_timeout_;

  State state_ = State::kServing;
  SessionClock clock_;
  Transport transport_;
  bool is_ending_ = false;  // the last GOAWAY was submitted

  std::vector<std::shared_ptr<ClientStream>> streams_;
  ResponseHead head_;

  // What waits until nghttp2 has returned.
  WakeList woken_;
  std::vector<std::shared_ptr<SharedStream>> taken_;  // from `changed`

  Instant idle_end_ = Instant::Max();  // while no request is under way
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_CLIENT_CLIENT_SESSION_H_
