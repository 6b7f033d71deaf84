// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: send_timeout.h
// -----------------------------------------------------------------------------
//
// Sends to a bounded channel, and gives up if there is no room for too long:
//
//   auto send = rouse::mpsc::SendTimeout(tx, std::move(job), absl::Seconds(1));
//   absl::Status status = co_await send;
//   if (absl::IsDeadlineExceeded(status)) Drop(send.TakeValue());

#ifndef ROUSE_SYNC_MPSC_SEND_TIMEOUT_H_
#define ROUSE_SYNC_MPSC_SEND_TIMEOUT_H_

#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/await_trace.h"
#include "rouse/sync/mpsc/mpsc.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::mpsc {

// SendTimeoutFuture
//
// See `SendTimeout()`.
template <class T>
class [[nodiscard(
    "the message is sent when the future is awaited")]] SendTimeoutFuture {
 public:
  SendTimeoutFuture(SendFuture<T> send, Sleep sleep)
      : send_(std::move(send)), sleep_(std::move(sleep)) {}

  PollResult<absl::Status> Poll(Context& cx) {
    PollResult<absl::Status> sent = send_.Poll(cx);
    if (sent.IsReady()) return sent;
    const PollResult<SleepResult> up = sleep_.Poll(cx);
    if (up.IsPending()) return kPending;
    send_.Cancel();
    if (!up->ok()) return up->status();
    return absl::DeadlineExceededError(
        "mpsc::SendTimeout: the channel was full until the deadline; take the "
        "value back, or send it again");
  }

  // Returns the value if it was not sent: see `SendFuture::TakeValue()`.
  T TakeValue() { return send_.TakeValue(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "SendTimeout");
    branches.Add(send_);
    branches.Add(sleep_);
  }

 private:
  SendFuture<T> send_;
  Sleep sleep_;
};

// SendTimeout()
//
// Returns a future that sends `value` as `Sender::Send()` does, if there is
// room within `timeout` of the future's first poll. The result is an
// `absl::Status`. The future fails with `kDeadlineExceeded` if there is no room
// in time: nothing was sent, and the value can be taken back. Time is measured
// as by a `Sleep`, on the clock of the current driver. The future fails with
// `kUnavailable` if the driver shuts down.
//
// A sender must outlive the future. The future can be moved until it is first
// polled.
template <class T>
SendTimeoutFuture<T> SendTimeout(
    const Sender<T>& tx ABSL_ATTRIBUTE_LIFETIME_BOUND,
    std::type_identity_t<T> value, AnyDuration timeout) {
  return SendTimeoutFuture<T>(tx.Send(std::move(value)), Sleep(timeout));
}

}  // namespace rouse::mpsc

#endif  // ROUSE_SYNC_MPSC_SEND_TIMEOUT_H_
