// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/client/response_head.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/headers.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {

void ResponseHead::Begin(size_t max_bytes, size_t max_count) {
  max_bytes_ = max_bytes;
  max_count_ = max_count;
  check_.Begin(max_bytes, max_count);
  response_ = Response();
  response_.status = 0;
  length_.reset();
}

absl::Status ResponseHead::Error() const {
  if (check_.refusal().ok()) return absl::OkStatus();
  if (check_.is_too_large()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the header of the response exceeds the limit of ",
                     max_bytes_, " bytes"));
  }
  if (check_.refusal().status == 431) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the header of the response has more fields than the limit of ",
        max_count_));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the server's answer is not a valid response of HTTP/2: ",
                   check_.refusal().reason));
}

absl::Status ResponseHead::Add(std::string_view name, std::string_view value) {
  if (!check_.Count(name, value)) return Error();
  if (name.starts_with(':')) {
    // nghttp2 has checked that there is exactly one, of three digits.
    if (name == ":status" && !absl::SimpleAtoi(value, &response_.status)) {
      check_.Refuse({400, "the number of the status is not valid"});
    }
    return Error();
  }
  if (name == "content-length") {
    uint64_t length;
    if (length_.has_value() || !ParseContentLength(value, length)) {
      check_.Refuse({400, "Content-Length is not a number of bytes"});
      return Error();
    }
    length_ = length;
  }
  response_.headers.AddChecked(name, value);
  return absl::OkStatus();
}

absl::Status ResponseHead::AddTrailer(std::string_view name,
                                      std::string_view value,
                                      Headers& trailers) {
  check_.AddTrailer(name, value, trailers);
  return Error();
}

absl::Status ResponseHead::Finish() const {
  if (response_.status >= 100 && response_.status < 600) return Error();
  return absl::InvalidArgumentError(
      "the server's answer is not a valid response of HTTP/2: the number of "
      "the status is not valid");
}

}  // namespace rouse::http::internal
