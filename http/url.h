// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: url.h
// -----------------------------------------------------------------------------
//
// Splits the URL of a request into the server and the target on the server.
//
//   absl::StatusOr<http::Url> url = http::ParseUrl("http://example.com/a?b#c");
//   // url->origin is "http://example.com", url->target is "/a?b"

#ifndef ROUSE_HTTP_URL_H_
#define ROUSE_HTTP_URL_H_

#include "rouse/base/cxx20.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rouse::http {

// Url
//
// The parts of a URL that a client needs.
struct Url {
  // Not an aggregate, which g++ 12 would destroy twice in a `co_await`.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  Url() {}

  // Scheme and server, in lower case, and without the scheme's own port.
  std::string origin;
  // Path, which begins with '/', and query.
  std::string target;
};

// Origin
//
// The parts of a server's origin.
struct Origin {
  // Not an aggregate, which g++ 12 would destroy twice in a `co_await`.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  Origin() {}

  std::string scheme;  // "http" or "https"
  std::string host;    // without the brackets of an IPv6 address
  uint16_t port = 0;

  // Returns "host:port", with brackets around an IPv6 address.
  std::string host_port() const;
};

// ParseUrl()
//
// Parses a URL like "http://example.com:8080/path?query". Returns
// InvalidArgument, with a message that names the part, if
//
// * the scheme is neither "http" nor "https";
// * the host is missing or contains a character that no name or address has;
// * the port is not a number up to 65535;
// * a user name or password is given;
// * a character must be encoded: a space, a control character, or a byte
//   outside of ASCII.
absl::StatusOr<Url> ParseUrl(std::string_view url);

// ResolveUrl()
//
// Returns the URL that `reference`, such as the value of `Location`, means on a
// page with the URL `base`: "https://b/c", "//b/c", "/c", "c", "../c" or
// "?query". The target has no segment "." or "..", and no fragment. A space or
// a byte outside of ASCII, which servers send although they should not, becomes
// %XX. Errors are those of `ParseUrl()`.
//
// The steps are those of RFC 3986, section 5.2.
absl::StatusOr<Url> ResolveUrl(const Url& base, std::string_view reference);

// ParseOrigin()
//
// Splits an origin like "http://example.com:8080". Errors are those of
// `ParseUrl()`, and InvalidArgument if a path follows.
absl::StatusOr<Origin> ParseOrigin(std::string_view origin);

// IsAuthority()
//
// Returns whether `text` can be the value of `Host`: a name or an address, with
// or without a port.
bool IsAuthority(std::string_view text);

}  // namespace rouse::http

#endif  // ROUSE_HTTP_URL_H_
