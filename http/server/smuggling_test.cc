// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests that two implementations could read differently, so that a part of
// one request would pass for another request ("request smuggling"). The server
// must refuse each of them, and must never see a second request inside.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/server.h"
#include "rouse/http/server/server_fixture.h"
#include "rouse/http/server_options.h"

namespace rouse::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Returns the targets that the handler has seen, with the bodies, and the
// status of each answer.
std::string Outcome(std::string_view input, size_t step) {
  std::vector<std::string> seen;
  const auto handler =
      [&seen](Request request) -> Co<absl::StatusOr<Response>> {
    std::string what = request.target;
    absl::StatusOr<std::string> body =
        co_await request.body.ReadAll(size_t{1} << 20);
    if (!body.ok()) co_return body.status();
    if (!body->empty()) absl::StrAppend(&what, "=", *body);
    seen.push_back(std::move(what));
    co_return Response::Text("fine\n");
  };
  const Answered answered =
      Answers(handler, input, ServerOptions(), step, step == 1 ? 1 : 65536);
  std::string outcome;
  for (const std::string& what : seen) absl::StrAppend(&outcome, what, " ");
  const std::string_view text = answered.text;
  for (size_t at = 0; (at = text.find("HTTP/1.1 ", at)) != text.npos; at += 9) {
    absl::StrAppend(&outcome, text.substr(at + 9, 3), " ");
  }
  if (!outcome.empty()) outcome.pop_back();
  return outcome;
}

// Expects the outcome for the input as a whole, byte by byte, and in parts.
void ExpectOutcome(std::string_view input, const std::string& outcome) {
  for (const size_t step :
       {input.size(), size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{50}}) {
    EXPECT_EQ(Outcome(input, step), outcome)
        << "in steps of " << step << " bytes:\n"
        << input;
  }
}

constexpr std::string_view kNext = "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n";

// A request with `fields`, and then another request.
std::string Post(std::string_view fields, std::string_view body) {
  return absl::StrCat("POST /a HTTP/1.1\r\nHost: a\r\n", fields, "\r\n", body,
                      kNext);
}

TEST(Smuggling, WellFormedRequestsAreAnswered) {
  ExpectOutcome(Post("Content-Length: 3\r\n", "xyz"), "/a=xyz /evil 200 200");
  ExpectOutcome(Post("Transfer-Encoding: chunked\r\n",
                     "3\r\nxyz\r\n2\r\nab\r\n0\r\n\r\n"),
                "/a=xyzab /evil 200 200");
  ExpectOutcome(Post("Transfer-Encoding: chunked\r\n",
                     "3;a=b\r\nxyz\r\n0\r\nT: 1\r\n\r\n"),
                "/a=xyz /evil 200 200");
  ExpectOutcome(
      Post("Transfer-Encoding: chunked\r\n", "00000003\r\nxyz\r\n000\r\n\r\n"),
      "/a=xyz /evil 200 200");
  ExpectOutcome(absl::StrCat("\r\n", kNext), "/evil 200");
}

TEST(Smuggling, LengthsThatContradict) {
  ExpectOutcome(
      Post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      "400");
  ExpectOutcome(
      Post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n"),
      "400");
  ExpectOutcome(Post("Content-Length: 3\r\nContent-Length: 4\r\n", "xyz"),
                "400");
  ExpectOutcome(Post("Content-Length: 3\r\nContent-Length: 3\r\n", "xyz"),
                "400");
  ExpectOutcome(Post("Content-Length: 3, 3\r\n", "xyz"), "400");
}

TEST(Smuggling, LengthsThatAreNoNumbers) {
  for (const std::string_view length :
       {"-3", "+3", "0x3", "3 3", "3;", "", "99999999999999999999999",
        "18446744073709551619", "3\x0b",
        "\x0c"
        "3",
        "1e1"}) {
    ExpectOutcome(Post(absl::StrCat("Content-Length: ", length, "\r\n"), "xyz"),
                  "400");
  }
}

