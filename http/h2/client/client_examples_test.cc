// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of docs/guide/http.md for the client of HTTP/2, word for word
// (http_quotes_test sees to that), and tests of the examples.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client.h"
#include "rouse/http/h2/client_protocol.h"
#include "rouse/http/h2/protocol.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server.h"
#include "rouse/http/server_options.h"
#include "rouse/http/url.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/tls/connect_tls.h"
#include "rouse/tls/test_certificates.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"

namespace http = rouse::http;

namespace {

rouse::Co<absl::StatusOr<http::ByteStream>> ConnectSecurely(
    rouse::TlsConnector connector, http::Origin origin) {
  auto stream = co_await rouse::OrReturn(
      rouse::ConnectTls(std::move(connector), origin.host_port()));
  co_return http::ByteStream(std::move(stream));
}

absl::StatusOr<http::Client> MakeClient() {
  absl::StatusOr<rouse::TlsConnector> connector =
      rouse::TlsConnector::Builder().Alpn({"h2", "http/1.1"}).Build();
  if (!connector.ok()) return connector.status();
  http::ClientOptions options;
  options.http2 = http::h2::ClientProtocol();
  options.connect = [connector = *connector](http::Origin origin) {
    return ConnectSecurely(connector, std::move(origin));
  };
  return http::Client(std::move(options));
}

http::Response Hello(const http::Request&) {
  return http::Response::Text("hello");
}

TEST(Http2ClientExamples, ConnectsByTls) {
  const rouse::TestAuthority authority;
  const rouse::TestIdentity identity = authority.Issue({"127.0.0.1"});
  const rouse::TlsAcceptor acceptor =
      rouse::TlsAcceptor::Builder()
          .Certificate(identity.chain, identity.key)
          .Alpn({"h2"})
          .Build()
          .value();
  const rouse::TlsConnector connector = rouse::TlsConnector::Builder()
                                            .SystemRoots(false)
                                            .AddRoots(authority.pem())
                                            .Alpn({"h2", "http/1.1"})
                                            .Build()
                                            .value();
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  const auto run = [&]() -> rouse::Co<absl::StatusOr<std::string>> {
    rouse::TcpListener listener = co_await rouse::OrReturn(
        rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)));
    std::string url = absl::StrCat(
        "https://", co_await rouse::OrReturn(listener.local_addr()), "/");
    const auto secure = [acceptor](rouse::TcpStream stream) mutable {
      return acceptor.Accept(std::move(stream));
    };
    http::ServerOptions server;
    server.http2 = http::h2::Protocol();
    rouse::Spawn(
        http::ServeSecured(std::move(listener), secure, &Hello, server))
        .Detach();
    http::ClientOptions options;
    options.http2 = http::h2::ClientProtocol();
    options.connect = [connector](http::Origin origin) {
      return ConnectSecurely(connector, std::move(origin));
    };
    const http::Client client(std::move(options));
    http::Response response =
        co_await rouse::OrReturn(client.Get(std::move(url)));
    co_return co_await response.body.ReadAll(100);
  };
  const absl::StatusOr<std::string> text = runtime.BlockOn(run);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "hello");
}

TEST(Http2ClientExamples, NeedsAuthorities) {
  // A machine may trust no authority.
  const absl::StatusOr<http::Client> client = MakeClient();
  EXPECT_TRUE(client.ok() || absl::IsFailedPrecondition(client.status()))
      << client.status();
}

}  // namespace
