// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: serialize.h
// -----------------------------------------------------------------------------
//
// Writes the heads of HTTP/1.1 messages.

#ifndef ROUSE_HTTP_H1_SERIALIZE_H_
#define ROUSE_HTTP_H1_SERIALIZE_H_

#include "rouse/base/cxx20.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {

// The parts of a response's head that do not come from the handler.
struct ResponseContext {
  bool is_head = false;      // the request's method was HEAD
  bool is_http_1_0 = false;  // the request's version
  bool keep_alive = true;
};

// AppendResponseHead()
//
// Appends the head of `response` to `out`. Returns the framing of the body.
// Sets `keep_alive` to false if only the end of the connection can end the
// body.
Framing AppendResponseHead(Buffer& out, const Response& response,
                           ResponseContext& context);

// AppendRequestHead()
//
// Appends the head of `request` to `out`. Returns the framing of the body.
// Returns InvalidArgument if the method or the target is not valid: a line
// break there would begin another request.
absl::StatusOr<Framing> AppendRequestHead(Buffer& out, const Request& request);

// IsTarget()
//
// Returns whether `text` can be the target of a request: not empty, and of
// visible characters of ASCII other than '#'.
bool IsTarget(std::string_view text);

// FieldKind
//
// Says who decides the value of a field.
enum class FieldKind {
  kUsers,
  kLength,      // Content-Length: the connection, or the user of HEAD
  kConnection,  // Connection: both
  kDropped,     // the connection; that of the user is not sent
  kDate,        // the user, or else the connection
};

// KindOf()
//
// Returns the kind of a field of HTTP/1.1. Ignores case.
FieldKind KindOf(std::string_view name);

// HttpDate()
//
// Returns the present time as the field `Date` needs it, with seconds. The view
// is valid until the thread's next call. Cost: the text is made once a second.
std::string_view HttpDate();

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H1_SERIALIZE_H_
