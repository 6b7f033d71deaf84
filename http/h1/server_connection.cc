// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h1/server_connection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/receiver.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/h1/server_channel.h"
#include "rouse/http/handler.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/http/serving/handler_call.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Most bytes of a body that are read only to reach the next request.
constexpr size_t kMaxDiscard = size_t{256} << 10;

// Most time that the client gets to close the connection after the last
// response.
constexpr absl::Duration kLinger = absl::Seconds(5);

// Wakes the task that waits for the body of a request, to find that the body
// has ended. Nothing can be done if the waker throws.
void WakeReader(std::optional<Waker> reader) noexcept {
  if (!reader.has_value()) return;
  ROUSE_TRY { std::move(*reader).Wake(); }
  ROUSE_CATCH_ALL {}
}

}  // namespace

ServerConnection::ServerConnection(std::unique_ptr<Io> io,
                                   std::shared_ptr<Handler> handler,
                                   std::shared_ptr<const ServerOptions> options,
                                   std::string peer)
    : channel_(std::make_shared<ServerChannel>(std::move(io))),
      handler_(std::move(handler)),
      options_(std::move(options)),
      peer_(std::move(peer)),
      timer_(absl::InfiniteDuration()) {}

ServerConnection::~ServerConnection() { Finish(absl::OkStatus()); }

PollResult<absl::Status> ServerConnection::Poll(Context& cx) {
  for (;;) {
    bool has_changed = false;
    switch (state_) {
      case State::kHead:
        has_changed = PollHead(cx);
        break;
      case State::kHandler:
        has_changed = PollHandler(cx);
        break;
      case State::kSend:
        has_changed = PollSend(cx);
        break;
      case State::kDiscard:
        has_changed = PollDiscard(cx);
        break;
      case State::kUpgrade:
        has_changed = PollUpgrade(cx);
        break;
      case State::kLinger:
        has_changed = PollLinger(cx);
        break;
      case State::kDone:
        return std::move(status_);
    }
    if (!has_changed) return kPending;
  }
}

// ---- The head of a request.

bool ServerConnection::PollHead(Context& cx) {
  Receiver& in = channel_->in;
  for (;;) {
    switch (in.FindHead(options_->max_header_bytes)) {
      case HeadState::kComplete: {
        // Requests that have arrived together would otherwise take no budget.
        PollResult<BudgetUnit> unit = PollProceed(cx);
        if (unit.IsPending()) return false;
        unit->MadeProgress();
        return BeginRequest();
      }
      case HeadState::kTooLarge:
        return Refuse({431, "the header is too large"}, absl::OkStatus());
      case HeadState::kMalformed:
        return Refuse({400, "the header is not valid"}, absl::OkStatus());
      case HeadState::kIncomplete:
        break;
    }
    bool is_sending = false;
    if (!sender_.is_idle()) {
      PollResult<absl::Status> sent = PollSender(cx);
      if (sent.IsReady() && !sent->ok()) return Finish(*std::move(sent));
      is_sending = sent.IsPending();
    }
    const bool is_idle = in.empty() && !is_sending;
    if (is_idle && options_->stop.IsCancelled()) {
      return Finish(absl::OkStatus());
    }
    PollResult<absl::StatusOr<size_t>> size = in.PollMore(cx, *channel_->io);
    if (size.IsPending()) {
      if (is_sending) {
        if (sender_.TakeProgress()) phase_ = Phase::kNone;
        if (!TimeIsUp(cx, Phase::kProgress)) return false;
        return Finish(absl::DeadlineExceededError(
            "the client has not taken the response for too long"));
      }
      if (is_idle) {
        in.Shrink();
        sender_.Shrink();
        // The token may have been cancelled before the task waited for it.
        if (!stop_wait_.IsStopped(cx, options_->stop) &&
            !TimeIsUp(cx, Phase::kIdle))
          return false;
        return Finish(absl::OkStatus());
      }
      if (!TimeIsUp(cx, Phase::kHead)) return false;
      return Refuse({408, "the header did not arrive in time"},
                    absl::DeadlineExceededError(
                        "the header of a request did not arrive in time"));
    }
    if (!size->ok()) return Finish((*std::move(size)).status());
    if (**size > 0) continue;
    if (!in.empty()) {
      return Refuse({400, "the request ended early"},
                    absl::DataLossError(
                        "the client closed the connection within a header"));
    }
    if (!is_sending) return Finish(absl::OkStatus());
    context_.keep_alive = false;
    state_ = State::kSend;
    return true;
  }
}

