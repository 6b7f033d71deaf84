// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/url.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

std::string Parts(std::string_view url) {
  const absl::StatusOr<Url> parsed = ParseUrl(url);
  if (!parsed.ok()) return parsed.status().ToString();
  return parsed->origin + " " + parsed->target;
}

TEST(ParseUrl, SplitsOriginAndTarget) {
  EXPECT_EQ(Parts("http://example.com"), "http://example.com /");
  EXPECT_EQ(Parts("HTTP://Example.COM:80/A?b#c"), "http://example.com /A?b");
  EXPECT_EQ(Parts("http://example.com:8080/"), "http://example.com:8080 /");
  EXPECT_EQ(Parts("https://example.com:443?x"), "https://example.com /?x");
  EXPECT_EQ(Parts("https://example.com:80"), "https://example.com:80 /");
  EXPECT_EQ(Parts("http://[::1]:80/a"), "http://[::1] /a");
  EXPECT_EQ(Parts("http://[2001:DB8::1]:81"), "http://[2001:db8::1]:81 /");
  EXPECT_EQ(Parts("http://127.0.0.1:08080/"), "http://127.0.0.1:8080 /");
}

TEST(ParseUrl, RefusesEverythingElse) {
  for (const std::string_view url : {"",
                                     "example.com",
                                     "ftp://example.com",
                                     "http:/example.com",
                                     "http://",
                                     "http://:80",
                                     "http:///path",
                                     "http://a:65536",
                                     "http://a:-1",
                                     "http://a:+1",
                                     "http://a:x",
                                     "http://[::1",
                                     "http://[]",
                                     "http://[g]",
                                     "http://a b",
                                     "http://a/b c",
                                     "http://a/\r\nHost:b",
                                     "http://a\\b",
                                     "http://\xc3\xa4",
                                     "http://a/\x7f",
                                     "http://a,b",
                                     "http://[::1]x"}) {
    EXPECT_THAT(ParseUrl(url), StatusIs(absl::StatusCode::kInvalidArgument))
        << url;
  }
  EXPECT_THAT(
      ParseUrl("http://user:password@example.com"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Authorization")));
}

// The examples of RFC 3986, section 5.4, without those of other schemes.
TEST(ResolveUrl, FollowsTheStandard) {
  const absl::StatusOr<Url> base = ParseUrl("http://a/b/c/d;p?q");
  ASSERT_THAT(base, IsOk());
  const std::pair<std::string_view, std::string_view> kExamples[] = {
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {"g?y#s", "http://a/b/c/g?y"},
      {";x", "http://a/b/c/;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"https://B:443/x/../y", "https://b/y"},
      {"http://b", "http://b/"},
      {"/a b", "http://a/a%20b"},
      {"/\xc3\xa4", "http://a/%c3%a4"},
      {"/a//b/../c", "http://a/a//c"},
  };
  for (const auto& [reference, expected] : kExamples) {
    const absl::StatusOr<Url> url = ResolveUrl(*base, reference);
    ASSERT_THAT(url, IsOk()) << reference;
    EXPECT_EQ(url->origin + url->target, expected) << reference;
  }
}

TEST(ResolveUrl, RefusesWhatAClientCannotRequest) {
  const absl::StatusOr<Url> base = ParseUrl("https://a/b");
  ASSERT_THAT(base, IsOk());
  for (const std::string_view reference :
       {"mailto:a@b", "http:g", "ftp://b/", "//u@b/", "//", "/\t", "http://"}) {
    EXPECT_THAT(ResolveUrl(*base, reference),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << reference;
  }
}

TEST(ParseOrigin, SplitsHostAndPort) {
  absl::StatusOr<Origin> origin = ParseOrigin("https://[::1]");
  ASSERT_TRUE(origin.ok());
  EXPECT_EQ(origin->scheme, "https");
  EXPECT_EQ(origin->host, "::1");
  EXPECT_EQ(origin->port, 443);
  EXPECT_EQ(origin->host_port(), "[::1]:443");
  origin = ParseOrigin("http://example.com:8080");
  ASSERT_TRUE(origin.ok());
  EXPECT_EQ(origin->host_port(), "example.com:8080");
  EXPECT_THAT(ParseOrigin("http://example.com/"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("leave out the path")));
  EXPECT_THAT(ParseOrigin(""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(IsAuthority, TakesHostsWithAndWithoutPort) {
  for (const std::string_view text :
       {"a", "a:80", "a:", "127.0.0.1:1", "[::1]", "[::1]:80", "a_b.c-d"}) {
    EXPECT_TRUE(IsAuthority(text)) << text;
  }
  for (const std::string_view text :
       {"", ":80", "a b", "a,b", "a/b", "u@a", "a:80:80", "[::1", "a:99999"}) {
    EXPECT_FALSE(IsAuthority(text)) << text;
  }
}

}  // namespace
}  // namespace rouse::http
