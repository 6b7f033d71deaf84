// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that ALPN decides which version of HTTP the client speaks.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client.h"
#include "rouse/http/client/client_fixture.h"
#include "rouse/http/h2/client_protocol.h"
#include "rouse/http/h2/protocol.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/http/url.h"
#include "rouse/io/duplex.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/paused_time.h"
#include "rouse/tls/test_certificates.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"

namespace rouse::http::h2 {
namespace {

using Protocols = std::vector<std::string_view>;

Co<> ServeTls(TlsAcceptor acceptor, DuplexStream stream,
              ServerOptions options) {
  auto tls = co_await acceptor.Accept(std::move(stream));
  CHECK_OK(tls);
  (co_await ServeConnection(*std::move(tls), &EchoWithHost, options))
      .IgnoreError();
}

// Fetches twice over TLS. Returns the results, and whether the two requests,
// which begin together, have shared a connection.
std::pair<std::string, bool> FetchWith(const Protocols& client_protocols,
                                       const Protocols& server_protocols,
                                       bool prior_knowledge = false) {
  const TestAuthority authority;
  const TestIdentity identity = authority.Issue({"a"});
  TlsConnector::Builder connects;
  connects.SystemRoots(false).AddRoots(authority.pem());
  if (!client_protocols.empty()) connects.Alpn(client_protocols);
  TlsAcceptor::Builder accepts;
  accepts.Certificate(identity.chain, identity.key);
  if (!server_protocols.empty()) accepts.Alpn(server_protocols);
  const TlsConnector connector = connects.Build().value();
  const TlsAcceptor acceptor = accepts.Build().value();

  Runtime runtime = PausedRuntime();
  int connections = 0;
  ClientOptions options;
  ClientLimits limits;
  limits.prior_knowledge = prior_knowledge;
  options.http2 = ClientProtocol(limits);
  options.connect = [&](Origin origin) -> Co<absl::StatusOr<ByteStream>> {
    ++connections;
    std::pair<DuplexStream, DuplexStream> ends = Duplex(4096);
    ServerOptions server;
    server.http2 = Protocol();
    Spawn(ServeTls(acceptor, std::move(ends.second), server)).Detach();
    auto handshake = connector.Connect(origin.host, std::move(ends.first));
    auto tls = co_await OrReturn(std::move(handshake));
    co_return ByteStream(std::move(tls));
  };
  const Client client(options);
  std::string result;
  const auto run = [&]() -> Co<> {
    JoinHandle<std::string> first = Spawn(Fetch(client, "https://a/"));
    JoinHandle<std::string> second = Spawn(Fetch(client, "https://a/"));
    result = (co_await first).value();
    const std::string other = (co_await second).value();
    EXPECT_EQ(result, other);
  };
  runtime.BlockOn(run);
  return {result, connections == 1};
}

TEST(Http2ClientTls, AlpnDecides) {
  const Protocols both = {"h2", "http/1.1"};
  const std::pair<std::string, bool> http2 = {"200 GET a / ", true};
  const std::pair<std::string, bool> http1 = {"200 GET a / ", false};
  EXPECT_EQ(FetchWith(both, both), http2);
  EXPECT_EQ(FetchWith(both, {"http/1.1"}), http1);
  EXPECT_EQ(FetchWith({"http/1.1"}, both), http1);
  // Without ALPN, only prior knowledge leads to HTTP/2.
  EXPECT_EQ(FetchWith({}, both), http1);
  EXPECT_EQ(FetchWith({}, both, /*prior_knowledge=*/true), http2);
  EXPECT_EQ(FetchWith(both, {"http/1.1"}, /*prior_knowledge=*/true), http1);
}

}  // namespace
}  // namespace rouse::http::h2
