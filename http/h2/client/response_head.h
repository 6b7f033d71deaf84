// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: response_head.h
// -----------------------------------------------------------------------------
//
// `ResponseHead` makes a `Response` of the fields of an HTTP/2 response.

#ifndef ROUSE_HTTP_H2_CLIENT_RESPONSE_HEAD_H_
#define ROUSE_HTTP_H2_CLIENT_RESPONSE_HEAD_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "rouse/http/h2/shared/field_check.h"
#include "rouse/http/headers.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {

// ResponseHead
//
// Collects the fields of one header after another, and checks them.
class ResponseHead {
 public:
  // Begins a header: see `FieldCheck`.
  void Begin(size_t max_bytes, size_t max_count);

  // Adds a field of a response's header. Returns an error if the field is
  // refused.
  absl::Status Add(std::string_view name, std::string_view value);

  // Adds a field that follows a body to `trailers`. Returns an error if the
  // field is refused.
  absl::Status AddTrailer(std::string_view name, std::string_view value,
                          Headers& trailers);

  // Ends the header of a response. If the result is OK, `response()` is
  // complete, except for the body.
  absl::Status Finish() const;

  // Returns the size of the fields so far.
  size_t bytes() const { return check_.bytes(); }

  Response& response() { return response_; }
  // Returns the value of `Content-Length`, if any.
  std::optional<uint64_t> length() const { return length_; }

 private:
  absl::Status Error() const;

  size_t max_bytes_ = 0;
  size_t max_count_ = 0;
  FieldCheck check_;
  Response response_;
  std::optional<uint64_t> length_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_CLIENT_RESPONSE_HEAD_H_
