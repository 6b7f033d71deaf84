// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/client/stream_exchange.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/body.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {
namespace {

absl::Status TooLarge(std::string_view what) {
  return absl::ResourceExhaustedError(
      absl::StrCat(what, " of the request exceed the limit of http/h2/, ",
                   kMaxSentHeader, " bytes; send fewer or shorter fields"));
}

// The source of the body of a response that has not fully arrived.
class ResponseSource final : public BodySource {
 public:
  explicit ResponseSource(std::unique_ptr<StreamUse> use)
      : use_(std::move(use)),
        body_(use_->link(), use_->stream(),
              use_->link()->limits.progress_timeout) {}

  PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer) override {
    using Result = absl::StatusOr<size_t>;
    if (!error_.ok()) return Result(error_);
    if (has_ended_) return Result(0);
    error_ = use_->PollUpload(cx);
    if (!error_.ok()) return Result(error_);
    PollResult<Result> size = body_.PollRead(cx, buffer);
    if (size.IsPending()) return size;
    if (!size->ok()) {
      error_ = size->status();
      use_->Cancel(absl::IsDeadlineExceeded(error_));
    } else if (**size == 0 && !buffer.empty()) {
      // The rest of the request is not needed.
      has_ended_ = true;
      use_->Cancel(/*has_timed_out=*/false);
    }
    return size;
  }
  Headers TakeTrailers() override { return body_.TakeTrailers(); }

 private:
  const std::unique_ptr<StreamUse> use_;
  StreamBody body_;
  absl::Status error_;
  bool has_ended_ = false;
};

}  // namespace

// ---- StreamUse

StreamUse::StreamUse(std::shared_ptr<ClientLink> link,
                     std::shared_ptr<ClientStream> stream, Body body)
    : link_(std::move(link)),
      stream_(std::move(stream)),
      is_done_(!stream_->streams_out) {
  sender_.Start(std::move(body), stream_->out_size);
}

absl::Status StreamUse::PollUpload(Context& cx) {
  if (is_done_) return absl::OkStatus();
  has_begun_ = true;
  PollResult<absl::Status> read = sender_.Poll(cx, *link_, stream_);
  if (read.IsPending()) return absl::OkStatus();
  is_done_ = true;
  absl::Status status = *std::move(read);
  Headers trailers = std::move(sender_.body().trailers());
  sender_.Reset();
  if (status.ok() && IsTooLarge(trailers)) status = TooLarge("the trailers");
  if (!status.ok()) {
    // The server must not take the body for complete.
    Cancel(/*has_timed_out=*/false);
    return status;
  }
  Waker session;
  {
    const ThreadMutexLock lock(&link_->mu);
    // First, because it can throw.
    if (!stream_->is_closed) session = link_->Change(stream_);
    stream_->out_is_complete = true;
    stream_->out_trailers = std::move(trailers);
  }
  WakeDropped(std::move(session));
  return absl::OkStatus();
}

void StreamUse::Cancel(bool has_timed_out) {
  Waker session;
  ClientStream::List removed;
  ROUSE_TRY {
    const ThreadMutexLock lock(&link_->mu);
    ClientStream& stream = *stream_;
    stream.reader.reset();
    stream.writer.reset();
    if (stream.place.has_value()) {
      // The connection's task does not know the request.
      removed.splice(removed.end(), link_->waiting, *stream.place);
      stream.place.reset();
      stream.is_closed = true;
      if (has_timed_out) link_->takes_requests = false;
      session = std::exchange(link_->session, Waker());
    } else {
      const size_t unread = stream.in.size();
      if (stream.is_closed && unread == 0) return;
      // The session resets the stream once.
      if (stream.is_cancelled && unread == 0 && !has_timed_out) return;
      session = link_->Change(stream_);  // first, because it can throw
      stream.in.Clear();
      stream.in.Shrink(0);
      stream.consumed += unread;
      if (!stream.is_closed) {
        stream.is_cancelled = true;
        stream.has_timed_out |= has_timed_out;
      }
    }
  }
  ROUSE_CATCH_ALL {
    // Without memory the server is not told, and the stream ends by itself.
  }
  WakeDropped(std::move(session));
}

// ---- StreamExchange

StreamExchange::StreamExchange(std::unique_ptr<StreamUse> use)
    : use_(std::move(use)), timer_(absl::InfiniteDuration()) {}

