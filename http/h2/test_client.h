// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: test_client.h
// -----------------------------------------------------------------------------
//
// A client for tests of the server: nghttp2's own client at an end of a
// `Duplex`. The test decides when the client sends, receives and opens its
// windows, and can send frames of its own.

#ifndef ROUSE_HTTP_H2_TEST_CLIENT_H_
#define ROUSE_HTTP_H2_TEST_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rouse/future/co.h"
#include "rouse/http/headers.h"
#include "rouse/io/duplex.h"
#include "rouse/waker/context.h"

struct nghttp2_session;

namespace rouse::http::h2 {

// TestClient
//
// A client with one connection. For a single thread at a time.
class TestClient {
 public:
  struct Options {
    // Not an aggregate, which g++ 12 would destroy twice in a `co_await`.
    // NOLINTNEXTLINE(modernize-use-equals-default)
    Options() {}

    // The window of each response, if not negative.
    int64_t stream_window = -1;
    // Windows are opened as bytes arrive, rather than by the test.
    bool opens_windows = true;
    // Each PING is answered.
    bool answers_pings = true;
  };

  // The parts of a response that have arrived.
  struct Reply {
    int status = 0;
    std::vector<int> informational;  // status 1xx
    Headers headers;
    std::string body;
    Headers trailers;
    bool has_ended = false;  // with END_STREAM
    bool is_closed = false;
    uint32_t error = 0;  // of RST_STREAM
  };

  // A request's body that the test continues.
  struct Upload {
    std::string unsent;
    bool has_ended = false;
    Headers trailers;
    size_t sent = 0;
  };

  explicit TestClient(DuplexStream stream, Options options = Options());
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient();

  // Begin a request, which `Pump()` sends. Return its id.
  int32_t Get(std::string_view path, const Headers& headers = Headers());
  int32_t Send(std::string_view method, std::string_view path,
               const Headers& headers, std::shared_ptr<Upload> upload = {});
  int32_t Post(std::string_view path, std::string_view body,
               const Headers& headers = Headers());
  // Sends exactly these fields, with END_STREAM.
  int32_t SendFields(
      const std::vector<std::pair<std::string, std::string>>& fields);

  // Continues a request after its `Upload` was changed.
  void Resume(int32_t id);
  void Reset(int32_t id, uint32_t error = 8);
  // Opens the window of stream `id`, or of the connection for 0.
  void OpenWindow(int32_t id, int32_t bytes);
  // Sends bytes as they are, after what is to be sent already.
  void SendRaw(std::string_view bytes);
  // Closes the client's direction.
  void EndWriting();

  // Sends and receives until nothing moves any more.
  // REQUIRES: the runtime was made by `PausedRuntime()`.
  Co<> Pump();
  // Sends and receives as many bytes as possible. Returns whether any byte was
  // sent or received. If not, the task is woken when more is possible.
  bool Step(Context& cx);
  // Stops receiving, until called again.
  void SetReading(bool reads) { reads_ = reads; }

  // Returns the response to request `id`, as far as the response has arrived.
  Reply& reply(int32_t id) { return replies_[id]; }
  // Returns the last ids and error codes of the GOAWAY frames so far.
  const std::vector<std::pair<int32_t, uint32_t>>& goaways() const {
    return goaways_;
  }
  const std::map<int, uint32_t>& settings() const { return settings_; }
  // Returns whether the server has ended the connection.
  bool has_ended() const { return has_ended_; }
  // Returns the number of bytes that may be sent on stream `id`.
  int32_t window(int32_t id) const;

 private:
  struct Callbacks;
  friend Callbacks;

  // Notes the GOAWAY frames, even those that nghttp2 ignores.
  void FindGoaways(std::string_view bytes);

  DuplexStream stream_;
  nghttp2_session* session_ = nullptr;
  std::string out_;
  std::string in_;  // an incomplete frame
  bool reads_ = true;
  bool has_ended_ = false;
  bool has_failed_ = false;
  std::map<int32_t, Reply> replies_;
  std::map<int32_t, std::shared_ptr<Upload>> uploads_;
  std::vector<std::pair<int32_t, uint32_t>> goaways_;
  std::map<int, uint32_t> settings_;
};

// Returns a frame.
std::string Frame(uint8_t type, uint8_t flags, uint32_t id,
                  std::string_view payload = "");

// Returns the first bytes of a client: the preface and an empty SETTINGS.
std::string Preface();

// Returns the payload of HEADERS for "GET /" of "http://x", without Huffman's
// code and without the dynamic table.
std::string HeaderBlock(std::string_view method = "GET");

}  // namespace rouse::http::h2

#endif  // ROUSE_HTTP_H2_TEST_CLIENT_H_
