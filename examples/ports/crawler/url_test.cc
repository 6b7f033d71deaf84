// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/crawler/url.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crawler {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

// Returns the URL as text, or "invalid".
std::string Text(const absl::StatusOr<Url>& url) {
  return url.ok() ? url->ToString() : "invalid";
}

TEST(UrlTest, ParsesAbsoluteUrls) {
  EXPECT_EQ(Text(Url::Parse("http://example.org")), "http://example.org/");
  EXPECT_EQ(Text(Url::Parse(" HTTP://Example.Org:80/A?b#c \n")),
            "http://example.org/A?b");
  EXPECT_EQ(Text(Url::Parse("http://h?q")), "http://h/?q");
  EXPECT_EQ(Text(Url::Parse("http://127.0.0.1:8080/x")),
            "http://127.0.0.1:8080/x");
  EXPECT_EQ(Text(Url::Parse("http://[::1]:8080/")), "http://[::1]:8080/");
  EXPECT_EQ(Url::Parse("http://[::1]/")->host_and_port, "[::1]:80");
  EXPECT_EQ(Url::Parse("http://h")->host_and_port, "h:80");
}

TEST(UrlTest, RefusesOthers) {
  for (const char* bad :
       {"", "example.org", "https://example.org/", "ftp://h/", "http://",
        "http:///a", "http://h:0/", "http://h:65536/", "http://h:x/",
        "http://user@h/", "http://a b/", "http://h\r\nx/"}) {
    EXPECT_THAT(Url::Parse(bad).status(),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
  }
  EXPECT_THAT(Url::Parse("https://h/").status(),
              StatusIs(testing::_, HasSubstr("'https://h/'")));
}

TEST(UrlTest, EncodesWhatCannotBeInARequest) {
  EXPECT_EQ(Text(Url::Parse("http://h/a b\r\n\xc3\xa9?x y")),
            "http://h/a%20b%0D%0A%C3%A9?x%20y");
}

TEST(UrlTest, NormalizesPaths) {
  EXPECT_EQ(Text(Url::Parse("http://h/a/./b/../c")), "http://h/a/c");
  EXPECT_EQ(Text(Url::Parse("http://h/../../a")), "http://h/a");
  EXPECT_EQ(Text(Url::Parse("http://h/a/..")), "http://h/");
  EXPECT_EQ(Text(Url::Parse("http://h/a/.")), "http://h/a/");
  EXPECT_EQ(Text(Url::Parse("http://h/a//b/")), "http://h/a//b/");
  EXPECT_EQ(Text(Url::Parse("http://h/a/?x=/../y")), "http://h/a/?x=/../y");
}

TEST(UrlTest, ResolvesLinks) {
  const Url base = Url::Parse("http://h:81/dir/page?q").value();
  EXPECT_EQ(Text(Url::Resolve(base, "")), "http://h:81/dir/page?q");
  EXPECT_EQ(Text(Url::Resolve(base, "#x")), "http://h:81/dir/page?q");
  EXPECT_EQ(Text(Url::Resolve(base, "?r")), "http://h:81/dir/page?r");
  EXPECT_EQ(Text(Url::Resolve(base, "next#x")), "http://h:81/dir/next");
  EXPECT_EQ(Text(Url::Resolve(base, "../up")), "http://h:81/up");
  EXPECT_EQ(Text(Url::Resolve(base, " /root ")), "http://h:81/root");
  EXPECT_EQ(Text(Url::Resolve(base, "a:b")), "invalid");
  EXPECT_EQ(Text(Url::Resolve(base, "./a:b")), "http://h:81/dir/a:b");
  EXPECT_EQ(Text(Url::Resolve(base, "//other/x")), "http://other/x");
  EXPECT_EQ(Text(Url::Resolve(base, "http://other/")), "http://other/");
  EXPECT_EQ(Text(Url::Resolve(base, "mailto:a@b")), "invalid");
  EXPECT_EQ(Text(Url::Resolve(base, "javascript:void(0)")), "invalid");
}

}  // namespace
}  // namespace crawler
