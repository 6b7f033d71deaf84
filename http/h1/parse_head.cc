// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h1/parse_head.h"

#if !__has_include(<http_parser.h>)
#error "http-parser is missing; on Debian, apt-get install libhttp-parser-dev"
#endif
#include <http_parser.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/url.h"

namespace rouse::http::internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The parts of a request line.
struct RequestLine {
  std::string_view method;
  std::string_view target;
  bool ok = false;
};

// Splits a line that has exactly the form of RFC 9112: the parser would take
// several spaces, and a line without a version.
RequestLine SplitRequestLine(std::string_view line) {
  RequestLine parts;
  const size_t first = line.find(' ');
  if (first == std::string_view::npos) return parts;
  const size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos || second == first + 1) return parts;
  parts.method = line.substr(0, first);
  parts.target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (version.size() != 8 || !absl::StartsWith(version, "HTTP/") ||
      !IsDigit(version[5]) || version[6] != '.' || !IsDigit(version[7])) {
    return parts;
  }
  bool visible = true;
  for (const char c : parts.target) visible &= c > ' ' && c < 0x7f;
  parts.ok = visible && IsToken(parts.method);
  return parts;
}

// Head
//
// Receives the parts of a head from the parser, and checks them.
class Head {
 public:
  Head(size_t max_count, Headers& headers, HeadInfo& info)
      : max_count_(max_count), headers_(headers), info_(info) {}

  // Lets the parser parse `head`, and keeps what the parser knows.
  Refusal Parse(http_parser_type type, std::string_view head) {
    // Other implementations end a line at a CR without LF.
    for (size_t cr = head.find('\r'); cr != std::string_view::npos;
         cr = head.find('\r', cr + 1)) {
      if (head.substr(cr, 2) != "\r\n") {
        return {400, "the header has a CR without LF"};
      }
    }
    headers_.Reserve(head.size());
    http_parser parser;
    http_parser_init(&parser, type);
    parser.data = this;
    const size_t parsed =
        http_parser_execute(&parser, &Settings(), head.data(), head.size());
    if (!refusal_.ok()) return refusal_;
    switch (HTTP_PARSER_ERRNO(&parser)) {
      case HPE_OK:
        break;
      case HPE_HEADER_OVERFLOW:
        return {431, "the header is too large"};
      case HPE_INVALID_METHOD:
        return {501, "the method is not known"};
      case HPE_INVALID_VERSION:
        return {505, "the version of HTTP is not supported"};
      case HPE_INVALID_URL:
      case HPE_INVALID_HOST:
      case HPE_INVALID_PORT:
        return {400, "the target is not valid"};
      case HPE_INVALID_CONTENT_LENGTH:
      case HPE_UNEXPECTED_CONTENT_LENGTH:
      case HPE_INVALID_TRANSFER_ENCODING:
        return {400, "the length of the body is not valid"};
      default:
        return {400, "the header is not valid"};
    }
    if (parsed != head.size() || !is_complete_ || has_name_) {
      return {400, "the header is not valid"};
    }
    if (parser.http_major != 1) {
      return {505, "the version of HTTP is not supported"};
    }
    info_.is_http_1_0 = parser.http_minor == 0;
    status_ = static_cast<int>(parser.status_code);
    // HTTP/1.0 keeps a connection only if both sides say so.
    info_.keep_alive = !says_close_ && (!info_.is_http_1_0 || says_keep_alive_);
    info_.wants_upgrade = says_upgrade_ && has_upgrade_;
    if (encodings_ > 0 && has_length_) {
      return {400, "both Content-Length and Transfer-Encoding are given"};
    }
    if (encodings_ > 0 && info_.is_http_1_0) {
      return {400, "HTTP/1.0 has no Transfer-Encoding"};
    }
    if (encodings_ > 1 || (encodings_ == 1 && !is_chunked_)) {
      return {501, "the only Transfer-Encoding supported is \"chunked\""};
    }
    return {};
  }

  bool is_chunked() const { return is_chunked_; }
  bool has_length() const { return has_length_; }
  int hosts() const { return hosts_; }
  std::string_view host() const { return host_; }
  std::string_view expectation() const { return expectation_; }
  int status() const { return status_; }

