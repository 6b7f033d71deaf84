// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the client of HTTP/2 against servers that refuse, break off, break the
// rules or attack.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/http/body.h"
#include "rouse/http/client.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/h2/client/client_fixture.h"
#include "rouse/http/h2/client_protocol.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr uint32_t kInternalError = 2;
constexpr uint32_t kRefusedStream = 7;
constexpr uint32_t kCancel = 8;
constexpr uint32_t kEnhanceYourCalm = 11;
constexpr uint8_t kMaxConcurrentStreams = 3;

Gen<std::string> One() { co_yield "one"; }

std::string Rst(uint32_t id, uint32_t error) {
  return Frame(kRstStream, 0, id, Number(error));
}
std::string Goaway(uint32_t last_id, uint32_t error = 0) {
  return Frame(kGoaway, 0, 0, absl::StrCat(Number(last_id), Number(error)));
}

// Answers all requests.
Co<> AnswerAll(Script& script) {
  co_await script.Begin();
  for (;;) {
    const ReceivedFrame head = co_await script.Next(kHeaders);
    if (!head.is_there) co_return;
    co_await script.Send(Reply(head.id, "fine"));
  }
}

// Returns a server that answers the first request with `frames`, which get the
// number of the request, and then waits for the end.
ScriptFunction Answers(std::function<std::string(uint32_t)> frames) {
  return [frames](Script& script) -> Co<> {
    return [](Script& script,
              std::function<std::string(uint32_t)> frames) -> Co<> {
      co_await script.Begin();
      const ReceivedFrame head = co_await script.Next(kHeaders);
      co_await script.Send(frames(head.id));
      // Types are at most 9, so that this reads to the end.
      (void)co_await script.Next(0xff);
    }(script, frames);
  };
}

// Returns the result of a GET to such a server.
std::string Get(std::function<std::string(uint32_t)> frames,
                ClientOptions options = WithPriorKnowledge(),
                size_t capacity = 1000) {
  Runtime runtime = PausedRuntime();
  Peers test(Scripted({Answers(std::move(frames))}), std::move(options),
             capacity);
  return runtime.BlockOn(Fetch(test.client(), "http://a/b"));
}

// ---- Requests that are sent again.

TEST(Http2ClientPeer, SendsARefusedRequestOnceMore) {
  Runtime runtime = PausedRuntime();
  int requests = 0;
  const auto refuse = [&](int times) -> ScriptFunction {
    return [&requests, times](Script& script) -> Co<> {
      return [](Script& script, int& requests, int times) -> Co<> {
        co_await script.Begin();
        for (;;) {
          const ReceivedFrame head = co_await script.Next(kHeaders);
          if (!head.is_there) co_return;
          std::string answer = Reply(head.id, "fine");
          if (++requests <= times) answer = Rst(head.id, kRefusedStream);
          co_await script.Send(std::move(answer));
        }
      }(script, requests, times);
    };
  };
  // Even an unsafe method is repeated, because nothing was executed.
  Peers once(Scripted({refuse(1)}), WithPriorKnowledge());
  EXPECT_EQ(
      runtime.BlockOn(SendBody(once.client(), "POST", "http://a/", "text")),
      "200 fine");
  EXPECT_EQ(requests, 2);
  requests = 0;
  Peers twice(Scripted({refuse(2)}), WithPriorKnowledge());
  EXPECT_THAT(runtime.BlockOn(Fetch(twice.client(), "http://a/")),
              HasSubstr("UNAVAILABLE: GET http://a/: the server has refused"));
  EXPECT_EQ(requests, 2);
  // The source of a body can be read only once.
  requests = 0;
  Peers source(Scripted({refuse(1)}), WithPriorKnowledge());
  EXPECT_THAT(runtime.BlockOn(SendBody(source.client(), "POST", "http://a/",
                                       Body::FromStream(One()))),
              HasSubstr("UNAVAILABLE"));
  EXPECT_EQ(requests, 1);
}

