// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: request_fields.h
// -----------------------------------------------------------------------------
//
// `RequestFields` makes a `Request` of the fields of an HTTP/2 request.

#ifndef ROUSE_HTTP_H2_REQUEST_FIELDS_H_
#define ROUSE_HTTP_H2_REQUEST_FIELDS_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h2/shared/field_check.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"

namespace rouse::http::internal {

// RequestFields
//
// Collects the fields of one header after another, and checks them.
class RequestFields {
 public:
  // Begins a header. The size of a field is the size of name and value, plus 32
  // bytes (RFC 9113, section 6.5.2).
  void Begin(size_t max_bytes, size_t max_count);

  // Adds a field of a request's header.
  void Add(std::string_view name, std::string_view value);

  // Adds a field that follows a body to `trailers`.
  void AddTrailer(std::string_view name, std::string_view value,
                  Headers& trailers) {
    check_.AddTrailer(name, value, trailers);
  }

  // Ends the header of a request. If the header is not refused, `request()` is
  // complete, except for the body.
  Refusal Finish();

  // Returns the reason if a field was refused, even one of the trailers.
  const Refusal& refusal() const { return check_.refusal(); }

  // Returns the size of the fields so far.
  size_t bytes() const { return check_.bytes(); }

  Request& request() { return request_; }
  // Returns the value of `Content-Length`, if any.
  std::optional<uint64_t> length() const { return length_; }
  bool expects_continue() const { return expects_continue_; }

 private:
  void AddPseudo(std::string_view name, std::string_view value);

  FieldCheck check_;
  Request request_;
  std::string authority_;
  // The values of all fields `cookie`, which HTTP/2 lets a client split.
  std::string cookie_;
  bool has_authority_ = false;
  bool has_host_ = false;
  bool expects_continue_ = false;
  std::optional<uint64_t> length_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_REQUEST_FIELDS_H_
