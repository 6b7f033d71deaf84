// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/shared/fields.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/headers.h"

namespace rouse::http::internal {
namespace {

// A CONTINUATION with fewer bytes is a frame of no use.
constexpr size_t kSmallContinuation = 1024;

uint8_t* Bytes(std::string_view text) {
  // nghttp2 does not write through this pointer.
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
}

}  // namespace

nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {Bytes(name), Bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

FieldKind KindOfHttp2(std::string_view name) {
  std::string_view lacking;
  switch (name.size()) {
    case 2:
      lacking = "te";
      break;
    case 7:
      lacking = "upgrade";
      break;
    case 16:
      lacking = "proxy-connection";
      break;
    default:
      return KindOf(name);
  }
  return absl::EqualsIgnoreCase(name, lacking) ? FieldKind::kDropped
                                               : KindOf(name);
}

NamedByConnection::NamedByConnection(const Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (KindOf(name) == FieldKind::kConnection) lists_.push_back(value);
  }
}

bool NamedByConnection::Has(std::string_view name) const {
  return std::any_of(
      lists_.begin(), lists_.end(),
      [name](std::string_view list) { return ListHasToken(list, name); });
}

int SubmitTrailers(nghttp2_session* session, int32_t id,
                   const Headers& trailers, uint32_t* flags) {
  std::vector<nghttp2_nv> fields;
  fields.reserve(trailers.size());
  for (const auto& [name, value] : trailers) {
    const FieldKind kind = KindOfHttp2(name);
    if (kind != FieldKind::kUsers && kind != FieldKind::kDate) continue;
    fields.push_back(Field(name, value));
  }
  if (fields.empty()) return 0;
  *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  return nghttp2_submit_trailer(session, id, fields.data(), fields.size());
}

bool IsUseless(const nghttp2_frame_hd& head) {
  switch (head.type) {
    case NGHTTP2_WINDOW_UPDATE:
      return false;
    case NGHTTP2_CONTINUATION:
      // Larger ones soon reach the limit of a header (CVE-2024-28182).
      return head.length < kSmallContinuation;
    case NGHTTP2_DATA:
      return head.length == 0 && (head.flags & NGHTTP2_FLAG_END_STREAM) == 0;
    default:
      // `OnBeginHeaders()` of a transport gives the token of HEADERS back.
      // nghttp2 does not call it for a stream that was refused or has ended.
      return true;
  }
}

absl::Status Nghttp2Error(std::string_view peer, std::string_view what,
                          ssize_t code) {
  const char* const text = nghttp2_strerror(static_cast<int>(code));
  if (code == NGHTTP2_ERR_NOMEM) {
    return absl::ResourceExhaustedError(absl::StrCat(what, ": ", text));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the ", peer, " has broken the rules of HTTP/2: ", what, ": ", text));
}

}  // namespace rouse::http::internal