TEST(Http2ClientPeer, SendsRequestsBehindAGoawayOnAnotherConnection) {
  Runtime runtime = PausedRuntime();
  Peers test(Scripted({Answers([](uint32_t) { return Goaway(0); }),
                       [](Script& script) { return AnswerAll(script); }}),
             WithPriorKnowledge());
  EXPECT_EQ(
      runtime.BlockOn(SendBody(test.client(), "POST", "http://a/", "text")),
      "200 fine");
  EXPECT_EQ(test.connected().size(), 2);
}

TEST(Http2ClientPeer, ARequestBeforeAGoawayIsAnswered) {
  Runtime runtime = PausedRuntime();
  Peers test(Scripted({Answers([](uint32_t id) {
                         return absl::StrCat(Goaway(0x7fffffff), Goaway(id),
                                             Reply(id, "last"));
                       }),
                       [](Script& script) { return AnswerAll(script); }}),
             WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await SendBody(test.client(), "POST", "http://a/", "text"),
              "200 last");
    EXPECT_EQ(test.client().idle_connections(), 0);
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 fine");
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 2);
}

// A connection answers one of many requests, and takes no others.
TEST(Http2ClientPeer, WaitingRequestsMoveToOtherConnections) {
  Runtime runtime = PausedRuntime();
  const ScriptFunction one = [](Script& script) -> Co<> {
    co_await script.Begin(Setting(kMaxConcurrentStreams, 1));
    const ReceivedFrame head = co_await script.Next(kHeaders);
    co_await script.Send(absl::StrCat(Reply(head.id, "fine"), Goaway(head.id)));
    (void)co_await script.Next(0xff);
  };
  ClientOptions options = WithPriorKnowledge();
  options.max_connections_per_origin = 1;
  Peers test(Scripted({one}), options);
  const auto run = [&]() -> Co<> {
    std::vector<JoinHandle<std::string>> all;
    for (int i = 0; i < 10; ++i) {
      all.push_back(Spawn(Fetch(test.client(), "http://a/")));
    }
    for (JoinHandle<std::string>& each : all) {
      const absl::StatusOr<std::string> text = co_await each;
      EXPECT_THAT(text, IsOkAndHolds("200 fine"));
    }
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 10);
}

TEST(Http2ClientPeer, RepeatsASafeRequestOfALostConnection) {
  Runtime runtime = PausedRuntime();
  const ScriptFunction closes = [](Script& script) -> Co<> {
    co_await script.Begin();
    const ReceivedFrame head = co_await script.Next(kHeaders);
    co_await script.Send(Reply(head.id, "fine"));
    (void)co_await script.Next(kHeaders);
  };
  for (const bool is_safe : {true, false}) {
    Peers test(Scripted({closes}), WithPriorKnowledge());
    const auto run = [&]() -> Co<> {
      EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 fine");
      if (is_safe) {
        EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 fine");
      } else {
        EXPECT_THAT(
            co_await SendBody(test.client(), "POST", "http://a/", "text"),
            HasSubstr("UNAVAILABLE: POST http://a/: the server closed the "
                      "connection without an answer"));
      }
    };
    runtime.BlockOn(run);
    EXPECT_EQ(test.connected().size(), is_safe ? 2 : 1);
  }
}

// ---- Servers that break off.

TEST(Http2ClientPeer, ReportsALostConnection) {
  Runtime runtime = PausedRuntime();
  for (const bool within_body : {false, true}) {
    const ScriptFunction closes = [within_body](Script& script) -> Co<> {
      return [](Script& script, bool within_body) -> Co<> {
        co_await script.Begin();
        const ReceivedFrame head = co_await script.Next(kHeaders);
        if (!within_body) co_return;
        co_await script.Send(absl::StrCat(
            Frame(kHeaders, kEndHeaders, head.id, StatusBlock("200")),
            Frame(kData, 0, head.id, "part")));
      }(script, within_body);
    };
    Peers test(Scripted({closes}), WithPriorKnowledge());
    EXPECT_THAT(runtime.BlockOn(Fetch(test.client(), "http://a/")),
                within_body ? HasSubstr("DATA_LOSS: the connection ended")
                            : HasSubstr("UNAVAILABLE: GET http://a/: "));
    EXPECT_EQ(test.client().idle_connections(), 0);
  }
}

