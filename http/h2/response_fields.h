// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: response_fields.h
// -----------------------------------------------------------------------------
//
// Makes the fields of an HTTP/2 response, in the form that nghttp2 takes.

#ifndef ROUSE_HTTP_H2_RESPONSE_FIELDS_H_
#define ROUSE_HTTP_H2_RESPONSE_FIELDS_H_

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {

// ResponseFields
//
// The fields of a response, with `:status`, `date` and `content-length`, and
// without the fields that HTTP/2 does not have.
class ResponseFields {
 public:
  // `size` is the value of `content-length`, if that field is sent. The
  // response must outlive the object.
  ResponseFields(const Response& response, bool is_head,
                 std::optional<uint64_t> size);
  ResponseFields(const ResponseFields&) = delete;
  ResponseFields& operator=(const ResponseFields&) = delete;

  const nghttp2_nv* data() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return fields_.data();
  }
  size_t size() const { return fields_.size(); }
  // Returns whether the response has "Connection: close".
  bool closes() const { return closes_; }

 private:
  std::string status_;
  std::string length_;
  std::vector<nghttp2_nv> fields_;
  bool closes_ = false;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_RESPONSE_FIELDS_H_
