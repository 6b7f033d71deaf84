// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: utf8.h
// -----------------------------------------------------------------------------
//
// Says how much of some bytes is text in UTF-8:
//
//   std::string_view text = bytes.substr(0, rouse::Utf8PrefixSize(bytes));

#ifndef ROUSE_IO_TEXT_UTF8_H_
#define ROUSE_IO_TEXT_UTF8_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <string_view>

namespace rouse {

// Utf8PrefixSize()
//
// Returns the size of the longest prefix of `bytes` that consists of whole
// characters in UTF-8, as the Unicode Standard defines them in table 3-7:
// without surrogates, without characters above U+10FFFF, and without longer
// forms than needed. Cost: O(n), some 8 characters of ASCII at once.
size_t Utf8PrefixSize(std::string_view bytes);

namespace internal {

// Returns whether more bytes behind `rest` could make a character of it. `rest`
// is what follows a prefix that `Utf8PrefixSize()` has found, and not empty.
bool IsIncompleteUtf8(std::string_view rest);

// Returns the beginning of a character at the end of `bytes`, or nothing if
// `bytes` does not end within a character.
std::string_view IncompleteUtf8Suffix(std::string_view bytes);

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_IO_TEXT_UTF8_H_
