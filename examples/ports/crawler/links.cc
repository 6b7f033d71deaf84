// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/crawler/links.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace crawler {

namespace {

constexpr std::string_view kSpace = " \t\r\n\f";

// Removes the bytes before the first of `ends`, and returns them.
std::string_view TakeUpTo(std::string_view& text, std::string_view ends) {
  const std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

void SkipSpace(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
}

// Removes the value of an attribute behind the equals sign, and returns it.
std::string_view TakeValue(std::string_view& text) {
  SkipSpace(text);
  for (const std::string_view quote : {"\"", "'"}) {
    if (absl::ConsumePrefix(&text, quote)) {
      const std::string_view value = TakeUpTo(text, quote);
      absl::ConsumePrefix(&text, quote);
      return value;
    }
  }
  return TakeUpTo(text, " \t\r\n\f>");
}

}  // namespace

std::vector<std::string> FindLinks(std::string_view html) {
  std::vector<std::string> links;
  for (;;) {
    TakeUpTo(html, "<");
    if (!absl::ConsumePrefix(&html, "<")) return links;
    if (absl::ConsumePrefix(&html, "!--")) {
      html.remove_prefix(std::min(html.find("-->"), html.size()));
      continue;
    }
    const bool is_link =
        absl::EqualsIgnoreCase(TakeUpTo(html, " \t\r\n\f/>"), "a");
    // The attributes of the element.
    for (;;) {
      html.remove_prefix(
          std::min(html.find_first_not_of(" \t\r\n\f/="), html.size()));
      if (html.empty() || html[0] == '>') break;
      const std::string_view name = TakeUpTo(html, " \t\r\n\f/=>");
      SkipSpace(html);
      if (!absl::ConsumePrefix(&html, "=")) continue;
      const std::string_view value = TakeValue(html);
      if (is_link && absl::EqualsIgnoreCase(name, "href")) {
        links.push_back(absl::StrReplaceAll(value, {{"&amp;", "&"}}));
      }
    }
  }
}

}  // namespace crawler