bool ServerConnection::BeginRequest() {
  Receiver& in = channel_->in;
  Request& request = request_.emplace();
  HeadInfo info;
  const Refusal refusal =
      ParseRequestHead(in.head(), options_->max_header_count, request, info);
  method_ = request.method;
  target_ = request.target;
  if (!refusal.ok()) return Refuse(refusal, absl::OkStatus());
  if (info.framing == Framing::kLength &&
      info.length > options_->max_body_bytes) {
    return Refuse({413, "the body is too large"}, absl::OkStatus());
  }
  BodyLimits limits;
  limits.max_bytes = options_->max_body_bytes;
  limits.max_trailer_bytes = options_->max_header_bytes;
  limits.max_trailer_count = options_->max_header_count;
  in.TakeHead(info.framing, info.length, limits);
  context_.is_head = request.method == "HEAD";
  context_.is_http_1_0 = info.is_http_1_0;
  context_.keep_alive = info.keep_alive;
  is_connect_ = request.method == "CONNECT";
  wants_upgrade_ = info.wants_upgrade;
  request_end_.reset();
  phase_ = Phase::kNone;
  request.peer = peer_;
  if (in.body_is_buffered()) {
    request.body = Body(in.TakeBufferedBody());
  } else if (info.framing != Framing::kNone) {
    {
      // The body of an earlier request may still be in another task.
      const ThreadMutexLock lock(&channel_->mu);
      ++channel_->exchange;
      channel_->to_continue =
          info.expects_continue ? kContinue : std::string_view();
      channel_->must_flush = false;
      channel_->reader.reset();
    }
    channel_->is_shared = true;
    request.body =
        Body(std::make_unique<RequestBody>(channel_, channel_->exchange,
                                           options_->progress_timeout),
             info.body_size());
  }
  state_ = State::kHandler;
  return true;
}

bool ServerConnection::Refuse(Refusal refusal, absl::Status error) {
  if (error.ok()) {
    error = absl::InvalidArgumentError(
        absl::StrCat("a request was refused: ", refusal.reason));
  }
  status_ = std::move(error);
  request_.reset();
  context_ = ResponseContext();
  context_.keep_alive = false;
  Response response =
      Response::Text(absl::StrCat(refusal.reason, "\n"), refusal.status);
  const Framing framing = AppendResponseHead(sender_.out(), response, context_);
  sender_.SetBody(response.body, framing);
  phase_ = Phase::kNone;
  state_ = State::kSend;
  return true;
}

// ---- The handler.

bool ServerConnection::PollHandler(Context& cx) {
  if (!call_.is_running()) {
    // A body may have to send "100 Continue", after the earlier responses.
    if (channel_->is_shared && !sender_.is_idle()) {
      PollResult<absl::Status> sent = PollSender(cx);
      if (sent.IsPending()) {
        if (sender_.TakeProgress()) phase_ = Phase::kNone;
        if (!TimeIsUp(cx, Phase::kProgress)) return false;
        return Finish(absl::DeadlineExceededError(
            "the client has not taken the response for too long"));
      }
      if (!sent->ok()) return Finish(*std::move(sent));
      phase_ = Phase::kNone;
    }
    absl::Status started = call_.Start(*handler_, request_);
    if (!started.ok()) return Respond(std::move(started));
  }
  std::optional<absl::StatusOr<Response>> answer;
  if (call_.Poll(cx, answer)) return Respond(*std::move(answer));
  bool has_body = false;
  bool waits_for_body = false;
  if (channel_->is_shared) {
    const ThreadMutexLock lock(&channel_->mu);
    has_body = !channel_->in.body_is_done();
    waits_for_body = channel_->reader.has_value();
  }
  if (!has_body) {
    if (channel_->is_shared) DetachBody();
    // Earlier responses need not wait for this one.
    if (!sender_.is_idle()) {
      PollResult<absl::Status> sent = PollSender(cx);
      if (sent.IsReady() && !sent->ok()) return Finish(*std::move(sent));
    }
    if (!ClientIsThere(cx)) return true;
  }
  if (!TimeIsUp(cx, Phase::kRequest)) return false;
  call_.Reset();
  context_.keep_alive = false;
  if (waits_for_body) {
    return Respond(Response::Text("the request did not arrive in time\n", 408));
  }
  Log(absl::DeadlineExceededError(
      absl::StrCat("the handler took longer than request_timeout, ",
                   absl::FormatDuration(options_->request_timeout))));
  return Respond(Response::Text("the server took too long\n", 503));
}

bool ServerConnection::ClientIsThere(Context& cx) {
  Receiver& in = channel_->in;
  while (!client_has_ended_ &&
         in.buffered().size() < options_->max_header_bytes) {
    PollResult<absl::StatusOr<size_t>> size = in.PollMore(cx, *channel_->io);
    if (size.IsPending()) return true;
    if (!size->ok()) {
      Finish((*std::move(size)).status());
      return false;
    }
    if (**size > 0) continue;
    client_has_ended_ = true;
    if (!options_->allow_half_close) {
      Finish(absl::DataLossError(
          "the client closed the connection before the response"));
      return false;
    }
  }
  return true;
}

