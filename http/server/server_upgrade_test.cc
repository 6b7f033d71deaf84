// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests handlers that take the connection over.

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/server_fixture.h"
#include "rouse/http/server_options.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/write_all.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::testing::StartsWith;

TEST(ServeConnection, GivesTheConnectionAway) {
  const auto handler = [](const Request&) {
    Response response(101);
    response.headers = {{"Connection", "Upgrade"}, {"Upgrade", "shout"}};
    response.upgrade = [](ByteStream stream) -> Co<> {
      char bytes[5];
      EXPECT_THAT((co_await ReadExact(stream, absl::MakeSpan(bytes))), IsOk());
      EXPECT_THAT(co_await WriteAll(
                      stream, absl::StrCat(std::string_view(bytes, 5), "!")),
                  IsOk());
    };
    return response;
  };
  for (const size_t step : {size_t{1}, size_t{1000}}) {
    const Answered answered =
        Answers(handler,
                "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n"
                "Upgrade: shout\r\n\r\nhello",
                ServerOptions(), step);
    EXPECT_EQ(answered.text,
              "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
              "Upgrade: shout\r\n\r\nhello!");
    EXPECT_THAT(answered.status, IsOk());
  }
}

TEST(ServeConnection, GivesTheConnectionToConnect) {
  const auto handler = [](const Request& request) {
    EXPECT_EQ(request.target, "b:1");
    Response response(200);
    response.upgrade = [](ByteStream stream) -> Co<> {
      EXPECT_THAT(co_await WriteAll(stream, "tunnel"), IsOk());
    };
    return response;
  };
  EXPECT_EQ(Answers(handler, "CONNECT b:1 HTTP/1.1\r\nHost: b:1\r\n\r\n").text,
            "HTTP/1.1 200 OK\r\n\r\ntunnel");
}

TEST(ServeConnection, GivesNoConnectionAwayWithinABody) {
  const auto handler = [](Request request) {
    Response response(101);
    response.upgrade = [body = std::make_shared<Body>(std::move(request.body))](
                           ByteStream) -> Co<> { co_return; };
    return response;
  };
  for (const size_t step : {size_t{1}, size_t{1000}}) {
    EXPECT_THAT(Answers(handler,
                        "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n"
                        "Upgrade: x\r\nContent-Length: 5\r\n\r\nhello",
                        ServerOptions(), step)
                    .text,
                StartsWith("HTTP/1.1 500 "));
  }
  EXPECT_THAT(Answers(handler,
                      "GET / HTTP/1.0\r\nConnection: upgrade\r\n"
                      "Upgrade: x\r\n\r\n")
                  .text,
              StartsWith("HTTP/1.1 500 "));
}

TEST(ServeConnection, NeedsAnUpgradeForConnect) {
  const auto handler = [](const Request& request) {
    EXPECT_EQ(request.headers.Get("Host"), "b:1");
    return Response::Text("hello", request.headers.Has("No") ? 403 : 200);
  };
  EXPECT_THAT(
      Answers(handler, "CONNECT b:1 HTTP/1.1\r\nHost: a:1\r\n\r\n").text,
      StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(
      Answers(handler, "CONNECT b:1 HTTP/1.1\r\nHost: a:1\r\nNo: 1\r\n\r\n")
          .text,
      StartsWith("HTTP/1.1 403 "));
}

}  // namespace
}  // namespace rouse::http
