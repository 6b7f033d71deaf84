// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: parse_head.h
// -----------------------------------------------------------------------------
//
// Parses the head of an HTTP/1.1 message: the first line and the header. The
// source is the only file that knows the parser, http-parser. A replacement,
// such as llhttp, needs only that file.
//
// The parser is one of two guards. Debian's http-parser is built without its
// strict mode, and takes what other servers read differently. Therefore the
// functions here check each name, each value, each line end and the fields that
// frame the message themselves, and refuse what the parser lets through.

#ifndef ROUSE_HTTP_H1_PARSE_HEAD_H_
#define ROUSE_HTTP_H1_PARSE_HEAD_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {

// Framing
//
// The way in which the length of a body is given.
enum class Framing {
  kNone,      // no body
  kLength,    // a number of bytes
  kChunked,   // chunks, each with its length
  kUntilEnd,  // up to the end of the connection
};

// Refusal
//
// A status of HTTP and a reason, if a message is refused.
struct Refusal {
  int status = 0;  // 0 if the message is fine
  const char* reason = "";

  bool ok() const { return status == 0; }
};

// HeadInfo
//
// The parts of a head that concern the connection.
struct HeadInfo {
  Framing framing = Framing::kNone;
  uint64_t length = 0;  // of the body, for `kLength`
  bool is_http_1_0 = false;
  bool keep_alive = true;
  bool wants_upgrade = false;  // CONNECT, or `Connection: upgrade`
  bool expects_continue = false;

  // Returns the size of the body, if `length` gives the size.
  std::optional<uint64_t> body_size() const {
    if (framing != Framing::kLength) return std::nullopt;
    return length;
  }
};

// ParseRequestHead()
//
// Parses `head`, which ends with an empty line. Sets the method, the target and
// the headers of `request`, and `info`.
// REQUIRES: each LF follows a CR, and no line begins with a space or tab.
Refusal ParseRequestHead(std::string_view head, size_t max_count,
                         Request& request, HeadInfo& info);

// ParseResponseHead()
//
// Parses `head`, which ends with an empty line. Sets the status and the headers
// of `response`, and `info`. `is_head` says whether the request's method was
// HEAD, and `is_connect` whether it was CONNECT.
Refusal ParseResponseHead(std::string_view head, size_t max_count, bool is_head,
                          bool is_connect, Response& response, HeadInfo& info);

// CheckFirstLine()
//
// Returns whether `line`, without its line end, can be the first line of a
// request. Refuses other protocols before an empty line has come.
bool CheckFirstLine(std::string_view line);

// ParseTrailerLine()
//
// Adds the field in `line`, without its line end, to `trailers`. Returns
// whether the line is a valid field that may be a trailer.
bool ParseTrailerLine(std::string_view line, Headers& trailers);

// ParseContentLength()
//
// Sets `length` to the number in `text`. Returns false if `text` has anything
// but digits, such as a sign, or if the number is too large.
bool ParseContentLength(std::string_view text, uint64_t& length);

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H1_PARSE_HEAD_H_
