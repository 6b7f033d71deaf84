// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/client/client_session.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h2/client/client_callbacks.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/client/request_head.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/frame_budget.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/response.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
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

// Most time to shut the connection down.
constexpr absl::Duration kClosing = absl::Seconds(1);

// Least time in which a new connection waits for its first request.
constexpr absl::Duration kFirstRequest = absl::Seconds(1);

// Most bytes of a header that the settings announce.
constexpr size_t kMostHeader = 0x7fffffff;

}  // namespace

ClientSession::ClientSession(std::unique_ptr<Io> io,
                             std::shared_ptr<ClientLink> link,
                             uint32_t connection_window, uint32_t stream_window,
                             absl::Duration idle_timeout)
    : link_(std::move(link)),
      io_(std::move(io)),
      window_(static_cast<int32_t>(connection_window)),
      stream_window_(stream_window),
      idle_timeout_(idle_timeout),
      timer_(absl::InfiniteDuration()) {}

ClientSession::~ClientSession() {
  ROUSE_TRY {
    FailAll(absl::UnavailableError(
        "the task of the connection was destroyed, because its runtime ends"));
  }
  ROUSE_CATCH_ALL {}
  nghttp2_session_del(session_);
}

PollResult<void> ClientSession::Poll(Context& cx) {
  for (;;) {
    now_.reset();
    switch (state_) {
      case State::kServing:
        if (!PollServing(cx)) return kPending;
        break;
      case State::kClosing: {
        PollResult<absl::Status> done = io_->PollShutdown(cx);
        if (done.IsPending() && timer_.Poll(cx).IsPending()) return kPending;
        state_ = State::kDone;
        break;
      }
      case State::kDone:
        return {};
    }
  }
}

Instant ClientSession::Time() {
  if (!now_.has_value()) now_ = Now();
  return *now_;
}

absl::Status ClientSession::Open() {
  const nghttp2_session_callbacks* const callbacks = Callbacks::Get();
  const nghttp2_option* const options = Callbacks::Options();
  if (callbacks == nullptr || options == nullptr) {
    return Nghttp2Error("server", "begin", NGHTTP2_ERR_NOMEM);
  }
  int result = nghttp2_session_client_new2(&session_, callbacks, this, options);
  if (result != 0) return Nghttp2Error("server", "begin", result);
  const auto headers = static_cast<uint32_t>(
      std::min<size_t>(link_->limits.max_header_bytes, kMostHeader));
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window_},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, headers},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  result = nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(),
                                   settings.size());
  if (result == 0) {
    result = nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE,
                                                   0, window_);
  }
  if (result != 0) return Nghttp2Error("server", "settings", result);
  budget_.emplace(Time());
  return absl::OkStatus();
}

bool ClientSession::PollServing(Context& cx) {
  if (session_ == nullptr) {
    absl::Status opened = Open();
    if (!opened.ok()) {
      Finish(std::move(opened));
      return true;
    }
  }
  {
    const ThreadMutexLock lock(&link_->mu);
    link_->session.Reset();
  }
  for (;;) {
    TakeChanges();
    bool may_have_more = PollReads(cx);
    if (state_ == State::kServing) StartRequests();
    if (state_ == State::kServing) EndIfUnused();
    if (state_ == State::kServing) PollWrites(cx);
    NotifyTasks();
    if (state_ != State::kServing) return true;
    // Without a read that is pending, nothing would wake the task.
    may_have_more |= skips_reads_ && !MustNotRead();
    may_have_more |= EndFlood();
    if (nghttp2_session_want_read(session_) == 0 &&
        nghttp2_session_want_write(session_) == 0 && out_.empty() &&
        !must_flush_) {
      return BeginClosing();
    }
    if (CheckTime(cx)) {
      if (state_ != State::kServing) return true;
      continue;
    }
    if (!may_have_more && Wait(cx)) return false;
  }
}

