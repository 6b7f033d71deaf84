// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what one head means. http/server/smuggling_test.cc tests what a
// connection makes of a malformed request.

#include "rouse/http/h1/parse_head.h"

#include <http_parser.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"

namespace rouse::http::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Describes a request as "METHOD target host framing length", with marks for
// the other results, or as the status and the reason of the refusal.
std::string Describe(std::string_view head) {
  Request request;
  HeadInfo info;
  const Refusal refusal = ParseRequestHead(head, 10, request, info);
  if (!refusal.ok()) return absl::StrCat(refusal.status, " ", refusal.reason);
  constexpr const char* kFramings[] = {"none", "length", "chunked", "end"};
  return absl::StrCat(request.method, " ", request.target, " ",
                      request.headers.Get("Host").value_or("-"), " ",
                      kFramings[static_cast<size_t>(info.framing)], " ",
                      info.length, info.keep_alive ? "" : " close",
                      info.is_http_1_0 ? " 1.0" : "",
                      info.wants_upgrade ? " upgrade" : "",
                      info.expects_continue ? " continue" : "");
}

std::string Get(std::string_view fields) {
  return Describe(
      absl::StrCat("GET / HTTP/1.1\r\nHost: a\r\n", fields, "\r\n"));
}

TEST(ParseRequestHead, ReadsTheFieldsOfTheConnection) {
  EXPECT_EQ(Get(""), "GET / a none 0");
  EXPECT_EQ(Get("Content-Length: 5\r\n"), "GET / a length 5");
  EXPECT_EQ(Get("content-length:0\r\n"), "GET / a none 0");
  EXPECT_EQ(Get("Transfer-Encoding: Chunked\r\n"), "GET / a chunked 0");
  EXPECT_EQ(Get("Connection: foo, close\r\n"), "GET / a none 0 close");
  EXPECT_EQ(Get("Connection: Upgrade\r\nUpgrade: x\r\n"),
            "GET / a none 0 upgrade");
  EXPECT_EQ(Get("Connection: Upgrade\r\n"), "GET / a none 0");
  EXPECT_EQ(Get("Expect: 100-Continue\r\nContent-Length: 1\r\n"),
            "GET / a length 1 continue");
  EXPECT_EQ(Get("Expect: 100-continue\r\n"), "GET / a none 0");
  EXPECT_EQ(Describe("GET / HTTP/1.0\r\n\r\n"), "GET / - none 0 close 1.0");
  EXPECT_EQ(Describe("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            "GET / - none 0 1.0");
}

TEST(ParseRequestHead, TakesEachFormOfATarget) {
  EXPECT_EQ(Describe("GET http://B:81/x?y HTTP/1.1\r\nHost: a\r\n\r\n"),
            "GET /x?y b:81 none 0");
  EXPECT_EQ(Describe("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
            "OPTIONS * a none 0");
  EXPECT_EQ(Describe("CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n"),
            "CONNECT b:443 b:443 none 0 upgrade");
  EXPECT_EQ(Describe("GET * HTTP/1.1\r\nHost: a\r\n\r\n").substr(0, 3), "400");
  EXPECT_EQ(Describe("GET a HTTP/1.1\r\nHost: a\r\n\r\n").substr(0, 3), "400");
  EXPECT_EQ(Describe("GET /#x HTTP/1.1\r\nHost: a\r\n\r\n"),
            "400 the target has a fragment");
  EXPECT_EQ(
      Describe("GET http://u@b/ HTTP/1.1\r\nHost: a\r\n\r\n").substr(0, 3),
      "400");
  EXPECT_EQ(Describe("CONNECT /x HTTP/1.1\r\nHost: a\r\n\r\n").substr(0, 3),
            "400");
}

TEST(ParseRequestHead, KeepsTheFieldsInOrder) {
  Request request;
  HeadInfo info;
  EXPECT_TRUE(ParseRequestHead("GET / HTTP/1.1\r\nB:\r\nHost: a\r\nA:  x y \t"
                               "\r\nb: 2\r\n\r\n",
                               10, request, info)
                  .ok());
  EXPECT_THAT(request.headers, ElementsAre(Pair("B", ""), Pair("Host", "a"),
                                           Pair("A", "x y"), Pair("b", "2")));
}

TEST(ParseRequestHead, LimitsTheNumberOfFields) {
  std::string fields;
  for (int i = 0; i < 9; ++i) absl::StrAppend(&fields, "A: 1\r\n");
  EXPECT_EQ(Get(fields), "GET / a none 0");
  EXPECT_EQ(Get(fields + "A: 1\r\n"), "431 the header has too many fields");
}

TEST(ParseRequestHead, KnowsVersionsAndMethods) {
  EXPECT_EQ(Describe("GET / HTTP/1.1\r\n\r\n"), "400 Host is missing");
  EXPECT_EQ(Describe("GET / HTTP/2.0\r\nHost: a\r\n\r\n").substr(0, 3), "505");
  EXPECT_EQ(Describe("GET / HTTP/0.9\r\nHost: a\r\n\r\n").substr(0, 3), "505");
  EXPECT_EQ(Describe("GET / HTTP/1.2\r\nHost: a\r\n\r\n"), "GET / a none 0");
  EXPECT_EQ(Describe("BREW / HTTP/1.1\r\nHost: a\r\n\r\n").substr(0, 3), "501");
  EXPECT_EQ(Describe("get / HTTP/1.1\r\nHost: a\r\n\r\n").substr(0, 3), "501");
  EXPECT_EQ(Describe("PATCH / HTTP/1.1\r\nHost: a\r\n\r\n"),
            "PATCH / a none 0");
}

// Describes a response as "status framing length".
std::string DescribeResponse(std::string_view head, bool is_head = false,
                             bool is_connect = false) {
  Response response;
  HeadInfo info;
  const Refusal refusal =
      ParseResponseHead(head, 10, is_head, is_connect, response, info);
  if (!refusal.ok()) return absl::StrCat("refused: ", refusal.reason);
  constexpr const char* kFramings[] = {"none", "length", "chunked", "end"};
  return absl::StrCat(response.status, " ",
                      kFramings[static_cast<size_t>(info.framing)], " ",
                      info.length, info.keep_alive ? "" : " close");
}

TEST(ParseResponseHead, ReadsTheFraming) {
  EXPECT_EQ(DescribeResponse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
            "200 length 5");
  EXPECT_EQ(DescribeResponse("HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n"),
            "404 none 0");
  EXPECT_EQ(
      DescribeResponse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
      "200 chunked 0");
  EXPECT_EQ(DescribeResponse("HTTP/1.1 200 OK\r\n\r\n"), "200 end 0 close");
  EXPECT_EQ(DescribeResponse("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n"),
            "200 length 1 close");
  const std::string_view length =
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  EXPECT_EQ(DescribeResponse(length, true), "200 none 5");
  EXPECT_EQ(DescribeResponse(length, false, true), "200 none 5");
  for (const int status : {100, 101, 204, 304}) {
    EXPECT_EQ(DescribeResponse(absl::StrCat("HTTP/1.1 ", status, " x\r\n\r\n"))
                  .substr(0, 8),
              absl::StrCat(status, " none"));
  }
}

TEST(ParseResponseHead, RefusesWhatIsAmbiguous) {
  for (const std::string_view fields :
       {"Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: +5\r\n", "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "A : 1\r\n"}) {
    EXPECT_EQ(
        DescribeResponse(absl::StrCat("HTTP/1.1 200 OK\r\n", fields, "\r\n"))
            .substr(0, 7),
        "refused")
        << fields;
  }
  for (const std::string_view line :
       {"HTTP/2.0 200 OK", "HTTP/1.1 099 x", "HTTP/1.1 600 x", "HTTP/1.1 20",
        "ICY 200 OK"}) {
    EXPECT_EQ(DescribeResponse(absl::StrCat(line, "\r\n\r\n")).substr(0, 7),
              "refused")
        << line;
  }
}

TEST(ParseContentLength, TakesOnlyDigits) {
  uint64_t length = 7;
  EXPECT_TRUE(ParseContentLength("0", length));
  EXPECT_EQ(length, 0);
  EXPECT_TRUE(ParseContentLength("999999999999999999", length));
  EXPECT_EQ(length, 999'999'999'999'999'999);
  for (const std::string_view text :
       {"", "-1", "+1", " 1", "1 ", "0x1", "1e3", "1,1", "1_0",
        "9999999999999999999", "18446744073709551617"}) {
    EXPECT_FALSE(ParseContentLength(text, length)) << text;
  }
}

TEST(ParseTrailerLine, RefusesFieldsThatFrameTheMessage) {
  Headers trailers;
  EXPECT_TRUE(ParseTrailerLine("Checksum: abc", trailers));
  for (const std::string_view line :
       {"Content-Length: 1", "transfer-encoding: chunked", "Host: a", "x",
        "A B: 1", ": 1", "A: \x01", " A: 1"}) {
    EXPECT_FALSE(ParseTrailerLine(line, trailers)) << line;
  }
  EXPECT_THAT(trailers, ElementsAre(Pair("Checksum", "abc")));
}

// The checks above are not superfluous: the installed parser alone, without its
// strict mode, takes this request. If this test fails because the parser has
// become strict, nothing is lost; remove the test.
TEST(HttpParser, TakesASpaceBeforeTheColon) {
  http_parser parser;
  http_parser_init(&parser, HTTP_REQUEST);
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  constexpr std::string_view kHead =
      "GET / HTTP/1.1\r\nHost: a\r\nA B: 5\r\n\r\n";
  http_parser_execute(&parser, &settings, kHead.data(), kHead.size());
  EXPECT_EQ(HTTP_PARSER_ERRNO(&parser), HPE_OK);
  EXPECT_EQ(Describe(kHead), "400 the name of a header field is not valid");
}

}  // namespace
}  // namespace rouse::http::internal
