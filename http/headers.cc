// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/headers.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse::http {
namespace {

constexpr bool IsTokenChar(unsigned char c) {
  if (c >= '0' && c <= '9') return true;
  if (c >= 'a' && c <= 'z') return true;
  if (c >= 'A' && c <= 'Z') return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) !=
         std::string_view::npos;
}

constexpr std::array<bool, 256> MakeTokenTable() {
  std::array<bool, 256> table = {};
  for (int c = 0; c < 256; ++c) {
    table[c] = IsTokenChar(static_cast<unsigned char>(c));
  }
  return table;
}

constexpr std::array<bool, 256> kToken = MakeTokenTable();

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

std::string_view internal::StripBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsToken(std::string_view text) {
  if (text.empty()) return false;
  bool ok = true;
  for (const char c : text) ok &= kToken[static_cast<unsigned char>(c)];
  return ok;
}

bool IsFieldValue(std::string_view text) {
  if (text.empty()) return true;
  if (IsBlank(text.front()) || IsBlank(text.back())) return false;
  bool ok = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ok &= (byte >= 0x20 && byte != 0x7f) || byte == '\t';
  }
  return ok;
}

bool ListHasToken(std::string_view list, std::string_view token) {
  for (;;) {
    const size_t comma = list.find(',');
    if (absl::EqualsIgnoreCase(internal::StripBlanks(list.substr(0, comma)),
                               token)) {
      return true;
    }
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

Headers::Headers(std::initializer_list<Item> fields) {
  for (const auto& [name, value] : fields) {
    const absl::Status added = Add(name, value);
    if (!added.ok()) Panic(added.message());
  }
}

absl::Status Headers::Add(std::string_view name, std::string_view value) {
  if (!IsToken(name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", absl::CHexEscape(name),
        "\" is not the name of a header field; a name consists of letters, "
        "digits and a few marks such as '-'"));
  }
  value = internal::StripBlanks(value);
  if (!IsFieldValue(value)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the value of the header field ", name,
        " has a control character such as a line break: \"",
        absl::CHexEscape(value.substr(0, 100)), "\"; encode or remove it"));
  }
  if (name.size() + value.size() > kMaxBytes - text_.size()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the header field ", name, " is too long; a header has at most 1 GiB"));
  }
  // The text may be that of a field of this object.
  const std::string copy = absl::StrCat(name, value);
  AddChecked(std::string_view(copy).substr(0, name.size()),
             std::string_view(copy).substr(name.size()));
  return absl::OkStatus();
}

void Headers::AddChecked(std::string_view name, std::string_view value) {
  const auto begin = static_cast<uint32_t>(text_.size());
  absl::StrAppend(&text_, name, value);
  fields_.push_back(Field{begin, static_cast<uint32_t>(name.size()),
                          static_cast<uint32_t>(value.size())});
}

absl::Status Headers::Set(std::string_view name, std::string_view value) {
  const size_t first = Find(name);
  absl::Status added = Add(name, value);
  if (!added.ok()) return added;
  // The new field is the last one, and `first` is its index if it has no
  // predecessor.
  if (first + 1 == size()) return absl::OkStatus();
  fields_[first] = fields_.back();
  fields_.pop_back();
  RemoveFrom((*this)[first].first, first + 1);
  return absl::OkStatus();
}

size_t Headers::Remove(std::string_view name) {
  const size_t before = size();
  RemoveFrom(name, 0);
  if (empty()) text_.clear();
  return before - size();
}

void Headers::RemoveFrom(std::string_view name, size_t from) {
  size_t kept = Find(name, from);
  for (size_t i = kept + 1; i < size(); ++i) {
    if (!absl::EqualsIgnoreCase((*this)[i].first, name)) {
      fields_[kept++] = fields_[i];
    }
  }
  if (kept < size()) fields_.resize(kept);
}

void Headers::Clear() {
  text_.clear();
  fields_.clear();
}

std::optional<std::string_view> Headers::Get(std::string_view name) const {
  const size_t index = Find(name);
  if (index == size()) return std::nullopt;
  return (*this)[index].second;
}

std::vector<std::string_view> Headers::GetAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (size_t i = Find(name); i < size(); i = Find(name, i + 1)) {
    values.push_back((*this)[i].second);
  }
  return values;
}

bool Headers::HasToken(std::string_view name, std::string_view token) const {
  for (size_t i = Find(name); i < size(); i = Find(name, i + 1)) {
    if (ListHasToken((*this)[i].second, token)) return true;
  }
  return false;
}

size_t Headers::Find(std::string_view name, size_t from) const {
  for (size_t i = from; i < size(); ++i) {
    if (fields_[i].name_size == name.size() &&
        absl::EqualsIgnoreCase((*this)[i].first, name)) {
      return i;
    }
  }
  return size();
}

bool operator==(const Headers& a, const Headers& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace rouse::http
