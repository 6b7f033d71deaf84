// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/store/glob.h"

#include <string>

#include "gtest/gtest.h"

namespace mini_redis {
namespace {

TEST(GlobMatch, MatchesLiterals) {
  EXPECT_TRUE(GlobMatch("", ""));
  EXPECT_TRUE(GlobMatch("key", "key"));
  EXPECT_FALSE(GlobMatch("key", "keys"));
  EXPECT_FALSE(GlobMatch("keys", "key"));
  EXPECT_FALSE(GlobMatch("key", ""));
}

TEST(GlobMatch, MatchesStarsAndQuestionMarks) {
  EXPECT_TRUE(GlobMatch("*", ""));
  EXPECT_TRUE(GlobMatch("h*llo", "heeeello"));
  EXPECT_TRUE(GlobMatch("h*llo", "hllo"));
  EXPECT_TRUE(GlobMatch("h?llo", "hallo"));
  EXPECT_FALSE(GlobMatch("h?llo", "hllo"));
  EXPECT_TRUE(GlobMatch("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(GlobMatch("*a*b*", "xxbxxaxx"));
  EXPECT_TRUE(GlobMatch("*ab", "aab"));
}

TEST(GlobMatch, MatchesSets) {
  EXPECT_TRUE(GlobMatch("h[ae]llo", "hallo"));
  EXPECT_FALSE(GlobMatch("h[ae]llo", "hillo"));
  EXPECT_TRUE(GlobMatch("h[^e]llo", "hallo"));
  EXPECT_FALSE(GlobMatch("h[^e]llo", "hello"));
  EXPECT_TRUE(GlobMatch("[a-c]", "b"));
  EXPECT_TRUE(GlobMatch("[c-a]", "b"));
  EXPECT_FALSE(GlobMatch("[a-c]", "d"));
  EXPECT_TRUE(GlobMatch("[\\]]", "]"));
  EXPECT_TRUE(GlobMatch("[ab", "a"));
}

TEST(GlobMatch, MatchesEscapes) {
  EXPECT_TRUE(GlobMatch("\\*", "*"));
  EXPECT_FALSE(GlobMatch("\\*", "x"));
  EXPECT_TRUE(GlobMatch("a\\", "a\\"));
}

// A matcher that tries every "*" again would take years.
TEST(GlobMatch, TakesNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  pattern += "b";
  EXPECT_FALSE(GlobMatch(pattern, std::string(10000, 'a')));
}

}  // namespace
}  // namespace mini_redis
