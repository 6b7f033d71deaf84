// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_options.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/tcp_fixture.h"

namespace rouse {
namespace {

class TcpSocketTest : public TcpTest {
 protected:
  TcpSocket Open() { return TcpSocket::Open(SocketAddr::Localhost(0)).value(); }
};

TEST_F(TcpSocketTest, ListensAndConnects) {
  TcpSocket listening = Open();
  ASSERT_TRUE(listening.Bind(SocketAddr::Localhost(0)).ok());
  const SocketAddr addr = listening.local_addr().value();
  EXPECT_NE(addr.port(), 0);
  const TcpListener listener = std::move(listening).Listen(16).value();
  EXPECT_EQ(listener.local_addr().value(), addr);

  TcpSocket connecting = Open();
  ASSERT_TRUE(connecting.Bind(SocketAddr::Localhost(0)).ok());
  const SocketAddr from = connecting.local_addr().value();
  const TcpStream client = Run(std::move(connecting).Connect(addr)).value();
  const TcpListener::Accepted accepted = Run(listener.Accept()).value();
  EXPECT_EQ(accepted.peer, from);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  char byte;
  EXPECT_EQ(Run(accepted.stream.Read(absl::MakeSpan(&byte, 1))).value(), 1u);
}

TEST_F(TcpSocketTest, OptionsStaySetInTheStream) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  TcpSocket socket = Open();
  ASSERT_TRUE(socket.SetNoDelay(true).ok());
  ASSERT_TRUE(socket.SetTtl(7).ok());
  const TcpStream stream =
      Run(std::move(socket).Connect(listener.local_addr().value())).value();
  EXPECT_TRUE(stream.NoDelay().value());
  EXPECT_EQ(stream.Ttl().value(), 7);
}

TEST_F(TcpSocketTest, ARefusedConnectionIsUnavailable) {
  SocketAddr nobody;
  {
    TcpSocket socket = Open();
    ASSERT_TRUE(socket.Bind(SocketAddr::Localhost(0)).ok());
    nobody = socket.local_addr().value();
  }
  EXPECT_EQ(Run(Open().Connect(nobody)).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(TcpSocketTest, ReuseAddrIsOffUntilSet) {
  const TcpSocket socket = Open();
  EXPECT_FALSE(socket.ReuseAddr().value());
  ASSERT_TRUE(socket.SetReuseAddr(true).ok());
  EXPECT_TRUE(socket.ReuseAddr().value());
}

TEST_F(TcpSocketTest, WithReusePortSeveralListenersShareAnAddress) {
  TcpSocket first = Open();
  EXPECT_FALSE(first.ReusePort().value());
  ASSERT_TRUE(first.SetReusePort(true).ok());
  EXPECT_TRUE(first.ReusePort().value());
  ASSERT_TRUE(first.Bind(SocketAddr::Localhost(0)).ok());
  const SocketAddr addr = first.local_addr().value();
  const TcpListener listener = std::move(first).Listen().value();

  TcpSocket second = Open();
  ASSERT_TRUE(second.SetReusePort(true).ok());
  ASSERT_TRUE(second.Bind(addr).ok());
  EXPECT_TRUE(std::move(second).Listen().ok());

  EXPECT_EQ(Open().Bind(addr).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(TcpSocketTest, OnlyIPv6LeavesIPv4ToOthers) {
  absl::StatusOr<TcpSocket> socket =
      TcpSocket::Open(SocketAddr::Parse("[::]:0").value());
  if (!socket.ok()) GTEST_SKIP() << "no IPv6 here: " << socket.status();
  ASSERT_TRUE(socket->SetOnlyIPv6(true).ok());
  EXPECT_TRUE(socket->OnlyIPv6().value());
  ASSERT_TRUE(socket->SetOnlyIPv6(false).ok());
  EXPECT_FALSE(socket->OnlyIPv6().value());
  // An IPv4 socket does not have this option.
  EXPECT_FALSE(Open().SetOnlyIPv6(true).ok());
}

TEST_F(TcpSocketTest, TheTypeOfServiceIsZeroUntilSet) {
  const TcpSocket socket = Open();
  EXPECT_EQ(socket.Tos().value(), 0);
  ASSERT_TRUE(socket.SetTos(0x10).ok());
  EXPECT_EQ(socket.Tos().value(), 0x10);
  for (const int tos : {-1, 256}) {
    EXPECT_EQ(socket.SetTos(tos).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(socket.Tos().value(), 0x10);
  const absl::StatusOr<TcpSocket> six =
      TcpSocket::Open(SocketAddr::Parse("[::1]:0").value());
  if (!six.ok()) GTEST_SKIP() << "no IPv6 here: " << six.status();
  ASSERT_TRUE(six->SetTos(0x20).ok());
  EXPECT_EQ(six->Tos().value(), 0x20);
  EXPECT_EQ(six->SetTos(256).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TcpSocketTest, CanBeBoundToAnInterface) {
  const TcpSocket socket = Open();
  EXPECT_EQ(socket.Device().value(), "");
  const absl::Status missing = socket.SetDevice("no_such_device");
  EXPECT_FALSE(missing.ok());
  EXPECT_THAT(missing.message(), ::testing::HasSubstr("\"no_such_device\""));
  EXPECT_EQ(socket.SetDevice("a_name_that_is_too_long").code(),
            absl::StatusCode::kNotFound);
  const absl::Status status = socket.SetDevice("lo");
  if (absl::IsPermissionDenied(status)) GTEST_SKIP() << status;
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(socket.Device().value(), "lo");
}

TEST_F(TcpSocketTest, QuickAckCanBeSetAndCleared) {
  auto [client, server] = Connect();
  ASSERT_TRUE(client.SetQuickAck(false).ok());
  EXPECT_FALSE(client.QuickAck().value());
  ASSERT_TRUE(client.SetQuickAck(true).ok());
  EXPECT_TRUE(client.QuickAck().value());
}

TEST_F(TcpSocketTest, FastOpenIsOffUntilSet) {
  TcpSocket socket = Open();
  EXPECT_EQ(socket.FastOpen().value(), 0);
  EXPECT_FALSE(socket.FastOpenConnect().value());
  ASSERT_TRUE(socket.SetFastOpenConnect(true).ok());
  EXPECT_TRUE(socket.FastOpenConnect().value());
  ASSERT_TRUE(socket.SetFastOpenConnect(false).ok());
  ASSERT_TRUE(socket.Bind(SocketAddr::Localhost(0)).ok());
  ASSERT_TRUE(socket.SetFastOpen(7).ok());
  EXPECT_EQ(socket.FastOpen().value(), 7);
  EXPECT_TRUE(std::move(socket).Listen().ok());
}

// The client's handshake ends, but the server sees the connection only with the
// first bytes.
TEST_F(TcpSocketTest, ADeferredConnectionIsAcceptedWithItsFirstBytes) {
  TcpSocket socket = Open();
  EXPECT_EQ(socket.DeferAccept().value(), absl::ZeroDuration());
  ASSERT_TRUE(socket.SetDeferAccept(absl::Seconds(30)).ok());
  EXPECT_GE(socket.DeferAccept().value(), absl::Seconds(30));
  ASSERT_TRUE(socket.Bind(SocketAddr::Localhost(0)).ok());
  const TcpListener listener = std::move(socket).Listen().value();
  const TcpStream client =
      Run(TcpStream::Connect(listener.local_addr().value())).value();
  auto accept = listener.Accept();
  ASSERT_TRUE(task_.Poll(accept).IsPending());
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  const TcpStream server = Run(accept).value().stream;
  char byte;
  EXPECT_EQ(Run(server.Read(absl::MakeSpan(&byte, 1))).value(), 1u);
}

TEST_F(TcpSocketTest, KeepAliveIsOffUntilSet) {
  const TcpSocket socket = Open();
  EXPECT_EQ(socket.GetKeepAlive().value(), std::nullopt);
  KeepAlive keep_alive;
  keep_alive.idle = absl::Seconds(61);
  keep_alive.interval = absl::Milliseconds(1500);
  keep_alive.probes = 3;
  ASSERT_TRUE(socket.SetKeepAlive(keep_alive).ok());
  const std::optional<KeepAlive> found = socket.GetKeepAlive().value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->idle, absl::Seconds(61));
  EXPECT_EQ(found->interval, absl::Seconds(2));
  EXPECT_EQ(found->probes, 3);
  ASSERT_TRUE(socket.SetKeepAlive(std::nullopt).ok());
  EXPECT_EQ(socket.GetKeepAlive().value(), std::nullopt);
}

TEST_F(TcpSocketTest, KeepAliveOutOfRangeIsInvalidArgument) {
  const TcpSocket socket = Open();
  KeepAlive keep_alive;
  keep_alive.idle = absl::InfiniteDuration();
  EXPECT_EQ(socket.SetKeepAlive(keep_alive).code(),
            absl::StatusCode::kInvalidArgument);
  keep_alive = KeepAlive();
  keep_alive.probes = 0;
  EXPECT_EQ(socket.SetKeepAlive(keep_alive).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(socket.GetKeepAlive().value(), std::nullopt);
  // Less than a second is rounded up to one second.
  keep_alive = KeepAlive();
  keep_alive.interval = absl::ZeroDuration();
  ASSERT_TRUE(socket.SetKeepAlive(keep_alive).ok());
  EXPECT_EQ(socket.GetKeepAlive().value()->interval, absl::Seconds(1));
}

TEST_F(TcpSocketTest, LingerIsOffUntilSet) {
  const TcpSocket socket = Open();
  EXPECT_EQ(socket.Linger().value(), std::nullopt);
  ASSERT_TRUE(socket.SetLinger(absl::Milliseconds(1)).ok());
  EXPECT_EQ(socket.Linger().value(), absl::Seconds(1));
  ASSERT_TRUE(socket.SetLinger(absl::ZeroDuration()).ok());
  EXPECT_EQ(socket.Linger().value(), absl::ZeroDuration());
  ASSERT_TRUE(socket.SetLinger(std::nullopt).ok());
  EXPECT_EQ(socket.Linger().value(), std::nullopt);
}

TEST_F(TcpSocketTest, BuffersHaveASize) {
  const TcpSocket socket = Open();
  ASSERT_TRUE(socket.SetSendBufferSize(20'000).ok());
  EXPECT_EQ(socket.SendBufferSize().value(), 40'000);
  ASSERT_TRUE(socket.SetReceiveBufferSize(30'000).ok());
  EXPECT_EQ(socket.ReceiveBufferSize().value(), 60'000);
}

TEST_F(TcpSocketTest, TtlHasARange) {
  const TcpSocket socket = Open();
  ASSERT_TRUE(socket.SetTtl(255).ok());
  EXPECT_EQ(socket.Ttl().value(), 255);
  EXPECT_EQ(socket.SetTtl(256).code(), absl::StatusCode::kInvalidArgument);
  const absl::StatusOr<TcpSocket> v6 =
      TcpSocket::Open(SocketAddr::Parse("[::1]:0").value());
  if (!v6.ok()) GTEST_SKIP() << "no IPv6 here: " << v6.status();
  ASSERT_TRUE(v6->SetTtl(9).ok());
  EXPECT_EQ(v6->Ttl().value(), 9);
}

TEST_F(TcpSocketTest, AdoptsAndReleasesADescriptor) {
  TcpSocket socket = Open();
  const int fd = socket.fd();
  OwnedFd taken = std::move(socket).IntoFd();
  EXPECT_EQ(taken.get(), fd);
  const absl::StatusOr<TcpSocket> adopted = TcpSocket::FromFd(std::move(taken));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_EQ(adopted->fd(), fd);
  OwnedFd udp(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(TcpSocket::FromFd(std::move(udp)).status().code(),
            absl::StatusCode::kInvalidArgument);
  OwnedFd local(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(TcpSocket::FromFd(std::move(local)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TcpSocketTest, IsNonBlockingAndCloseOnExec) {
  const TcpSocket socket = Open();
  EXPECT_EQ(fcntl(socket.fd(), F_GETFD), FD_CLOEXEC);
  EXPECT_NE(fcntl(socket.fd(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(TcpSocketTest, OnlyListenAndConnectNeedAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  TcpSocket socket = Open();
  ASSERT_TRUE(socket.Bind(SocketAddr::Localhost(0)).ok());
  EXPECT_EQ(std::move(socket).Listen().status().code(),
            absl::StatusCode::kFailedPrecondition);
  TcpSocket other = Open();
  ASSERT_TRUE(other.Bind(SocketAddr::Localhost(0)).ok());
  EXPECT_TRUE(std::move(other).Listen(1, reactor_.handle()).ok());
}

class TcpSocketMultipathTest : public TcpSocketTest {
 protected:
  // Makes a connection between a listener and a client of the given sockets.
  // Returns both ends.
  std::pair<TcpStream, TcpStream> ConnectThem(TcpSocket listening,
                                              TcpSocket connecting) {
    EXPECT_TRUE(listening.Bind(SocketAddr::Localhost(0)).ok());
    const SocketAddr addr = listening.local_addr().value();
    const TcpListener listener = std::move(listening).Listen().value();
    TcpStream client = Run(std::move(connecting).Connect(addr)).value();
    TcpStream server = Run(listener.Accept()).value().stream;
    return {std::move(client), std::move(server)};
  }

  TcpSocket OpenMultipath() {
    return TcpSocket::OpenMultipath(SocketAddr::Localhost(0)).value();
  }

  // Returns OK if the system has Multipath TCP, without the code under test.
  static absl::Status ProbeMultipath() {
    constexpr int kIpprotoMptcp = 262;  // newer than some C libraries
    constexpr int kSolMptcp = 284;
    constexpr int kMptcpInfo = 1;
    const OwnedFd fd(
        socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, kIpprotoMptcp));
    if (!fd.IsValid()) return absl::ErrnoToStatus(errno, "socket");
    char info[64];
    socklen_t size = sizeof info;
    if (getsockopt(fd.get(), kSolMptcp, kMptcpInfo, info, &size) != 0) {
      return absl::ErrnoToStatus(
          errno, "getsockopt(MPTCP_INFO), which needs Linux 5.16");
    }
    return absl::OkStatus();
  }

  // Sends a message in each direction.
  void Exchange(const TcpStream& a, const TcpStream& b) {
    ASSERT_TRUE(Run(a.WriteAll("ping")).ok());
    ASSERT_TRUE(Run(b.WriteAll("pong")).ok());
    ASSERT_TRUE(a.ShutdownWrite().ok());
    ASSERT_TRUE(b.ShutdownWrite().ok());
    EXPECT_EQ(ReadAll(b), "ping");
    EXPECT_EQ(ReadAll(a), "pong");
  }
};

TEST_F(TcpSocketMultipathTest, ATcpSocketHasOnePath) {
  EXPECT_FALSE(Open().IsMultipath().value());
  auto [client, server] = ConnectThem(Open(), Open());
  EXPECT_FALSE(client.IsMultipath().value());
  EXPECT_FALSE(server.IsMultipath().value());
}

TEST_F(TcpSocketMultipathTest, BothEndsCanHaveSeveralPaths) {
  if (const absl::Status able = ProbeMultipath(); !able.ok()) {
    GTEST_SKIP() << "no Multipath TCP here: " << able;
  }
  TcpSocket listening = OpenMultipath();
  ASSERT_TRUE(listening.IsMultipath().value());
  auto [client, server] = ConnectThem(std::move(listening), OpenMultipath());
  EXPECT_TRUE(client.IsMultipath().value());
  EXPECT_TRUE(server.IsMultipath().value());
  ASSERT_TRUE(client.SetNoDelay(true).ok());
  Exchange(client, server);
}

TEST_F(TcpSocketMultipathTest, APeerWithoutItGetsATcpConnection) {
  {
    auto [client, server] = ConnectThem(OpenMultipath(), Open());
    EXPECT_FALSE(client.IsMultipath().value());
    EXPECT_FALSE(server.IsMultipath().value());
    Exchange(client, server);
  }
  auto [client, server] = ConnectThem(Open(), OpenMultipath());
  EXPECT_FALSE(client.IsMultipath().value());
  EXPECT_FALSE(server.IsMultipath().value());
  Exchange(client, server);
}

TEST_F(TcpSocketMultipathTest, ASystemWithoutItOpensATcpSocket) {
  for (const int error : {EINVAL, EPROTONOSUPPORT, ENOPROTOOPT}) {
    int calls = 0;
    bool multipath = true;
    const bool supported = reactor::WithCallsThatMayFail(
        {SYS_socket}, error, [&calls] { return ++calls == 1; },
        [&] { multipath = OpenMultipath().IsMultipath().value(); });
    if (!supported) GTEST_SKIP() << "no filters of system calls here";
    EXPECT_EQ(calls, 2);
    EXPECT_FALSE(multipath);
  }
}

TEST_F(TcpSocketMultipathTest, AnyOtherErrorIsReturned) {
  absl::Status status;
  const bool supported =
      reactor::WithFailingCalls({SYS_socket}, EMFILE, [&status] {
        status = TcpSocket::OpenMultipath(SocketAddr::Localhost(0)).status();
      });
  if (!supported) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace rouse
