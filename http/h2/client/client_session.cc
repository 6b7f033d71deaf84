// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/client/client_session.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/client/request_head.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/frame_budget.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/response.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {
namespace {

// Most time to shut the connection down.
constexpr absl::Duration kClosing = absl::Seconds(1);

// Least time in which a new connection waits for its first request.
constexpr absl::Duration kFirstRequest = absl::Seconds(1);

}  // namespace

ClientSession::ClientSession(std::unique_ptr<Io> io,
                             std::shared_ptr<ClientLink> link,
                             uint32_t connection_window, uint32_t stream_window,
                             absl::Duration idle_timeout)
    : link_(std::move(link)),
      idle_timeout_(idle_timeout),
      transport_(
          std::move(io), "server",
          {connection_window, stream_window, link_->limits.max_header_bytes,
           link_->limits.progress_timeout},
          *this, clock_) {}

ClientSession::~ClientSession() {
  ROUSE_TRY {
    FailAll(absl::UnavailableError(
        "the task of the connection was destroyed, because its runtime ends"));
  }
  ROUSE_CATCH_ALL {}
}

PollResult<void> ClientSession::Poll(Context& cx) {
  for (;;) {
    clock_.BeginPoll();
    switch (state_) {
      case State::kServing:
        if (!PollServing(cx)) return kPending;
        break;
      case State::kClosing: {
        PollResult<absl::Status> done = transport_.io().PollShutdown(cx);
        if (done.IsPending() && !clock_.PollTimer(cx)) return kPending;
        state_ = State::kDone;
        break;
      }
      case State::kDone:
        return {};
    }
  }
}

bool ClientSession::PollServing(Context& cx) {
  if (session() == nullptr &&
      !transport_.Open(&nghttp2_session_client_new2,
                       {NGHTTP2_SETTINGS_ENABLE_PUSH, 0})) {
    Finish();
    return true;
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
    woken_.WakeAll();
    if (state_ != State::kServing) return true;
    may_have_more |= transport_.MustReadNow();
    may_have_more |= transport_.EndFlood();
    if (nghttp2_session_want_read(session()) == 0 && transport_.HasSentAll()) {
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
  const Transport::Read read = transport_.PollReads(cx);
  if (read == Transport::Read::kEnd || read == Transport::Read::kFailed) {
    Finish();
  }
  return read == Transport::Read::kHasMore;
}

void ClientSession::PollWrites(Context& cx) {
  if (!transport_.PollWrites(cx)) {
    Finish();
  } else if (streams_.empty()) {
    transport_.Shrink();
  }
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
    idle_end_ = clock_.Time() + (link_->has_begun
                                     ? idle_timeout_
                                     : std::max(idle_timeout_, kFirstRequest));
    clock_.ArmTimer(idle_end_);
    if (idle_end_ != Instant::Max()) return false;
  }
  link_->Wait(cx.waker(), nghttp2_session_get_local_window_size(session()),
              clock_);
  return true;
}

// ---- Time.

bool ClientSession::CheckTime(Context& cx) {
  if (!clock_.PollTimer(cx)) return false;
  const Instant now = clock_.Time();
  if (transport_.write_end() <= now) {
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
  clock_.ArmTimer(std::min(transport_.write_end(), idle_end_));
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
  nghttp2_session_terminate_session(session(), NGHTTP2_NO_ERROR);
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
    nghttp2_session_set_stream_user_data(session(), stream->id, nullptr);
  }
  streams_.clear();
  woken_.WakeAll();
}

void ClientSession::Finish(absl::Status status) {
  if (state_ != State::kServing) return;
  transport_.EndWith(std::move(status));
  // The lists of streams cannot be changed inside of nghttp2, which has
  // returned here.
  FailAll(transport_.status());
  state_ = State::kDone;
}

bool ClientSession::BeginClosing() {
  FailAll(transport_.status());
  clock_.RestartTimer(kClosing);
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
    transport_.Consume(stream.id, consumed);
    if (is_cancelled) {
      nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, stream.id,
                                NGHTTP2_CANCEL);
      // nghttp2 does not report the end of a request that it holds back, after
      // the server has lowered the limit.
      if (!stream.is_begun) Remove(stream, NGHTTP2_CANCEL);
    } else if (resumes) {
      nghttp2_session_resume_data(session(), stream.id);
    }
    // A server that has sent nothing since then may not exist any more.
    if (has_timed_out && transport_.received() <= progressed) Retire();
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
      stream->progressed = clock_.Time();
      ++link_->active;
      // The task reads the source from now on.
      if (stream->streams_out) woken_.Add(stream->reader);
    }
    Submit(stream);
  }
}

void ClientSession::Submit(const std::shared_ptr<ClientStream>& stream) {
  const Body& body = stream->request.body;
  const bool has_data =
      stream->streams_out || !body.text().empty() || !body.trailers().empty();
  const RequestHead head(stream->request, stream->out_size);
  const nghttp2_data_provider provider = Transport::BodyOf(*stream);
  stream->index = streams_.size();
  streams_.push_back(stream);
  stream->id =
      nghttp2_submit_request(session(), nullptr, head.data(), head.size(),
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

void ClientSession::OnHead(ClientStream& stream, bool ends) {
  absl::Status checked = head_.Finish();
  if (!checked.ok()) {
    stream.failure = std::move(checked);
    return;
  }
  Response& response = head_.response();
  if (response.status < 200) {
    transport_.OnUselessFrame();
    return;
  }
  stream.has_head = true;
  transport_.budget().Give();
  const bool has_body = !ends && stream.request.method != "HEAD" &&
                        response.status != 204 && response.status != 304;
  const ThreadMutexLock lock(&link_->mu);
  link_->has_answered = true;
  if (has_body) stream.in_size = head_.length();
  stream.answer.emplace(std::move(response));
  woken_.Add(stream.reader);
}

void ClientSession::OnData(int32_t id, std::string_view bytes) {
  ClientStream* const stream = StreamOf(id);
  if (stream != nullptr) {
    const ThreadMutexLock lock(&link_->mu);
    if (!stream->is_cancelled && stream->in_error.ok()) {
      stream->in.Append(bytes);
      transport_.Keep(bytes.size());
      woken_.Add(stream->reader);
      return;
    }
  }
  nghttp2_session_consume_stream(session(), id, bytes.size());
}

void ClientSession::OnEnd(ClientStream& stream) {
  const ThreadMutexLock lock(&link_->mu);
  stream.in_is_complete = true;
  woken_.Add(stream.reader);
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

void ClientSession::Remove(ClientStream& stream, uint32_t error) {
  // nghttp2 also closes the stream of a request that it did not send, for
  // whatever reason, as a refused one.
  bool is_refused = stream.not_sent == NGHTTP2_ERR_START_STREAM_NOT_ALLOWED ||
                    stream.not_sent == NGHTTP2_ERR_SESSION_CLOSING;
  if (stream.not_sent == 0 && !stream.has_head) {
    is_refused = error == NGHTTP2_REFUSED_STREAM;
  }
  Repeat repeat = Repeat::kNever;
  if (is_refused) repeat = stream.was_reset ? Repeat::kOnce : RepeatElsewhere();
  if (stream.was_reset) transport_.budget().Give();
  Close(stream, CloseReason(stream, error), repeat);
  nghttp2_session_set_stream_user_data(session(), stream.id, nullptr);
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
  woken_.Add(stream.reader);
  woken_.Add(stream.writer);
}

}  // namespace rouse::http::internal
