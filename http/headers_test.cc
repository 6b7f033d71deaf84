// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/headers.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/expect_panic.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::Pair;

TEST(Headers, KeepsOrderAndCaseAndIgnoresCaseInLookups) {
  Headers headers{{"B", "1"}, {"Content-Type", "text/plain"}, {"b", "2"}};
  EXPECT_THAT(headers,
              ElementsAre(Pair("B", "1"), Pair("Content-Type", "text/plain"),
                          Pair("b", "2")));
  EXPECT_THAT(headers.Get("CONTENT-type"), Optional(std::string("text/plain")));
  EXPECT_THAT(headers.GetAll("B"), ElementsAre("1", "2"));
  EXPECT_EQ(headers.Get("Content"), std::nullopt);
  EXPECT_FALSE(headers.Has("Content-Typ"));
  EXPECT_EQ(headers.size(), 3);
}

TEST(Headers, SetReplacesAtTheFirstPosition) {
  Headers headers{{"A", "1"}, {"B", "1"}, {"a", "2"}, {"C", "3"}, {"A", "4"}};
  EXPECT_THAT(headers.Set("a", "new"), IsOk());
  EXPECT_THAT(headers,
              ElementsAre(Pair("a", "new"), Pair("B", "1"), Pair("C", "3")));
  EXPECT_THAT(headers.Set("D", "4"), IsOk());
  EXPECT_THAT(headers.Set("C", ""), IsOk());
  EXPECT_THAT(headers, ElementsAre(Pair("a", "new"), Pair("B", "1"),
                                   Pair("C", ""), Pair("D", "4")));
}

TEST(Headers, RemovesAllOfAName) {
  Headers headers{{"A", "1"}, {"B", "2"}, {"a", "3"}};
  EXPECT_EQ(headers.Remove("A"), 2);
  EXPECT_EQ(headers.Remove("A"), 0);
  EXPECT_THAT(headers, ElementsAre(Pair("B", "2")));
  EXPECT_EQ(headers.Remove("b"), 1);
  EXPECT_TRUE(headers.empty());
}

TEST(Headers, RefusesInjections) {
  Headers headers{{"A", "1"}};
  for (const std::string_view value :
       {"x\r\nEvil: 1", "x\nEvil: 1", "x\rEvil: 1", "\x7f", "a\x01"}) {
    EXPECT_THAT(headers.Add("X", value),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("header field X")));
    EXPECT_THAT(headers.Set("A", value),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(headers.Add("X", std::string_view("a\0b", 3)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  for (const std::string_view name :
       {"", "a b", "a:", "a\r\n", "a\t", "\xc3\xa4", "a(b)", "\"a\""}) {
    EXPECT_THAT(headers.Add(name, "x"),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(headers.Add(std::string_view("a\0", 2), "x"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(headers, ElementsAre(Pair("A", "1")));
  EXPECT_PANIC(Headers({{"A", "1\n"}}), "control character");
}

TEST(Headers, StripsBlanksAtTheEndsAndKeepsTheRest) {
  Headers headers;
  EXPECT_THAT(headers.Add("A", " \t a\tb \xc3\xa4 "), IsOk());
  EXPECT_THAT(headers.Add("Empty", "  "), IsOk());
  EXPECT_THAT(headers,
              ElementsAre(Pair("A", "a\tb \xc3\xa4"), Pair("Empty", "")));
}

TEST(Headers, TakesItsOwnText) {
  Headers headers{{"A", std::string(100, 'x')}};
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(headers.Add("B", *headers.Get("A")), IsOk());
  }
  EXPECT_EQ(headers[10].second, std::string(100, 'x'));
}

TEST(Headers, FindsTokensInLists) {
  Headers headers{{"Connection", "keep-alive,  Upgrade"},
                  {"connection", "CLOSE"}};
  EXPECT_TRUE(headers.HasToken("Connection", "upgrade"));
  EXPECT_TRUE(headers.HasToken("Connection", "close"));
  EXPECT_TRUE(headers.HasToken("Connection", "keep-alive"));
  EXPECT_FALSE(headers.HasToken("Connection", "keep"));
  EXPECT_FALSE(headers.HasToken("Upgrade", "close"));
}

TEST(Headers, CopiesAndMoves) {
  Headers headers{{"A", "1"}, {"B", "2"}};
  const Headers copy = headers;
  EXPECT_EQ(copy, headers);
  const Headers moved = std::move(headers);
  EXPECT_EQ(moved, copy);
  EXPECT_FALSE(moved == Headers({{"A", "1"}, {"b", "2"}}));
  EXPECT_FALSE(moved == Headers());
}

}  // namespace
}  // namespace rouse::http
