// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/response_fields.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/headers.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {

ResponseFields::ResponseFields(const Response& response, bool is_head,
                               std::optional<uint64_t> size) {
  // The length of the body that a GET would have got.
  const bool takes_length =
      response.status == 304 || (is_head && size == uint64_t{0});
  status_ = absl::StrCat(response.status);
  fields_.reserve(response.headers.size() + 3);
  fields_.push_back(Field(":status", status_));
  const NamedByConnection named(response.headers);
  bool has_date = false;
  bool has_length = false;
  for (const auto& [name, value] : response.headers) {
    switch (KindOfHttp2(name)) {
      case FieldKind::kUsers:
        if (named.Has(name)) continue;
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
