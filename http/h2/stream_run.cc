// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/stream_run.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/http/body.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/body_sender.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/handler.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/serving/handler_call.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {
namespace {

absl::Status TooLarge(std::string_view what) {
  return absl::ResourceExhaustedError(
      absl::StrCat(what, " exceed the limit of http/h2/, ", kMaxSentHeader,
                   " bytes; answer with fewer or shorter fields"));
}

// Returns whether a response has no body whatever the method is.
bool HasNoBody(int status) { return status == 204 || status == 304; }

}  // namespace

StreamRun::StreamRun(std::shared_ptr<ServerLink> link,
                     std::shared_ptr<ServerStream> stream,
                     std::shared_ptr<Handler> handler)
    : link_(std::move(link)),
      stream_(std::move(stream)),
      handler_(std::move(handler)),
      method_(stream_->request->method),
      target_(stream_->request->target) {}

void StreamRun::Count(ServerLink& link) {
  ++link.runs;
  link.unpolled.fetch_add(1, std::memory_order_relaxed);
  state_ = State::kNew;
}

StreamRun::~StreamRun() {
  if (link_ == nullptr || state_ == State::kUncounted) return;
  // The connection waits until no part of a request or of a handler is left.
  call_.Reset();
  if (state_ == State::kNew) {
    stream_->request.reset();
    link_->unpolled.fetch_sub(1, std::memory_order_relaxed);
  }
  sender_.Reset();
  Waker session;
  {
    const ThreadMutexLock lock(&link_->mu);
    --link_->runs;
    ServerStream& stream = *stream_;
    const bool has_ended =
        stream.is_closed ||
        (stream.has_answer && (!stream.streams_out || stream.out_is_complete));
    if (!has_ended) {
      // An exception, or the runtime, has ended the task. The client would
      // wait for ever.
      stream.has_answer = stream.out_is_complete = stream.out_has_failed = true;
      ROUSE_TRY { session = link_->Change(stream_); }
      ROUSE_CATCH_ALL {
        // The stream fails when it changes next. The connection may wait for
        // the last task.
        session = std::exchange(link_->session, Waker());
      }
    } else if (link_->runs == 0) {
      session = std::exchange(link_->session, Waker());
    }
  }
  WakeDropped(std::move(session));
}

void StreamRun::Trace(AwaitTrace& trace) const { call_.Trace(trace); }

PollResult<void> StreamRun::Poll(Context& cx) {
  if (state_ == State::kNew) {
    state_ = State::kHandler;
    link_->unpolled.fetch_sub(1, std::memory_order_relaxed);
    absl::Status started = call_.Start(*handler_, stream_->request);
    if (!started.ok()) Respond(std::move(started));
  }
  if (state_ == State::kHandler) {
    std::optional<absl::StatusOr<Response>> answer;
    if (!call_.Poll(cx, answer)) return kPending;
    Respond(*std::move(answer));
  }
  if (state_ == State::kBody && !PollBody(cx)) return kPending;
  state_ = State::kDone;
  return {};
}

absl::Status StreamRun::Check(const Response& response) const {
  if (response.upgrade != nullptr) {
    return absl::FailedPreconditionError(
        "the handler's response has an upgrade, which HTTP/2 does not have; "
        "check the fields Connection and Upgrade of the request");
  }
  if (method_ == "CONNECT" && response.status / 100 == 2) {
    return absl::FailedPreconditionError(
        "a response to CONNECT with status 2xx needs a tunnel, which http/h2/ "
        "does not have; answer with another status, such as 501");
  }
  absl::Status checked = CheckStatus(response);
  if (!checked.ok()) return checked;
  if (IsTooLarge(response.headers)) {
    return TooLarge("the fields of the handler's response");
  }
  if (IsTooLarge(response.body.trailers())) {
    return TooLarge("the trailers of the handler's response");
  }
  return absl::OkStatus();
}

void StreamRun::Respond(absl::StatusOr<Response>&& answer) {
  state_ = State::kDone;
  if (answer.ok()) {
    absl::Status checked = Check(*answer);
    if (!checked.ok()) answer = std::move(checked);
  }
  if (!answer.ok()) {
    absl::Status in_error;
    int in_failure;
    {
      const ThreadMutexLock lock(&link_->mu);
      if (stream_->is_closed) return;  // nobody is left to be answered
      in_error = stream_->in_error;
      in_failure = stream_->in_failure;
    }
    if (in_failure != 0) {
      // The client is at fault.
      answer =
          Response::Text(absl::StrCat(in_error.message(), "\n"), in_failure);
    } else {
      Log(answer.status());
      answer = Response::Text("the server has failed\n", 500);
    }
  }
  const bool has_body = method_ != "HEAD" && !HasNoBody(answer->status);
  std::optional<uint64_t> size = answer->body.unread_size();
  if (HasNoBody(answer->status)) size.reset();
  const bool streams_out = has_body && !answer->body.is_text();
  // A source is the handler's code, which runs only in this task.
  Body body;
  if (streams_out || !has_body) body = std::exchange(answer->body, Body());
  Waker session;
  {
    const ThreadMutexLock lock(&link_->mu);
    if (stream_->is_closed || stream_->has_answer) return;
    session = link_->Change(stream_);  // first, because it can throw
    stream_->has_answer = true;
    stream_->streams_out = streams_out;
    stream_->out_size = size;
    stream_->answer.emplace(*std::move(answer));
  }
  WakeDropped(std::move(session));
  if (!streams_out) return;
  sender_.Start(std::move(body), size);
  state_ = State::kBody;
}

bool StreamRun::PollBody(Context& cx) {
  PollResult<absl::Status> read = sender_.Poll(cx, *link_, stream_);
  if (read.IsPending()) return false;
  EndBody(*std::move(read));
  return true;
}

void StreamRun::EndBody(absl::Status status) {
  Headers trailers;
  if (status.ok()) trailers = std::move(sender_.body().trailers());
  if (IsTooLarge(trailers)) {
    status = TooLarge("the trailers of the handler's response");
    trailers = Headers();
  }
  bool is_clients_fault;
  Waker session;
  {
    const ThreadMutexLock lock(&link_->mu);
    session = link_->Change(stream_);  // first, because it can throw
    is_clients_fault = stream_->is_closed || stream_->in_failure != 0;
    stream_->out_is_complete = true;
    stream_->out_has_failed = !status.ok();
    stream_->out_trailers = std::move(trailers);
  }
  WakeDropped(std::move(session));
  if (!status.ok() && !is_clients_fault) Log(status);
}

void StreamRun::Log(const absl::Status& error) const {
  LogFailure(method_, target_, link_->peer, error);
}

}  // namespace rouse::http::internal
