// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/server_session.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/handler.h"
#include "rouse/http/server_options.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {
namespace {

// Most time that the client gets to close the connection after the last frame.
constexpr absl::Duration kLinger = absl::Seconds(1);

}  // namespace

ServerSession::ServerSession(std::unique_ptr<Io> io, std::string received,
                             std::shared_ptr<Handler> handler,
                             std::shared_ptr<const ServerOptions> options,
                             std::string peer, const h2::Options& h2)
    : link_(std::make_shared<ServerLink>(
          std::move(peer), h2.connection_window_bytes, h2.stream_window_bytes)),
      handler_(std::move(handler)),
      options_(std::move(options)),
      h2_(h2),
      transport_(std::move(io), "client",
                 {h2.connection_window_bytes, h2.stream_window_bytes,
                  options_->max_header_bytes, options_->progress_timeout},
                 *this, clock_),
      received_(std::move(received)) {}

ServerSession::~ServerSession() {
  ROUSE_TRY { CloseAll(); }
  ROUSE_CATCH_ALL {}
}

PollResult<absl::Status> ServerSession::Poll(Context& cx) {
  for (;;) {
    bool has_changed = false;
    switch (state_) {
      case State::kServing:
        has_changed = PollServing(cx);
        break;
      case State::kLinger:
        has_changed = PollLinger(cx);
        break;
      case State::kEnding:
        has_changed = PollEnding(cx);
        break;
      case State::kDone:
        return transport_.status();
    }
    if (!has_changed) return kPending;
  }
}

bool ServerSession::Open() {
  const nghttp2_settings_entry own = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                      h2_.max_concurrent_streams};
  if (!transport_.Open(&nghttp2_session_server_new2, own)) return false;
  header_end_ = clock_.Time() + options_->header_timeout;
  idle_end_ = clock_.Time() + options_->idle_timeout;
  clock_.ArmTimer(std::min(header_end_, idle_end_));
  const std::string received = std::exchange(received_, std::string());
  return transport_.Receive(received);
}

bool ServerSession::PollServing(Context& cx) {
  clock_.BeginPoll();
  if (session() == nullptr && !Open()) return Finish();
  {
    const ThreadMutexLock lock(&link_->mu);
    link_->session.Reset();
  }
  // Requests arrive together, and are answered one after another. The task
  // lets the handlers run, so that their answers are written together.
  if (link_->unpolled.load(std::memory_order_relaxed) > 0 &&
      !std::exchange(has_yielded_, true)) {
    cx.Yield();
    return false;
  }
  has_yielded_ = false;
  if (!is_draining_ && stop_wait_.IsStopped(cx, options_->stop)) BeginDrain();
  for (;;) {
    TakeChanges();
    bool may_have_more = state_ == State::kServing && PollReads(cx);
    if (state_ == State::kServing) StartRuns();
    if (state_ == State::kServing) PollWrites(cx);
    NotifyTasks();
    if (state_ != State::kServing) return true;
    may_have_more |= transport_.MustReadNow();
    may_have_more |= transport_.EndFlood();
    const bool has_nothing_to_read =
        nghttp2_session_want_read(session()) == 0 ||
        (client_has_ended_ && streams_.empty());
    if (has_nothing_to_read && transport_.HasSentAll()) return BeginLinger();
    if (CheckTime(cx)) {
      if (state_ != State::kServing) return true;
      continue;
    }
    if (!may_have_more && Wait(cx)) return false;
  }
}

bool ServerSession::PollReads(Context& cx) {
  if (client_has_ended_) return false;
  switch (transport_.PollReads(cx)) {
    case Transport::Read::kWaits:
      return false;
    case Transport::Read::kHasMore:
      return true;
    case Transport::Read::kFailed:
      Finish();
      return false;
    case Transport::Read::kEnd:
      break;
  }
  client_has_ended_ = true;
  if (!options_->allow_half_close) {
    if (streams_.empty() && !transport_.HasUnsent()) {
      Finish();
    } else {
      Finish(absl::DataLossError(
          "the client closed the connection before the response"));
    }
    return false;
  }
  for (const std::shared_ptr<ServerStream>& stream : streams_) {
    if (nghttp2_session_get_stream_remote_close(session(), stream->id) == 0) {
      FailBody(*stream, 0,
               absl::DataLossError(
                   "the connection ended in the middle of the body"));
    }
  }
  return false;
}

void ServerSession::PollWrites(Context& cx) {
  transport_.OpenWindow();
  if (!transport_.PollWrites(cx)) {
    Finish();
  } else if (streams_.empty()) {
    transport_.Shrink();
  }
}

void ServerSession::NotifyTasks() {
  woken_.WakeAll();
  for (const AbortHandle& run : aborted_) run.Abort();
  aborted_.clear();
}

bool ServerSession::Wait(Context& cx) {
  const ThreadMutexLock lock(&link_->mu);
  if (!link_->changed.empty()) return false;
  link_->Wait(cx.waker(), nghttp2_session_get_local_window_size(session()),
              clock_);
  return true;
}

// ---- The end.

void ServerSession::CloseAll() {
  for (const std::shared_ptr<ServerStream>& stream : streams_) {
    Close(*stream, /*aborts=*/true);
    nghttp2_session_set_stream_user_data(session(), stream->id, nullptr);
  }
  begun_.clear();
  streams_.clear();
  NotifyTasks();
}

bool ServerSession::BeginLinger() {
  CloseAll();
  clock_.RestartTimer(kLinger);
  state_ = State::kLinger;
  return true;
}

bool ServerSession::PollLinger(Context& cx) {
  const bool has_ended = linger_.Poll(cx, transport_.io()).IsReady();
  if (!has_ended && !clock_.PollTimer(cx)) return false;
  return Finish();
}

bool ServerSession::Finish(absl::Status status) {
  if (state_ == State::kEnding) return true;
  transport_.EndWith(std::move(status));
  state_ = State::kEnding;
  return true;
}

bool ServerSession::PollEnding(Context& cx) {
  // The lists of tasks cannot be used inside of nghttp2.
  CloseAll();
  const ThreadMutexLock lock(&link_->mu);
  if (link_->runs > 0) {
    link_->session = cx.waker().Clone();
    return false;
  }
  state_ = State::kDone;
  return true;
}

}  // namespace rouse::http::internal
