// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads HTTP requests from a connection, with the http_parser of Node.js.

#ifndef ROUSE_EXAMPLES_HTTP_HELLO_HTTP_READER_H_
#define ROUSE_EXAMPLES_HTTP_HELLO_HTTP_READER_H_

#if !__has_include(<http_parser.h>)
#error "http_parser is missing; on Debian, apt-get install libhttp-parser-dev"
#endif
#include <http_parser.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/rouse.h"

// A request, without the headers other than those that the parser handles.
struct HttpRequest {
  http_method method = HTTP_GET;
  std::string url;
  std::string body;
  bool keep_alive = false;
};

// HttpReader
//
// Reads the requests of a connection one after another. The limit of a header
// belongs to the whole program: see `http_parser_set_max_header_size()`.
class HttpReader {
 public:
  HttpReader(const rouse::TcpStream& stream, uint64_t max_body)
      : stream_(stream), max_body_(max_body) {
    http_parser_init(&parser_, HTTP_REQUEST);
    parser_.data = this;
  }
  HttpReader(const HttpReader&) = delete;
  HttpReader& operator=(const HttpReader&) = delete;

  // Waits until a request begins. Returns false if the stream ends instead.
  rouse::Co<absl::StatusOr<bool>> Begin() {
    if (unread_.empty()) {
      const size_t size =
          co_await rouse::OrReturn(stream_.Read(absl::MakeSpan(buffer_)));
      unread_ = std::string_view(buffer_, size);
    }
    co_return !unread_.empty();
  }

  // Reads a request. Returns the HTTP status: 200, or the reason why the
  // request is refused. Nothing more can be read after a request was refused.
  rouse::Co<absl::StatusOr<int>> Read() {
    request_ = HttpRequest();
    complete_ = false;
    http_parser_pause(&parser_, 0);
    while (!complete_) {
      const bool more = co_await rouse::OrReturn(Begin());
      if (!more) co_return 400;
      unread_.remove_prefix(http_parser_execute(
          &parser_, &Settings(), unread_.data(), unread_.size()));
      const http_errno error = HTTP_PARSER_ERRNO(&parser_);
      if (body_is_too_large_) co_return 413;
      if (error == HPE_HEADER_OVERFLOW) co_return 431;
      if (error != HPE_OK && error != HPE_PAUSED) co_return 400;
    }
    request_.method = static_cast<http_method>(parser_.method);
    request_.keep_alive = http_should_keep_alive(&parser_) != 0;
    co_return 200;
  }

  // Returns the request that was read last.
  HttpRequest& request() { return request_; }

 private:
  static HttpReader& Self(http_parser* parser) {
    return *static_cast<HttpReader*>(parser->data);
  }

  static const http_parser_settings& Settings() {
    static const http_parser_settings settings = [] {
      http_parser_settings s;
      http_parser_settings_init(&s);
      s.on_url = [](http_parser* parser, const char* data, size_t size) {
        Self(parser).request_.url.append(data, size);
        return 0;
      };
      s.on_headers_complete = [](http_parser* parser) {
        // The largest number stands for a length that the header does not give.
        const uint64_t length = parser->content_length;
        return length == UINT64_MAX ? 0 : Self(parser).MakeRoom(length);
      };
      s.on_body = [](http_parser* parser, const char* data, size_t size) {
        const int result = Self(parser).MakeRoom(size);
        if (result == 0) Self(parser).request_.body.append(data, size);
        return result;
      };
      s.on_message_complete = [](http_parser* parser) {
        Self(parser).complete_ = true;
        http_parser_pause(parser, 1);  // before the next request
        return 0;
      };
      return s;
    }();
    return settings;
  }

  // Returns 0, or -1 if the body would be too large. The parser stops then.
  int MakeRoom(uint64_t size) {
    body_is_too_large_ = size > max_body_ - request_.body.size();
    return body_is_too_large_ ? -1 : 0;
  }

  const rouse::TcpStream& stream_;
  const uint64_t max_body_;
  http_parser parser_;
  HttpRequest request_;
  bool complete_ = false;
  bool body_is_too_large_ = false;
  std::string_view unread_;  // a part of the buffer
  // The last member, so that the others share few cache lines. A short request
  // uses only the buffer's begin.
  char buffer_[8192];
};

#endif  // ROUSE_EXAMPLES_HTTP_HELLO_HTTP_READER_H_