 private:
  static Head& Self(http_parser* parser) {
    return *static_cast<Head*>(parser->data);
  }

  static const http_parser_settings& Settings() {
    static const http_parser_settings settings = [] {
      http_parser_settings s;
      http_parser_settings_init(&s);
      s.on_header_field = [](http_parser* parser, const char* data,
                             size_t size) {
        return Self(parser).OnName(std::string_view(data, size));
      };
      s.on_header_value = [](http_parser* parser, const char* data,
                             size_t size) {
        return Self(parser).OnValue(std::string_view(data, size));
      };
      // The connection reads the body by itself.
      s.on_headers_complete = [](http_parser*) { return 1; };
      s.on_message_complete = [](http_parser* parser) {
        Self(parser).is_complete_ = true;
        return 0;
      };
      return s;
    }();
    return settings;
  }

  // The following functions return 0, or -1 to stop the parser. Because the
  // whole head is parsed at once, the parser passes each name and value whole.
  int OnName(std::string_view name) {
    if (has_name_) return Refuse({400, "a header field has no value"});
    has_name_ = true;
    name_ = name;
    return 0;
  }

  int OnValue(std::string_view text) {
    if (!has_name_) return Refuse({400, "a header field is folded"});
    has_name_ = false;
    const std::string_view value = StripBlanks(text);
    if (headers_.size() == max_count_) {
      return Refuse({431, "the header has too many fields"});
    }
    if (!IsToken(name_)) {
      return Refuse({400, "the name of a header field is not valid"});
    }
    if (!IsFieldValue(value)) {
      return Refuse({400, "the value of a header field is not valid"});
    }
    headers_.AddChecked(name_, value);
    return OnField(value);
  }

  // Looks at the fields that concern the connection.
  int OnField(std::string_view value) {
    switch (name_.size()) {
      case 4:
        if (!Is("host")) break;
        ++hosts_;
        host_ = value;
        break;
      case 6:
        if (!Is("expect")) break;
        expectation_ = value;
        break;
      case 7:
        has_upgrade_ |= Is("upgrade");
        break;
      case 10:
        if (!Is("connection")) break;
        says_close_ |= ListHasToken(value, "close");
        says_keep_alive_ |= ListHasToken(value, "keep-alive");
        says_upgrade_ |= ListHasToken(value, "upgrade");
        break;
      case 14:
        if (!Is("content-length")) break;
        if (has_length_) {
          return Refuse({400, "several Content-Length are given"});
        }
        if (!ParseContentLength(value, info_.length)) {
          return Refuse({400, "Content-Length is not a number of bytes"});
        }
        has_length_ = true;
        break;
      case 17:
        if (!Is("transfer-encoding")) break;
        ++encodings_;
        is_chunked_ = absl::EqualsIgnoreCase(value, "chunked");
        break;
      default:
        break;
    }
    return 0;
  }

  bool Is(std::string_view name) const {
    return absl::EqualsIgnoreCase(name_, name);
  }

  int Refuse(Refusal refusal) {
    refusal_ = refusal;
    return -1;
  }

  const size_t max_count_;
  Headers& headers_;
  HeadInfo& info_;
  Refusal refusal_;
  std::string_view name_;  // of the field whose value comes next
  std::string_view host_;
  std::string_view expectation_;
  int hosts_ = 0;
  int encodings_ = 0;
  int status_ = 0;
  bool has_name_ = false;
  bool is_complete_ = false;
  bool has_length_ = false;
  bool is_chunked_ = false;
  bool has_upgrade_ = false;
  bool says_close_ = false;
  bool says_keep_alive_ = false;
  bool says_upgrade_ = false;
};

