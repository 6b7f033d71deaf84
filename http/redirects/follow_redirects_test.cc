// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/redirects/follow_redirects.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/or_return.h"
#include "rouse/http/body.h"
#include "rouse/http/client.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Gen<std::string> Endless(absl::Duration pause) {
  for (;;) {
    co_yield std::string(1000, 'x');
    if (pause > absl::ZeroDuration()) co_await Sleep(pause);
  }
}

// Answers "/r?STATUS,LOCATION" with a redirect, and other requests with what
// was received.
Co<absl::StatusOr<Response>> Answer(Request request) {
  const std::string body = co_await OrReturn(request.body.ReadAll(1 << 20));
  if (request.path().starts_with("/r")) {
    Response response = Response::Text("moved");
    if (!absl::SimpleAtoi(request.query().substr(0, 3), &response.status)) {
      co_return absl::InvalidArgumentError("no status");
    }
    if (request.query().size() > 3) {
      co_await OrReturn(
          response.headers.Add("Location", request.query().substr(4)));
    }
    if (request.path() == "/rlong") {
      response.body = Body::FromStream(Endless(absl::ZeroDuration()));
    } else if (request.path() == "/rslow") {
      response.body = Body::FromStream(Endless(absl::Milliseconds(300)));
    }
    co_return response;
  }
  std::string text =
      absl::StrCat(request.method, " ",
                   request.headers.Get("Host").value_or("-"), request.target);
  for (const std::string_view name :
       {"Accept", "Authorization", "Cookie", "Content-Type"}) {
    if (const auto value = request.headers.Get(name); value.has_value()) {
      absl::StrAppend(&text, " ", name, "=", *value);
    }
  }
  if (!body.empty()) absl::StrAppend(&text, " body=", body);
  co_return Response::Text(std::move(text));
}

Co<> ServeAnswers(DuplexStream server, size_t) {
  (co_await ServeConnection(std::move(server), &Answer)).IgnoreError();
}

// Sends a request, and returns "status body" of the final response, or the
// error.
Co<absl::StatusOr<std::string>> Follow(const Client& client, Request request,
                                       RedirectOptions options) {
  Response response = co_await OrReturn(
      FollowRedirects(client, std::move(request), std::move(options)));
  const std::string body = co_await OrReturn(response.body.ReadAll(1 << 20));
  co_return absl::StrCat(response.status, " ", body);
}

class FollowRedirectsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Run(Request request,
                                  RedirectOptions options = RedirectOptions()) {
    return runtime_.BlockOn(
        Follow(test_.client(), std::move(request), std::move(options)));
  }
  absl::StatusOr<std::string> Run(std::string_view method, std::string_view url,
                                  RedirectOptions options = RedirectOptions()) {
    return Run(Request::To(method, url).value(), std::move(options));
  }
  Runtime& runtime() { return runtime_; }
  const Client& client() { return test_.client(); }
  const std::vector<std::string>& connected() { return test_.connected(); }

 private:
  Runtime runtime_ = PausedRuntime();
  TestClient test_{ServeAnswers};
};

TEST_F(FollowRedirectsTest, ReturnsOtherResponsesAtOnce) {
  EXPECT_EQ(Run("GET", "http://a/x").value(), "200 GET a/x");
  // Neither a status without a redirect, nor a redirect without a URL.
  EXPECT_EQ(Run("GET", "http://a/r?304,/x").value(), "304 ");
  EXPECT_EQ(Run("GET", "http://a/r?300,/x").value(), "300 moved");
  EXPECT_EQ(Run("GET", "http://a/r?301").value(), "301 moved");
}

TEST_F(FollowRedirectsTest, FollowsUrlsOfEachForm) {
  EXPECT_EQ(Run("GET", "http://a/r?301,/x").value(), "200 GET a/x");
  EXPECT_EQ(Run("GET", "http://a/r/s/?301,../../x?y#z").value(),
            "200 GET a/x?y");
  EXPECT_EQ(Run("GET", "http://a/r?302,http://b:81/x").value(),
            "200 GET b:81/x");
  EXPECT_EQ(Run("GET", "http://a/r?308,//b/x").value(), "200 GET b/x");
  EXPECT_EQ(Run("GET", "http://a/r?307,/r?302,/r?301,/x").value(),
            "200 GET a/x");
}

TEST_F(FollowRedirectsTest, ChangesMethodsAsBrowsersDo) {
  const auto run = [this](std::string_view method, int status) {
    Request request =
        Request::To(method, absl::StrCat("http://a/r?", status, ",/x")).value();
    if (method != "HEAD") request.body = "text";
    request.headers.Add("Content-Type", "text/plain").IgnoreError();
    request.headers.Add("Accept", "*/*").IgnoreError();
    return Run(std::move(request)).value();
  };
  const std::string rest = " a/x Accept=*/* Content-Type=text/plain body=text";
  for (const int status : {301, 302}) {
    EXPECT_EQ(run("POST", status), "200 GET a/x Accept=*/*");
    EXPECT_EQ(run("PUT", status), absl::StrCat("200 PUT", rest));
  }
  EXPECT_EQ(run("POST", 303), "200 GET a/x Accept=*/*");
  EXPECT_EQ(run("DELETE", 303), "200 GET a/x Accept=*/*");
  EXPECT_EQ(run("HEAD", 303), "200 ");
  for (const int status : {307, 308}) {
    EXPECT_EQ(run("POST", status), absl::StrCat("200 POST", rest));
    EXPECT_EQ(run("PATCH", status), absl::StrCat("200 PATCH", rest));
  }
}