bool ClientSession::PollReads(Context& cx) {
  skips_reads_ = false;
  if (nghttp2_session_want_read(session_) == 0) return false;
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
      Finish(absl::OkStatus());
      return false;
    }
    received_ = Time();
    const ssize_t used = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const uint8_t*>(bytes), **size);
    if (used < 0) {
      Finish(callback_error_.ok() ? Nghttp2Error("server", "a frame", used)
                                  : std::move(callback_error_));
      return false;
    }
    EndFlood();
  }
  return true;
}

bool ClientSession::EndFlood() {
  if (!is_flooded_ || !status_.ok()) return false;
  status_ = absl::InvalidArgumentError(
      "the server has sent too many frames of no use, such as PING");
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  return true;
}

void ClientSession::PollWrites(Context& cx) {
  for (;;) {
    while (out_.size() < kBatch) {
      const uint8_t* data;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) {
        return Finish(callback_error_.ok()
                          ? Nghttp2Error("server", "a frame", size)
                          : std::move(callback_error_));
      }
      if (size == 0) {
        // The ends of streams have freed what their readers had not read.
        if (!OpenWindow()) break;
        continue;
      }
      out_.Append(std::string_view(reinterpret_cast<const char*>(data), size));
    }
    if (out_.empty()) break;
    PollResult<absl::StatusOr<size_t>> written =
        io_->PollWrite(cx, out_.view());
    if (written.IsPending()) return BeginBlocked(cx);
    if (!written->ok()) return Finish((*std::move(written)).status());
    out_.Consume(**written);
    must_flush_ = true;
    write_end_ = Instant::Max();
  }
  if (must_flush_) {
    PollResult<absl::Status> flushed = io_->PollFlush(cx);
    // A stream with a buffer of its own takes bytes, and then waits here.
    if (flushed.IsPending()) return BeginBlocked(cx);
    if (!flushed->ok()) return Finish(*std::move(flushed));
    must_flush_ = false;
    write_end_ = Instant::Max();
  }
  if (streams_.empty()) out_.Shrink(kSmallBuffer);
}

void ClientSession::BeginBlocked(const Context& cx) {
  if (write_end_ != Instant::Max()) return;
  // A task without budget yields, whether or not the connection takes bytes.
  if (!cx.HasBudget()) return;
  write_end_ = Time() + link_->limits.progress_timeout;
  ArmTimer(write_end_);
}

bool ClientSession::MustNotRead() const {
  return write_end_ != Instant::Max() &&
         nghttp2_session_get_outbound_queue_size(session_) > kMaxQueued;
}

void ClientSession::WakeLater(std::optional<Waker>& waker) {
  if (!waker.has_value()) return;
  woken_.push_back(*std::exchange(waker, std::nullopt));
}

void ClientSession::NotifyTasks() {
  for (Waker& waker : woken_) WakeDropped(std::move(waker));
  woken_.clear();
}

bool ClientSession::Wait(Context& cx) {
  const ThreadMutexLock lock(&link_->mu);
  if (!link_->changed.empty()) return false;
  const bool is_empty = link_->waiting.empty() && link_->active == 0;
  if (!link_->waiting.empty() && link_->MayStart()) return false;
  const bool is_needed = link_->takes_requests && !link_->is_abandoned;
  if (is_empty && !is_needed && !is_ending_) return false;
  if (!is_empty) {
    idle_end_ = Instant::Max();
  } else if (idle_end_ == Instant::Max() && link_->takes_requests) {
    // The timer must be polled.
    // The request for which the connection was made comes in a moment.
    idle_end_ =
        Time() + (link_->has_begun ? idle_timeout_
                                   : std::max(idle_timeout_, kFirstRequest));
    ArmTimer(idle_end_);
    if (idle_end_ != Instant::Max()) return false;
  }
  const int32_t left = nghttp2_session_get_local_window_size(session_);
  const bool was_closed = std::exchange(link_->window_is_closed, left <= 0);
  if (was_closed && left > 0) link_->window_opened = Time();
  link_->window_is_low = left < window_ / 4;
  if (!link_->session.WillWake(cx.waker())) {
    link_->session = cx.waker().Clone();
  }
  return true;
}

