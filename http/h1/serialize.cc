// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h1/serialize.h"

#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/http/body.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {
namespace {

void AppendField(Buffer& out, std::string_view name, std::string_view value) {
  out.Append(name);
  out.Append(": ");
  out.Append(value);
  out.Append("\r\n");
}

void AppendNumber(Buffer& out, std::string_view name, uint64_t number) {
  AppendField(out, name, absl::AlphaNum(number).Piece());
}

}  // namespace

FieldKind KindOf(std::string_view name) {
  switch (name.size()) {
    case 4:
      return absl::EqualsIgnoreCase(name, "date") ? FieldKind::kDate
                                                  : FieldKind::kUsers;
    case 10:
      if (absl::EqualsIgnoreCase(name, "connection")) {
        return FieldKind::kConnection;
      }
      return absl::EqualsIgnoreCase(name, "keep-alive") ? FieldKind::kDropped
                                                        : FieldKind::kUsers;
    case 14:
      return absl::EqualsIgnoreCase(name, "content-length") ? FieldKind::kLength
                                                            : FieldKind::kUsers;
    case 17:
      return absl::EqualsIgnoreCase(name, "transfer-encoding")
                 ? FieldKind::kDropped
                 : FieldKind::kUsers;
    default:
      return FieldKind::kUsers;
  }
}

bool IsTarget(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f) return false;
  }
  return text.find('#') == std::string_view::npos;
}

std::string_view HttpDate() {
  struct Cache {
    int64_t second = -1;
    std::string text;
  };
  static thread_local Cache cache;
  timespec now;
  // The coarse clock costs less, and is late by some milliseconds.
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != cache.second) {
    cache.second = now.tv_sec;
    cache.text = absl::FormatTime("%a, %d %b %E4Y %H:%M:%S GMT",
                                  absl::FromUnixSeconds(now.tv_sec),
                                  absl::UTCTimeZone());
  }
  return cache.text;
}

Framing AppendResponseHead(Buffer& out, const Response& response,
                           ResponseContext& context) {
  const int status = response.status;
  if (status == 200) {
    out.Append("HTTP/1.1 200 OK\r\n");
  } else {
    out.Append("HTTP/1.1 ");
    out.Append(absl::AlphaNum(status).Piece());
    out.Append(" ");
    out.Append(StatusText(status));
    out.Append("\r\n");
  }
  const bool changes_protocol = status == 101;
  const bool has_no_body = status < 200 || status == 204 || status == 304 ||
                           (response.upgrade != nullptr && status < 300);
  const std::optional<uint64_t> size = response.body.unread_size();
  // The length of the body that a GET would have got.
  const bool takes_length =
      (context.is_head || status == 304) && size == uint64_t{0};
  bool has_date = false;
  bool has_length = false;
  for (const auto& [name, value] : response.headers) {
    switch (KindOf(name)) {
      case FieldKind::kUsers:
        break;
      case FieldKind::kDate:
        has_date = true;
        break;
      case FieldKind::kDropped:
        continue;
      case FieldKind::kLength: {
        uint64_t length;
        if (!takes_length || has_length || !ParseContentLength(value, length)) {
          continue;
        }
        has_length = true;
        break;
      }
      case FieldKind::kConnection:
        if (ListHasToken(value, "close")) context.keep_alive = false;
        if (!changes_protocol) continue;
        break;
    }
    AppendField(out, name, value);
  }
  if (!has_date) AppendField(out, "Date", HttpDate());
  Framing framing = Framing::kNone;
  if (has_no_body || has_length) {
    // No length: RFC 9110 forbids it with 1xx and 204.
  } else if (size.has_value()) {
    AppendNumber(out, "Content-Length", *size);
    framing = Framing::kLength;
  } else if (!context.is_http_1_0) {
    out.Append("Transfer-Encoding: chunked\r\n");
    framing = Framing::kChunked;
  } else {
    framing = Framing::kUntilEnd;
    context.keep_alive = false;
  }
  if (!changes_protocol) {
    if (!context.keep_alive) {
      out.Append("Connection: close\r\n");
    } else if (context.is_http_1_0) {
      out.Append("Connection: keep-alive\r\n");
    }
  }
  out.Append("\r\n");
  return context.is_head ? Framing::kNone : framing;
}

absl::StatusOr<Framing> AppendRequestHead(Buffer& out, const Request& request) {
  if (!IsToken(request.method)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(request.method),
                     "\" is not the method of a request"));
  }
  if (!IsTarget(request.target)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(request.target),
                     "\" is not the target of a request; encode spaces and "
                     "control characters as %XX"));
  }
  out.Append(request.method);
  out.Append(" ");
  out.Append(request.target);
  out.Append(" HTTP/1.1\r\n");
  if (!request.headers.Has("Host")) {
    const std::string_view origin = request.origin;
    AppendField(out, "Host", origin.substr(origin.find("://") + 3));
  }
  for (const auto& [name, value] : request.headers) {
    const FieldKind kind = KindOf(name);
    if (kind == FieldKind::kDropped || kind == FieldKind::kLength) continue;
    AppendField(out, name, value);
  }
  const std::optional<uint64_t> size = request.body.unread_size();
  Framing framing = Framing::kNone;
  if (!size.has_value()) {
    out.Append("Transfer-Encoding: chunked\r\n");
    framing = Framing::kChunked;
  } else if (*size > 0 || request.method == "POST" || request.method == "PUT" ||
             request.method == "PATCH") {
    AppendNumber(out, "Content-Length", *size);
    framing = Framing::kLength;
  }
  out.Append("\r\n");
  return framing;
}

}  // namespace rouse::http::internal
