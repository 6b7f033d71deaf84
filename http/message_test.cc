// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `Body`, `ByteStream`, `Request` and `Response`.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/io/duplex.h"
#include "rouse/io/memory/cursor.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/poll_matchers.h"
#include "rouse/testing/test_task.h"

namespace rouse::http {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

// Returns all of `body`, which must not wait.
absl::StatusOr<std::string> All(Body& body, size_t limit = 1000) {
  TestTask task(body.ReadAll(limit));
  auto all = task.Poll();
  EXPECT_TRUE(all.IsReady());
  return *std::move(all);
}

Gen<std::string> Words() {
  co_yield "one ";
  co_yield "";
  co_yield "two ";
  co_yield std::string(10, 'x');
}

Gen<absl::StatusOr<std::string>> Failing() {
  co_yield "one";
  co_yield absl::DataLossError("the disk is broken");
}

TEST(Body, IsEmptyByDefault) {
  Body body;
  EXPECT_EQ(body.size(), 0);
  EXPECT_THAT(All(body), IsOkAndHolds(""));
  EXPECT_TRUE(body.trailers().empty());
}

TEST(Body, OfTextIsReadOnce) {
  Body body = "hello";
  EXPECT_EQ(body.size(), 5);
  EXPECT_THAT(All(body), IsOkAndHolds("hello"));
  EXPECT_THAT(All(body), IsOkAndHolds(""));
  EXPECT_EQ(body.size(), 5);
}

TEST(Body, OfAStreamIsItsItems) {
  Body body = Body::FromStream(Words());
  EXPECT_EQ(body.size(), std::nullopt);
  EXPECT_THAT(All(body), IsOkAndHolds("one two xxxxxxxxxx"));
}

TEST(Body, PassesErrorsOn) {
  Body body = Body::FromStream(Failing());
  EXPECT_THAT(All(body), StatusIs(absl::StatusCode::kDataLoss,
                                  HasSubstr("disk is broken")));
}

TEST(Body, OfAReaderCanHaveASize) {
  Cursor<std::string> reader("some bytes");
  Body body = Body::FromReader(std::move(reader), 10);
  EXPECT_EQ(body.size(), 10);
  EXPECT_THAT(All(body), IsOkAndHolds("some bytes"));
}

TEST(Body, ReadAllHasALimit) {
  Body text = "hello";
  EXPECT_THAT(All(text, 4), StatusIs(absl::StatusCode::kResourceExhausted));
  Body stream = Body::FromStream(Words());
  EXPECT_THAT(All(stream, 17), StatusIs(absl::StatusCode::kResourceExhausted));
  Body fits = Body::FromStream(Words());
  EXPECT_THAT(All(fits, 18), IsOkAndHolds("one two xxxxxxxxxx"));
}

TEST(Body, HasTrailers) {
  Body body = Body::FromStream(Words());
  EXPECT_THAT(body.trailers().Set("Checksum", "1"), IsOk());
  const Body moved = std::move(body);
  EXPECT_EQ(moved.trailers().Get("checksum"), "1");
}

TEST(Body, KnowsHowMuchIsUnread) {
  Body text = "hello";
  EXPECT_EQ(text.unread_size(), 5);
  EXPECT_THAT(All(text), IsOkAndHolds("hello"));
  EXPECT_EQ(text.size(), 5);
  EXPECT_EQ(text.unread_size(), 0);
  const Body moved = std::move(text);
  EXPECT_EQ(moved.text(), "");
  EXPECT_EQ(text.text(), "");  // NOLINT(bugprone-use-after-move)
  Cursor<std::string> reader("some bytes");
  Body source = Body::FromReader(std::move(reader), 10);
  EXPECT_EQ(source.unread_size(), 10);
  EXPECT_THAT(All(source), IsOkAndHolds("some bytes"));
  EXPECT_EQ(source.unread_size(), 0);
  EXPECT_EQ(Body::FromStream(Words()).unread_size(), std::nullopt);
}

TEST(ByteStream, HoldsAStreamOrRefersToOne) {
  auto [client, server] = Duplex(100);
  ByteStream owner(std::move(client));
  ByteStream referring(server);
  ByteStream moved = std::move(owner);
  TestTask write(WriteAll(moved, "hello"));
  EXPECT_THAT(write.Poll(), IsReadyAndHolds(IsOk()));
  char buffer[5];
  TestTask read(ReadExact(referring, absl::MakeSpan(buffer)));
  EXPECT_TRUE(read.Poll().IsReady());
  EXPECT_EQ(std::string_view(buffer, 5), "hello");
}

TEST(ByteStream, BeginsWithAPrefix) {
  auto [client, server] = Duplex(100);
  ByteStream stream =
      internal::WithPrefix("abc", ByteStream(std::move(client)).IntoIo());
  TestTask write(WriteAll(server, "de"));
  EXPECT_THAT(write.Poll(), IsReadyAndHolds(IsOk()));
  char buffer[5];
  TestTask read(ReadExact(stream, absl::MakeSpan(buffer)));
  EXPECT_TRUE(read.Poll().IsReady());
  EXPECT_EQ(std::string_view(buffer, 5), "abcde");
}

TEST(Request, SplitsTheTarget) {
  Request request;
  request.target = "/a/b?c=d?e";
  EXPECT_EQ(request.path(), "/a/b");
  EXPECT_EQ(request.query(), "c=d?e");
  request.target = "/";
  EXPECT_EQ(request.path(), "/");
  EXPECT_EQ(request.query(), "");
}

TEST(Request, IsMadeOfAUrl) {
  absl::StatusOr<Request> request =
      Request::To("PUT", "http://example.com:81/a?b#c");
  ASSERT_THAT(request, IsOk());
  EXPECT_EQ(request->method, "PUT");
  EXPECT_EQ(request->origin, "http://example.com:81");
  EXPECT_EQ(request->target, "/a?b");
  EXPECT_THAT(Request::To("P T", "http://a"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not the method")));
  EXPECT_THAT(Request::To("GET", "a"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Response, HasATypeForTextAndJson) {
  const Response text = Response::Text("a", 404);
  EXPECT_EQ(text.status, 404);
  EXPECT_EQ(text.headers.Get("content-type"), "text/plain; charset=utf-8");
  const Response json = Response::Json("{}");
  EXPECT_EQ(json.status, 200);
  EXPECT_EQ(json.headers.Get("content-type"), "application/json");
  EXPECT_EQ(json.body.text(), "{}");
  EXPECT_EQ(StatusText(418), "Unknown");
}

}  // namespace
}  // namespace rouse::http
