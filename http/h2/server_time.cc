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
#include "rouse/waker/context.h"

namespace rouse::http::internal {
namespace {

// Most time between the two GOAWAY of a graceful end, if the client does not
// answer the PING.
constexpr absl::Duration kDrainPing = absl::Seconds(1);

}  // namespace

bool ServerSession::CheckTime(Context& cx) {
  if (!clock_.PollTimer(cx)) return false;
  EndOverdue();
  return true;
}

void ServerSession::EndOverdue() {
  const Instant now = clock_.Time();
  if (transport_.write_end() <= now) {
    Finish(absl::DeadlineExceededError(
        "the client has not taken the response for too long"));
    return;
  }
  if (header_end_ <= now) {
    header_end_ = Instant::Max();
    transport_.Terminate(NGHTTP2_NO_ERROR,
                         absl::DeadlineExceededError(
                             "the header of a request did not arrive in time"));
  }
  if (streams_.empty() && idle_end_ <= now) {
    idle_end_ = Instant::Max();
    nghttp2_session_terminate_session(session(), NGHTTP2_NO_ERROR);
  }
  if (drain_end_ <= now) EndDrain();
  for (const std::shared_ptr<ServerStream>& stream : streams_) {
    EndOverdueStream(*stream);
  }
  clock_.ArmTimer(std::min({transport_.write_end(), header_end_, drain_end_}));
  if (streams_.empty()) clock_.ArmTimer(idle_end_);
}

void ServerSession::EndOverdueStream(ServerStream& stream) {
  const Instant now = clock_.Time();
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
  clock_.ArmTimer(std::min(stream.request_end, stream.discard_end));
  // While the connection takes nothing, that is what counts.
  if (stream.is_waiting && !transport_.is_blocked()) {
    Instant since = std::max(stream.waiting_since, transport_.unblocked());
    // The stream may only wait for others to use the window of the connection.
    if (nghttp2_session_get_remote_window_size(session()) <= 0) {
      since = std::max(since, data_sent_);
    }
    const Instant end = since + options_->progress_timeout;
    is_overdue |= end <= now;
    if (!is_overdue) clock_.ArmTimer(end);
  }
  if (!is_overdue) return;
  stream.is_waiting = false;
  Reset(stream, NGHTTP2_CANCEL);
}

void ServerSession::BeginDrain() {
  if (std::exchange(is_draining_, true)) return;
  nghttp2_submit_shutdown_notice(session());
  drain_end_ = clock_.Time() + kDrainPing;
  clock_.ArmTimer(drain_end_);
}

void ServerSession::EndDrain() {
  drain_end_ = Instant::Max();
  if (last_id_.has_value()) return;
  last_id_ = nghttp2_session_get_last_proc_stream_id(session());
  nghttp2_submit_goaway(session(), NGHTTP2_FLAG_NONE, *last_id_,
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

}  // namespace rouse::http::internal