// ---- Time.

void ClientSession::ArmTimer(Instant time) {
  if (time >= armed_) return;
  armed_ = time;
  timer_is_late_ = true;
}

bool ClientSession::CheckTime(Context& cx) {
  if (std::exchange(timer_is_late_, false)) timer_.ResetAt(armed_);
  if (armed_ == Instant::Max() || timer_.Poll(cx).IsPending()) return false;
  armed_ = Instant::Max();
  now_.reset();
  const Instant now = Time();
  if (write_end_ <= now) {
    Finish(absl::DeadlineExceededError(
        "the server has taken nothing for too long"));
    return true;
  }
  if (idle_end_ <= now) {
    idle_end_ = Instant::Max();
    const ThreadMutexLock lock(&link_->mu);
    if (link_->waiting.empty() && link_->active == 0) {
      link_->takes_requests = false;
    }
  }
  ArmTimer(std::min(write_end_, idle_end_));
  return true;
}

// ---- The end.

void ClientSession::EndIfUnused() {
  if (is_ending_) return;
  {
    const ThreadMutexLock lock(&link_->mu);
    if (!link_->waiting.empty() || link_->active > 0) return;
    if (link_->takes_requests && !link_->is_abandoned) return;
    link_->takes_requests = false;
  }
  is_ending_ = true;
  nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
}

void ClientSession::Retire() {
  ClientStream::List released;
  const ThreadMutexLock lock(&link_->mu);
  link_->takes_requests = false;
  released = link_->Release(
      0, link_->has_answered ? Repeat::kFreely : Repeat::kOnce, woken_);
}

Repeat ClientSession::RepeatElsewhere() const {
  const ThreadMutexLock lock(&link_->mu);
  return link_->has_answered ? Repeat::kFreely : Repeat::kOnce;
}

void ClientSession::FailAll(const absl::Status& status) {
  Retire();
  for (const std::shared_ptr<ClientStream>& stream : streams_) {
    absl::Status error = status;
    Repeat repeat = Repeat::kNever;
    if (!stream->has_head && !absl::IsDeadlineExceeded(status) &&
        !absl::IsInvalidArgument(status)) {
      repeat = Repeat::kIfSafe;
    }
    if (error.ok()) {
      error = stream->has_head
                  ? absl::DataLossError(
                        "the connection ended in the middle of the body")
                  : absl::UnavailableError(
                        "the server closed the connection without an answer");
    }
    Close(*stream, std::move(error), repeat);
    nghttp2_session_set_stream_user_data(session_, stream->id, nullptr);
  }
  streams_.clear();
  NotifyTasks();
}

void ClientSession::Finish(absl::Status status) {
  if (state_ != State::kServing) return;
  // An earlier reason is the better one.
  if (status_.ok()) status_ = std::move(status);
  // The lists of streams cannot be changed inside of nghttp2, which has
  // returned here.
  FailAll(status_);
  state_ = State::kDone;
}

bool ClientSession::BeginClosing() {
  FailAll(status_);
  timer_.Reset(kClosing);
  state_ = State::kClosing;
  return true;
}

// ---- Requests.

