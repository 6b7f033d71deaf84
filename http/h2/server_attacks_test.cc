// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of clients that break the rules of HTTP/2, or flood the server.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/http/body.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/server_fixture.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

constexpr uint32_t kNoError = 0;
constexpr uint32_t kProtocolError = 1;
constexpr uint32_t kInternalError = 2;
constexpr uint32_t kEnhanceYourCalm = 11;

// Sends `frames` after the preface. Returns the status of the connection, whose
// last GOAWAY must have `error`.
absl::Status StatusAfter(std::string_view frames, uint32_t error,
                         AnyHandler handler = Echo,
                         ServerOptions options = WithHttp2()) {
  Connection connection(std::move(handler), std::move(options));
  connection.client().SendRaw(frames);
  connection.Pump();
  EXPECT_FALSE(connection.client().goaways().empty());
  if (!connection.client().goaways().empty()) {
    EXPECT_EQ(connection.client().goaways().back().second, error);
  }
  EXPECT_TRUE(connection.client().has_ended());
  connection.client().EndWriting();
  return connection.Status();
}

TEST(Http2, BrokenFramesEndTheConnection) {
  constexpr uint32_t kFrameSizeError = 6;
  constexpr uint32_t kCompressionError = 9;
  const std::string header = HeaderBlock();
  const std::vector<std::pair<std::string, uint32_t>> cases = {
      // DATA on stream 0, and on a stream that does not exist.
      {Frame(0, 0, 0, "x"), kProtocolError},
      {Frame(0, 0, 5, "x"), kProtocolError},
      // HEADERS on stream 0, and on a stream of the server.
      {Frame(1, 5, 0, header), kProtocolError},
      {Frame(1, 5, 2, header), kProtocolError},
      // A frame above the limit of 16 KiB.
      {Frame(0, 0, 1, std::string(16385, 'x')), kFrameSizeError},
      // SETTINGS, PING and WINDOW_UPDATE of a wrong size or value.
      {Frame(4, 0, 0, "x"), kFrameSizeError},
      {Frame(6, 0, 0, "x"), kFrameSizeError},
      {Frame(8, 0, 0, std::string(4, '\0')), kProtocolError},
      // CONTINUATION without HEADERS, and another frame instead of one.
      {Frame(9, 4, 1, header), kProtocolError},
      {absl::StrCat(Frame(1, 1, 1, header), Frame(6, 0, 0, "12345678")),
       kProtocolError},
      // An index that no table has.
      {Frame(1, 5, 1, "\xff\xff\xff\x7f"), kCompressionError},
      // PUSH_PROMISE of a client.
      {Frame(5, 4, 1, absl::StrCat(std::string("\0\0\0\2", 4), header)),
       kProtocolError},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [frames, error] = cases[i];
    EXPECT_THAT(StatusAfter(frames, error),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("rules of HTTP/2")));
  }
}

TEST(Http2, MalformedRequestsResetTheirStream) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  const Fields begin = {{":method", "GET"},
                        {":scheme", "http"},
                        {":authority", "x"},
                        {":path", "/"}};
  const auto with = [&begin](Fields more) {
    Fields fields = begin;
    for (auto& field : more) fields.push_back(std::move(field));
    return fields;
  };
  // 0 means a reset with PROTOCOL_ERROR.
  const std::vector<std::pair<Fields, int>> cases = {
      {{{":method", "GET"}, {":scheme", "http"}, {":authority", "x"}}, 0},
      {with({{":path", "/again"}}), 0},
      {with({{"a", "b"}, {":unknown", "x"}}), 0},
      {with({{"connection", "close"}}), 0},
      {with({{"transfer-encoding", "chunked"}}), 0},
      {with({{"keep-alive", "1"}}), 0},
      {with({{"content-length", "5"}}), 0},
      {with({{"content-length", "+0"}}), 0},
      {with({{"a b", "c"}}), 0},
      {with({{"a", "b\r\nc: d"}}), 0},
      {{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}}, 0},
      {{{":method", "G T"},
        {":scheme", "http"},
        {":authority", "x"},
        {":path", "/"}},
       0},
      {{{":method", "GET"},
        {":scheme", "http"},
        {":authority", "x/y"},
        {":path", "/"}},
       0},
      {{{":method", "GET"},
        {":scheme", "http"},
        {":authority", "x"},
        {":path", "/a#b"}},
       400},
      {{{":method", "GET"},
        {":scheme", "http"},
        {":authority", "x"},
        {":path", "/\xc3\xa4"}},
       400},
      {{{":method", "CONNECT"}, {":authority", "x"}}, 400},
      {{{":method", "CONNECT"},
        {":authority", "x:80"},
        {"content-length", "5"}},
       400},
      {with({{"host", "y"}}), 400},
      {with({{"expect", "miracles"}}), 417},
  };
  Connection connection(Echo);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [fields, status] = cases[i];
    const int32_t id = connection.client().SendFields(fields);
    connection.Pump();
    const TestClient::Reply& reply = connection.reply(id);
    EXPECT_EQ(reply.status, status);
    EXPECT_TRUE(reply.is_closed);
    EXPECT_EQ(reply.error, status == 0 ? kProtocolError : kNoError);
  }
  EXPECT_EQ(connection.Get("/").status, 200);
}

