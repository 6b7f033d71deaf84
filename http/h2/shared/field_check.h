// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: field_check.h
// -----------------------------------------------------------------------------
//
// `FieldCheck` limits and checks the fields of a header that arrives.

#ifndef ROUSE_HTTP_H2_SHARED_FIELD_CHECK_H_
#define ROUSE_HTTP_H2_SHARED_FIELD_CHECK_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/headers.h"

namespace rouse::http::internal {

// FieldCheck
//
// nghttp2 refuses malformed messages (RFC 9113, section 8.1.1). The checks here
// are the checks that http/ also makes for HTTP/1.1. Not thread-safe.
class FieldCheck {
 public:
  // Begins a header. The size of a field is the size of name and value, plus 32
  // bytes (RFC 9113, section 6.5.2).
  void Begin(size_t max_bytes, size_t max_count) {
    max_bytes_ = max_bytes;
    max_count_ = max_count;
    bytes_ = count_ = 0;
    refusal_ = Refusal();
  }

  // Counts a field. Returns false if the limits are exceeded, or the name or
  // the value is not valid, or an earlier field was refused.
  bool Count(std::string_view name, std::string_view value) {
    bytes_ += name.size() + value.size() + 32;
    if (!refusal_.ok()) return false;
    const bool is_pseudo = name.starts_with(':');
    if (bytes_ > max_bytes_) {
      refusal_ = {431, "the header is too large"};
    } else if (!is_pseudo && ++count_ > max_count_) {
      refusal_ = {431, "the header has too many fields"};
    } else if (!is_pseudo && !IsToken(name)) {
      refusal_ = {400, "the name of a header field is not valid"};
    } else if (!IsFieldValue(value)) {
      refusal_ = {400, "the value of a header field is not valid"};
    }
    return refusal_.ok();
  }

  // Adds a field that follows a body to `trailers`.
  void AddTrailer(std::string_view name, std::string_view value,
                  Headers& trailers) {
    if (!Count(name, value)) return;
    if (!ParseTrailerLine(absl::StrCat(name, ":", value), trailers)) {
      refusal_ = {400, "a trailer is not a valid field"};
    }
  }

  // Refuses the header.
  void Refuse(Refusal refusal) { refusal_ = refusal; }

  // Returns the reason if a field was refused, even one of the trailers.
  const Refusal& refusal() const { return refusal_; }
  // Returns the size of the fields so far, and whether it exceeds the limit.
  size_t bytes() const { return bytes_; }
  bool is_too_large() const { return bytes_ > max_bytes_; }

 private:
  size_t max_bytes_ = 0;
  size_t max_count_ = 0;
  size_t bytes_ = 0;
  size_t count_ = 0;
  Refusal refusal_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SHARED_FIELD_CHECK_H_
