// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/crawler/http.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rouse/examples/ports/crawler/url.h"
#include "rouse/rouse.h"

namespace crawler {

namespace {

absl::Status Malformed(std::string_view what, std::string_view line) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": ", absl::CHexEscape(line.substr(0, 100))));
}

}  // namespace

namespace internal {

absl::StatusOr<int> ParseStatus(const std::string& line) {
  // Such as "HTTP/1.1 200 OK".
  int status = 0;
  if (!absl::StartsWith(line, "HTTP/1.") || line.size() < 12 ||
      line[8] != ' ' || !absl::SimpleAtoi(line.substr(9, 3), &status) ||
      status < 100) {
    return Malformed("not an answer of HTTP/1", line);
  }
  return status;
}

absl::Status ParseHeader(const std::string& line, Response& response,
                         BodyHeaders& body) {
  const size_t colon = line.find(':');
  if (colon == line.npos || colon == 0) {
    return Malformed("not a header of HTTP", line);
  }
  const std::string_view name = std::string_view(line).substr(0, colon);
  const std::string_view value =
      absl::StripAsciiWhitespace(std::string_view(line).substr(colon + 1));
  if (absl::EqualsIgnoreCase(name, "Content-Type")) {
    response.content_type = absl::AsciiStrToLower(value);
  } else if (absl::EqualsIgnoreCase(name, "Location")) {
    response.location = value;
  } else if (absl::EqualsIgnoreCase(name, "Transfer-Encoding")) {
    if (!absl::EqualsIgnoreCase(value, "chunked")) {
      return Malformed("an encoding that was not asked for", line);
    }
    body.is_chunked = true;
  } else if (absl::EqualsIgnoreCase(name, "Content-Length")) {
    uint64_t length = 0;
    if (!absl::SimpleAtoi(value, &length)) {
      return Malformed("not a length", line);
    }
    body.length = length;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ParseChunkSize(const std::string& line) {
  uint64_t size = 0;
  // An extension can be behind a semicolon.
  if (!absl::SimpleHexAtoi(line.substr(0, line.find(';')), &size)) {
    return Malformed("not the size of a chunk", line);
  }
  return size;
}

absl::Status TooLarge(const ResponseLimits& limits) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the page has more than ", limits.max_body, " bytes"));
}

}  // namespace internal

rouse::Co<absl::StatusOr<Response>> HttpGet(Url url, ResponseLimits limits) {
  rouse::BufReader stream(
      co_await rouse::OrReturn(rouse::ConnectTcp(url.host_and_port)));
  const std::string request =
      absl::StrCat("GET ", url.path, " HTTP/1.1\r\nHost: ", url.host_and_port,
                   "\r\nUser-Agent: rouse-crawler\r\nAccept: text/html\r\n"
                   "Accept-Encoding: identity\r\nConnection: close\r\n\r\n");
  co_await rouse::OrReturn(rouse::WriteAll(stream, request));
  co_return co_await ReadResponse(stream, limits);
}

}  // namespace crawler
