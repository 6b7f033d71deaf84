// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/crawler/url.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace crawler {

namespace {

constexpr std::string_view kScheme = "http://";

absl::Status Invalid(std::string_view url, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", url.substr(0, 200), "': ", why));
}

// Removes "." and "..", and encodes bytes that cannot be in a request.
std::string NormalPath(std::string_view path) {
  const std::string_view whole = path;
  path = path.substr(0, path.find('?'));
  const std::string_view query = whole.substr(path.size());
  const std::vector<std::string_view> parts =
      absl::StrSplit(path.substr(1), '/');
  std::vector<std::string_view> kept;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_dots = parts[i] == "." || parts[i] == "..";
    if (parts[i] == ".." && !kept.empty()) kept.pop_back();
    if (!is_dots) kept.push_back(parts[i]);
    // "/a/." is the folder "/a/".
    if (is_dots && i + 1 == parts.size()) kept.emplace_back();
  }
  std::string encoded;
  for (const char c : absl::StrCat("/", absl::StrJoin(kept, "/"), query)) {
    if (absl::ascii_isgraph(c)) {
      encoded += c;
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<uint8_t>(c));
    }
  }
  return encoded;
}

// Returns whether `link` begins with a scheme, such as "mailto:".
bool HasScheme(std::string_view link) {
  const std::string_view before = link.substr(0, link.find_first_of(":/?#"));
  return before.size() < link.size() && link[before.size()] == ':' &&
         !before.empty() && absl::ascii_isalpha(before[0]);
}

}  // namespace

absl::StatusOr<Url> Url::Parse(std::string_view text) {
  std::string_view rest = absl::StripAsciiWhitespace(text);
  if (!absl::StartsWithIgnoreCase(rest, kScheme)) {
    return Invalid(text, "not a URL of http; write http://example.org/");
  }
  rest.remove_prefix(kScheme.size());
  rest = rest.substr(0, rest.find('#'));
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(authority.size());

  // The colon of a port is behind the brackets of an IPv6 address.
  const size_t bracket = authority.find(']');
  const size_t colon =
      authority.find(':', bracket == authority.npos ? 0 : bracket);
  const std::string_view host = authority.substr(0, colon);
  const bool is_host = absl::c_all_of(host, [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("-._[]:", c);
  });
  if (host.empty() || !is_host) return Invalid(text, "the host is invalid");
  uint32_t port = 80;
  if (colon != authority.npos &&
      (!absl::SimpleAtoi(authority.substr(colon + 1), &port) || port == 0 ||
       port > 65535)) {
    return Invalid(text, "the port is not a number from 1 to 65535");
  }
  Url url;
  url.host_and_port = absl::StrCat(absl::AsciiStrToLower(host), ":", port);
  url.path = NormalPath(absl::StartsWith(rest, "/") ? std::string(rest)
                                                    : absl::StrCat("/", rest));
  return url;
}

absl::StatusOr<Url> Url::Resolve(const Url& base, std::string_view link) {
  link = absl::StripAsciiWhitespace(link);
  if (HasScheme(link)) return Parse(link);
  if (absl::StartsWith(link, "//")) return Parse(absl::StrCat("http:", link));
  link = link.substr(0, link.find('#'));
  Url url = base;
  if (link.empty()) return url;
  const std::string_view path =
      std::string_view(base.path).substr(0, base.path.find('?'));
  if (link[0] == '/') {
    url.path = NormalPath(link);
  } else if (link[0] == '?') {
    url.path = NormalPath(absl::StrCat(path, link));
  } else {
    url.path =
        NormalPath(absl::StrCat(path.substr(0, path.rfind('/') + 1), link));
  }
  return url;
}

std::string Url::ToString() const {
  std::string_view host = host_and_port;
  absl::ConsumeSuffix(&host, ":80");
  return absl::StrCat(kScheme, host, path);
}

}  // namespace crawler
