// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests TLS against curl, and against `openssl s_client` and `s_server`.

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_line.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/testing/internal/peer_process.h"
#include "rouse/testing/internal/some_bytes.h"
#include "rouse/tls/test_certificates.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_stream.h"
#include "rouse/tls/tls_version.h"

namespace rouse {
namespace {

using absl_testing::IsOk;
using absl_testing::StatusIs;
using ::testing::HasSubstr;

class TlsPeersTest : public PeerTest {
 protected:
  // Writes a file, and returns its path.
  std::string File(std::string_view text) {
    std::string path = NewPath();
    std::ofstream(path) << text;
    return path;
  }

  TlsAcceptor::Builder ServerBuilder() {
    TlsAcceptor::Builder builder;
    builder.Certificate(identity_.chain, identity_.key);
    return builder;
  }
  TlsConnector::Builder ClientBuilder() {
    TlsConnector::Builder builder;
    builder.SystemRoots(false).AddRoots(authority_.pem());
    return builder;
  }

  // Accepts one connection.
  Co<absl::StatusOr<TlsStream<TcpStream>>> Accept(TlsAcceptor acceptor) {
    auto accepted = co_await OrReturn(listener_.Accept());
    TlsHandshake<TcpStream> handshake =
        acceptor.Accept(std::move(accepted.stream));
    co_return co_await std::move(handshake);
  }

  // Answers one HTTP request with the body of the request.
  Co<absl::Status> ServeHttp(TlsAcceptor acceptor) {
    Co<absl::StatusOr<TlsStream<TcpStream>>> accept =
        Accept(std::move(acceptor));
    TlsStream<TcpStream> tls = co_await OrReturn(std::move(accept));
    BufReader reader(tls);
    size_t size = 0;
    for (;;) {
      std::string line;
      co_await OrReturn(ReadLine(reader, line, 8192));
      if (line.empty()) break;
      constexpr std::string_view kLength = "content-length: ";
      if (absl::StartsWithIgnoreCase(line, kLength) &&
          !absl::SimpleAtoi(line.substr(kLength.size()), &size)) {
        co_return absl::InvalidArgumentError(line);
      }
    }
    std::string body(size, '\0');
    co_await OrReturn(ReadExact(reader, absl::MakeSpan(body)));
    const std::string head =
        absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", size,
                     "\r\nConnection: close\r\n\r\n");
    co_await OrReturn(WriteAll(tls, head));
    co_await OrReturn(WriteAll(tls, body));
    co_return co_await Shutdown(tls);
  }

  // Sends back `size` bytes, and ends.
  Co<absl::Status> EchoBytes(TlsAcceptor acceptor, size_t size) {
    Co<absl::StatusOr<TlsStream<TcpStream>>> accept =
        Accept(std::move(acceptor));
    TlsStream<TcpStream> tls = co_await OrReturn(std::move(accept));
    std::string bytes(size, '\0');
    co_await OrReturn(ReadExact(tls, absl::MakeSpan(bytes)));
    co_await OrReturn(WriteAll(tls, bytes));
    co_return co_await Shutdown(tls);
  }

  // Runs a peer with `args` beside `server`; returns both results.
  std::pair<absl::Status, std::string> Serve(Co<absl::Status> server,
                                             std::vector<std::string> args,
                                             std::string_view input) {
    PeerProcess peer(args);
    auto both = Join(std::move(server), peer.Communicate(input));
    auto [served, output] = Run(both);
    succeeded_ = peer.HasSucceeded();
    return {std::move(served), output.value_or("")};
  }

