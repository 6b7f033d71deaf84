// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests exceptions of handlers and of bodies.

#include "absl/base/config.h"

#ifdef ABSL_HAVE_EXCEPTIONS

#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/http/body.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server/server_fixture.h"

namespace rouse::http {
namespace {

using ::absl_testing::StatusIs;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ServeConnection, MakesA500OfAnException) {
  const auto handler = [](Request request) -> Co<Response> {
    if (request.path() == "/a") throw std::runtime_error("secret detail");
    co_return Response::Text("fine");
  };
  const auto sync = [](const Request&) -> Response {
    throw std::runtime_error("secret detail");
  };
  EXPECT_EQ(Answers(handler, absl::StrCat(kGet, kLast)).text,
            absl::StrCat(
                Answer("500 Internal Server Error", "the server has failed\n"),
                Answer("200 OK", "fine", kClose)));
  EXPECT_EQ(Answers(sync, kGet).text,
            Answer("500 Internal Server Error", "the server has failed\n"));
}

Gen<std::string> Throwing() {
  co_yield "some";
  throw std::runtime_error("the disk is broken");
}

TEST(ServeConnection, EndsTheConnectionIfABodyThrows) {
  const auto handler = [](const Request&) {
    Response response;
    response.body = Body::FromStream(Throwing());
    return response;
  };
  const Answered answered = Answers(handler, kGet);
  EXPECT_THAT(answered.text, Not(EndsWith("0\r\n\r\n")));
  EXPECT_THAT(answered.status, StatusIs(absl::StatusCode::kInternal,
                                        HasSubstr("disk is broken")));
}

}  // namespace
}  // namespace rouse::http

#endif  // ABSL_HAVE_EXCEPTIONS
