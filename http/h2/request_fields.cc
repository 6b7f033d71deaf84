// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/request_fields.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/url.h"

namespace rouse::http::internal {
namespace {

// Bytes of the fields of a small request, for which memory is reserved once.
constexpr size_t kSmallHeader = 256;

}  // namespace

void RequestFields::Begin(size_t max_bytes, size_t max_count) {
  check_.Begin(max_bytes, max_count);
  request_ = Request();
  request_.method.clear();
  request_.target.clear();
  request_.headers.Reserve(kSmallHeader);
  authority_.clear();
  cookie_.clear();
  has_authority_ = has_host_ = expects_continue_ = false;
  length_.reset();
}

void RequestFields::AddPseudo(std::string_view name, std::string_view value) {
  if (name == ":method") {
    request_.method = value;
  } else if (name == ":path") {
    request_.target = value;
  } else if (name == ":authority") {
    authority_ = value;
    has_authority_ = true;
  }
}

void RequestFields::Add(std::string_view name, std::string_view value) {
  if (!check_.Count(name, value)) return;
  if (name.starts_with(':')) {
    AddPseudo(name, value);
    return;
  }
  switch (name.size()) {
    case 4:
      if (name != "host") break;
      // The authority counts, and comes first.
      if (has_authority_) {
        if (!absl::EqualsIgnoreCase(authority_, value)) {
          check_.Refuse({400, "Host and the authority differ"});
        }
        return;
      }
      if (std::exchange(has_host_, true)) {
        check_.Refuse({400, "several Host are given"});
        return;
      }
      authority_ = value;
      return;
    case 6:
      if (name == "cookie") {
        absl::StrAppend(&cookie_, cookie_.empty() ? "" : "; ", value);
        return;
      }
      if (name != "expect") break;
      if (!absl::EqualsIgnoreCase(value, "100-continue")) {
        check_.Refuse({417, "the only Expect supported is \"100-continue\""});
        return;
      }
      expects_continue_ = true;
      break;
    case 14:
      if (name != "content-length") break;
      uint64_t length;
      if (length_.has_value() || !ParseContentLength(value, length)) {
        check_.Refuse({400, "Content-Length is not a number of bytes"});
        return;
      }
      length_ = length;
      break;
    default:
      break;
  }
  request_.headers.AddChecked(name, value);
}

Refusal RequestFields::Finish() {
  if (!refusal().ok()) return refusal();
  if (!IsToken(request_.method)) return {400, "the method is not valid"};
  if (!has_authority_ && !has_host_) return {400, "Host is missing"};
  if (!IsAuthority(authority_)) return {400, "Host is not valid"};
  if (request_.method == "CONNECT") {
    if (authority_.find(':') == std::string_view::npos) {
      return {400, "the target of CONNECT is not a host with a port"};
    }
    // nghttp2 does not compare the length of CONNECT with the body.
    if (length_.has_value()) return {400, "CONNECT has no body"};
    request_.target = authority_;
  } else if (request_.target == "*") {
    if (request_.method != "OPTIONS") {
      return {400, "the target \"*\" belongs to the method OPTIONS"};
    }
  } else if (!request_.target.starts_with('/') || !IsTarget(request_.target)) {
    return {400, "the target is not valid"};
  }
  request_.headers.AddChecked("host", authority_);
  if (!cookie_.empty()) request_.headers.AddChecked("cookie", cookie_);
  return {};
}

}  // namespace rouse::http::internal
