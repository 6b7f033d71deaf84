// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of a connection that does not depend on the type of the stream.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_SESSION_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_SESSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/blocked_pops.h"
#include "rouse/future/co.h"
#include "rouse/sync/broadcast.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"

namespace mini_redis {

// Session
//
// A client from the connection's side. The client is in CLIENT LIST as long as
// the session exists. For one thread at a time.
class Session {
 public:
  // `id` is from `Service::TakeClientId()`.
  Session(Service& service, uint64_t id, std::string address);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  const ServiceOptions& options() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return service_.options;
  }
  const rouse::CancellationToken& kill() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return client_.kill;
  }

  // Notes the time for the commands that follow.
  void BeginRound() { round_time_.reset(); }

  // Runs a request, and appends the reply to `out()`.
  void Run(const resp::Command& request);

  // Moves waiting messages and lines of MONITOR to `out()`. Returns whether
  // there were any. If not, wakes the task for the next.
  bool PollPushes(rouse::Context& cx);

  // Returns whether the connection must end: the client was killed, or the
  // server stops. If not, wakes the task when this happens.
  bool PollEnd(rouse::Context& cx);
  // Ends the connection after the current replies if the server stops.
  void StopIfAsked() {
    if (service_.stop.IsCancelled()) Close();
  }

  // Returns whether the connection ends when the replies have been sent.
  bool IsClosing() const { return client_.closing; }
  void Close() { client_.closing = true; }
  // Like `Close()`, after telling the client about a protocol error.
  void CloseAfterError(const absl::Status& error);

  // Returns whether the client may be silent, because messages are expected.
  bool ReceivesPushes() const {
    return client_.subscriber.has_value() || client_.monitor.has_value();
  }

  // Returns whether the last command waits for an element.
  bool IsBlocked() const { return client_.blocked.has_value(); }
  absl::Duration BlockedTimeout() const { return client_.blocked->timeout; }
  // Returns whether the element has arrived. If not, wakes the task when the
  // element arrives.
  bool PollElement(rouse::Context& cx);
  // Ends the wait, and appends the reply to `out()`.
  void Unblock();

  std::string_view out() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return client_.out;
  }
  void ClearOut();

  // Returns whether `out()` has replies to changes that the log may lack.
  bool IsUnconfirmed() const { return !client_.unconfirmed.empty(); }
  // Waits until the log has the changes. If the log cannot be written, replaces
  // the replies to the changes by an error.
  rouse::Co<> Confirm();

 private:
  void ReplaceUnconfirmed(const absl::Status& error);
  bool PollMonitor(rouse::Context& cx);

  Service& service_;
  Client client_;
  std::optional<PoppedElement> element_;
  std::optional<rouse::Instant> round_time_;

  // Wait from the first poll to the end of the session.
  rouse::CancellationToken::CancelledFuture killed_;
  rouse::CancellationToken::CancelledFuture stopped_;
  std::optional<rouse::broadcast::ReceiveFuture<MonitorLine>> monitor_line_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_SESSION_H_
