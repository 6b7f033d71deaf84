// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/request.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "rouse/http/headers.h"
#include "rouse/http/url.h"

namespace rouse::http {

absl::StatusOr<Request> Request::To(std::string_view method,
                                    std::string_view url) {
  if (!IsToken(method)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", absl::CHexEscape(method),
        "\" is not the method of a request; an example is \"GET\""));
  }
  absl::StatusOr<Url> parsed = ParseUrl(url);
  if (!parsed.ok()) return parsed.status();
  Request request;
  request.method = method;
  request.target = std::move(parsed->target);
  request.origin = std::move(parsed->origin);
  return request;
}

std::string_view Request::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view Request::query() const {
  const size_t mark = target.find('?');
  if (mark == std::string::npos) return std::string_view();
  return std::string_view(target).substr(mark + 1);
}

}  // namespace rouse::http
