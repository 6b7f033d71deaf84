// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/crawler/http.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/ports/crawler/url.h"
#include "rouse/rouse.h"

namespace crawler {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::rouse::Co;
using ::testing::HasSubstr;

constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\n";

// Reads `answer`, which arrives in pieces of one byte.
absl::StatusOr<Response> Read(std::string_view answer,
                              const ResponseLimits& limits = {}) {
  auto [near, far] = rouse::Duplex(1);
  auto send = [](rouse::DuplexStream stream, std::string_view bytes) -> Co<> {
    // Fails if the reader has refused the answer.
    (void)co_await rouse::WriteAll(stream, bytes);
  };
  auto read = [](rouse::DuplexStream stream,
                 ResponseLimits limits) -> Co<absl::StatusOr<Response>> {
    rouse::BufReader reader(std::move(stream));
    co_return co_await ReadResponse(reader, limits);
  };
  auto both =
      rouse::Join(send(std::move(far), answer), read(std::move(near), limits));
  return std::get<1>(rouse::BlockOn(std::move(both)));
}

// Returns the body of an answer that must be OK.
std::string Body(std::string_view answer) {
  const absl::StatusOr<Response> response = Read(answer);
  EXPECT_THAT(response, IsOk());
  return response.ok() ? response->body : "";
}

TEST(HttpTest, ReadsBodiesOfEachKind) {
  EXPECT_EQ(Body(absl::StrCat(kHead, "content-length: 5\r\n\r\nhello, more")),
            "hello");
  EXPECT_EQ(Body(absl::StrCat(kHead,
                              "Transfer-Encoding: Chunked\r\n\r\n"
                              "5\r\nhello\r\nA;x=y\r\n, chunks!!\r\n"
                              "0\r\nTrailer: x\r\n\r\n")),
            "hello, chunks!!");
  EXPECT_EQ(Body(absl::StrCat(kHead, "\r\nto the end")), "to the end");
  EXPECT_EQ(Body("HTTP/1.0 204 No Content\r\n\r\nnot a body"), "");
  EXPECT_EQ(Body(absl::StrCat("HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n"
                              "\r\n",
                              kHead, "Content-Length: 2\r\n\r\nok")),
            "ok");
}

TEST(HttpTest, ReadsStatusAndHeaders) {
  const absl::StatusOr<Response> response = Read(
      "HTTP/1.1 302 Found\r\nLOCATION:  /there \r\n"
      "Content-Type: Text/HTML; charset=utf-8\r\nContent-Length: 0\r\n"
      "\r\n");
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(response->location, "/there");
  EXPECT_EQ(response->content_type, "text/html; charset=utf-8");
}

TEST(HttpTest, RefusesWhatIsNotHttp) {
  for (const std::string& answer : {
           std::string("SSH-2.0-OpenSSH\r\n"),
           std::string("HTTP/2 200 OK\r\n\r\n"),
           std::string("HTTP/1.1 abc\r\n\r\n"),
           absl::StrCat(kHead, "no colon\r\n\r\n"),
           absl::StrCat(kHead, "Content-Length: -1\r\n\r\n"),
           absl::StrCat(kHead, "Transfer-Encoding: gzip\r\n\r\n"),
           absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\nx\r\n"),
       }) {
    EXPECT_THAT(Read(answer).status(),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << answer;
  }
}

TEST(HttpTest, ReportsAnEarlyEnd) {
  for (const std::string& answer : {
           std::string(),
           std::string(kHead),
           absl::StrCat(kHead, "Content-Length: 5\r\n\r\nhell"),
           absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n5\r\nhe"),
           absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n"),
       }) {
    EXPECT_THAT(Read(answer).status(), StatusIs(absl::StatusCode::kOutOfRange))
        << answer;
  }
}

TEST(HttpTest, LimitsMemory) {
  ResponseLimits limits;
  limits.max_line = 100;
  limits.max_headers = 2;
  limits.max_body = 10;
  const std::string many = absl::StrCat(kHead, "A: b\r\nC: d\r\nE: f\r\n\r\n");
  const std::string line =
      absl::StrCat(kHead, "A: ", std::string(100, 'x'), "\r\n\r\n");
  const std::string chunks =
      absl::StrCat(kHead,
                   "Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n"
                   "6\r\n123456\r\n0\r\n\r\n");
  for (const std::string& answer :
       {many, line, chunks,
        absl::StrCat(kHead, "Content-Length: 11\r\n\r\n12345678901"),
        absl::StrCat(kHead, "Content-Length: 18446744073709551615\r\n\r\n123"),
        absl::StrCat(kHead, "\r\n12345678901")}) {
    EXPECT_THAT(Read(answer, limits).status(),
                StatusIs(absl::StatusCode::kResourceExhausted))
        << answer;
  }
  EXPECT_THAT(
      Read(absl::StrCat(kHead, "Content-Length: 10\r\n\r\n1234567890"), limits),
      IsOk());
}

TEST(HttpTest, FetchesFromAServer) {
  rouse::Runtime runtime = *rouse::Builder::CurrentThread().Build();
  auto main = []() -> Co<> {
    absl::StatusOr<rouse::TcpListener> listener =
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0));
    const std::string host = absl::StrCat(*listener->local_addr());
    auto get = rouse::Spawn(
        HttpGet(Url::Parse(absl::StrCat("http://", host, "/a?b")).value(),
                ResponseLimits()));
    auto accepted = co_await listener->Accept();
    rouse::BufReader reader(accepted->stream);
    std::string request;
    std::string line;
    do {
      line.clear();
      EXPECT_THAT(co_await rouse::ReadLine(reader, line), IsOk());
      absl::StrAppend(&request, line, "\n");
    } while (!line.empty());
    EXPECT_THAT(request, HasSubstr("GET /a?b HTTP/1.1\n"));
    EXPECT_THAT(request, HasSubstr(absl::StrCat("Host: ", host, "\n")));
    EXPECT_THAT(request, HasSubstr("Connection: close\n"));
    EXPECT_THAT(co_await accepted->stream.WriteAll(
                    "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"),
                IsOk());
    const absl::StatusOr<Response> response = co_await get;
    EXPECT_THAT(response, IsOk());
    EXPECT_EQ(response->status, 404);
    EXPECT_EQ(response->body, "no");
  };
  runtime.BlockOn(main);
}

}  // namespace
}  // namespace crawler
