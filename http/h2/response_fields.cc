// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/response_fields.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/headers.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {
namespace {

uint8_t* Bytes(std::string_view text) {
  // nghttp2 does not write through this pointer.
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
}

// Returns the kind of a field of HTTP/2, which lacks more fields than HTTP/1.1.
FieldKind KindOfHttp2(std::string_view name) {
  for (const std::string_view lacking : {"te", "upgrade", "proxy-connection"}) {
    if (absl::EqualsIgnoreCase(name, lacking)) return FieldKind::kDropped;
  }
  return KindOf(name);
}

}  // namespace

nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {Bytes(name), Bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

std::vector<nghttp2_nv> TrailersOf(const Headers& trailers) {
  std::vector<nghttp2_nv> fields;
  fields.reserve(trailers.size());
  for (const auto& [name, value] : trailers) {
    const FieldKind kind = KindOfHttp2(name);
    if (kind != FieldKind::kUsers && kind != FieldKind::kDate) continue;
    fields.push_back(Field(name, value));
  }
  return fields;
}

ResponseFields::ResponseFields(const Response& response, bool is_head,
                               std::optional<uint64_t> size) {
  // The length of the body that a GET would have got.
  const bool takes_length =
      response.status == 304 || (is_head && size == uint64_t{0});
  status_ = absl::StrCat(response.status);
  fields_.reserve(response.headers.size() + 3);
  fields_.push_back(Field(":status", status_));
  // The fields that `Connection` names belong to one connection of HTTP/1.1.
  std::vector<std::string_view> connection;
  for (const auto& [name, value] : response.headers) {
    if (KindOf(name) == FieldKind::kConnection) connection.push_back(value);
  }
  const auto is_named = [&connection](std::string_view name) {
    return std::any_of(
        connection.begin(), connection.end(),
        [name](std::string_view list) { return ListHasToken(list, name); });
  };
  bool has_date = false;
  bool has_length = false;
  for (const auto& [name, value] : response.headers) {
    switch (KindOfHttp2(name)) {
      case FieldKind::kUsers:
        if (is_named(name)) continue;
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
        closes_ |= ListHasToken(value, "close");
        continue;
    }
    fields_.push_back(Field(name, value));
  }
  if (!has_date) fields_.push_back(Field("date", HttpDate()));
  if (size.has_value() && !has_length) {
    length_ = absl::StrCat(*size);
    fields_.push_back(Field("content-length", length_));
  }
}

}  // namespace rouse::http::internal
