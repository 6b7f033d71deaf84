// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: http.h
// -----------------------------------------------------------------------------
//
// Fetches a page over HTTP/1.1:
//
//   crawler::Response response = co_await rouse::OrReturn(
//       crawler::HttpGet(url, crawler::ResponseLimits()));

#ifndef ROUSE_EXAMPLES_PORTS_CRAWLER_HTTP_H_
#define ROUSE_EXAMPLES_PORTS_CRAWLER_HTTP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/examples/ports/crawler/url.h"
#include "rouse/rouse.h"

namespace crawler {

// What a server can make the crawler keep in memory for one page.
struct ResponseLimits {
  size_t max_line = 8192;  // bytes
  size_t max_headers = 100;
  size_t max_body = 1 << 20;  // bytes
};

struct Response {
  int status = 0;
  std::string content_type;  // in lower case
  std::string location;      // where a redirection leads
  std::string body;
};

// Fetches the page over a connection of its own. The status can be any, such as
// 404. Destroying the future closes the connection.
//
//   ResourceExhausted   A limit is exceeded.
//   InvalidArgument     The answer is not HTTP/1.
//   OutOfRange          The server has closed the connection too early.
//   others              The connection has failed.
rouse::Co<absl::StatusOr<Response>> HttpGet(Url url, ResponseLimits limits);

namespace internal {

// The headers of a response that decide about its body.
struct BodyHeaders {
  bool is_chunked = false;
  std::optional<uint64_t> length;
};

absl::StatusOr<int> ParseStatus(const std::string& line);
// Takes over a header, if it is one that matters.
absl::Status ParseHeader(const std::string& line, Response& response,
                         BodyHeaders& body);
absl::StatusOr<uint64_t> ParseChunkSize(const std::string& line);
absl::Status TooLarge(const ResponseLimits& limits);

template <rouse::AsyncBufRead R>
rouse::Co<absl::StatusOr<std::string>> ReadLine(R& reader,
                                                ResponseLimits limits) {
  std::string line;
  const bool found =
      co_await rouse::OrReturn(rouse::ReadLine(reader, line, limits.max_line));
  if (!found) {
    co_return absl::OutOfRangeError(
        "the server closed the connection within an answer");
  }
  co_return line;
}

template <rouse::AsyncBufRead R>
rouse::Co<absl::Status> ReadPart(R& reader, uint64_t size,
                                 ResponseLimits limits, std::string& body) {
  if (size > limits.max_body - body.size()) co_return TooLarge(limits);
  const size_t before = body.size();
  body.resize(before + size);
  co_return co_await rouse::ReadExact(reader,
                                      absl::MakeSpan(body).subspan(before));
}

}  // namespace internal

// Reads the answer to a GET.
template <rouse::AsyncBufRead R>
rouse::Co<absl::StatusOr<Response>> ReadResponse(R& reader,
                                                 ResponseLimits limits) {
  Response response;
  internal::BodyHeaders headers;
  // An answer such as "100 Continue" comes before the answer.
  while (response.status < 200) {
    response = Response();
    headers = internal::BodyHeaders();
    response.status = co_await rouse::OrReturn(internal::ParseStatus(
        co_await rouse::OrReturn(internal::ReadLine(reader, limits))));
    for (size_t count = 0;; ++count) {
      const std::string line =
          co_await rouse::OrReturn(internal::ReadLine(reader, limits));
      if (line.empty()) break;
      if (count == limits.max_headers) {
        co_return absl::ResourceExhaustedError(
            absl::StrCat("more than ", limits.max_headers, " headers"));
      }
      co_await rouse::OrReturn(internal::ParseHeader(line, response, headers));
    }
  }
  if (response.status == 204 || response.status == 304) co_return response;
  if (headers.is_chunked) {
    for (;;) {
      const uint64_t size = co_await rouse::OrReturn(internal::ParseChunkSize(
          co_await rouse::OrReturn(internal::ReadLine(reader, limits))));
      if (size == 0) co_return response;
      co_await rouse::OrReturn(
          internal::ReadPart(reader, size, limits, response.body));
      // The end of the line behind the chunk.
      co_await rouse::OrReturn(internal::ReadLine(reader, limits));
    }
  }
  if (headers.length.has_value()) {
    co_await rouse::OrReturn(
        internal::ReadPart(reader, *headers.length, limits, response.body));
  } else {
    co_await rouse::OrReturn(
        rouse::ReadToEnd(reader, response.body, limits.max_body));
  }
  co_return response;
}

}  // namespace crawler

#endif  // ROUSE_EXAMPLES_PORTS_CRAWLER_HTTP_H_
