// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/client/request_head.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/request.h"

namespace rouse::http::internal {
namespace {

// Returns whether the field is sent.
bool IsSent(std::string_view name, std::string_view value,
            const NamedByConnection& named) {
  switch (KindOfHttp2(name)) {
    case FieldKind::kUsers:
      // The authority has the value of `Host`.
      return !absl::EqualsIgnoreCase(name, "host") && !named.Has(name);
    case FieldKind::kDate:
      return true;
    case FieldKind::kDropped:
      // RFC 9113, section 8.2.2.
      return absl::EqualsIgnoreCase(name, "te") &&
             absl::EqualsIgnoreCase(value, "trailers");
    case FieldKind::kLength:
    case FieldKind::kConnection:
      break;
  }
  return false;
}

}  // namespace

RequestHead::RequestHead(const Request& request, std::optional<uint64_t> size) {
  const std::string_view origin = request.origin;
  const size_t colon = origin.find("://");
  fields_.reserve(request.headers.size() + 5);
  fields_.push_back(Field(":method", request.method));
  fields_.push_back(Field(":scheme", origin.substr(0, colon)));
  fields_.push_back(Field(":authority", request.headers.Get("Host").value_or(
                                            origin.substr(colon + 3))));
  fields_.push_back(Field(":path", request.target));
  const NamedByConnection named(request.headers);
  for (const auto& [name, value] : request.headers) {
    if (IsSent(name, value, named)) fields_.push_back(Field(name, value));
  }
  if (size.has_value() &&
      (*size > 0 || request.method == "POST" || request.method == "PUT" ||
       request.method == "PATCH")) {
    length_ = absl::StrCat(*size);
    fields_.push_back(Field("content-length", length_));
  }
}

}  // namespace rouse::http::internal
