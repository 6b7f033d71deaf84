// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests TLS over sockets, in tasks of both kinds of runtime.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/future/try_join.h"
#include "rouse/io/adapt/locked_split.h"
#include "rouse/io/copy.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/net/by_name.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/net/unix_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/testing/internal/some_bytes.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/timeout.h"
#include "rouse/tls/connect_tls.h"
#include "rouse/tls/test_certificates.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_stream.h"
#include "rouse/tls/tls_version.h"

#ifdef ABSL_HAVE_THREAD_SANITIZER
// ThreadSanitizer does not see the atomic counts of references inside the
// system's OpenSSL, and takes the last `free()` for a race.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libcrypto.so\ncalled_from_lib:libssl.so\n";
}
#endif

namespace rouse {
namespace {

using absl_testing::IsOk;
using absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class TlsTcpTest : public EitherRuntimeTest {
 protected:
  TlsTcpTest()
      : identity_(authority_.Issue({"localhost", "127.0.0.1"})),
        connector_(TlsConnector::Builder()
                       .SystemRoots(false)
                       .AddRoots(authority_.pem())
                       .Build()
                       .value()),
        acceptor_(TlsAcceptor::Builder()
                      .Certificate(identity_.chain, identity_.key)
                      .Build()
                      .value()) {}

  TestAuthority authority_;
  TestIdentity identity_;
  TlsConnector connector_;
  TlsAcceptor acceptor_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, TlsTcpTest, testing::Bool(), &KindOfRuntime);

// Sends back what arrives on a connection, until the end.
Co<absl::Status> Echo(TlsAcceptor acceptor, TcpStream stream) {
  TlsHandshake<TcpStream> handshake = acceptor.Accept(std::move(stream));
  TlsStream<TcpStream> tls = co_await OrReturn(std::move(handshake));
  co_await OrReturn(Copy(tls, tls));
  co_return co_await Shutdown(tls);
}

// Serves `count` connections.
Co<absl::Status> Serve(const TlsAcceptor& acceptor, TcpListener& listener,
                       int count) {
  std::vector<JoinHandle<absl::Status>> tasks;
  for (int i = 0; i < count; ++i) {
    auto accepted = co_await OrReturn(listener.Accept());
    tasks.push_back(Spawn(Echo(acceptor, std::move(accepted.stream))));
  }
  for (JoinHandle<absl::Status>& task : tasks) co_await OrReturn(task);
  co_return absl::OkStatus();
}

Co<absl::Status> Ask(TlsConnector connector, std::string host_port,
                     std::string question) {
  Co<absl::StatusOr<TlsStream<TcpStream>>> connect =
      ConnectTls(connector, std::move(host_port));
  TlsStream<TcpStream> tls = co_await OrReturn(std::move(connect));
  EXPECT_TRUE(tls.stream().NoDelay().value());
  co_await OrReturn(WriteAll(tls, question));
  co_await OrReturn(Shutdown(tls));
  std::string answer;
  co_await OrReturn(ReadToEnd(tls, answer));
  EXPECT_EQ(answer, question);
  co_return absl::OkStatus();
}

TEST_P(TlsTcpTest, ConnectsByNameAndByAddress) {
  Runtime runtime = MakeRuntime();
  auto main = [&]() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    const std::string port = absl::StrCat(listener.local_addr()->port());
    auto ask = [&]() -> Co<absl::Status> {
      co_await OrReturn(Ask(connector_, "127.0.0.1:" + port, "address"));
      co_return co_await Ask(connector_, "localhost:" + port, "name");
    };
    auto both = TryJoin(Serve(acceptor_, listener, 2), ask());
    co_await OrReturn(std::move(both));
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(main()), IsOk());
}

TEST_P(TlsTcpTest, MessagesNameTheClientAndTheServer) {
  Runtime runtime = MakeRuntime();
  auto main = [&]() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    const std::string addr = listener.local_addr()->ToString();
    // The connector without settings does not trust the test's authority.
    auto both = Join(Serve(acceptor_, listener, 1), ConnectTls(addr));
    auto [served, connected] = co_await std::move(both);
    EXPECT_THAT(connected, StatusIs(absl::StatusCode::kUnauthenticated,
                                    HasSubstr("certificate of \"127.0.0.1\"")));
    EXPECT_THAT(served, StatusIs(absl::StatusCode::kUnauthenticated,
                                 HasSubstr("the client 127.0.0.1:")));
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(main()), IsOk());
}

TEST_P(TlsTcpTest, ATimeoutEndsAHandshakeWithAPeerThatStops) {
  Runtime runtime = MakeRuntime();
  auto main = [&]() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    // A client that says nothing.
    TcpStream silent =
        co_await OrReturn(TcpStream::Connect(listener.local_addr().value()));
    auto accepted = co_await OrReturn(listener.Accept());
    absl::StatusOr<TlsStream<TcpStream>> tls = co_await Timeout(
        absl::Milliseconds(20), acceptor_.Accept(std::move(accepted.stream)));
    EXPECT_TRUE(TimedOut(tls.status())) << tls.status();
    // The connection is closed.
    char buffer[1];
    EXPECT_EQ(co_await OrReturn(silent.Read(absl::MakeSpan(buffer))), 0u);

    // A server that says nothing.
    auto connect =
        Timeout(absl::Milliseconds(20),
                ConnectTls(connector_, listener.local_addr()->ToString()));
    tls = co_await std::move(connect);
    EXPECT_TRUE(TimedOut(tls.status())) << tls.status();
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(main()), IsOk());
}