  std::vector<std::string> Curl(std::vector<std::string> more) {
    const std::string port = absl::StrCat(listener_.local_addr()->port());
    std::vector<std::string> args = {
        "curl",
        "--silent",
        "--show-error",
        "--noproxy",
        "*",
        "--resolve",
        absl::StrCat("example.com:", port, ":127.0.0.1"),
        "-H",
        "Expect:",
        "--data-binary",
        "@-",
        absl::StrCat("https://example.com:", port, "/")};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  // Returns the command for a client. Without -quiet, lines of the input can be
  // commands.
  std::vector<std::string> Client(std::vector<std::string> more) {
    std::vector<std::string> args = {"openssl",
                                     "s_client",
                                     "-connect",
                                     listener_.local_addr()->ToString(),
                                     "-servername",
                                     "example.com",
                                     "-verify_return_error",
                                     "-CAfile",
                                     File(authority_.pem())};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  TestAuthority authority_;
  TestIdentity identity_ = authority_.Issue({"example.com"});
  TcpListener listener_ = TcpListener::Bind(SocketAddr::Localhost(0)).value();
  std::string bytes_ = SomeBytes(1 << 20);
  bool succeeded_ = false;
};

TEST_F(TlsPeersTest, CurlGetsItsPostBack) {
  ROUSE_SKIP_WITHOUT("curl");
  const TlsAcceptor server = ServerBuilder().Alpn({"http/1.1"}).Build().value();
  for (const std::string version : {"1.2", "1.3"}) {
    auto [served, output] =
        Serve(ServeHttp(server),
              Curl({"--cacert", File(authority_.pem()),
                    absl::StrCat("--tlsv", version), "--tls-max", version}),
              bytes_);
    EXPECT_THAT(served, IsOk());
    EXPECT_TRUE(succeeded_);
    EXPECT_TRUE(output == bytes_);
  }
}

TEST_F(TlsPeersTest, CurlRefusesAnUnknownAuthority) {
  ROUSE_SKIP_WITHOUT("curl");
  auto [served, output] =
      Serve(ServeHttp(ServerBuilder().Build().value()), Curl({}), "question");
  EXPECT_FALSE(succeeded_);
  EXPECT_THAT(served, StatusIs(absl::StatusCode::kUnauthenticated,
                               HasSubstr("the client 127.0.0.1:")));
}

TEST_F(TlsPeersTest, CurlPresentsACertificate) {
  ROUSE_SKIP_WITHOUT("curl");
  const TestIdentity alice = authority_.Issue({"alice"});
  const TlsAcceptor server = ServerBuilder()
                                 .AddRoots(authority_.pem())
                                 .RequireClientCertificate()
                                 .Build()
                                 .value();
  const std::string root = File(authority_.pem());
  auto [served, output] =
      Serve(ServeHttp(server),
            Curl({"--cacert", root, "--cert", File(alice.chain), "--key",
                  File(alice.key)}),
            "question");
  EXPECT_THAT(served, IsOk());
  EXPECT_EQ(output, "question");

  std::tie(served, output) =
      Serve(ServeHttp(server), Curl({"--cacert", root}), "question");
  EXPECT_FALSE(succeeded_);
  EXPECT_THAT(served, StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST_F(TlsPeersTest, OpensslGetsItsBytesBack) {
  ROUSE_SKIP_WITHOUT("openssl");
  const TlsAcceptor server = ServerBuilder().Build().value();
  for (const std::string version : {"-tls1_2", "-tls1_3"}) {
    auto [served, output] = Serve(EchoBytes(server, bytes_.size()),
                                  Client({version, "-quiet"}), bytes_);
    EXPECT_THAT(served, IsOk());
    EXPECT_TRUE(output == bytes_);
  }
}

TEST_F(TlsPeersTest, OpensslUpdatesKeys) {
  ROUSE_SKIP_WITHOUT("openssl");
  PeerProcess peer(Client({"-tls1_3"}));
  auto talk = [&]() -> Co<absl::Status> {
    // "K" has both ends change their keys.
    for (int i = 0; i < 3; ++i) {
      co_await OrReturn(WriteAll(*peer.in, "K\n"));
      co_await OrReturn(PeerProcess::FindLine(*peer.err, "KEYUPDATE"));
      co_await OrReturn(WriteAll(*peer.in, "ping\n"));
      co_await OrReturn(PeerProcess::FindLine(*peer.out, "pong"));
    }
    peer.in.reset();
    co_return absl::OkStatus();
  };
  auto serve = [&]() -> Co<absl::Status> {
    Co<absl::StatusOr<TlsStream<TcpStream>>> accept =
        Accept(ServerBuilder().Build().value());
    TlsStream<TcpStream> tls = co_await OrReturn(std::move(accept));
    for (int i = 0; i < 3; ++i) {
      char ping[5];
      co_await OrReturn(ReadExact(tls, absl::MakeSpan(ping)));
      co_await OrReturn(tls.UpdateKeys());
      co_await OrReturn(WriteAll(tls, "pong\n"));
    }
    co_return co_await Shutdown(tls);
  };
  auto both = Join(serve(), talk());
  auto [served, talked] = Run(both);
  EXPECT_THAT(served, IsOk());
  EXPECT_THAT(talked, IsOk());
}

TEST_F(TlsPeersTest, RefusesRenegotiation) {
  ROUSE_SKIP_WITHOUT("openssl");
  PeerProcess peer(Client({"-tls1_2"}));
  auto talk = [&]() -> Co<absl::Status> {
    co_await OrReturn(WriteAll(*peer.in, "ping\n"));
    co_await OrReturn(PeerProcess::FindLine(*peer.out, "pong"));
    co_await OrReturn(WriteAll(*peer.in, "R\n"));
    co_await OrReturn(PeerProcess::FindLine(*peer.err, "no renegotiation"));
    co_return absl::OkStatus();
  };
  auto serve = [&]() -> Co<absl::Status> {
    Co<absl::StatusOr<TlsStream<TcpStream>>> accept =
        Accept(ServerBuilder().Build().value());
    TlsStream<TcpStream> tls = co_await OrReturn(std::move(accept));
    char ping[5];
    co_await OrReturn(ReadExact(tls, absl::MakeSpan(ping)));
    co_await OrReturn(WriteAll(tls, "pong\n"));
    // The client gives up.
    char buffer[16];
    co_return (co_await Read(tls, absl::MakeSpan(buffer))).status();
  };
  auto both = Join(serve(), talk());
  auto [served, talked] = Run(both);
  EXPECT_FALSE(served.ok());
  EXPECT_THAT(talked, IsOk());
}

TEST_F(TlsPeersTest, TalksToAServerOfOpenssl) {
  ROUSE_SKIP_WITHOUT("openssl");
  const TestIdentity alice = authority_.Issue({"alice"});
  const TlsConnector client = ClientBuilder()
                                  .Certificate(alice.chain, alice.key)
                                  .Alpn({"rev"})
                                  .Build()
                                  .value();
  for (const std::string version : {"-tls1_2", "-tls1_3"}) {
    SCOPED_TRACE(version);
    PeerProcess peer({"openssl", "s_server", "-accept", "127.0.0.1:0", version,
                      "-cert", File(identity_.chain), "-key",
                      File(identity_.key), "-rev", "-alpn", "rev", "-Verify",
                      "1", "-verify_return_error", "-CAfile",
                      File(authority_.pem())});
    const std::string line =
        Run(PeerProcess::FindLine(*peer.out, "ACCEPT")).value();
    const SocketAddr addr =
        SocketAddr::Parse(line.substr(line.rfind(' ') + 1)).value();
    for (int i = 0; i < 2; ++i) {
      TcpStream tcp = Run(TcpStream::Connect(addr)).value();
      absl::StatusOr<TlsStream<TcpStream>> tls =
          Run(client.Connect("example.com", std::move(tcp)));
      ASSERT_THAT(tls, IsOk());
      EXPECT_EQ(tls->alpn(), "rev");
      EXPECT_EQ(tls->resumed(), i > 0);
      ASSERT_THAT(Run(WriteAll(*tls, "hello\n")), IsOk());
      std::string answer(6, '\0');
      ASSERT_THAT(Run(ReadExact(*tls, absl::MakeSpan(answer))), IsOk());
      EXPECT_EQ(answer, "olleh\n");
      ASSERT_THAT(Run(Shutdown(*tls)), IsOk());
    }
  }
}

}  // namespace
}  // namespace rouse