absl::Status ServerConnection::CheckResponse(const Response& response) const {
  if (response.upgrade != nullptr) {
    if (!wants_upgrade_) {
      return absl::FailedPreconditionError(
          "the handler's response has an upgrade, but the request does not ask "
          "for an upgrade; check the fields Connection and Upgrade");
    }
    const bool ok =
        is_connect_ ? response.status / 100 == 2 : response.status == 101;
    if (ok && response.body.unread_size() == uint64_t{0}) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "an upgrade needs status 101, or 200 for CONNECT, and no body");
  }
  if (is_connect_ && response.status / 100 == 2) {
    return absl::FailedPreconditionError(
        "a response to CONNECT with status 2xx needs an upgrade, which carries "
        "the tunnel");
  }
  return CheckStatus(response);
}

bool ServerConnection::Respond(absl::StatusOr<Response>&& answer) {
  if (answer.ok()) {
    absl::Status checked = CheckResponse(*answer);
    if (!checked.ok()) answer = std::move(checked);
  }
  bool has_body = false;
  {
    std::optional<ThreadMutexLock> lock;
    if (channel_->is_shared) lock.emplace(&channel_->mu);
    Receiver& in = channel_->in;
    if (!answer.ok()) {
      if (!channel_->is_shared || !in.body_has_failed()) {
        Log(answer.status());
        answer = Response::Text("the server has failed\n", 500);
      } else if (in.failure() != 0) {
        // The client is at fault.
        answer = Response::Text(absl::StrCat(in.error().message(), "\n"),
                                in.failure());
      } else {
        // The client has gone.
        lock.reset();
        return Finish(std::move(answer).status());
      }
    }
    if (channel_->is_shared) {
      has_body = !in.body_is_done();
      // The client may or may not send a body for which it was not asked, or
      // has too much of it.
      if (in.body_has_failed() || !channel_->to_continue.empty() ||
          (has_body && answer->body.is_text() &&
           !in.body_has_at_most(kMaxDiscard))) {
        context_.keep_alive = false;
      }
      // A part of "100 Continue" may be on its way.
      if (channel_->to_continue.size() < kContinue.size()) {
        sender_.out().Append(channel_->to_continue);
      }
      channel_->to_continue = std::string_view();
    }
  }
  if (options_->stop.IsCancelled()) context_.keep_alive = false;
  if (answer->upgrade != nullptr) {
    // What the connection carries afterwards is not HTTP.
    context_.keep_alive = true;
  }
  const Framing framing = AppendResponseHead(sender_.out(), *answer, context_);
  sender_.SetBody(answer->body, framing);
  upgrade_ = std::move(answer->upgrade);
  phase_ = Phase::kNone;
  state_ = State::kSend;
  return true;
}

// ---- The response.

PollResult<absl::Status> ServerConnection::PollSender(Context& cx) {
  ROUSE_TRY { return sender_.Poll(cx, *channel_); }
  ROUSE_CATCH_ALL { return CurrentException(); }
}

bool ServerConnection::PollSend(Context& cx) {
  // Responses to requests that are already here are written together.
  if (context_.keep_alive && !channel_->is_shared && upgrade_ == nullptr &&
      sender_.has_room() && !channel_->in.empty()) {
    state_ = State::kHead;
    return true;
  }
  PollResult<absl::Status> sent = PollSender(cx);
  if (sent.IsPending()) {
    if (sender_.TakeProgress()) phase_ = Phase::kNone;
    // A client that has gone shows itself to a write, or else here.
    const bool waits_for_body = sender_.waits_for_body();
    if (waits_for_body && !channel_->is_shared && !ClientIsThere(cx)) {
      return true;
    }
    if (!TimeIsUp(cx, waits_for_body ? Phase::kRequest : Phase::kProgress)) {
      return false;
    }
    return Finish(
        absl::DeadlineExceededError("the response was not sent in time"));
  }
  if (!sent->ok()) {
    if (!sender_.body_has_failed() &&
        sent->code() != absl::StatusCode::kInternal) {
      return Finish(*std::move(sent));
    }
    // The status has been sent. Only the end of the connection can notify the
    // client.
    if (!RequestHasFailed()) Log(*sent);
    return Finish(absl::InternalError(
        absl::StrCat("the body of a response has failed: ", sent->message())));
  }
  if (upgrade_ != nullptr) {
    ROUSE_TRY {
      upgraded_.emplace(upgrade_(WithPrefix(
          std::string(channel_->in.buffered()), std::move(channel_->io))));
    }
    ROUSE_CATCH_ALL {
      absl::Status error = CurrentException();
      Log(error);
      return Finish(std::move(error));
    }
    state_ = State::kUpgrade;
    return true;
  }
  return EndExchange();
}

