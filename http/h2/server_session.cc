// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/server_session.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/server_callbacks.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/fields.h"
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

// Bytes of one read, and most reads before the session writes.
constexpr size_t kRead = size_t{16} << 10;
constexpr int kReads = 4;

// Bytes that are collected before they are written, if there are any.
constexpr size_t kBatch = size_t{64} << 10;
constexpr size_t kSmallBuffer = 1024;

// Most frames that wait to be sent while the connection takes nothing. The
// session then reads nothing more.
constexpr size_t kMaxQueued = 1000;

// Most time that the client gets to close the connection after the last frame.
constexpr absl::Duration kLinger = absl::Seconds(1);

// Most bytes of a header that the settings announce.
constexpr size_t kMostHeader = 0x7fffffff;

}  // namespace

ServerSession::ServerSession(std::unique_ptr<Io> io, std::string received,
                             std::shared_ptr<Handler> handler,
                             std::shared_ptr<const ServerOptions> options,
                             std::string peer, const h2::Options& h2)
    : link_(std::make_shared<ServerLink>(
          std::move(peer), h2.connection_window_bytes, h2.stream_window_bytes)),
      io_(std::move(io)),
      handler_(std::move(handler)),
      options_(std::move(options)),
      h2_(h2),
      received_(std::move(received)),
      window_(static_cast<int32_t>(h2.connection_window_bytes)),
      timer_(absl::InfiniteDuration()) {}

ServerSession::~ServerSession() {
  ROUSE_TRY { CloseAll(); }
  ROUSE_CATCH_ALL {}
  nghttp2_session_del(session_);
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
        return std::move(status_);
    }
    if (!has_changed) return kPending;
  }
}

absl::Status ServerSession::Open() {
  const nghttp2_session_callbacks* const callbacks = Callbacks::Get();
  const nghttp2_option* const options = Callbacks::Options();
  if (callbacks == nullptr || options == nullptr) {
    return Nghttp2Error("client", "begin", NGHTTP2_ERR_NOMEM);
  }
  int result = nghttp2_session_server_new2(&session_, callbacks, this, options);
  if (result != 0) return Nghttp2Error("client", "begin", result);
  const auto headers = static_cast<uint32_t>(
      std::min<size_t>(options_->max_header_bytes, kMostHeader));
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, h2_.max_concurrent_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, h2_.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, headers},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  result = nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(),
                                   settings.size());
  if (result == 0) {
    result = nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE,
                                                   0, window_);
  }
  if (result != 0) return Nghttp2Error("client", "settings", result);
  budget_.emplace(Time());
  header_end_ = Time() + options_->header_timeout;
  idle_end_ = Time() + options_->idle_timeout;
  ArmTimer(std::min(header_end_, idle_end_));
  return absl::OkStatus();
}

bool ServerSession::PollServing(Context& cx) {
  now_.reset();
  if (session_ == nullptr) {
    absl::Status opened = Open();
    if (!opened.ok()) return Finish(std::move(opened));
    const std::string received = std::exchange(received_, std::string());
    Receive(received);
  }
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
    if (state_ == State::kServing) OpenWindow();
    if (state_ == State::kServing) PollWrites(cx);
    NotifyTasks();
    if (state_ != State::kServing) return true;
    // Without a read that is pending, nothing would wake the task.
    may_have_more |= skips_reads_ && !MustNotRead();
    may_have_more |= EndFlood();
    const bool has_nothing_to_read = nghttp2_session_want_read(session_) == 0 ||
                                     (client_has_ended_ && streams_.empty());
    if (has_nothing_to_read && nghttp2_session_want_write(session_) == 0 &&
        out_.empty() && !must_flush_) {
      return BeginLinger();
    }
    if (CheckTime(cx)) {
      if (state_ != State::kServing) return true;
      continue;
    }
    if (!may_have_more && Wait(cx)) return false;
  }
}

bool ServerSession::PollReads(Context& cx) {
  skips_reads_ = false;
  if (client_has_ended_ || nghttp2_session_want_read(session_) == 0) {
    return false;
  }
  skips_reads_ = MustNotRead();
  if (skips_reads_) return false;
  char bytes[kRead];
  for (int i = 0; i < kReads; ++i) {
    PollResult<absl::StatusOr<size_t>> size =
        io_->PollRead(cx, absl::MakeSpan(bytes));
    if (size.IsPending()) return false;
    if (!size->ok()) {
      Finish((*std::move(size)).status());
      return false;
    }
    if (**size == 0) {
      client_has_ended_ = true;
      if (!options_->allow_half_close) {
        const bool has_sent_all =
            streams_.empty() && out_.empty() && !must_flush_;
        Finish(has_sent_all
                   ? absl::OkStatus()
                   : absl::DataLossError("the client closed the connection "
                                         "before the response"));
        return false;
      }
      for (const std::shared_ptr<ServerStream>& stream : streams_) {
        if (nghttp2_session_get_stream_remote_close(session_, stream->id) ==
            0) {
          FailBody(*stream, 0,
                   absl::DataLossError(
                       "the connection ended in the middle of the body"));
        }
      }
      return false;
    }
    Receive(std::string_view(bytes, **size));
    if (state_ != State::kServing) return false;
  }
  return true;
}