void ClientSession::TakeChanges() {
  {
    const ThreadMutexLock lock(&link_->mu);
    link_->consumed = 0;
    taken_.swap(link_->changed);
  }
  for (const std::shared_ptr<SharedStream>& taken : taken_) {
    auto& stream = static_cast<ClientStream&>(*taken);
    size_t consumed;
    bool is_cancelled;
    bool has_timed_out;
    bool resumes;
    Instant progressed;
    {
      const ThreadMutexLock lock(&link_->mu);
      stream.is_changed = false;
      consumed = std::exchange(stream.consumed, 0);
      is_cancelled = stream.is_cancelled && !stream.is_closed;
      has_timed_out = std::exchange(stream.has_timed_out, false);
      progressed = stream.progressed;
      resumes = stream.is_deferred && !stream.is_closed &&
                (!stream.out.empty() || stream.out_is_complete);
      if (resumes) stream.is_deferred = false;
    }
    Consume(stream, consumed);
    if (is_cancelled) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id,
                                NGHTTP2_CANCEL);
      // nghttp2 does not report the end of a request that it holds back, after
      // the server has lowered the limit.
      if (!stream.is_begun) OnStreamClose(stream, NGHTTP2_CANCEL);
    } else if (resumes) {
      nghttp2_session_resume_data(session_, stream.id);
    }
    // A server that has sent nothing since then may not exist any more.
    if (has_timed_out && received_ <= progressed) Retire();
  }
  taken_.clear();
}

void ClientSession::StartRequests() {
  for (;;) {
    std::shared_ptr<ClientStream> stream;
    {
      const ThreadMutexLock lock(&link_->mu);
      if (link_->waiting.empty() || !link_->MayStart()) return;
      stream = link_->waiting.front();
      link_->waiting.pop_front();
      stream->place.reset();
      stream->progressed = Time();
      ++link_->active;
      // The task reads the source from now on.
      if (stream->streams_out) WakeLater(stream->reader);
    }
    Submit(stream);
  }
}

void ClientSession::Submit(const std::shared_ptr<ClientStream>& stream) {
  const Body& body = stream->request.body;
  const bool has_data =
      stream->streams_out || !body.text().empty() || !body.trailers().empty();
  const RequestHead head(stream->request, stream->out_size);
  nghttp2_data_provider provider;
  provider.source.ptr = stream.get();
  provider.read_callback = &Callbacks::ReadBody;
  stream->index = streams_.size();
  streams_.push_back(stream);
  stream->id =
      nghttp2_submit_request(session_, nullptr, head.data(), head.size(),
                             has_data ? &provider : nullptr, stream.get());
  if (stream->id > 0) return;
  streams_.pop_back();
  if (stream->id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE) {
    // The connection has had a billion requests.
    Close(*stream,
          absl::UnavailableError("the connection takes no more requests"),
          Repeat::kFreely);
    Retire();
    return;
  }
  Close(*stream, Nghttp2Error("server", "a request", stream->id),
        Repeat::kNever);
}

void ClientSession::Consume(const ClientStream& stream, size_t bytes) {
  if (bytes == 0) return;
  unread_ -= bytes;
  // Does nothing if the stream has ended.
  nghttp2_session_consume_stream(session_, stream.id, bytes);
}

bool ClientSession::OpenWindow() {
  // Includes bytes that belong to no body, such as padding.
  const int32_t used = nghttp2_session_get_effective_recv_data_length(session_);
  const int32_t free = used - static_cast<int32_t>(unread_);
  const int32_t left = nghttp2_session_get_local_window_size(session_);
  if (free <= 0 || (free < window_ / 4 && free < left)) return false;
  return nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, 0, free) ==
         0;
}

void ClientSession::OnHead(ClientStream& stream, bool ends) {
  absl::Status checked = head_.Finish();
  if (!checked.ok()) {
    stream.failure = std::move(checked);
    return;
  }
  Response& response = head_.response();
  if (response.status < 200) {
    OnUselessFrame();
    return;
  }
  stream.has_head = true;
  budget_->Give();
  const bool has_body = !ends && stream.request.method != "HEAD" &&
                        response.status != 204 && response.status != 304;
  const ThreadMutexLock lock(&link_->mu);
  link_->has_answered = true;
  if (has_body) stream.in_size = head_.length();
  stream.answer.emplace(std::move(response));
  WakeLater(stream.reader);
}

