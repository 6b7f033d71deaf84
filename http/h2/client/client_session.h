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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/client/response_head.h"
#include "rouse/http/h2/shared/frame_budget.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

struct nghttp2_session;

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
// of the streams. Wakers wait in a list until nghttp2 has returned. No
// exception leaves a callback.
//
// # States
//
//   kServing   until nothing is left to do, or the connection has failed
//   kClosing   after the last frame: shuts the connection down
//   kDone
class ClientSession {
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

  // The callbacks for nghttp2.
  struct Callbacks;
  friend Callbacks;

  // Returns whether the state has changed. Otherwise the session is pending.
  bool PollServing(Context& cx);
  // Begin the next state. The first returns true. Without an error in `status`,
  // the requests that are left fail because the connection has ended.
  bool BeginClosing();
  void Finish(absl::Status status);

  // Makes nghttp2's session, and submits the settings.
  absl::Status Open();
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
  // Reads as long as bytes are there, but not for ever. Returns whether more
  // bytes may be there.
  bool PollReads(Context& cx);
  // Returns the bytes that users have read to the window of the connection, if
  // that is worth a frame. Returns whether it was.
  bool OpenWindow();
  void Consume(const ClientStream& stream, size_t bytes);
  // Ends the connection of a server that has sent too many frames of no use.
  // Returns whether something must be written for that.
  bool EndFlood();
  // Writes what nghttp2 has to send, as long as the connection takes it.
  void PollWrites(Context& cx);
  void BeginBlocked(const Context& cx);
  // Returns whether too much waits to be sent.
  bool MustNotRead() const;
  void WakeLater(std::optional<Waker>& waker);
  // Wakes the tasks in the list.
  void NotifyTasks();
  // Returns whether time was up for anything.
  bool CheckTime(Context& cx);
  // Has the timer end at `time` or earlier.
  void ArmTimer(Instant time);
  // Registers the task with the `ClientLink`. Returns false if there is
  // something to do.
  bool Wait(Context& cx);
  // Closes all streams with `status`.
  void FailAll(const absl::Status& status);

  // What the callbacks do.
  void OnHead(ClientStream& stream, bool ends);
  void OnData(ClientStream& stream, std::string_view bytes);
  void OnEnd(ClientStream& stream);
  void OnSent(ClientStream& stream, bool ends);
  void OnStreamClose(ClientStream& stream, uint32_t error);
  // `most` is the server's limit of concurrent requests.
  void OnSettings(uint32_t most);
  void OnUselessFrame();

  // Closes a stream that is not in the list of nghttp2 any more. `status` is
  // the error of a response that is not complete.
  void Close(ClientStream& stream, absl::Status status, Repeat repeat);
  // Returns why a stream was closed.
  absl::Status CloseReason(const ClientStream& stream, uint32_t error) const;

  // Returns the time of this poll.
  Instant Time();

  const std::shared_ptr<ClientLink> link_;
  const std::unique_ptr<Io> io_;
  const int32_t window_;  // of the connection
  const uint32_t stream_window_;
  const absl::Duration idle_timeout_;

  State state_ = State::kServing;
  nghttp2_session* session_ = nullptr;
  Buffer out_;
  bool must_flush_ = false;
  bool is_flooded_ = false;
  bool is_ending_ = false;    // the last GOAWAY was submitted
  bool skips_reads_ = false;  // `PollReads()` has read nothing, and not waited
  absl::Status status_;
  absl::Status callback_error_;

  std::vector<std::shared_ptr<ClientStream>> streams_;
  // Bytes of the connection's window that were given to bodies and were not
  // consumed.
  size_t unread_ = 0;
  ResponseHead head_;

  // What waits until nghttp2 has returned.
  std::vector<Waker> woken_;
  std::vector<std::shared_ptr<SharedStream>> taken_;  // from `changed`

  // Time.
  std::optional<Instant> now_;
  std::optional<FrameBudget> budget_;
  Sleep timer_;
  Instant armed_ = Instant::Max();
  bool timer_is_late_ = false;          // `timer_` must be reset to `armed_`
  Instant idle_end_ = Instant::Max();   // while no request is under way
  Instant write_end_ = Instant::Max();  // while the connection takes nothing
  Instant received_;                    // the last bytes
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_CLIENT_CLIENT_SESSION_H_
