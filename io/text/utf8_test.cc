// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/text/utf8.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace rouse {
namespace {

using internal::IncompleteUtf8Suffix;
using internal::IsIncompleteUtf8;

// Encodes any number below 2^21, even one that is no character, in `size`
// bytes.
std::string Encode(uint32_t code, size_t size) {
  if (size == 1) return std::string(1, static_cast<char>(code));
  std::string bytes;
  for (size_t i = 0; i < size; ++i) {
    const uint32_t bits = code >> (6 * (size - 1 - i));
    const uint32_t lead = 0xFF00u >> size;
    bytes += static_cast<char>(i == 0 ? (lead | bits) : (0x80 | (bits & 0x3F)));
  }
  return bytes;
}

size_t SizeOf(uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

TEST(Utf8Test, EveryCharacterAndNothingElseIsValid) {
  for (uint32_t code = 0; code < 0x120000; ++code) {
    const size_t size = SizeOf(code);
    const bool is_character =
        code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
    const std::string bytes = Encode(code, size);
    ASSERT_EQ(Utf8PrefixSize(bytes), is_character ? size : 0) << code;
  }
}

TEST(Utf8Test, LongerFormsAreInvalid) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    for (size_t size = SizeOf(code) + 1; size <= 4; ++size) {
      ASSERT_EQ(Utf8PrefixSize(Encode(code, size)), 0u) << code << " " << size;
    }
  }
}

TEST(Utf8Test, AnyPairOfBytesIsJudgedByTheStandard) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char bytes[] = {static_cast<char>(first),
                            static_cast<char>(second)};
      size_t valid = 0;
      if (first < 0x80) {
        valid = second < 0x80 ? 2 : 1;
      } else if (first >= 0xC2 && first <= 0xDF && (second & 0xC0) == 0x80) {
        valid = 2;
      }
      ASSERT_EQ(Utf8PrefixSize(std::string_view(bytes, 2)), valid)
          << first << " " << second;
    }
  }
}

TEST(Utf8Test, AnErrorIsFoundAtAnyPlace) {
  for (size_t before = 0; before < 20; ++before) {
    std::string bytes(before, 'a');
    bytes += "\xff";
    bytes += std::string(20, 'b');
    EXPECT_EQ(Utf8PrefixSize(bytes), before);
  }
  EXPECT_EQ(Utf8PrefixSize(""), 0u);
  EXPECT_EQ(Utf8PrefixSize("1234567\xC3\xA9tail"), 13u);
}

TEST(Utf8Test, APartOfACharacterIsIncomplete) {
  for (const uint32_t code : {0xE9u, 0x20ACu, 0xFFFFu, 0x1F600u, 0x10FFFFu}) {
    const size_t size = SizeOf(code);
    const std::string whole = Encode(code, size);
    for (size_t part = 1; part < size; ++part) {
      const std::string rest = whole.substr(0, part);
      EXPECT_EQ(Utf8PrefixSize("a" + rest), 1u);
      EXPECT_TRUE(IsIncompleteUtf8(rest));
      EXPECT_EQ(IncompleteUtf8Suffix("text" + rest), rest);
      EXPECT_FALSE(IsIncompleteUtf8(rest + "a"));
    }
    EXPECT_EQ(IncompleteUtf8Suffix(whole), "");
  }
}

TEST(Utf8Test, NoByteCanCompleteAnInvalidBeginning) {
  // A longer form, surrogates, and a number above the last character.
  for (const std::string_view rest :
       {"\xC0", "\xE0\x80", "\xED\xA0", "\xF0\x80", "\xF4\x90", "\xF5", "\xFF",
        "\x80"}) {
    EXPECT_FALSE(IsIncompleteUtf8(rest));
    EXPECT_EQ(IncompleteUtf8Suffix(rest), "");
  }
  EXPECT_EQ(IncompleteUtf8Suffix(""), "");
  EXPECT_EQ(IncompleteUtf8Suffix("abc"), "");
}

}  // namespace
}  // namespace rouse
