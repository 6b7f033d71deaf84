// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: request_head.h
// -----------------------------------------------------------------------------
//
// Makes the fields of an HTTP/2 request, in the form that nghttp2 takes.

#ifndef ROUSE_HTTP_H2_CLIENT_REQUEST_HEAD_H_
#define ROUSE_HTTP_H2_CLIENT_REQUEST_HEAD_H_

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "rouse/http/request.h"

namespace rouse::http::internal {

// RequestHead
//
// The fields of a request, with the pseudo-fields and `content-length`, and
// without the fields that HTTP/2 does not have.
class RequestHead {
 public:
  // `size` is the number of bytes of the body, if known. The request must
  // outlive the object.
  RequestHead(const Request& request ABSL_ATTRIBUTE_LIFETIME_BOUND,
              std::optional<uint64_t> size);
  RequestHead(const RequestHead&) = delete;
  RequestHead& operator=(const RequestHead&) = delete;

  const nghttp2_nv* data() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return fields_.data();
  }
  size_t size() const { return fields_.size(); }

 private:
  std::string length_;
  std::vector<nghttp2_nv> fields_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_CLIENT_REQUEST_HEAD_H_
