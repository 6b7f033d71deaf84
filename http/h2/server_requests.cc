// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/body.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h2/response_fields.h"
#include "rouse/http/h2/server_session.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/frame_budget.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/h2/stream_run.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/scheduler/current.h"
#include "rouse/timer/instant.h"

namespace rouse::http::internal {
namespace {

// Most bytes of a request that are read and discarded after the response. A
// client that is asked to stop instead may take this for an error, as curl 7.88
// does.
constexpr uint64_t kMaxDiscard = uint64_t{256} << 10;

// Most bytes of a body that the handler gets as text, if the body has arrived
// with the header. Text does not count as unread: see `h2::Options`.
constexpr size_t kMaxText = size_t{4} << 10;

}  // namespace

void ServerSession::OnBeginRequest(int32_t id) {
  auto stream = std::make_shared<ServerStream>(id);
  stream->index = streams_.size();
  streams_.push_back(std::move(stream));
  nghttp2_session_set_stream_user_data(session(), id, streams_.back().get());
}

void ServerSession::EndHeader(int32_t id) {
  if (header_id_ == id && has_settings_) header_end_ = Instant::Max();
}

void ServerSession::OnRequest(ServerStream& stream, bool has_ended) {
  const Refusal refusal = fields_.Finish();
  Request& request = fields_.request();
  stream.is_head = request.method == "HEAD";
  stream.length = fields_.length();
  if (has_ended) {
    OnRequestEnd(stream);
  } else if (fields_.expects_continue()) {
    const ThreadMutexLock lock(&link_->mu);
    stream.expects_continue = true;
  }
  if (!refusal.ok()) return Refuse(stream, refusal);
  if (stream.length.value_or(0) > options_->max_body_bytes) {
    return Refuse(stream, {413, "the body is too large"});
  }
  if (options_->request_timeout != absl::InfiniteDuration()) {
    stream.request_end = clock_.Time() + options_->request_timeout;
    clock_.ArmTimer(stream.request_end);
    stream.name =
        absl::StrCat(request.method, " ", absl::CHexEscape(request.target));
  }
  if (!request.headers.Has("priority")) {
    // Responses are sent in turns, rather than one after another.
    const nghttp2_extpri priority = {NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};
    nghttp2_session_change_extpri_stream_priority(session(), stream.id,
                                                  &priority, 0);
  }
  request.peer = link_->peer;
  stream.request.emplace(std::move(request));
  begun_.push_back(streams_[stream.index]);
}

void ServerSession::StartRuns() {
  // A poll of a task never happens inside of `Spawn()`, so nothing is added.
  for (const std::shared_ptr<ServerStream>& begun : begun_) {
    ServerStream& stream = *begun;
    StreamRun run(link_, begun, handler_);
    size_t consumed = 0;
    {
      const ThreadMutexLock lock(&link_->mu);
      // A client that resets its requests at once could otherwise cause any
      // number of tasks that have not ended yet (CVE-2023-44487).
      if (stream.is_closed) continue;
      // The second GOAWAY, which is not sent yet, says that the client may send
      // this request elsewhere. nghttp2 then closes the stream.
      if (last_id_.has_value() && stream.id > *last_id_) continue;
      if (link_->runs >= 2 * size_t{h2_.max_concurrent_streams}) {
        Reset(stream, NGHTTP2_REFUSED_STREAM);
        continue;
      }
      run.Count(*link_);
      Body& body = stream.request->body;
      const bool is_whole = stream.in_is_complete && stream.in_error.ok();
      if (!is_whole || stream.in.size() > kMaxText) {
        std::optional<uint64_t> size = stream.length;
        if (is_whole) size = stream.in.size();
        body = Body(std::make_unique<StreamBody>(link_, begun,
                                                 options_->progress_timeout),
                    size);
      } else if (!stream.in.empty() || !stream.in_trailers.empty()) {
        consumed = stream.in.size();
        body = Body(stream.in.view());
        stream.in.Clear();
        stream.in.Shrink(0);
        if (!stream.in_trailers.empty()) {
          body.trailers() = std::move(stream.in_trailers);
        }
      }
    }
    transport_.Consume(stream.id, consumed);
    stream.run.emplace(Spawn(std::move(run)).abort_handle());
  }
  begun_.clear();
}

void ServerSession::OnTrailers(ServerStream& stream) {
  const Refusal& refusal = fields_.refusal();
  if (refusal.ok()) return;
  FailBody(stream, 400,
           absl::InvalidArgumentError(
               absl::StrCat("the trailers were refused: ", refusal.reason)));
}

void ServerSession::OnData(int32_t id, std::string_view bytes) {
  ServerStream* const found = StreamOf(id);
  if (found == nullptr) {
    nghttp2_session_consume_stream(session(), id, bytes.size());
    return;
  }
  ServerStream& stream = *found;
  stream.received += bytes.size();
  if (stream.received > options_->max_body_bytes) {
    FailBody(stream, 413,
             absl::ResourceExhaustedError(
                 absl::StrCat("the body exceeds the limit of ",
                              options_->max_body_bytes, " bytes")));
  }
  {
    const ThreadMutexLock lock(&link_->mu);
    if (stream.in_error.ok() && !stream.is_closed) {
      stream.in.Append(bytes);
      transport_.Keep(bytes.size());
      woken_.Add(stream.reader);
      return;
    }
  }
  const uint64_t most = options_->max_body_bytes;
  // Beyond this, the window of the stream stays closed.
  if (stream.received <= most || stream.received - most <= kMaxDiscard) {
    nghttp2_session_consume_stream(session(), stream.id, bytes.size());
  }
}

void ServerSession::Reset(const ServerStream& stream, uint32_t error) {
  nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, stream.id, error);
}

