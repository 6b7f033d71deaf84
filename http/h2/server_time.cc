// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/h2/server_session.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/serving/handler_call.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {
namespace {

// Most time between the two GOAWAY of a graceful end, if the client does not
// answer the PING.
constexpr absl::Duration kDrainPing = absl::Seconds(1);

}  // namespace

Instant ServerSession::Time() {
  if (!now_.has_value()) now_ = Now();
  return *now_;
}

void ServerSession::ArmTimer(Instant time) {
  if (time >= armed_) return;
  armed_ = time;
  timer_is_late_ = true;
}

bool ServerSession::CheckTime(Context& cx) {
  if (std::exchange(timer_is_late_, false)) timer_.ResetAt(armed_);
  if (armed_ == Instant::Max() || timer_.Poll(cx).IsPending()) return false;
  armed_ = Instant::Max();
  now_.reset();
  EndOverdue();
  return true;
}

void ServerSession::EndOverdue() {
  const Instant now = Time();
  if (write_end_ <= now) {
    Finish(absl::DeadlineExceededError(
        "the client has not taken the response for too long"));
    return;
  }
  if (header_end_ <= now) {
    header_end_ = Instant::Max();
    if (status_.ok()) {
      status_ = absl::DeadlineExceededError(
          "the header of a request did not arrive in time");
    }
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  }
  if (streams_.empty() && idle_end_ <= now) {
    idle_end_ = Instant::Max();
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  }
  if (drain_end_ <= now) EndDrain();
  for (const std::shared_ptr<ServerStream>& stream : streams_) {
    EndOverdueStream(*stream);
  }
  ArmTimer(std::min({write_end_, header_end_, drain_end_}));
  if (streams_.empty()) ArmTimer(idle_end_);
}

void ServerSession::EndOverdueStream(ServerStream& stream) {
  const Instant now = Time();
  bool is_overdue = false;
  if (stream.request_end <= now) {
    stream.request_end = Instant::Max();
    if (stream.has_answered) {
      is_overdue = true;
    } else {
      bool has_answer;
      bool waits_for_body;
      {
        const ThreadMutexLock lock(&link_->mu);
        // A later answer of the handler does not count.
        has_answer = std::exchange(stream.has_answer, true);
        waits_for_body = stream.reader.has_value();
      }
      if (has_answer) {
        // The answer came after `TakeChanges()`, which takes the answer in the
        // next round. What is then left of the response is too late.
        stream.request_end = now;
      } else {
        if (stream.run.has_value()) aborted_.push_back(*stream.run);
        if (waits_for_body) {
          SubmitText(stream, "the request did not arrive in time\n", 408);
        } else {
          LOG(ERROR) << "http: " << stream.name << " from "
                     << NameOfPeer(link_->peer)
                     << ": the handler took longer than request_timeout, "
                     << absl::FormatDuration(options_->request_timeout);
          SubmitText(stream, "the server took too long\n", 503);
        }
      }
    }
  }
  if (stream.discard_end <= now) {
    stream.discard_end = Instant::Max();
    Reset(stream, NGHTTP2_NO_ERROR);
  }
  ArmTimer(std::min(stream.request_end, stream.discard_end));
  // While the connection takes nothing, that is what counts.
  if (stream.is_waiting && write_end_ == Instant::Max()) {
    Instant since = std::max(stream.waiting_since, unblocked_);
    // The stream may only wait for others to use the window of the connection.
    if (nghttp2_session_get_remote_window_size(session_) <= 0) {
      since = std::max(since, data_sent_);
    }
    const Instant end = since + options_->progress_timeout;
    is_overdue |= end <= now;
    if (!is_overdue) ArmTimer(end);
  }
  if (!is_overdue) return;
  stream.is_waiting = false;
  Reset(stream, NGHTTP2_CANCEL);
}

void ServerSession::BeginDrain() {
  if (std::exchange(is_draining_, true)) return;
  nghttp2_submit_shutdown_notice(session_);
  drain_end_ = Time() + kDrainPing;
  ArmTimer(drain_end_);
}

void ServerSession::EndDrain() {
  drain_end_ = Instant::Max();
  if (last_id_.has_value()) return;
  last_id_ = nghttp2_session_get_last_proc_stream_id(session_);
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, *last_id_,
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

}  // namespace rouse::http::internal