TEST(Smuggling, OtherTransferEncodings) {
  for (const std::string_view encoding :
       {"gzip, chunked", "chunked, chunked", "identity", "xchunked", "chunke",
        "chunked, identity", "\"chunked\"", "", ",chunked"}) {
    const std::string input = Post(
        absl::StrCat("Transfer-Encoding: ", encoding, "\r\n"), "0\r\n\r\n");
    for (const size_t step : {input.size(), size_t{1}}) {
      const std::string outcome = Outcome(input, step);
      EXPECT_TRUE(outcome == "400" || outcome == "501") << input << outcome;
    }
  }
  ExpectOutcome(
      Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
           "0\r\n\r\n"),
      "501");
  ExpectOutcome(Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
                     "0\r\n\r\n"),
                "501");
  ExpectOutcome(
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400");
}

TEST(Smuggling, LineEnds) {
  ExpectOutcome("GET / HTTP/1.1\nHost: a\n\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\nHost: a\n\r\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\nHost: a\r\n\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\nHost: a\r\nA: b\rC: d\r\n\r\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\n\rHost: a\r\n\r\n", "400");
  ExpectOutcome("\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400");
  ExpectOutcome("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400");
}

TEST(Smuggling, FoldedFields) {
  ExpectOutcome("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\tc\r\n\r\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400");
  ExpectOutcome(Post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), "400");
}

TEST(Smuggling, NamesThatAreNoTokens) {
  for (const std::string_view field :
       {"Content-Length : 3", "Content-Length\t: 3", "A B: 3", ": 3", "A",
        "\"A\": 3", "A\x01: 3", "A\x80: 3", "A(: 3", "[A]: 3", "A/: 3"}) {
    ExpectOutcome(Post(absl::StrCat(field, "\r\n"), "xyz"), "400");
  }
  for (const std::string_view field :
       {std::string_view("A\0B: 3", 6), std::string_view("\0A: 3", 5),
        std::string_view("A: 3\0", 5), std::string_view("A: \x7f", 4)}) {
    ExpectOutcome(Post(absl::StrCat(field, "\r\n"), "xyz"), "400");
  }
}

TEST(Smuggling, Chunks) {
  for (const std::string_view chunks :
       {"-3\r\nxyz\r\n",
        "+3\r\nxyz\r\n",
        "0x3\r\nxyz\r\n",
        " 3\r\nxyz\r\n",
        "3 \r\nxyz\r\n",
        "3 ;a\r\nxyz\r\n",
        "\r\nxyz\r\n",
        ";a\r\nxyz\r\n",
        "g\r\nxyz\r\n",
        "3\nxyz\r\n",
        "3\r\nxyz\n",
        "3\r\nxyzab\r\n",
        "3\r\nxyz\r\r\n",
        "3\rxyz\r\n",
        "3;a\nb\r\nxyz\r\n",
        "3;\x01\r\nxyz\r\n",
        "fffffffffffffffff\r\nxyz\r\n",
        "10000000000000003\r\nxyz\r\n",
        "3\r\nxyz\r\n0\r\nA\r\n\r\n",
        "3\r\nxyz\r\n0\r\nA : 1\r\n\r\n",
        "3\r\nxyz\r\n0\r\nHost: b\r\n\r\n",
        "3\r\nxyz\r\n0\r\nA: 1\n\r\n",
        "3\r\nxyz\r\n0\r\n A: 1\r\n\r\n",
        "3\r\nxyz\r\n0\r\nContent-Length: 1\r\n\r\n"}) {
    ExpectOutcome(Post("Transfer-Encoding: chunked\r\n", chunks), "400");
  }
  // A number that is valid, but larger than the limit.
  ExpectOutcome(Post("Transfer-Encoding: chunked\r\n", "fffffffffffffff\r\n"),
                "413");
  ExpectOutcome(Post("Transfer-Encoding: chunked\r\n", "100001\r\n"), "413");
}