void ServerSession::OnRequestEnd(ServerStream& stream) {
  if (!stream.run.has_value()) {
    // No other task has the stream yet.
    stream.in_is_complete = true;
    return;
  }
  const ThreadMutexLock lock(&link_->mu);
  stream.in_is_complete = true;
  woken_.Add(stream.reader);
}

void ServerSession::FailBody(ServerStream& stream, int failure,
                             absl::Status error) {
  const ThreadMutexLock lock(&link_->mu);
  if (!stream.in_error.ok()) return;
  stream.in_error = std::move(error);
  stream.in_failure = failure;
  woken_.Add(stream.reader);
}

void ServerSession::Refuse(ServerStream& stream, const Refusal& refusal) {
  FailBody(stream, refusal.status,
           absl::InvalidArgumentError("the request was refused"));
  SubmitText(stream, absl::StrCat(refusal.reason, "\n"), refusal.status);
}

void ServerSession::OnHeaderSent(ServerStream& stream) {
  // Only a source can fail.
  if (!stream.has_answered || stream.sends_text) return;
  const ThreadMutexLock lock(&link_->mu);
  if (!stream.out_has_failed) return;
  Reset(stream, NGHTTP2_INTERNAL_ERROR);
}

void ServerSession::OnResponseEnd(ServerStream& stream) {
  stream.has_sent_all = true;
  stream.is_waiting = false;
  stream.request_end = Instant::Max();
  transport_.budget().Give();
  if (nghttp2_session_get_stream_remote_close(session(), stream.id) != 0) {
    return;
  }
  // The rest of the request is not needed.
  bool waits_for_continue;
  {
    const ThreadMutexLock lock(&link_->mu);
    waits_for_continue = stream.expects_continue;
  }
  Close(stream, /*aborts=*/false);
  if (!waits_for_continue && stream.length.has_value() &&
      *stream.length <= stream.received + kMaxDiscard) {
    stream.discard_end = clock_.Time() + options_->progress_timeout;
    clock_.ArmTimer(stream.discard_end);
  } else {
    // Asks the client to stop (RFC 9113, section 8.1).
    Reset(stream, NGHTTP2_NO_ERROR);
  }
}

void ServerSession::Remove(ServerStream& stream) {
  EndHeader(stream.id);
  Close(stream, /*aborts=*/!stream.has_sent_all);
  // nghttp2 forgets the stream after the callback. Destroys the stream, unless
  // other tasks use it.
  const size_t index = stream.index;
  streams_[index] = std::move(streams_.back());
  streams_[index]->index = index;
  streams_.pop_back();
  if (streams_.empty()) {
    idle_end_ = clock_.Time() + options_->idle_timeout;
    clock_.ArmTimer(idle_end_);
  }
}