void ServerSession::Receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) {
    Finish(callback_error_.ok() ? Nghttp2Error("client", "a frame", used)
                                : std::move(callback_error_));
    return;
  }
  EndFlood();
}

bool ServerSession::EndFlood() {
  if (!is_flooded_ || !status_.ok()) return false;
  status_ = absl::InvalidArgumentError(
      "the client has sent too many frames of no use, such as PING");
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  return true;
}

void ServerSession::PollWrites(Context& cx) {
  for (;;) {
    while (out_.size() < kBatch) {
      const uint8_t* data;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) {
        Finish(callback_error_.ok() ? Nghttp2Error("client", "a frame", size)
                                    : std::move(callback_error_));
        return;
      }
      if (size == 0) {
        // The ends of streams have freed what their handlers had not read.
        if (!OpenWindow()) break;
        continue;
      }
      out_.Append(std::string_view(reinterpret_cast<const char*>(data), size));
    }
    if (out_.empty()) break;
    PollResult<absl::StatusOr<size_t>> written =
        io_->PollWrite(cx, out_.view());
    if (written.IsPending()) return BeginBlocked(cx);
    if (!written->ok()) {
      Finish((*std::move(written)).status());
      return;
    }
    out_.Consume(**written);
    must_flush_ = true;
    EndBlocked();
  }
  if (must_flush_) {
    PollResult<absl::Status> flushed = io_->PollFlush(cx);
    // A stream with a buffer of its own takes bytes, and then waits here.
    if (flushed.IsPending()) return BeginBlocked(cx);
    if (!flushed->ok()) {
      Finish(*std::move(flushed));
      return;
    }
    must_flush_ = false;
    EndBlocked();
  }
  if (streams_.empty()) out_.Shrink(kSmallBuffer);
}

void ServerSession::BeginBlocked(const Context& cx) {
  if (write_end_ != Instant::Max()) return;
  // A task without budget yields, whether or not the connection takes bytes.
  if (!cx.HasBudget()) return;
  write_end_ = Time() + options_->progress_timeout;
  ArmTimer(write_end_);
}

void ServerSession::EndBlocked() {
  if (write_end_ == Instant::Max()) return;
  write_end_ = Instant::Max();
  unblocked_ = Time();
}

bool ServerSession::MustNotRead() const {
  return write_end_ != Instant::Max() &&
         nghttp2_session_get_outbound_queue_size(session_) > kMaxQueued;
}

void ServerSession::WakeLater(std::optional<Waker>& waker) {
  if (!waker.has_value()) return;
  woken_.push_back(std::move(*waker));
  waker.reset();
}

void ServerSession::NotifyTasks() {
  for (Waker& waker : woken_) WakeDropped(std::move(waker));
  woken_.clear();
  for (const AbortHandle& run : aborted_) run.Abort();
  aborted_.clear();
}

bool ServerSession::Wait(Context& cx) {
  const ThreadMutexLock lock(&link_->mu);
  if (!link_->changed.empty()) return false;
  const int32_t left = nghttp2_session_get_local_window_size(session_);
  const bool was_closed = std::exchange(link_->window_is_closed, left <= 0);
  if (was_closed && left > 0) link_->window_opened = Time();
  link_->window_is_low = left < window_ / 4;
  if (!link_->session.WillWake(cx.waker())) {
    link_->session = cx.waker().Clone();
  }
  return true;
}

// ---- The end.

void ServerSession::CloseAll() {
  for (const std::shared_ptr<ServerStream>& stream : streams_) {
    Close(*stream, /*aborts=*/true);
    nghttp2_session_set_stream_user_data(session_, stream->id, nullptr);
  }
  begun_.clear();
  streams_.clear();
  NotifyTasks();
}

bool ServerSession::BeginLinger() {
  CloseAll();
  timer_.Reset(kLinger);
  state_ = State::kLinger;
  return true;
}

bool ServerSession::PollLinger(Context& cx) {
  const bool has_ended = linger_.Poll(cx, *io_).IsReady();
  if (!has_ended && timer_.Poll(cx).IsPending()) return false;
  return Finish(absl::OkStatus());
}

bool ServerSession::Finish(absl::Status status) {
  if (state_ == State::kEnding) return true;
  // The first reason counts.
  if (status_.ok()) status_ = std::move(status);
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