bool ServerConnection::EndExchange() {
  const bool is_settled = !channel_->is_shared || DetachBody();
  phase_ = Phase::kNone;
  if (!context_.keep_alive) {
    state_ = State::kLinger;
  } else if (!is_settled) {
    discarded_ = 0;
    state_ = State::kDiscard;
  } else {
    state_ = State::kHead;
  }
  return true;
}

bool ServerConnection::RequestHasFailed() {
  if (!channel_->is_shared) return false;
  const ThreadMutexLock lock(&channel_->mu);
  return channel_->in.body_has_failed();
}

bool ServerConnection::DetachBody() {
  bool is_done;
  std::optional<Waker> reader;
  {
    const ThreadMutexLock lock(&channel_->mu);
    ++channel_->exchange;
    is_done = channel_->in.body_is_done();
    reader.swap(channel_->reader);
  }
  channel_->is_shared = false;
  WakeReader(std::move(reader));
  return is_done;
}

bool ServerConnection::PollDiscard(Context& cx) {
  char bytes[4096];
  for (;;) {
    PollResult<absl::StatusOr<size_t>> size =
        channel_->in.PollBody(cx, *channel_->io, absl::MakeSpan(bytes));
    if (size.IsPending()) {
      if (!TimeIsUp(cx, Phase::kProgress)) return false;
      return Finish(absl::DeadlineExceededError(
          "the body of a request did not arrive in time"));
    }
    // The time is that of the whole rest, however small its parts are.
    if (!size->ok()) return Finish((*std::move(size)).status());
    if (**size == 0) {
      phase_ = Phase::kNone;
      state_ = State::kHead;
      return true;
    }
    discarded_ += **size;
    if (discarded_ > kMaxDiscard) {
      phase_ = Phase::kNone;
      state_ = State::kLinger;
      return true;
    }
  }
}

// ---- The end.

bool ServerConnection::PollUpgrade(Context& cx) {
  ROUSE_TRY {
    if (upgraded_->Poll(cx).IsPending()) return false;
  }
  ROUSE_CATCH_ALL {
    absl::Status error = CurrentException();
    Log(error);
    return Finish(std::move(error));
  }
  return Finish(absl::OkStatus());
}

bool ServerConnection::PollLinger(Context& cx) {
  const bool has_ended = linger_.Poll(cx, *channel_->io).IsReady();
  if (!has_ended && !TimeIsUp(cx, Phase::kLinger)) return false;
  return Finish(std::move(status_));
}

bool ServerConnection::Finish(absl::Status status) {
  state_ = State::kDone;
  status_ = std::move(status);
  call_.Reset();
  upgraded_.reset();
  request_.reset();
  std::unique_ptr<Io> closed;
  std::optional<Waker> reader;
  if (channel_->is_shared) {
    const ThreadMutexLock lock(&channel_->mu);
    ++channel_->exchange;
    closed = std::move(channel_->io);
    reader.swap(channel_->reader);
  } else {
    closed = std::move(channel_->io);
  }
  channel_->is_shared = false;
  WakeReader(std::move(reader));
  return true;
}

// ---- Time.

absl::Duration ServerConnection::TimeOf(Phase phase) const {
  switch (phase) {
    case Phase::kNone:
      break;
    case Phase::kIdle:
      return options_->idle_timeout;
    case Phase::kHead:
      return options_->header_timeout;
    case Phase::kRequest:
      return options_->request_timeout;
    case Phase::kProgress:
      return options_->progress_timeout;
    case Phase::kLinger:
      return kLinger;
  }
  return absl::InfiniteDuration();
}

bool ServerConnection::TimeIsUp(Context& cx, Phase phase) {
  // The end of the whole request limits each of its parts.
  if (!request_end_.has_value() &&
      (state_ == State::kHandler || state_ == State::kSend) &&
      options_->request_timeout != absl::InfiniteDuration()) {
    request_end_ = Now() + options_->request_timeout;
  }
  const absl::Duration time = TimeOf(phase);
  if (time == absl::InfiniteDuration() && !request_end_.has_value()) {
    return false;
  }
  if (phase_ != phase) {
    phase_ = phase;
    if (request_end_.has_value() &&
        (state_ == State::kHandler || state_ == State::kSend)) {
      timer_.ResetAt(std::min(*request_end_, Now() + time));
    } else {
      timer_.Reset(time);
    }
  }
  return timer_.Poll(cx).IsReady();
}

void ServerConnection::Log(const absl::Status& error) const {
  LogFailure(method_, target_, peer_, error);
}

}  // namespace rouse::http::internal