TEST(Smuggling, LongExtensionsOfChunks) {
  const std::string extension(4000, 'x');
  std::string chunks;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&chunks, "1;", extension, "\r\nx\r\n");
  }
  const std::string fine =
      Post("Transfer-Encoding: chunked\r\n", absl::StrCat(chunks, "0\r\n\r\n"));
  EXPECT_EQ(Outcome(fine, fine.size()), "/a=xxxx /evil 200 200");
  absl::StrAppend(&chunks, "1;", extension, "\r\nx\r\n0\r\n\r\n");
  const std::string long_extensions =
      Post("Transfer-Encoding: chunked\r\n", chunks);
  EXPECT_EQ(Outcome(long_extensions, long_extensions.size()), "400");
  const std::string long_line =
      Post("Transfer-Encoding: chunked\r\n",
           absl::StrCat("1;", extension, extension, "\r\nx\r\n0\r\n\r\n"));
  EXPECT_EQ(Outcome(long_line, long_line.size()), "400");
}

TEST(Smuggling, Hosts) {
  ExpectOutcome("GET / HTTP/1.1\r\n\r\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400");
  ExpectOutcome("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", "400");
  for (const std::string_view host :
       {"", "a b", "a,b", "a/b", "u@a", "a:b", "a:99999", "a\\b"}) {
    ExpectOutcome(absl::StrCat("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n"),
                  "400");
  }
  ExpectOutcome("GET / HTTP/1.0\r\n\r\n", "/ 200");
  // The authority of the target counts.
  ExpectOutcome("GET http://b/x HTTP/1.1\r\nHost: a\r\n\r\n", "/x 200");
  ExpectOutcome("GET http://b/x HTTP/1.1\r\n\r\n", "400");
  ExpectOutcome("GET http://u@b/x HTTP/1.1\r\nHost: b\r\n\r\n", "400");
}

TEST(Smuggling, RequestLines) {
  for (const std::string_view line :
       {"GET /", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ",
        " GET / HTTP/1.1", "GET\t/ HTTP/1.1", "GET / HTTP/1.1x",
        "GET / HTTP/11", "GET / http/1.1", "GET / HTTP/1", "GET /a b HTTP/1.1",
        "GET /\x01 HTTP/1.1", "GET /\xc3\xa4 HTTP/1.1", "GET HTTP/1.1",
        "G(T / HTTP/1.1", "GET /#a HTTP/1.1"}) {
    ExpectOutcome(absl::StrCat(line, "\r\nHost: a\r\n\r\n"), "400");
  }
  ExpectOutcome("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "501");
  ExpectOutcome("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "505");
  ExpectOutcome("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "501");
  ExpectOutcome("GET / HTTP/3.7\r\nHost: a\r\n\r\n", "505");
  // Another protocol is refused as soon as its first line has come.
  EXPECT_EQ(Outcome("HELO example.org\r\n", 1), "400");
  EXPECT_EQ(Outcome("SSH-2.0-OpenSSH_9.2\r\n", 100), "400");
}

TEST(Smuggling, ConnectHasNoBody) {
  ExpectOutcome(
      "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 3\r\n\r\n", "400");
  ExpectOutcome(
      "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "400");
}

TEST(Smuggling, Expectations) {
  ExpectOutcome(Post("Content-Length: 3\r\nExpect: magic\r\n", "xyz"), "417");
}

// What a handler writes cannot become a second response either.
TEST(Smuggling, AHandlerCannotSplitAResponse) {
  const auto handler = [](Request request) -> Co<absl::StatusOr<Response>> {
    Response response = Response::Text("fine\n");
    absl::Status added = response.headers.Add(
        "Location",
        absl::StrReplaceAll(request.query(), {{"%0d", "\r"}, {"%0a", "\n"}}));
    if (!added.ok()) co_return added;
    co_return response;
  };
  const Answered answered =
      Answers(handler, "GET /?x%0d%0aEvil:1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answered.text, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answered.text, ::testing::Not(HasSubstr("Evil")));
}

}  // namespace
}  // namespace rouse::http
