// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef ROUSE_EXAMPLES_PORTS_CRAWLER_LINKS_H_
#define ROUSE_EXAMPLES_PORTS_CRAWLER_LINKS_H_

#include <string>
#include <string_view>
#include <vector>

namespace crawler {

// Returns the links of a page: the attribute `href` of each element `a`, in the
// order of the page. Takes no notice of errors in the page.
std::vector<std::string> FindLinks(std::string_view html);

}  // namespace crawler

#endif  // ROUSE_EXAMPLES_PORTS_CRAWLER_LINKS_H_