TEST_F(FollowRedirectsTest, ReturnsARedirectThatWouldRepeatAStream) {
  const auto words = []() -> Gen<std::string> { co_yield "one"; };
  const auto run = [&](int status) {
    Request request =
        Request::To("POST", absl::StrCat("http://a/r?", status, ",/x")).value();
    request.body = Body::FromStream(words());
    return Run(std::move(request)).value();
  };
  EXPECT_EQ(run(307), "307 moved");
  EXPECT_EQ(run(308), "308 moved");
  // These do not repeat the body.
  EXPECT_EQ(run(302), "200 GET a/x");
  EXPECT_EQ(run(303), "200 GET a/x");
}

TEST_F(FollowRedirectsTest, SendsSecretsOnlyToTheFirstServer) {
  const auto run = [this](std::string_view location) {
    Request request =
        Request::To("GET", absl::StrCat("http://a/r?302,", location)).value();
    request.headers.Add("Authorization", "Basic YTpi").IgnoreError();
    request.headers.Add("cookie", "id=1").IgnoreError();
    request.headers.Add("Host", "name").IgnoreError();
    request.headers.Add("Accept", "*/*").IgnoreError();
    return Run(std::move(request)).value();
  };
  EXPECT_EQ(run("/x"),
            "200 GET name/x Accept=*/* Authorization=Basic YTpi Cookie=id=1");
  EXPECT_EQ(run("http://b/x"), "200 GET b/x Accept=*/*");
  EXPECT_EQ(run("http://a:81/x"), "200 GET a:81/x Accept=*/*");
  // They stay away when another server redirects back.
  EXPECT_EQ(run("http://b/r?302,http://a/x"), "200 GET a/x Accept=*/*");
}

TEST_F(FollowRedirectsTest, LimitsTheNumber) {
  RedirectOptions options;
  options.max_redirects = 2;
  EXPECT_EQ(Run("GET", "http://a/r?302,/r?302,/x", options).value(),
            "200 GET a/x");
  EXPECT_THAT(
      Run("GET", "http://a/r?302,/r?302,/r?302,/x", options),
      StatusIs(absl::StatusCode::kResourceExhausted,
               AllOf(HasSubstr("http://a/r?302,/x:"), HasSubstr("after 2"))));
  options.max_redirects = 0;
  EXPECT_THAT(Run("GET", "http://a/r?302,/x", options),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(Run("GET", "http://a/x", options).value(), "200 GET a/x");
}

TEST_F(FollowRedirectsTest, ShowsEachFurtherRequest) {
  std::vector<std::string> urls;
  RedirectOptions options;
  options.on_redirect = [&urls](Request& next) {
    urls.push_back(next.origin + next.target);
    if (next.origin == "http://c") return absl::PermissionDeniedError("not c");
    return next.headers.Set("Accept", absl::StrCat(urls.size()));
  };
  EXPECT_EQ(Run("GET", "http://a/r?302,http://b/r?302,/x", options).value(),
            "200 GET b/x Accept=2");
  EXPECT_THAT(urls, ElementsAre("http://b/r?302,/x", "http://b/x"));
  EXPECT_THAT(Run("GET", "http://a/r?302,http://c/x", options),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr("http://a/r?302,http://c/x:"),
                             HasSubstr("not c"))));
}

TEST_F(FollowRedirectsTest, RefusesUrlsThatAreNotHttp) {
  for (const std::string_view location :
       {"mailto:a@b", "ftp://b/", "http://u:p@b/", "http://"}) {
    EXPECT_THAT(Run("GET", absl::StrCat("http://a/r?302,", location)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("http://a/r?302,")))
        << location;
  }
}

TEST_F(FollowRedirectsTest, ReturnsTheErrorsOfTheClient) {
  EXPECT_THAT(Run("GET", "http://a/r?302,http://nowhere/x"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("nowhere/x")));
}

TEST_F(FollowRedirectsTest, KeepsTheConnectionUnlessTheBodyIsLong) {
  EXPECT_EQ(Run("GET", "http://a/r?302,/r?302,/x").value(), "200 GET a/x");
  EXPECT_THAT(connected(), ElementsAre("a:80"));
  EXPECT_EQ(Run("GET", "http://b/rlong?302,/x").value(), "200 GET b/x");
  EXPECT_THAT(connected(), ElementsAre("a:80", "b:80", "b:80"));
}

TEST_F(FollowRedirectsTest, WaitsASecondForABody) {
  const auto run = [this]() -> Co<> {
    Request request = Request::To("GET", "http://a/rslow?302,/x").value();
    JoinHandle<absl::StatusOr<std::string>> followed =
        Spawn(Follow(client(), std::move(request), RedirectOptions()));
    co_await Advance(absl::Milliseconds(999));
    EXPECT_FALSE(followed.IsFinished());
    co_await Advance(absl::Milliseconds(1));
    EXPECT_TRUE(followed.IsFinished());
    EXPECT_THAT(co_await followed, IsOkAndHolds("200 GET a/x"));
  };
  runtime().BlockOn(run);
  EXPECT_THAT(connected(), ElementsAre("a:80", "a:80"));
}

}  // namespace
}  // namespace rouse::http
