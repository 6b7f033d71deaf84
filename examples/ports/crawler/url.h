// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The address of a page: http URLs, as far as a crawler needs them.

#ifndef ROUSE_EXAMPLES_PORTS_CRAWLER_URL_H_
#define ROUSE_EXAMPLES_PORTS_CRAWLER_URL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace crawler {

// Url
//
// Two URLs of the same page are equal if they differ only in case of the host,
// in the fragment, in the default port, or in "." and ".." in the path.
struct Url {
  // Reads an absolute URL, such as "http://example.org/a?b". InvalidArgument if
  // `text` is not a URL, or is not of http.
  static absl::StatusOr<Url> Parse(std::string_view text);

  // Reads a link of the page `base`, which can be relative.
  static absl::StatusOr<Url> Resolve(const Url& base, std::string_view link);

  std::string ToString() const;

  // "example.org:80", "[::1]:8080": for `ConnectTcp()`.
  std::string host_and_port;
  // Begins with "/", and includes the query. Has no spaces, and no control
  // characters.
  std::string path;

  friend bool operator==(const Url& a, const Url& b) = default;
};

}  // namespace crawler

#endif  // ROUSE_EXAMPLES_PORTS_CRAWLER_URL_H_
