// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/serving/handler_call.h"

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/catch_exception.h"
#include "rouse/http/handler.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

absl::Status HandlerCall::Start(Handler& handler,
                                std::optional<Request>& request) {
  ROUSE_TRY {
    future_.emplace(handler.Handle(*std::exchange(request, std::nullopt)));
    return absl::OkStatus();
  }
  ROUSE_CATCH_ALL { return CurrentException(); }
}

bool HandlerCall::Poll(Context& cx,
                       std::optional<absl::StatusOr<Response>>& answer) {
  ROUSE_TRY {
    PollResult<absl::StatusOr<Response>> polled = future_->Poll(cx);
    if (polled.IsPending()) return false;
    answer.emplace(*std::move(polled));
  }
  ROUSE_CATCH_ALL { answer.emplace(CurrentException()); }
  future_.reset();
  return true;
}

absl::Status CurrentException() {
  return ::rouse::internal::ExceptionToStatus(std::current_exception());
}

absl::Status CheckStatus(const Response& response) {
  if (response.status >= 200 && response.status <= 599) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the handler's response has the status ", response.status,
                   "; the status must be from 200 to 599"));
}

void LogFailure(std::string_view method, std::string_view target,
                std::string_view peer, const absl::Status& error) {
  LOG(ERROR) << "http: " << method << " " << absl::CHexEscape(target)
             << " from " << NameOfPeer(peer) << ": " << error;
}

}  // namespace rouse::http::internal