void ServerSession::Close(ServerStream& stream, bool aborts) {
  size_t unread;
  std::optional<Response> answer;
  {
    const ThreadMutexLock lock(&link_->mu);
    stream.is_closed = true;
    unread = stream.in.size() + std::exchange(stream.consumed, 0);
    stream.in.Clear();
    stream.in.Shrink(0);
    if (stream.in_error.ok()) {
      stream.in_error = absl::CancelledError(
          stream.has_sent_all ? "the body of a request can be read only until "
                                "the response was sent"
                              : "the client has cancelled the request");
    }
    answer.swap(stream.answer);
    woken_.Add(stream.reader);
    woken_.Add(stream.writer);
  }
  transport_.Consume(stream.id, unread);
  if (aborts && stream.run.has_value()) aborted_.push_back(*stream.run);
}

// ---- Responses.

void ServerSession::TakeChanges() {
  {
    const ThreadMutexLock lock(&link_->mu);
    link_->consumed = 0;
    taken_.swap(link_->changed);
  }
  for (const std::shared_ptr<SharedStream>& taken : taken_) {
    auto& stream = static_cast<ServerStream&>(*taken);
    size_t consumed;
    bool wants_continue;
    bool resumes;
    bool waits;
    bool has_failed;
    bool streams_out;
    bool has_answer;
    std::optional<uint64_t> size;
    {
      const ThreadMutexLock lock(&link_->mu);
      stream.is_changed = false;
      if (stream.is_closed) continue;
      consumed = std::exchange(stream.consumed, 0);
      wants_continue = std::exchange(stream.wants_continue, false);
      streams_out = stream.streams_out;
      size = stream.out_size;
      has_answer = stream.answer.has_value();
      if (has_answer) {
        stream.response = *std::move(stream.answer);
        stream.answer.reset();
      }
      waits = !stream.out.empty() || stream.out_is_complete;
      has_failed = stream.out_has_failed;
      resumes = waits && stream.is_deferred;
      if (resumes) stream.is_deferred = false;
    }
    transport_.Consume(stream.id, consumed);
    // The header of a new answer is sent first: see `OnHeaderSent()`.
    if (has_failed && !has_answer) {
      Reset(stream, NGHTTP2_INTERNAL_ERROR);
      continue;
    }
    if (wants_continue && !stream.has_answered && !has_answer) {
      const nghttp2_nv field = Field(":status", "100");
      nghttp2_submit_headers(session(), NGHTTP2_FLAG_NONE, stream.id, nullptr,
                             &field, 1, nullptr);
    }
    if (has_answer) Submit(stream, streams_out, size);
    // nghttp2 does not ask for bytes, nor for the end, while the window is
    // closed.
    if (streams_out && waits && !stream.has_sent_all) BeginWaiting(stream);
    if (resumes) nghttp2_session_resume_data(session(), stream.id);
  }
  taken_.clear();
}

void ServerSession::SubmitText(ServerStream& stream, std::string text,
                               int status) {
  Response& response = stream.response;
  response = Response::Text(std::move(text), status);
  const std::optional<uint64_t> size = response.body.size();
  if (stream.is_head) response.body = Body();
  Submit(stream, /*streams_out=*/false, size);
}

void ServerSession::Submit(ServerStream& stream, bool streams_out,
                           std::optional<uint64_t> size) {
  stream.has_answered = true;
  stream.sends_text = !streams_out;
  const Body& body = stream.response.body;
  const bool has_data =
      streams_out || !body.text().empty() || !body.trailers().empty();
  const ResponseFields fields(stream.response, stream.is_head, size);
  const nghttp2_data_provider provider = Transport::BodyOf(stream);
  const int result =
      nghttp2_submit_response(session(), stream.id, fields.data(),
                              fields.size(), has_data ? &provider : nullptr);
  if (result != 0) {
    Reset(stream, NGHTTP2_INTERNAL_ERROR);
    return;
  }
  if (has_data) BeginWaiting(stream);
  if (fields.closes()) BeginDrain();
}

void ServerSession::BeginWaiting(ServerStream& stream) {
  if (std::exchange(stream.is_waiting, true)) return;
  stream.waiting_since = clock_.Time();
  clock_.ArmTimer(stream.waiting_since + options_->progress_timeout);
}

}  // namespace rouse::http::internal
