// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/url.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace rouse::http {
namespace {

constexpr std::array<bool, 256> MakeHostTable() {
  std::array<bool, 256> table = {};
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (const char c : std::string_view("-._~!$&'()*+;=%")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}

constexpr std::array<bool, 256> kHostChar = MakeHostTable();

bool IsHostChar(char c) { return kHostChar[static_cast<unsigned char>(c)]; }

bool IsAddressChar(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isxdigit(byte) || c == ':' || c == '.';
}

// The parts of "host:port".
struct Authority {
  std::string_view host;  // without brackets
  std::optional<uint32_t> port;
  bool has_brackets = false;
};

// Returns `std::nullopt` if `text` is not an authority. A user name is not a
// part of it.
std::optional<Authority> SplitAuthority(std::string_view text) {
  Authority parts;
  if (!text.empty() && text.front() == '[') {
    const size_t end = text.find(']');
    if (end == std::string_view::npos || end < 3) return std::nullopt;
    parts.has_brackets = true;
    parts.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    for (const char c : parts.host) {
      if (!IsAddressChar(c)) return std::nullopt;
    }
  } else {
    parts.host = text.substr(0, text.find(':'));
    text.remove_prefix(parts.host.size());
    if (parts.host.empty()) return std::nullopt;
    for (const char c : parts.host) {
      if (!IsHostChar(c)) return std::nullopt;
    }
  }
  if (text.empty()) return parts;
  if (text.front() != ':') return std::nullopt;
  text.remove_prefix(1);
  if (text.empty()) return parts;
  uint32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint32_t>(c - '0');
    if (number > 65535) return std::nullopt;
  }
  parts.port = number;
  return parts;
}

// Returns the port of "http" or "https".
uint32_t OwnPort(std::string_view scheme) {
  return scheme == "http" ? 80 : 443;
}

// Returns whether `reference` begins with a scheme, such as "mailto:".
bool HasScheme(std::string_view reference) {
  const size_t end = reference.find_first_of(":/?#");
  if (end == std::string_view::npos || reference[end] != ':' || end == 0 ||
      !absl::ascii_isalpha(static_cast<unsigned char>(reference[0]))) {
    return false;
  }
  for (const char c : reference.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (!absl::ascii_isalnum(byte) && c != '+' && c != '-' && c != '.') {
      return false;
    }
  }
  return true;
}

// Returns `path`, which begins with '/', without the segments "." and "..".
std::string RemoveDotSegments(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/', 1));
    path.remove_prefix(segment.size());
    if (segment == "/..") {
      result.resize(std::min(result.rfind('/'), result.size()));
    } else if (segment != "/.") {
      result += segment;
      continue;
    }
    // The segment was the last, and leaves its '/'.
    if (path.empty()) result += '/';
  }
  return result;
}

// Encodes what must not be in a URL but is often sent.
std::string EncodeReference(std::string_view reference) {
  std::string encoded;
  for (const char c : reference) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == ' ' || byte >= 0x80) {
      absl::StrAppend(&encoded, "%", absl::Hex(byte, absl::kZeroPad2));
    } else {
      encoded += c;
    }
  }
  return encoded;
}

absl::Status Invalid(std::string_view url, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the URL \"", absl::CHexEscape(url.substr(0, 200)), "\" ", what));
}

}  // namespace

bool IsAuthority(std::string_view text) {
  return SplitAuthority(text).has_value();
}

absl::StatusOr<Url> ParseUrl(std::string_view url) {
  for (const char c : url) {
    if (c <= ' ' || c >= 0x7f) {
      return Invalid(url,
                     "has a space, a control character or a byte outside of "
                     "ASCII; encode it as %XX");
    }
  }
  const size_t colon = url.find("://");
  const std::string scheme = colon == std::string_view::npos
                                 ? std::string()
                                 : absl::AsciiStrToLower(url.substr(0, colon));
  if (scheme != "http" && scheme != "https") {
    return Invalid(url, "does not begin with \"http://\" or \"https://\"");
  }
  std::string_view rest = url.substr(colon + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(authority.size());
  if (authority.find('@') != std::string_view::npos) {
    return Invalid(url,
                   "has a user name; send an Authorization header instead");
  }
  const std::optional<Authority> parts = SplitAuthority(authority);
  if (!parts.has_value()) {
    return Invalid(url, "has no valid host, or no valid port from 0 to 65535");
  }
  Url parsed;
  const std::string host = absl::AsciiStrToLower(parts->host);
  parsed.origin = parts->has_brackets ? absl::StrCat(scheme, "://[", host, "]")
                                      : absl::StrCat(scheme, "://", host);
  const uint32_t port = parts->port.value_or(OwnPort(scheme));
  if (port != OwnPort(scheme)) absl::StrAppend(&parsed.origin, ":", port);
  rest = rest.substr(0, rest.find('#'));
  parsed.target = !rest.empty() && rest.front() == '/'
                      ? std::string(rest)
                      : absl::StrCat("/", rest);
  return parsed;
}

absl::StatusOr<Url> ResolveUrl(const Url& base, std::string_view reference) {
  const std::string encoded =
      EncodeReference(reference.substr(0, reference.find('#')));
  std::string url;
  if (HasScheme(encoded)) {
    url = encoded;
  } else if (encoded.starts_with("//")) {
    url = absl::StrCat(base.origin.substr(0, base.origin.find(':')), ":",
                       encoded);
  } else if (encoded.starts_with('/')) {
    url = absl::StrCat(base.origin, encoded);
  } else {
    // The target of a request can be "*".
    std::string_view start = base.target;
    if (!start.starts_with('/')) start = "/";
    if (!encoded.empty()) start = start.substr(0, start.find('?'));
    if (!encoded.empty() && encoded.front() != '?') {
      start = start.substr(0, start.rfind('/') + 1);
    }
    url = absl::StrCat(base.origin, start, encoded);
  }
  absl::StatusOr<Url> resolved = ParseUrl(url);
  if (!resolved.ok()) return resolved;
  std::string& target = resolved->target;
  const size_t query = std::min(target.find('?'), target.size());
  target =
      absl::StrCat(RemoveDotSegments(std::string_view(target).substr(0, query)),
                   std::string_view(target).substr(query));
  return resolved;
}

absl::StatusOr<Origin> ParseOrigin(std::string_view origin) {
  absl::StatusOr<Url> url = ParseUrl(origin);
  if (!url.ok()) return url.status();
  const size_t slashes = origin.find("://") + 3;
  if (origin.find_first_of("/?#", slashes) != std::string_view::npos) {
    return Invalid(origin, "is not an origin; leave out the path");
  }
  const std::string_view normal = url->origin;
  Origin parts;
  parts.scheme = normal.substr(0, normal.find(':'));
  const std::optional<Authority> authority =
      SplitAuthority(normal.substr(parts.scheme.size() + 3));
  parts.host = authority->host;
  parts.port =
      static_cast<uint16_t>(authority->port.value_or(OwnPort(parts.scheme)));
  return parts;
}

std::string Origin::host_port() const {
  return host.find(':') == std::string::npos
             ? absl::StrCat(host, ":", port)
             : absl::StrCat("[", host, "]:", port);
}

}  // namespace rouse::http
