// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fields.h
// -----------------------------------------------------------------------------
//
// Fields in the form that nghttp2 takes, and what a server and a client send
// and refuse alike.

#ifndef ROUSE_HTTP_H2_SHARED_FIELDS_H_
#define ROUSE_HTTP_H2_SHARED_FIELDS_H_

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/headers.h"

namespace rouse::http::internal {

// Returns a field of these texts, which must outlive the field. nghttp2 copies
// the texts, and makes the name lower-case.
nghttp2_nv Field(std::string_view name ABSL_ATTRIBUTE_LIFETIME_BOUND,
                 std::string_view value ABSL_ATTRIBUTE_LIFETIME_BOUND);

// KindOfHttp2()
//
// Returns the kind of a field of HTTP/2, which lacks more fields than HTTP/1.1.
FieldKind KindOfHttp2(std::string_view name);

// NamedByConnection
//
// The names in the fields `Connection` of a message. The fields of these names
// belong to one connection of HTTP/1.1.
class NamedByConnection {
 public:
  // `headers` must outlive the object.
  explicit NamedByConnection(
      const Headers& headers ABSL_ATTRIBUTE_LIFETIME_BOUND);

  bool Has(std::string_view name) const;

 private:
  std::vector<std::string_view> lists_;
};

// SubmitTrailers()
//
// Ends a body. If `trailers` has fields that HTTP/2 has, and that do not change
// the message, submits these fields and sets the flag in `flags` that
// END_STREAM follows with the fields. Returns an error of nghttp2, or 0.
int SubmitTrailers(nghttp2_session* session, int32_t id,
                   const Headers& trailers, uint32_t* flags);

// IsUseless()
//
// Returns whether a peer that only wants to cause work could send the frame:
// see `FrameBudget`. Later parts of a frame can show that it is useless, too.
bool IsUseless(const nghttp2_frame_hd& head);

// Nghttp2Error()
//
// Returns the status for an error of nghttp2 that ends the connection. `peer`
// is "client" or "server".
absl::Status Nghttp2Error(std::string_view peer, std::string_view what,
                          ssize_t code);

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SHARED_FIELDS_H_
