// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/crawler/links.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crawler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LinksTest, FindsLinks) {
  EXPECT_THAT(FindLinks("<p><a href=\"/a\">A</a> <A class=x HREF = '/b' >B</A>"
                        "<a\nhref=/c>C</a> <a href=/d/>"),
              ElementsAre("/a", "/b", "/c", "/d/"));
  EXPECT_THAT(FindLinks("<a title='a > b' href='?x=1&amp;y=2'>"),
              ElementsAre("?x=1&y=2"));
}

TEST(LinksTest, FindsNothingElse) {
  EXPECT_THAT(FindLinks(""), IsEmpty());
  EXPECT_THAT(FindLinks("href='/a' <abbr href='/b'> <link href='/c'>"),
              IsEmpty());
  EXPECT_THAT(FindLinks("<!-- <a href='/a'> --><a name=href><a hrefs='/b'>"),
              IsEmpty());
}

TEST(LinksTest, AcceptsPagesThatEndInTheMiddle) {
  EXPECT_THAT(FindLinks("<a href='/a"), ElementsAre("/a"));
  EXPECT_THAT(FindLinks("<a href="), ElementsAre(""));
  for (const char* page : {"<", "<a", "<a ", "<a href", "<!--", "<a href "}) {
    EXPECT_THAT(FindLinks(page), IsEmpty()) << page;
  }
}

}  // namespace
}  // namespace crawler