TEST(Http2ClientPeer, ReportsAReset) {
  EXPECT_THAT(Get([](uint32_t id) { return Rst(id, kInternalError); }),
              HasSubstr("UNAVAILABLE: GET http://a/b: the server has reset the "
                        "request: INTERNAL_ERROR"));
  EXPECT_THAT(Get([](uint32_t id) {
                return absl::StrCat(
                    Frame(kHeaders, kEndHeaders, id, StatusBlock("200")),
                    Frame(kData, 0, id, "part"), Rst(id, kCancel));
              }),
              HasSubstr("DATA_LOSS: the server has reset the response: "
                        "CANCEL"));
}

// A server may answer early, and ask the client to stop (RFC 9113, section
// 8.1).
TEST(Http2ClientPeer, AnEarlyAnswerIsComplete) {
  Runtime runtime = PausedRuntime();
  Peers test(Scripted({Answers([](uint32_t id) {
               return absl::StrCat(Reply(id, "early"), Rst(id, 0));
             })}),
             WithPriorKnowledge());
  EXPECT_EQ(runtime.BlockOn(SendBody(test.client(), "POST", "http://a/",
                                     std::string(200'000, 'x'))),
            "200 early");
}

TEST(Http2ClientPeer, DropsAConnectionThatDoesNotAnswerAtAll) {
  Runtime runtime = PausedRuntime();
  const ScriptFunction silent = [](Script& script) -> Co<> {
    co_await script.Begin();
    const ReceivedFrame head = co_await script.Next(kHeaders);
    EXPECT_TRUE(head.is_there);
    const ReceivedFrame reset = co_await script.Next(kRstStream);
    EXPECT_EQ(reset.error(), kCancel);
    (void)co_await script.Next(0xff);
  };
  Peers test(
      Scripted({silent, [](Script& script) { return AnswerAll(script); }}),
      WithPriorKnowledge());
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> fetching = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::Seconds(29));
    EXPECT_FALSE(fetching.IsFinished());
    co_await Advance(absl::Seconds(2));
    EXPECT_THAT(co_await fetching,
                IsOkAndHolds(HasSubstr("not answered within 30s")));
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 fine");
  };
  runtime.BlockOn(run);
  EXPECT_EQ(test.connected().size(), 2);
}

TEST(Http2ClientPeer, LimitsTheTimeOfAServerThatTakesNothing) {
  Runtime runtime = PausedRuntime();
  const ScriptFunction blocked = [](Script& script) -> Co<> {
    co_await script.Begin();
    co_await Sleep(absl::Minutes(2));
  };
  // The server reads nothing, and the pipe is full.
  Peers test(Scripted({blocked}), WithPriorKnowledge(), 100);
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> sending = Spawn(
        SendBody(test.client(), "POST", "http://a/", std::string(50'000, 'x')));
    co_await Advance(absl::Seconds(29));
    EXPECT_FALSE(sending.IsFinished());
    co_await Advance(absl::Seconds(2));
    EXPECT_THAT(co_await sending,
                IsOkAndHolds(HasSubstr("DEADLINE_EXCEEDED: POST http://a/: ")));
  };
  runtime.BlockOn(run);
}

TEST(Http2ClientPeer, AServerThatAllowsNoRequestsIsTooSlow) {
  Runtime runtime = PausedRuntime();
  const ScriptFunction none = [](Script& script) -> Co<> {
    co_await script.Begin(Setting(kMaxConcurrentStreams, 0));
    (void)co_await script.Next(0xff);
  };
  ClientOptions options = WithPriorKnowledge();
  options.max_connections_per_origin = 1;
  Peers test(Scripted({none}), options);
  const auto run = [&]() -> Co<> {
    // Sent before the settings have arrived.
    JoinHandle<std::string> early = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::Seconds(20));
    JoinHandle<std::string> late = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::Seconds(11));
    EXPECT_THAT(co_await early, IsOkAndHolds(HasSubstr("DEADLINE_EXCEEDED")));
    late.Abort();
    (void)co_await late;
  };
  runtime.BlockOn(run);
}

// nghttp2 holds the second request back. Its end gives the connection back.
TEST(Http2ClientPeer, ARequestThatIsHeldBackCanBeCancelled) {
  Runtime runtime = PausedRuntime();
  bool has_ended = false;
  const ScriptFunction lowers = [&has_ended](Script& script) -> Co<> {
    co_await script.Begin(Setting(kMaxConcurrentStreams, 2));
    const ReceivedFrame head = co_await script.Next(kHeaders);
    co_await script.Send(Reply(head.id, "fine"));
    co_await Sleep(absl::Seconds(2));
    co_await script.Send(
        Frame(kSettings, 0, 0, Setting(kMaxConcurrentStreams, 0)));
    (void)co_await script.Next(0xff);
    has_ended = true;
  };
  Peers test(Scripted({lowers}), WithPriorKnowledge(), /*capacity=*/100);
  const auto run = [&]() -> Co<> {
    EXPECT_EQ(co_await Fetch(test.client(), "http://a/"), "200 fine");
    // Fills the buffers of the connection, so that the next request waits.
    JoinHandle<std::string> upload = Spawn(SendBody(
        test.client(), "POST", "http://a/", std::string(200'000, 'x')));
    co_await Advance(absl::Seconds(1));
    JoinHandle<std::string> held = Spawn(Fetch(test.client(), "http://a/"));
    co_await Advance(absl::ZeroDuration());
    held.Abort();
    (void)co_await held;
    upload.Abort();
    (void)co_await upload;
    co_await Advance(absl::Seconds(2));
    co_await Advance(absl::Minutes(1));
    EXPECT_TRUE(has_ended);
  };
  runtime.BlockOn(run);
}

// Such a server gets a request at most twice.
TEST(Http2ClientPeer, AServerThatEndsEachConnectionAtOnceFails) {
  Runtime runtime = PausedRuntime();
  for (const bool goes_away : {true, false}) {
    const ScriptFunction none = [goes_away](Script& script) -> Co<> {
      return [](Script& script, bool goes_away) -> Co<> {
        std::string first =
            Frame(kSettings, 0, 0, Setting(kMaxConcurrentStreams, 0));
        if (goes_away) first += Goaway(0);
        co_await script.Send(std::move(first));
        (void)co_await script.Next(0xff);
      }(script, goes_away);
    };
    Peers test(Scripted({none}), WithPriorKnowledge());
    const auto run = [&]() -> Co<> {
      JoinHandle<std::string> fetching =
          Spawn(Fetch(test.client(), "http://a/"));
      for (int i = 0; i < 10; ++i) co_await Advance(absl::Seconds(10));
      EXPECT_TRUE(fetching.IsFinished());
      EXPECT_THAT(co_await fetching,
                  IsOkAndHolds(AnyOf(HasSubstr("UNAVAILABLE"),
                                     HasSubstr("DEADLINE_EXCEEDED"))));
    };
    runtime.BlockOn(run);
    EXPECT_LE(test.connected().size(), 2);
  }
}

// ---- Servers that break the rules.

TEST(Http2ClientPeer, SkipsInformationalResponses) {
  EXPECT_EQ(Get([](uint32_t id) {
              return absl::StrCat(
                  Frame(kHeaders, kEndHeaders, id, StatusBlock("100")),
                  Frame(kHeaders, kEndHeaders, id,
                        absl::StrCat(StatusBlock("103"), FieldBlock("a", "b"))),
                  Reply(id, "final"));
            }),
            "200 final");
}

TEST(Http2ClientPeer, RefusesResponsesThatAreNotValid) {
  const auto answer = [](std::string block, std::string body = "") {
    return Get([block, body](uint32_t id) {
      return absl::StrCat(Frame(kHeaders, kEndHeaders, id, block),
                          Frame(kData, kEndStream, id, body));
    });
  };
  const auto not_valid =
      AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("HTTP/2"));
  EXPECT_THAT(answer(FieldBlock("a", "b")), not_valid);  // no status
  EXPECT_THAT(answer(StatusBlock("2x0")), not_valid);
  EXPECT_THAT(answer(StatusBlock("101")), not_valid);
  EXPECT_THAT(answer(StatusBlock("999")), not_valid);
  EXPECT_THAT(Get([](uint32_t id) {
                return Frame(kHeaders, kEndHeaders | kEndStream, id,
                             StatusBlock("700"));
              }),
              not_valid);
  EXPECT_THAT(answer(StatusBlock("200") + FieldBlock("A", "b")), not_valid);
  EXPECT_THAT(answer(StatusBlock("200") + FieldBlock("connection", "close")),
              not_valid);
  EXPECT_THAT(answer(StatusBlock("200") + FieldBlock("content-length", "x")),
              not_valid);
  EXPECT_THAT(answer(StatusBlock("200") + FieldBlock("content-length", "5"),
                     "too long"),
              not_valid);
  EXPECT_THAT(
      answer(StatusBlock("200") + FieldBlock("content-length", "5"), "four"),
      not_valid);
  EXPECT_EQ(
      answer(StatusBlock("200") + FieldBlock("content-length", "4"), "four"),
      "200 four");
  // Trailers that would change the message.
  EXPECT_THAT(Get([](uint32_t id) {
                return absl::StrCat(
                    Frame(kHeaders, kEndHeaders, id, StatusBlock("200")),
                    Frame(kData, 0, id, "text"),
                    Frame(kHeaders, kEndHeaders | kEndStream, id,
                          FieldBlock("content-encoding", "x")));
              }),
              not_valid);
}

TEST(Http2ClientPeer, RefusesFramesThatAreNotValid) {
  const auto not_valid = HasSubstr(
      "INVALID_ARGUMENT: GET http://a/b: the server has broken the rules");
  // HTTP/1.1, a HEADERS for no stream, a push, and a compression that is
  // broken.
  EXPECT_THAT(Get([](uint32_t) { return "HTTP/1.1 200 OK\r\n\r\n"; }),
              not_valid);
  EXPECT_THAT(Get([](uint32_t) { return Reply(0, "x"); }), not_valid);
  EXPECT_THAT(Get([](uint32_t id) {
                return Frame(kPushPromise, kEndHeaders, id,
                             Number(2) + HeaderBlock());
              }),
              not_valid);
  EXPECT_THAT(Get([](uint32_t id) {
                return Frame(kHeaders, kEndHeaders, id, "\xff\xff\xff\xff");
              }),
              not_valid);
  EXPECT_THAT(Get([](uint32_t) { return Goaway(0, kInternalError); }),
              HasSubstr("UNAVAILABLE"));
}

TEST(Http2ClientPeer, LimitsTheHeaderOfAResponse) {
  ClientOptions options = WithPriorKnowledge();
  options.max_header_bytes = 300;
  options.max_header_count = 3;
  const auto answer = [&options](std::string fields) {
    return Get(
        [fields](uint32_t id) {
          return absl::StrCat(Frame(kHeaders, kEndHeaders | kEndStream, id,
                                    StatusBlock("204") + fields));
        },
        options);
  };
  std::string fields;
  for (const std::string_view name : {"a", "b", "c"}) {
    absl::StrAppend(&fields, FieldBlock(name, "1"));
  }
  EXPECT_EQ(answer(fields), "204 ");
  EXPECT_EQ(answer(fields + FieldBlock("d", "1")),
            "RESOURCE_EXHAUSTED: GET http://a/b: the header of the response "
            "has more fields than the limit of 3");
  std::string large;
  for (int i = 0; i < 3; ++i) large += FieldBlock("a", std::string(90, 'a'));
  EXPECT_EQ(answer(large),
            "RESOURCE_EXHAUSTED: GET http://a/b: the header of the response "
            "exceeds the limit of 300 bytes");
}

// A stream may not receive more than its window.
TEST(Http2ClientPeer, RefusesBytesBeyondTheWindow) {
  ClientLimits limits;
  limits.stream_window_bytes = 1000;
  EXPECT_THAT(
      Get(
          [](uint32_t id) {
            return absl::StrCat(
                Frame(kHeaders, kEndHeaders, id, StatusBlock("200")),
                Frame(kData, 0, id, std::string(10'000, 'x')),
                Frame(kData, 0, id, std::string(10'000, 'x')));
          },
          // The frame arrives at once, so that nothing is read meanwhile.
          WithPriorKnowledge(limits), 100'000),
      HasSubstr("INVALID_ARGUMENT"));
}

// ---- Floods.

// Sends `frames` after a request, again and again, and returns the result of
// the request and the error of the client's GOAWAY.
std::pair<std::string, uint32_t> Flood(std::string begin, std::string frames) {
  Runtime runtime = PausedRuntime();
  uint32_t error = 0;
  const ScriptFunction flood = [&](Script& script) -> Co<> {
    co_await script.Begin();
    (void)co_await script.Next(kHeaders);
    co_await script.Send(begin);
    std::string all;
    for (int i = 0; i < 3000; ++i) all += frames;
    co_await script.Send(std::move(all));
    const ReceivedFrame goaway = co_await script.Next(kGoaway);
    if (goaway.is_there) error = static_cast<uint8_t>(goaway.payload[7]);
  };
  // A test with real connections would have to read and write at once.
  Peers test(Scripted({flood}), WithPriorKnowledge(), size_t{1} << 20);
  std::string result;
  const auto run = [&]() -> Co<> {
    result = co_await Fetch(test.client(), "http://a/b");
    co_await Advance(absl::ZeroDuration());
  };
  runtime.BlockOn(run);
  return {result, error};
}

TEST(Http2ClientPeer, EndsFloods) {
  const auto flooded = HasSubstr("INVALID_ARGUMENT");
  const std::string ping = Frame(kPing, 0, 0, std::string(8, 'x'));
  const std::string head = Frame(kHeaders, kEndHeaders, 1, StatusBlock("200"));
  // nghttp2 ends some of the floods, without a GOAWAY.
  EXPECT_THAT(Flood("", ping).first, flooded);
  EXPECT_THAT(Flood("", Frame(kSettings, 0, 0)).first, flooded);
  const std::string informational =
      Frame(kHeaders, kEndHeaders, 1, StatusBlock("100"));
  EXPECT_THAT(Flood("", informational), Pair(flooded, kEnhanceYourCalm));
  EXPECT_THAT(Flood(head, Frame(kData, 0, 1)), Pair(flooded, kEnhanceYourCalm));
}

TEST(Http2ClientPeer, EndsAHeaderWithoutAnEnd) {
  EXPECT_THAT(Get([](uint32_t id) {
                std::string frames = Frame(kHeaders, 0, id, StatusBlock("200"));
                for (int i = 0; i < 3000; ++i) {
                  frames += Frame(kContinuation, 0, id, FieldBlock("a", "b"));
                }
                return frames;
              }),
              HasSubstr("GET http://a/b: "));
}

}  // namespace
}  // namespace rouse::http::h2
