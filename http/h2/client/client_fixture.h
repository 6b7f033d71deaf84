// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers for tests of the client of HTTP/2: options, servers of Rouse, and a
// server that the test scripts frame by frame.

#ifndef ROUSE_HTTP_H2_CLIENT_CLIENT_FIXTURE_H_
#define ROUSE_HTTP_H2_CLIENT_CLIENT_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/http/body.h"
#include "rouse/http/client.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/h2/client_protocol.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/protocol.h"
#include "rouse/http/h2/test_client.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/write_all.h"

namespace rouse::http::h2 {

// Counts the objects that exist.
class Counted {
 public:
  explicit Counted(int& count) : count_(&count) { ++*count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*count_; }

 private:
  int* count_;
};

// A client whose connections lead to a function of the test.
using Peers = http::TestClient;

using Answer = Co<absl::StatusOr<Response>>;
using AnyHandler = std::function<Answer(Request)>;

// Options of a client that speaks HTTP/2 without ALPN.
inline ClientOptions WithPriorKnowledge(ClientLimits limits = ClientLimits()) {
  ClientOptions options;
  limits.prior_knowledge = true;
  options.http2 = ClientProtocol(limits);
  return options;
}

// Returns a server with HTTP/2.
inline ServeEnd Served(AnyHandler handler, const Options& limits = Options(),
                       ServerOptions options = ServerOptions()) {
  options.http2 = Protocol(limits);
  return [handler, options](DuplexStream server, size_t) -> Co<> {
    return [](DuplexStream server, AnyHandler handler,
              ServerOptions options) -> Co<> {
      (co_await ServeConnection(std::move(server), std::move(handler),
                                std::move(options)))
          .IgnoreError();
    }(std::move(server), handler, options);
  };
}

// The types of frames.
enum FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kRstStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

inline constexpr uint8_t kAck = 1;
inline constexpr uint8_t kEndStream = 1;
inline constexpr uint8_t kEndHeaders = 4;

// A frame that the client has sent.
struct ReceivedFrame {
  ReceivedFrame() = default;

  bool is_there = false;  // false at the end of the connection
  uint8_t type = 0;
  uint8_t flags = 0;
  uint32_t id = 0;
  std::string payload;

  // Returns the number of a RST_STREAM.
  uint32_t error() const { return static_cast<uint8_t>(payload[3]); }
};

// A server that the test scripts.
class Script {
 public:
  explicit Script(DuplexStream stream) : stream_(std::move(stream)) {}

  // Reads the preface, sends SETTINGS with this payload, and acknowledges the
  // client's.
  Co<> Begin(std::string_view settings = "") {
    std::string preface(24, '\0');
    (co_await ReadExact(stream_, absl::MakeSpan(preface))).IgnoreError();
    co_await Send(absl::StrCat(Frame(kSettings, 0, 0, settings),
                               Frame(kSettings, kAck, 0)));
  }

  Co<> Send(std::string bytes) {
    (co_await WriteAll(stream_, bytes)).IgnoreError();
  }

  Co<ReceivedFrame> Next() {
    ReceivedFrame frame;
    std::string head(9, '\0');
    absl::Status read = co_await ReadExact(stream_, absl::MakeSpan(head));
    if (!read.ok()) co_return frame;
    const auto number = [&head](size_t begin, size_t size) {
      uint32_t result = 0;
      for (size_t i = begin; i < begin + size; ++i) {
        result = result << 8 | static_cast<uint8_t>(head[i]);
      }
      return result;
    };
    frame.payload.resize(number(0, 3));
    frame.type = static_cast<uint8_t>(head[3]);
    frame.flags = static_cast<uint8_t>(head[4]);
    frame.id = number(5, 4);
    read = co_await ReadExact(stream_, absl::MakeSpan(frame.payload));
    frame.is_there = read.ok();
    co_return frame;
  }

  // Skips frames up to one of this type. Returns a frame that is not there if
  // the connection ends before.
  Co<ReceivedFrame> Next(uint8_t type) {
    for (;;) {
      ReceivedFrame frame = co_await Next();
      if (!frame.is_there || frame.type == type) co_return frame;
    }
  }

 private:
  DuplexStream stream_;
};

// Header blocks, without Huffman's code and without the dynamic table.
inline std::string StatusBlock(std::string_view status) {
  return absl::StrCat("\x08\x03", status);
}
inline std::string FieldBlock(std::string_view name, std::string_view value) {
  std::string block(1, '\0');
  for (const std::string_view text : {name, value}) {
    block += static_cast<char>(text.size());
    block += text;
  }
  return block;
}

// Numbers of 4 bytes.
inline std::string Number(uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) {
    bytes += static_cast<char>(number >> shift);
  }
  return bytes;
}

// Returns a setting.
inline std::string Setting(uint8_t id, uint32_t value) {
  return absl::StrCat(std::string(1, '\0'),
                      std::string(1, static_cast<char>(id)), Number(value));
}

// Returns the frames of a response with a body.
inline std::string Reply(uint32_t id, std::string_view body) {
  return absl::StrCat(Frame(kHeaders, kEndHeaders, id, StatusBlock("200")),
                      Frame(kData, kEndStream, id, body));
}

// Returns a server of one scripted function for each connection. The last
// function also serves further connections.
using ScriptFunction = std::function<Co<>(Script& script)>;

inline ServeEnd Scripted(std::vector<ScriptFunction> scripts) {
  return [scripts](DuplexStream server, size_t number) -> Co<> {
    return [](DuplexStream server, ScriptFunction script) -> Co<> {
      Script self(std::move(server));
      co_await script(self);
    }(std::move(server), scripts[std::min(number, scripts.size()) - 1]);
  };
}

// Sends a request with a body, and returns "status body", or the error.
inline Co<std::string> SendBody(const Client& client, std::string method,
                                std::string url, Body body) {
  absl::StatusOr<Request> request = Request::To(method, url);
  if (!request.ok()) co_return request.status().ToString();
  request->body = std::move(body);
  absl::StatusOr<Response> response = co_await client.Send(*std::move(request));
  if (!response.ok()) co_return response.status().ToString();
  const absl::StatusOr<std::string> text =
      co_await response->body.ReadAll(10 << 20);
  if (!text.ok()) co_return text.status().ToString();
  co_return absl::StrCat(response->status, " ", *text);
}

}  // namespace rouse::http::h2

#endif  // ROUSE_HTTP_H2_CLIENT_CLIENT_FIXTURE_H_
