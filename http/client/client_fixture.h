// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers for tests of the client: a client whose connections lead to functions
// of the test, and such functions.

#ifndef ROUSE_HTTP_CLIENT_CLIENT_FIXTURE_H_
#define ROUSE_HTTP_CLIENT_CLIENT_FIXTURE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client/client.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/url.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/write_all.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"

namespace rouse::http {

// Serves one end of a `Duplex`: the server of a test.
using ServeEnd = std::function<Co<>(DuplexStream server, size_t number)>;

// A client whose connections lead to `serve`, and what its connector has seen.
class TestClient {
 public:
  explicit TestClient(ServeEnd serve, ClientOptions options = ClientOptions(),
                      size_t capacity = 1000)
      : serve_(std::move(serve)) {
    options.connect = [this, capacity](Origin origin) {
      return Connect(std::move(origin), capacity);
    };
    client_.emplace(std::move(options));
  }

  const Client& client() const { return *client_; }
  const std::vector<std::string>& connected() const { return connected_; }

 private:
  // Keeps the function for as long as its coroutine.
  static Co<> Run(ServeEnd serve, DuplexStream server, size_t number) {
    co_await serve(std::move(server), number);
  }

  Co<absl::StatusOr<ByteStream>> Connect(Origin origin, size_t capacity) {
    connected_.push_back(origin.host_port());
    if (origin.host == "nowhere") {
      co_return absl::UnavailableError("no route");
    }
    std::pair<DuplexStream, DuplexStream> ends = Duplex(capacity);
    Spawn(Run(serve_, std::move(ends.second), connected_.size())).Detach();
    co_return ByteStream(std::move(ends.first));
  }

  const ServeEnd serve_;
  std::vector<std::string> connected_;
  std::optional<Client> client_;
};

// Answers with the method, the field Host, the target and the body.
inline Co<absl::StatusOr<Response>> EchoWithHost(Request request) {
  std::string body = co_await OrReturn(request.body.ReadAll(1 << 20));
  co_return Response::Text(absl::StrCat(
      request.method, " ", request.headers.Get("Host").value_or("-"), " ",
      request.target, " ", body));
}

inline Co<> ServeEcho(DuplexStream server, size_t) {
  (co_await ServeConnection(std::move(server), &EchoWithHost)).IgnoreError();
}

// Reads the head of a request.
inline Co<std::string> ReadHead(const DuplexStream& stream) {
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    char byte[1];
    const absl::StatusOr<size_t> size =
        co_await Read(stream, absl::MakeSpan(byte));
    if (!size.ok() || *size == 0) break;
    head += byte[0];
  }
  co_return head;
}

// Returns a server that answers each request with `answer`.
inline ServeEnd Always(std::string answer, bool closes = false) {
  return [answer, closes](DuplexStream server, size_t) -> Co<> {
    return [](DuplexStream server, std::string answer, bool closes) -> Co<> {
      for (;;) {
        const std::string head = co_await ReadHead(server);
        if (head.empty()) co_return;
        const absl::Status sent = co_await WriteAll(server, answer);
        if (!sent.ok() || closes) co_return;
      }
    }(std::move(server), answer, closes);
  };
}

// Returns "status body", or the error.
inline Co<std::string> Fetch(const Client& client, std::string url) {
  absl::StatusOr<Response> response = co_await client.Get(std::move(url));
  if (!response.ok()) co_return response.status().ToString();
  const absl::StatusOr<std::string> body =
      co_await response->body.ReadAll(1 << 20);
  if (!body.ok()) co_return body.status().ToString();
  co_return absl::StrCat(response->status, " ", *body);
}

}  // namespace rouse::http

#endif  // ROUSE_HTTP_CLIENT_CLIENT_FIXTURE_H_