void ClientSession::OnData(ClientStream& stream, std::string_view bytes) {
  {
    const ThreadMutexLock lock(&link_->mu);
    if (!stream.is_cancelled && stream.in_error.ok()) {
      stream.in.Append(bytes);
      unread_ += bytes.size();
      WakeLater(stream.reader);
      return;
    }
  }
  nghttp2_session_consume_stream(session_, stream.id, bytes.size());
}

void ClientSession::OnEnd(ClientStream& stream) {
  const ThreadMutexLock lock(&link_->mu);
  stream.in_is_complete = true;
  WakeLater(stream.reader);
}

void ClientSession::OnSent(ClientStream& stream, bool ends) {
  stream.is_begun = true;
  const ThreadMutexLock lock(&link_->mu);
  stream.progressed = Time();
  stream.is_sent |= ends;
}

void ClientSession::OnSettings(uint32_t most) {
  ClientStream::List released;
  const ThreadMutexLock lock(&link_->mu);
  link_->has_settings = true;
  link_->most_active = most;
  // Other connections may have room for the rest.
  const size_t room = most - std::min<size_t>(most, link_->active);
  // A server that allows no request at all gets no request for ever.
  const bool is_free = most > 0 || link_->has_answered;
  released =
      link_->Release(room, is_free ? Repeat::kFreely : Repeat::kOnce, woken_);
}

void ClientSession::OnUselessFrame() {
  if (!budget_->Take(Time())) is_flooded_ = true;
}

absl::Status ClientSession::CloseReason(const ClientStream& stream,
                                        uint32_t error) const {
  if (!stream.failure.ok()) return stream.failure;
  if (stream.not_sent != 0) {
    return absl::UnavailableError(absl::StrCat(
        "the request was not sent: ", nghttp2_strerror(stream.not_sent)));
  }
  const char* const name = nghttp2_http2_strerror(error);
  if (error == NGHTTP2_REFUSED_STREAM) {
    return absl::UnavailableError(
        "the server has refused the request, and has not executed it");
  }
  if (!stream.was_reset) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the server's answer is not a valid response of HTTP/2: ", name));
  }
  if (stream.has_head) {
    return absl::DataLossError(
        absl::StrCat("the server has reset the response: ", name));
  }
  return absl::UnavailableError(
      absl::StrCat("the server has reset the request: ", name));
}

void ClientSession::OnStreamClose(ClientStream& stream, uint32_t error) {
  // nghttp2 also closes the stream of a request that it did not send, for
  // whatever reason, as a refused one.
  bool is_refused = stream.not_sent == NGHTTP2_ERR_START_STREAM_NOT_ALLOWED ||
                    stream.not_sent == NGHTTP2_ERR_SESSION_CLOSING;
  if (stream.not_sent == 0 && !stream.has_head) {
    is_refused = error == NGHTTP2_REFUSED_STREAM;
  }
  Repeat repeat = Repeat::kNever;
  if (is_refused) repeat = stream.was_reset ? Repeat::kOnce : RepeatElsewhere();
  if (stream.was_reset) budget_->Give();
  Close(stream, CloseReason(stream, error), repeat);
  nghttp2_session_set_stream_user_data(session_, stream.id, nullptr);
  // Destroys the stream, unless other tasks use it.
  const size_t index = stream.index;
  streams_[index].swap(streams_.back());
  streams_[index]->index = index;
  streams_.pop_back();
}

void ClientSession::Close(ClientStream& stream, absl::Status status,
                          Repeat repeat) {
  const ThreadMutexLock lock(&link_->mu);
  --link_->active;
  stream.is_closed = true;
  if (!stream.in_is_complete && stream.in_error.ok()) {
    stream.in_error = std::move(status);
    stream.repeat = repeat;
  }
  stream.out.Clear();
  stream.out.Shrink(0);
  WakeLater(stream.reader);
  WakeLater(stream.writer);
}

}  // namespace rouse::http::internal
