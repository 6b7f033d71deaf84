// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of tls.md, word for word (tls_quotes_test sees to that), and
// tests that run them.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/io/adapt/locked_split.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/timeout.h"
#include "rouse/tls/connect_tls.h"
#include "rouse/tls/test_certificates.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_stream.h"
#include "rouse/tls/tls_version.h"

namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

// A client.

rouse::Co<absl::StatusOr<std::string>> Get(rouse::TlsConnector connector,
                                           std::string host_port) {
  auto connect = rouse::Timeout(absl::Seconds(10),
                                rouse::ConnectTls(connector, host_port));
  rouse::TlsStream<rouse::TcpStream> tls =
      co_await rouse::OrReturn(std::move(connect));
  co_await rouse::OrReturn(rouse::WriteAll(tls, "GET / HTTP/1.0\r\n\r\n"));
  std::string answer;
  co_await rouse::OrReturn(rouse::ReadToEnd(tls, answer));
  co_return answer;
}

// A server.

rouse::Co<absl::Status> Serve(rouse::TlsAcceptor acceptor,
                              rouse::TcpStream tcp) {
  auto handshake =
      rouse::Timeout(absl::Seconds(10), acceptor.Accept(std::move(tcp)));
  rouse::TlsStream<rouse::TcpStream> tls =
      co_await rouse::OrReturn(std::move(handshake));
  co_await rouse::OrReturn(rouse::WriteAll(tls, "HTTP/1.0 200 OK\r\n\r\nhi"));
  co_return co_await rouse::Shutdown(tls);
}

rouse::Co<absl::Status> Listen(rouse::TlsAcceptor acceptor,
                               rouse::TcpListener& listener) {
  for (;;) {
    auto accepted = co_await rouse::OrReturn(listener.Accept());
    rouse::Spawn(Serve(acceptor, std::move(accepted.stream))).Detach();
  }
}

class TlsExamples : public ::testing::Test {
 protected:
  rouse::TestAuthority authority_;
  rouse::TestIdentity identity_ = authority_.Issue({"localhost", "127.0.0.1"});
  rouse::TlsAcceptor acceptor_ =
      rouse::TlsAcceptor::Builder()
          .Certificate(identity_.chain, identity_.key)
          .Build()
          .value();
  rouse::TlsConnector connector_ = rouse::TlsConnector::Builder()
                                       .SystemRoots(false)
                                       .AddRoots(authority_.pem())
                                       .Build()
                                       .value();
  rouse::Runtime runtime_ = rouse::Builder::CurrentThread().Build().value();
};

TEST_F(TlsExamples, ClientAndServer) {
  const auto answer =
      runtime_.BlockOn([&]() -> rouse::Co<absl::StatusOr<std::string>> {
        rouse::TcpListener listener = co_await rouse::OrReturn(
            rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)));
        rouse::JoinHandle<absl::Status> server =
            rouse::Spawn(Listen(acceptor_, listener));
        rouse::Co<absl::StatusOr<std::string>> get =
            Get(connector_, listener.local_addr()->ToString());
        absl::StatusOr<std::string> got = co_await std::move(get);
        server.Abort();
        (void)co_await server;
        co_return got;
      });
  EXPECT_THAT(answer, IsOkAndHolds("HTTP/1.0 200 OK\r\n\r\nhi"));
}

// A server that knows its clients.

absl::StatusOr<rouse::TlsAcceptor> MakeInternalAcceptor(std::string chain,
                                                        std::string key,
                                                        std::string roots) {
  return rouse::TlsAcceptor::Builder()
      .Certificate(chain, key)
      .AddRoots(roots)
      .RequireClientCertificate()
      .MinVersion(rouse::TlsVersion::k1_3)
      .Alpn({"h2", "http/1.1"})
      .Build();
}

TEST_F(TlsExamples, ClientCertificates) {
  const auto acceptor =
      MakeInternalAcceptor(identity_.chain, identity_.key, authority_.pem());
  ASSERT_THAT(acceptor, IsOk());
  const auto served = runtime_.BlockOn([&]() -> rouse::Co<absl::Status> {
    auto [a, b] = rouse::Duplex(1 << 16);
    auto both = rouse::Join(connector_.Connect("localhost", std::move(a)),
                            acceptor->Accept(std::move(b)));
    auto [client, server] = co_await std::move(both);
    co_return server.status();
  });
  EXPECT_THAT(served, StatusIs(absl::StatusCode::kUnauthenticated));
}

// Two tasks.

template <class S>
rouse::Co<absl::Status> Send(rouse::LockedWriteHalf<S> writer) {
  co_await rouse::OrReturn(rouse::WriteAll(writer, "to the peer"));
  co_return co_await rouse::Shutdown(writer);
}

template <class S>
rouse::Co<absl::StatusOr<std::string>> Exchange(rouse::TlsStream<S> tls) {
  auto [reader, writer] = rouse::SplitLocked(std::move(tls));
  auto sending = rouse::Spawn(Send(std::move(writer)));
  std::string received;
  co_await rouse::OrReturn(rouse::ReadToEnd(reader, received));
  co_await rouse::OrReturn(sending);
  co_return received;
}

TEST_F(TlsExamples, TwoTasks) {
  const auto received =
      runtime_.BlockOn([&]() -> rouse::Co<absl::StatusOr<std::string>> {
        auto [a, b] = rouse::Duplex(1 << 16);
        auto both = rouse::Join(connector_.Connect("localhost", std::move(a)),
                                acceptor_.Accept(std::move(b)));
        auto [client, server] = co_await std::move(both);
        auto first = rouse::Spawn(Exchange(*std::move(client)));
        auto second = rouse::Spawn(Exchange(*std::move(server)));
        co_await rouse::OrReturn(first);
        co_return co_await rouse::OrReturn(second);
      });
  EXPECT_THAT(received, IsOkAndHolds("to the peer"));
}

}  // namespace
