// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h1/client_exchange.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/http/body.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/receiver.h"
#include "rouse/http/h1/sender.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {
namespace {

// Returns whether `bytes` begins with the frame with which each server of
// HTTP/2 begins: SETTINGS for the whole connection, and not an answer to ours.
// No response of HTTP/1.1 begins with a zero byte.
bool BeginsWithSettings(std::string_view bytes) {
  constexpr std::string_view kTypeFlagsAndStream("\4\0\0\0\0\0", 6);
  return bytes.size() >= 9 && bytes[0] == '\0' &&
         bytes.substr(3, 6) == kTypeFlagsAndStream;
}

}  // namespace

ClientExchange::ClientExchange(std::unique_ptr<ClientConnection> connection,
                               Request request, const ExchangeLimits& limits)
    : connection_(std::move(connection)),
      request_(std::move(request)),
      limits_(limits),
      timer_(absl::InfiniteDuration()) {}

absl::Status ClientExchange::Start() {
  absl::StatusOr<Framing> framing =
      AppendRequestHead(connection_->sender.out(), request_);
  if (!framing.ok()) return std::move(framing).status();
  connection_->sender.SetBody(request_.body, *framing);
  closes_ = request_.headers.HasToken("Connection", "close");
  return absl::OkStatus();
}

Request ClientExchange::TakeRequest() {
  Sender& sender = connection_->sender;
  if (sender.has_body()) request_.body = sender.TakeBody();
  return std::move(request_);
}

absl::Status ClientExchange::Send(Context& cx) {
  if (is_sent_) return absl::OkStatus();
  Sender& sender = connection_->sender;
  PollResult<absl::Status> sent = sender.Poll(cx, *connection_->io);
  if (sender.TakeProgress()) timer_runs_ = false;
  if (sent.IsPending()) return absl::OkStatus();
  is_sent_ = true;
  if (sent->ok()) return absl::OkStatus();
  if (sender.body_has_failed()) return *std::move(sent);
  write_error_ = *std::move(sent);
  return absl::OkStatus();
}

PollResult<absl::StatusOr<Response>> ClientExchange::Poll(Context& cx) {
  using Result = absl::StatusOr<Response>;
  absl::Status sent = Send(cx);
  if (!sent.ok()) return Result(std::move(sent));
  Receiver& in = connection_->in;
  for (;;) {
    const HeadState state = in.FindHead(limits_.max_header_bytes);
    if (state != HeadState::kComplete && BeginsWithSettings(in.buffered())) {
      return Result(absl::InvalidArgumentError(
          "the server's answer is HTTP/2, and not HTTP/1.1; set "
          "ClientOptions::http2 to http::h2::ClientProtocol(), in clear text "
          "with ClientLimits::prior_knowledge"));
    }
    if (state == HeadState::kMalformed) {
      return Result(absl::InvalidArgumentError(
          "the server's answer is not a valid response of HTTP/1.1"));
    }
    if (state == HeadState::kTooLarge) {
      return Result(absl::ResourceExhaustedError(
          absl::StrCat("the header of the response exceeds the limit of ",
                       limits_.max_header_bytes, " bytes")));
    }
    if (state == HeadState::kComplete) {
      Response response;
      info_ = HeadInfo();
      const Refusal refusal = ParseResponseHead(
          in.head(), limits_.max_header_count, request_.method == "HEAD",
          request_.method == "CONNECT", response, info_);
      if (refusal.status == 431) {
        return Result(absl::ResourceExhaustedError(absl::StrCat(
            "the header of the response has more fields than the limit of ",
            limits_.max_header_count)));
      }
      if (!refusal.ok()) {
        return Result(absl::InvalidArgumentError(
            absl::StrCat("the server's answer is not a valid response of "
                         "HTTP/1.1: ",
                         refusal.reason)));
      }
      if (response.status == 101 ||
          (request_.method == "CONNECT" && response.status / 100 == 2)) {
        return Result(absl::UnimplementedError(
            "the server has changed the protocol, which http::Client does not "
            "support"));
      }
      BodyLimits limits;
      limits.max_bytes = std::numeric_limits<uint64_t>::max();
      limits.max_trailer_bytes = limits_.max_header_bytes;
      limits.max_trailer_count = limits_.max_header_count;
      in.TakeHead(info_.framing, info_.length, limits);
      if (response.status < 200) continue;  // 100 Continue and the like
      has_head_ = true;
      timer_runs_ = false;
      return Result(std::move(response));
    }
    PollResult<absl::StatusOr<size_t>> size = in.PollMore(cx, *connection_->io);
    if (size.IsPending()) {
      // The time of the request's own body is not the server's.
      if (!is_sent_ && connection_->sender.waits_for_body()) {
        timer_runs_ = false;
        return kPending;
      }
      if (!TimeIsUp(cx, limits_.response_timeout)) return kPending;
      return Result(absl::DeadlineExceededError(
          absl::StrCat("the server has not answered within ",
                       absl::FormatDuration(limits_.response_timeout))));
    }
    if (!size->ok()) return Result((*std::move(size)).status());
    if (**size > 0) {
      has_received_ = true;
      continue;
    }
    return Result(absl::UnavailableError(absl::StrCat(
        in.empty() ? "the server closed the connection without an answer"
                   : "the server closed the connection within the header of "
                     "the response",
        write_error_.ok() ? "" : ", and did not take the request: ",
        write_error_.message())));
  }
}

PollResult<absl::StatusOr<size_t>> ClientExchange::PollBody(
    Context& cx, absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  absl::Status sent = Send(cx);
  if (!sent.ok()) return Result(std::move(sent));
  PollResult<Result> size =
      connection_->in.PollBody(cx, *connection_->io, buffer);
  if (size.IsPending()) {
    if (!TimeIsUp(cx, limits_.progress_timeout)) return kPending;
    return Result(connection_->in.FailTooSlow());
  }
  timer_runs_ = false;
  return size;
}

bool ClientExchange::TimeIsUp(Context& cx, absl::Duration time) {
  if (time == absl::InfiniteDuration()) return false;
  if (!timer_runs_) {
    timer_.Reset(time);
    timer_runs_ = true;
  }
  return timer_.Poll(cx).IsReady();
}

}  // namespace rouse::http::internal