std::string Repeat(std::string_view frame, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) absl::StrAppend(&all, frame);
  return all;
}

TEST(Http2, FloodsOfFramesEndTheConnection) {
  const std::string priority = Frame(2, 0, 1, std::string(5, '\1'));
  const std::string post = Frame(1, 4, 1, HeaderBlock("POST"));
  const std::string empty = Frame(0, 0, 1);
  const std::string padded = Frame(0, 8, 1, std::string("\3\0\0\0", 4));
  const std::string goaway = Frame(7, 0, 0, std::string(8, '\0'));
  // HEADERS of a stream before the last one, which nghttp2 ignores.
  const std::string late =
      absl::StrCat(Frame(1, 5, 3, HeaderBlock()),
                   Repeat(Frame(1, 5, 1, HeaderBlock()), 1200));
  for (const std::string& frames :
       {Repeat(priority, 1200), absl::StrCat(post, Repeat(empty, 1200)),
        absl::StrCat(post, Repeat(padded, 1200)),
        absl::StrCat(post, Repeat(goaway, 1200)), late}) {
    EXPECT_THAT(StatusAfter(frames, kEnhanceYourCalm),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(Http2, AFloodThatEndsWithTheConnectionIsAFlood) {
  Runtime runtime = PausedRuntime();
  std::pair<DuplexStream, DuplexStream> ends = Duplex(65536);
  const auto run = [&]() -> Co<absl::Status> {
    const std::string frames = absl::StrCat(
        Preface(), Repeat(Frame(2, 0, 1, std::string(5, '\1')), 1200));
    const absl::Status written = co_await WriteAll(ends.first, frames);
    EXPECT_THAT(written, IsOk());
    EXPECT_THAT(ends.first.ShutdownWrite(), IsOk());
    co_return co_await ServeConnection(std::move(ends.second), Echo,
                                       WithHttp2());
  };
  EXPECT_THAT(runtime.BlockOn(run()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Http2, FloodsOfFramesWithAnswersEndTheConnection) {
  const std::string ping = Frame(6, 0, 0, "12345678");
  const std::string settings = Frame(4, 0, 0);
  // nghttp2's client ends the connection after an answer to SETTINGS that the
  // client has not sent, so these must come at once.
  const std::vector<std::pair<std::string, int>> cases = {
      {ping, 1}, {ping, 100}, {ping, 2000}, {settings, 2000}};
  for (const auto& [frame, at_once] : cases) {
    SCOPED_TRACE(absl::StrCat(frame.size(), " ", at_once));
    Connection connection(Echo);
    for (int sent = 0; sent < 2000; sent += at_once) {
      connection.client().SendRaw(Repeat(frame, at_once));
      connection.Pump();
    }
    EXPECT_TRUE(connection.client().has_ended());
    connection.client().EndWriting();
    EXPECT_THAT(connection.Status(),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(Http2, ManyFramesOverTimeAreNoFlood) {
  Connection connection(Echo);
  const std::string pings = Repeat(Frame(6, 0, 0, "12345678"), 400);
  for (int i = 0; i < 30; ++i) {
    connection.client().SendRaw(pings);
    connection.Pass(absl::Seconds(9));
    EXPECT_EQ(connection.Get("/").status, 200);
  }
}

TEST(Http2, RapidResetsEndTheConnection) {
  int alive = 0;
  int started = 0;
  const auto handler = [&alive, &started](Request) -> Answer {
    ++started;
    const Counted counted(alive);
    co_await Sleep(absl::InfiniteDuration());
    co_return Response();
  };
  std::string frames;
  for (uint32_t i = 0; i < 2000; ++i) {
    absl::StrAppend(&frames, Frame(1, 5, 2 * i + 1, HeaderBlock()),
                    Frame(3, 0, 2 * i + 1, std::string("\0\0\0\x8", 4)));
  }
  Connection connection(handler);
  connection.client().SendRaw(frames);
  connection.Pump();
  EXPECT_TRUE(connection.client().has_ended());
  EXPECT_EQ(alive, 0);
  EXPECT_LE(started, 1000);
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Http2, BytesOfABodyDoNotPayForRapidResets) {
  int alive = 0;
  std::string frames = Frame(1, 4, 1, HeaderBlock("POST"));
  for (uint32_t i = 1; i < 2000; ++i) {
    absl::StrAppend(&frames, Frame(0, 0, 1, "x"),
                    Frame(1, 5, 2 * i + 1, HeaderBlock()),
                    Frame(3, 0, 2 * i + 1, std::string("\0\0\0\x8", 4)));
  }
  EXPECT_THAT(StatusAfter(frames, kEnhanceYourCalm, Never(alive)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(alive, 0);
}

TEST(Http2, ALongBodyInSmallFramesIsNoFlood) {
  Connection connection(Echo);
  const std::string frame = Frame(0, 0, 1, "x");
  connection.client().SendRaw(Frame(1, 4, 1, HeaderBlock("POST")));
  for (int i = 0; i < 100; ++i) {
    connection.client().SendRaw(Repeat(frame, 100));
    connection.Pump();
  }
  EXPECT_FALSE(connection.client().has_ended());
}

TEST(Http2, RequestsThatCauseResetsEndTheConnection) {
  // The server resets each stream itself (CVE-2025-8671): WINDOW_UPDATE of 0.
  std::string frames;
  for (uint32_t i = 0; i < 2000; ++i) {
    absl::StrAppend(&frames, Frame(1, 5, 2 * i + 1, HeaderBlock()),
                    Frame(8, 0, 2 * i + 1, std::string(4, '\0')));
  }
  int alive = 0;
  Connection connection(Never(alive));
  connection.client().SendRaw(frames);
  connection.Pump();
  EXPECT_TRUE(connection.client().has_ended());
  EXPECT_EQ(alive, 0);
}

TEST(Http2, AHeaderThatIsTooLargeForAnAnswerEndsTheConnection) {
  ServerOptions options = WithHttp2();
  options.max_header_bytes = 100;
  // The header goes on, in frames that nghttp2 would only decode.
  std::string frames =
      Frame(1, 1, 1,
            absl::StrCat(HeaderBlock(), std::string("\0\1a\x7f\xa1\3", 6),
                         std::string(544, 'b')));
  absl::StrAppend(&frames, Frame(9, 0, 1, std::string("\0\1a\1b", 5)));
  EXPECT_THAT(StatusAfter(frames, kEnhanceYourCalm, Echo, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("max_header_bytes")));
}

TEST(Http2, ErrorsOfTheServerAreNoFlood) {
  const auto handler = [](Request) -> Answer {
    const auto pieces = []() -> Gen<absl::StatusOr<std::string>> {
      co_yield absl::UnavailableError("the backend is away");
    };
    Response response;
    response.body = Body::FromStream(pieces());
    co_return response;
  };
  Connection connection(handler);
  for (int round = 0; round < 15; ++round) {
    std::vector<int32_t> ids;
    for (int i = 0; i < 90; ++i) ids.push_back(connection.client().Get("/"));
    connection.Pump();
    for (const int32_t id : ids) {
      ASSERT_EQ(connection.reply(id).error, kInternalError) << round;
    }
  }
  EXPECT_FALSE(connection.client().has_ended());
}

TEST(Http2, AFloodOfContinuationsEndsTheConnection) {
  std::string frames = Frame(1, 1, 1, HeaderBlock());
  for (int i = 0; i < 10'000; ++i) {
    absl::StrAppend(&frames, Frame(9, 0, 1, std::string("\0\1a\1b", 5)));
  }
  Connection connection(Echo);
  connection.client().SendRaw(frames);
  connection.Pump();
  EXPECT_TRUE(connection.client().has_ended());
  connection.client().EndWriting();
  EXPECT_THAT(connection.Status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Http2, ManySmallContinuationsEndTheConnection) {
  // A few for each request, which nghttp2 takes.
  std::string frames;
  for (uint32_t id = 1; id < 600; id += 2) {
    absl::StrAppend(&frames, Frame(1, 1, id, HeaderBlock()),
                    Repeat(Frame(9, 0, id), 5), Frame(9, 4, id));
  }
  Options limits;
  limits.max_concurrent_streams = 1000;
  int alive = 0;
  EXPECT_THAT(
      StatusAfter(frames, kEnhanceYourCalm, Never(alive), WithHttp2(limits)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("frames of no use")));
}

TEST(Http2, LargeHeadersInContinuationsAreNoFlood) {
  ServerOptions options = WithHttp2();
  options.max_header_bytes = 256 << 10;
  Connection connection(Echo, options);
  const Headers large = {{"a", std::string(50'000, 'x')},
                         {"b", std::string(10'000, 'x')}};
  for (int i = 0; i < 700; ++i) {
    ASSERT_EQ(connection.Get("/", large).status, 200) << i;
  }
}

TEST(Http2, AClientThatDoesNotReceiveFillsNoMemory) {
  // Requests that are refused, whose answers the client does not take.
  Options limits;
  limits.max_concurrent_streams = 1;
  ServerOptions options = WithHttp2(limits);
  int alive = 0;
  Connection connection(Never(alive), options, TestClient::Options(),
                        /*capacity=*/1000);
  connection.client().SetReading(false);
  std::string frames;
  for (uint32_t i = 0; i < 100'000; ++i) {
    absl::StrAppend(&frames, Frame(1, 5, 2 * i + 1, HeaderBlock()));
  }
  connection.client().SendRaw(frames);
  connection.Pump();
  // The server has stopped reading, or has ended the connection.
  connection.Pass(options.progress_timeout);
  EXPECT_TRUE(connection.HasEnded());
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace rouse::http::h2