PollResult<absl::StatusOr<Response>> StreamExchange::Poll(Context& cx) {
  using Result = absl::StatusOr<Response>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  ClientLink& link = *use_->link();
  ClientStream& stream = *use_->stream();
  const auto poll = [&]() -> std::optional<Result> {
    bool is_submitted;
    {
      const ThreadMutexLock lock(&link.mu);
      if (stream.answer.has_value()) return std::nullopt;
      if (stream.is_closed) return Result(stream.in_error);
      stream.reader = cx.waker().Clone();
      is_submitted = !stream.place.has_value();
    }
    // The source is read when the request is on its way, so that a request that
    // is not sent can be repeated.
    absl::Status sent = is_submitted ? use_->PollUpload(cx) : absl::OkStatus();
    if (!sent.ok()) return Result(std::move(sent));
    return std::nullopt;
  };
  std::optional<Result> result = poll();
  if (!result.has_value()) {
    bool has_answer;
    {
      const ThreadMutexLock lock(&link.mu);
      has_answer = stream.answer.has_value();
    }
    if (!has_answer) {
      if (!IsOverdue(cx)) return kPending;
      use_->Cancel(/*has_timed_out=*/true);
      result.emplace(absl::DeadlineExceededError(
          absl::StrCat("the server has not answered within ",
                       absl::FormatDuration(link.limits.response_timeout))));
    } else {
      result.emplace(TakeResponse());
    }
  }
  unit->MadeProgress();
  return *std::move(result);
}

Response StreamExchange::TakeResponse() {
  ClientLink& link = *use_->link();
  ClientStream& stream = *use_->stream();
  Response response;
  bool is_complete;
  std::optional<uint64_t> size;
  Waker session;
  {
    const ThreadMutexLock lock(&link.mu);
    response = *std::move(stream.answer);
    stream.answer.reset();
    stream.reader.reset();
    size = stream.in_size;
    is_complete = stream.in_is_complete && stream.in_error.ok();
    if (is_complete) {
      response.body = Body(stream.in.view());
      if (!stream.in_trailers.empty()) {
        response.body.trailers() = std::move(stream.in_trailers);
      }
      const size_t all = stream.in.size();
      stream.in.Clear();
      stream.in.Shrink(0);
      if (all > 0) session = link.Consume(use_->stream(), all);
    }
  }
  WakeDropped(std::move(session));
  if (is_complete) {
    use_.reset();
  } else {
    response.body =
        Body(std::make_unique<ResponseSource>(std::move(use_)), size);
  }
  return response;
}

bool StreamExchange::IsOverdue(Context& cx) {
  ClientLink& link = *use_->link();
  const absl::Duration timeout = link.limits.response_timeout;
  if (timeout == absl::InfiniteDuration()) return false;
  if (!std::exchange(timer_runs_, true)) timer_.Reset(timeout);
  while (timer_.Poll(cx).IsReady()) {
    const Instant now = Now();
    Instant since = now;
    {
      const ThreadMutexLock lock(&link.mu);
      const ClientStream& stream = *use_->stream();
      // The task is woken for what has come at the last moment.
      if (stream.answer.has_value() || stream.is_closed) return false;
      // The time in which other requests use the connection, and the time of
      // the request's own body, are not the server's.
      const bool waits_for_others = stream.place.has_value() && link.active > 0;
      if (!waits_for_others &&
          !(use_->waits_for_source() && stream.out.empty())) {
        since = stream.progressed;
      }
    }
    const Instant end = since + timeout;
    if (end <= now) return true;
    timer_.ResetAt(end);
  }
  return false;
}

Repeat StreamExchange::repeat() const {
  if (use_ == nullptr || use_->has_begun()) return Repeat::kNever;
  const ThreadMutexLock lock(&use_->link()->mu);
  return use_->stream()->is_closed ? use_->stream()->repeat : Repeat::kNever;
}

Request StreamExchange::TakeRequest() {
  Request request = std::move(use_->stream()->request);
  if (use_->stream()->streams_out) request.body = use_->TakeBody();
  return request;
}

absl::Status CheckRequest(const Request& request) {
  if (!IsToken(request.method)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(request.method),
                     "\" is not the method of a request"));
  }
  if (request.method == "CONNECT") {
    return absl::UnimplementedError(
        "CONNECT needs a tunnel, which http/h2/ does not have; leave out "
        "ClientOptions::http2");
  }
  const bool is_path = request.target.starts_with('/') ||
                       (request.target == "*" && request.method == "OPTIONS");
  if (!is_path || !IsTarget(request.target)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(request.target),
                     "\" is not the target of a request; begin with '/', and "
                     "encode spaces and control characters as %XX"));
  }
  const size_t begin =
      request.method.size() + request.target.size() + request.origin.size();
  if (IsTooLarge(request.headers, begin)) return TooLarge("the fields");
  if (IsTooLarge(request.body.trailers())) return TooLarge("the trailers");
  return absl::OkStatus();
}

}  // namespace rouse::http::internal