TEST_P(TlsTcpTest, HalvesInTwoTasksMoveBytesBothWays) {
  Runtime runtime = MakeRuntime();
  static constexpr size_t kSize = 4 << 20;
  auto peer = [](TlsHandshake<TcpStream> handshake) -> Co<absl::Status> {
    TlsStream<TcpStream> tls = co_await OrReturn(std::move(handshake));
    auto [reader, writer] = SplitLocked(std::move(tls));
    auto send = [](LockedWriteHalf<TlsStream<TcpStream>> half,
                   size_t bytes) -> Co<absl::Status> {
      const std::string data = SomeBytes(bytes);
      co_await OrReturn(WriteAll(half, data));
      co_return co_await Shutdown(half);
    };
    auto receive = [](LockedReadHalf<TlsStream<TcpStream>> half,
                      size_t bytes) -> Co<absl::Status> {
      std::string data;
      co_await OrReturn(ReadToEnd(half, data));
      EXPECT_TRUE(data == SomeBytes(bytes));
      co_return absl::OkStatus();
    };
    JoinHandle<absl::Status> sending = Spawn(send(std::move(writer), kSize));
    JoinHandle<absl::Status> receiving =
        Spawn(receive(std::move(reader), kSize));
    co_await OrReturn(sending);
    co_return co_await receiving;
  };
  auto main = [&]() -> Co<absl::Status> {
    for (const TlsVersion version : {TlsVersion::k1_2, TlsVersion::k1_3}) {
      const TlsConnector client = TlsConnector::Builder()
                                      .SystemRoots(false)
                                      .AddRoots(authority_.pem())
                                      .MaxVersion(version)
                                      .Build()
                                      .value();
      TcpListener listener =
          co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
      TcpStream a =
          co_await OrReturn(TcpStream::Connect(listener.local_addr().value()));
      auto b = co_await OrReturn(listener.Accept());
      JoinHandle<absl::Status> first =
          Spawn(peer(client.Connect("localhost", std::move(a))));
      JoinHandle<absl::Status> second =
          Spawn(peer(acceptor_.Accept(std::move(b.stream))));
      co_await OrReturn(first);
      co_await OrReturn(second);
    }
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(main()), IsOk());
}

TEST_P(TlsTcpTest, ServesAThousandConnections) {
  Runtime runtime = MakeRuntime();
  constexpr int kConnections = 1000, kAtOnce = 50;
  auto main = [&]() -> Co<absl::Status> {
    TcpListener listener =
        co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
    const std::string addr = listener.local_addr()->ToString();
    auto clients = [&]() -> Co<absl::Status> {
      for (int i = 0; i < kConnections / kAtOnce; ++i) {
        std::vector<JoinHandle<absl::Status>> tasks;
        for (int k = 0; k < kAtOnce; ++k) {
          tasks.push_back(
              Spawn(Ask(connector_, addr, absl::StrCat("question ", i, k))));
        }
        for (JoinHandle<absl::Status>& task : tasks) {
          co_await OrReturn(task);
        }
      }
      co_return absl::OkStatus();
    };
    auto both = TryJoin(Serve(acceptor_, listener, kConnections), clients());
    co_await OrReturn(std::move(both));
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(main()), IsOk());
}

TEST_P(TlsTcpTest, WorksOverUnixSockets) {
  Runtime runtime = MakeRuntime();
  auto main = [&]() -> Co<absl::Status> {
    auto [a, b] = co_await OrReturn(UnixStream::Pair());
    auto both = TryJoin(connector_.Connect("localhost", std::move(a)),
                        acceptor_.Accept(std::move(b)));
    auto [client, server] = co_await OrReturn(std::move(both));
    co_await OrReturn(WriteAll(client, "hello"));
    co_await OrReturn(Shutdown(client));
    std::string received;
    co_await OrReturn(ReadToEnd(server, received));
    EXPECT_EQ(received, "hello");
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(main()), IsOk());
}

TEST_P(TlsTcpTest, WritingToAClosedConnectionRaisesNoSignal) {
  Runtime runtime = MakeRuntime();
  auto main = [&]() -> Co<absl::Status> {
    auto [a, b] = co_await OrReturn(UnixStream::Pair());
    auto both = TryJoin(connector_.Connect("localhost", std::move(a)),
                        acceptor_.Accept(std::move(b)));
    auto [client, server] = co_await OrReturn(std::move(both));
    {
      TlsStream<UnixStream> closed = std::move(server);
    }
    // SIGPIPE would end the program.
    const absl::Status status = co_await WriteAll(client, "hello");
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    co_return absl::OkStatus();
  };
  EXPECT_THAT(runtime.BlockOn(main()), IsOk());
}

TEST_P(TlsTcpTest, ConnectTlsReturnsErrorsOfTheConnection) {
  Runtime runtime = MakeRuntime();
  EXPECT_THAT(runtime.BlockOn(ConnectTls("localhost")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  // Nothing listens on a port that has just been closed.
  auto main = [&]() -> Co<absl::StatusOr<TlsStream<TcpStream>>> {
    std::string addr;
    {
      TcpListener listener =
          co_await OrReturn(TcpListener::Bind(SocketAddr::Localhost(0)));
      addr = listener.local_addr()->ToString();
    }
    Co<absl::StatusOr<TlsStream<TcpStream>>> connect = ConnectTls(addr);
    co_return co_await std::move(connect);
  };
  EXPECT_THAT(runtime.BlockOn(main()),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace rouse
