// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that bytes arrive through `CopyBidirectional()` as they were sent.

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/try_join.h"
#include "rouse/io/copy_bidirectional.h"
#include "rouse/io/flush.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/testing/internal/peer_process.h"

namespace rouse {
namespace {

// A request as sent by curl 7.88.
constexpr std::string_view kRequest =
    "POST /upload?name=a%20b HTTP/1.1\r\n"
    "Host: 127.0.0.1:8080\r\n"
    "User-Agent: curl/7.88.1\r\n"
    "Accept: */*\r\n"
    "Content-Length: 28\r\n"
    "Content-Type: application/x-www-form-urlencoded\r\n"
    "\r\n"
    "field=value&other=%00%ff+end";

// A server's answer in chunks, with bytes that are not text.
constexpr char kResponseBytes[] =
    "HTTP/1.1 100 Continue\r\n"
    "\r\n"
    "HTTP/1.1 200 OK\r\n"
    "Server: SimpleHTTP/0.6 Python/3.11.2\r\n"
    "Content-Type: application/octet-stream\r\n"
    "Transfer-Encoding: chunked\r\n"
    "Connection: keep-alive\r\n"
    "\r\n"
    "5\r\nhello\r\n"
    "8;name=value\r\n\0\1\2\xff\r\n\r\n\r\n"
    "0\r\n"
    "Trailer: last\r\n"
    "\r\n";
constexpr std::string_view kResponse(kResponseBytes, sizeof kResponseBytes - 1);

class ProxyTest : public PeerTest {
 protected:
  // Forwards one connection to `proxy_` to `server`.
  Co<absl::StatusOr<BytesCopied>> Proxy(SocketAddr server) {
    const TcpListener::Accepted accepted = co_await OrReturn(proxy_.Accept());
    const TcpStream onward = co_await OrReturn(TcpStream::Connect(server));
    co_return co_await CopyBidirectional(accepted.stream, onward);
  }

  TcpListener proxy_ = TcpListener::Bind(SocketAddr::Localhost(0)).value();
  SocketAddr proxy_addr_ = proxy_.local_addr().value();
};

// Writes `data` in pieces of random sizes, each in its own packet.
Co<absl::Status> WriteInPieces(const TcpStream& stream, std::string_view data,
                               uint64_t seed) {
  FastRand rand(seed);
  co_await OrReturn(stream.SetNoDelay(true));
  while (!data.empty()) {
    const std::string_view piece = data.substr(0, 1 + rand.Below(40));
    co_await OrReturn(WriteAll(stream, piece));
    data.remove_prefix(piece.size());
  }
  co_return absl::OkStatus();
}

Co<absl::StatusOr<std::string>> Client(SocketAddr addr, uint64_t seed) {
  const TcpStream stream = co_await OrReturn(TcpStream::Connect(addr));
  co_await OrReturn(WriteInPieces(stream, kRequest, seed));
  std::string response;
  co_await OrReturn(ReadToEnd(stream, response));
  co_return response;
}

// The client waits for the server's end before ending its own side.
Co<absl::StatusOr<std::string>> Server(const TcpListener& listener,
                                       uint64_t seed) {
  const TcpListener::Accepted accepted = co_await OrReturn(listener.Accept());
  std::string request(kRequest.size(), '\0');
  co_await OrReturn(ReadExact(accepted.stream, absl::MakeSpan(request)));
  co_await OrReturn(WriteInPieces(accepted.stream, kResponse, seed));
  co_await OrReturn(Shutdown(accepted.stream));
  co_await OrReturn(ReadToEnd(accepted.stream, request));
  co_return request;
}

TEST_F(ProxyTest, ForwardsACapturedHttpExchangeUnchanged) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto all = Run(TryJoin(Client(proxy_addr_, seed),
                                 Proxy(listener.local_addr().value()),
                                 Server(listener, seed + 1000)));
    ASSERT_TRUE(all.ok()) << all.status() << " with seed " << seed;
    const auto& [response, copied, request] = *all;
    EXPECT_TRUE(request == kRequest) << "with seed " << seed;
    EXPECT_TRUE(response == kResponse) << "with seed " << seed;
    EXPECT_EQ(copied.a_to_b, kRequest.size());
    EXPECT_EQ(copied.b_to_a, kResponse.size());
  }
}

// Forwards a TLS handshake and TLS records between a client and a server from
// another project.
TEST_F(ProxyTest, ForwardsTlsBetweenOpensslPrograms) {
  ROUSE_SKIP_WITHOUT("openssl");
  const std::string key = NewPath();
  const std::string certificate = NewPath();
  {
    PeerProcess make({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                      "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                      "-subj", "/CN=localhost", "-keyout", key, "-out",
                      certificate});
    ASSERT_TRUE(Run(make.Communicate("")).ok());
    ASSERT_TRUE(make.HasSucceeded());
  }
  // Returns each line in reverse.
  PeerProcess server({"openssl", "s_server", "-accept", "127.0.0.1:0", "-rev",
                      "-naccept", "1", "-key", key, "-cert", certificate});
  const std::string line =
      Run(PeerProcess::FindLine(*server.out, "ACCEPT")).value();
  const SocketAddr addr =
      SocketAddr::Parse(line.substr(line.rfind(' ') + 1)).value();
  PeerProcess client({"openssl", "s_client", "-connect", proxy_addr_.ToString(),
                      "-quiet", "-verify_quiet", "-CAfile", certificate,
                      "-verify_return_error"});
  // The server ends the connection on request.
  const auto both =
      Run(TryJoin(Proxy(addr), client.Communicate("hello, world\nCLOSE\n")));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(std::get<1>(*both), "dlrow ,olleh\n");
  // The handshake has passed in both directions.
  EXPECT_GT(std::get<0>(*both).a_to_b, 200u);
  EXPECT_GT(std::get<0>(*both).b_to_a, 400u);
}

}  // namespace
}  // namespace rouse