// Sets the target and, for a target with an authority, the field `Host`.
Refusal SetTarget(std::string_view target, Request& request) {
  if (target.find('#') != std::string_view::npos) {
    return {400, "the target has a fragment"};
  }
  if (request.method == "CONNECT") {
    if (target.find(':') == std::string_view::npos || !IsAuthority(target)) {
      return {400, "the target of CONNECT is not a host with a port"};
    }
    if (!request.headers.Set("Host", target).ok()) {
      return {400, "the target is not valid"};
    }
  } else if (target == "*") {
    if (request.method != "OPTIONS") {
      return {400, "the target \"*\" belongs to the method OPTIONS"};
    }
  } else if (target.front() != '/') {
    const absl::StatusOr<Url> url = ParseUrl(target);
    if (!url.ok()) return {400, "the target is not valid"};
    request.target = url->target;
    // The authority of the target counts, and not the field.
    const std::string_view origin = url->origin;
    const std::string_view authority = origin.substr(origin.find("://") + 3);
    if (!request.headers.Set("Host", authority).ok()) {
      return {400, "the target is not valid"};
    }
    return {};
  }
  request.target = target;
  return {};
}

}  // namespace

Refusal ParseRequestHead(std::string_view head, size_t max_count,
                         Request& request, HeadInfo& info) {
  const RequestLine line =
      SplitRequestLine(head.substr(0, head.find('\n') - 1));
  if (!line.ok) return {400, "the request line is not valid"};
  Head parts(max_count, request.headers, info);
  const Refusal refusal = parts.Parse(HTTP_REQUEST, head);
  if (!refusal.ok()) return refusal;
  if (parts.hosts() > 1) return {400, "several Host are given"};
  if (parts.hosts() == 0 && !info.is_http_1_0) {
    return {400, "Host is missing"};
  }
  if (parts.hosts() == 1 && !IsAuthority(parts.host())) {
    return {400, "Host is not valid"};
  }
  if (parts.is_chunked()) {
    info.framing = Framing::kChunked;
  } else if (info.length > 0) {
    info.framing = Framing::kLength;
  }
  // The end of a body, and not of the header, would begin the new protocol, and
  // HTTP/1.0 has no upgrade.
  if (info.framing != Framing::kNone || info.is_http_1_0) {
    info.wants_upgrade = false;
  }
  if (!parts.expectation().empty() && !info.is_http_1_0) {
    if (!absl::EqualsIgnoreCase(parts.expectation(), "100-continue")) {
      return {417, "the only Expect supported is \"100-continue\""};
    }
    info.expects_continue = info.framing != Framing::kNone;
  }
  request.method = line.method;
  if (request.method == "CONNECT") {
    if (parts.has_length() || parts.is_chunked()) {
      return {400, "CONNECT has no body"};
    }
    info.wants_upgrade = true;
  }
  return SetTarget(line.target, request);
}

Refusal ParseResponseHead(std::string_view head, size_t max_count, bool is_head,
                          bool is_connect, Response& response, HeadInfo& info) {
  Head parts(max_count, response.headers, info);
  const Refusal refusal = parts.Parse(HTTP_RESPONSE, head);
  if (!refusal.ok()) return refusal;
  response.status = parts.status();
  if (response.status < 100 || response.status > 599) {
    return {400, "the number of the status is not valid"};
  }
  if (is_head || response.status < 200 || response.status == 204 ||
      response.status == 304 || (is_connect && response.status < 300)) {
    info.framing = Framing::kNone;
  } else if (parts.is_chunked()) {
    info.framing = Framing::kChunked;
  } else if (parts.has_length()) {
    info.framing = info.length > 0 ? Framing::kLength : Framing::kNone;
  } else {
    info.framing = Framing::kUntilEnd;
    info.keep_alive = false;
  }
  return {};
}

bool CheckFirstLine(std::string_view line) { return SplitRequestLine(line).ok; }

bool ParseTrailerLine(std::string_view line, Headers& trailers) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, colon);
  // These would change what was decided before the body.
  for (const std::string_view not_allowed :
       {"content-length", "transfer-encoding", "host", "connection", "trailer",
        "upgrade", "authorization", "content-encoding", "content-type"}) {
    if (absl::EqualsIgnoreCase(name, not_allowed)) return false;
  }
  return trailers.Add(name, line.substr(colon + 1)).ok();
}

bool ParseContentLength(std::string_view text, uint64_t& length) {
  // 18 digits never overflow.
  if (text.empty() || text.size() > 18) return false;
  uint64_t number = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  length = number;
  return true;
}

}  // namespace rouse::http::internal
