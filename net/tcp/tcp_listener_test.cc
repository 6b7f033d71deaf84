// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/future/stream.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/kept_vlog.h"
#include "rouse/testing/internal/tcp_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(Future<TcpListener::AcceptFuture>);

class TcpListenerTest : public TcpTest {
 protected:
  TcpListener Listen() {
    return TcpListener::Bind(SocketAddr::Localhost(0)).value();
  }

  // Makes a connection, which the kernel completes before it is accepted.
  OwnedFd ConnectTo(const TcpListener& listener) {
    const SocketAddr addr = listener.local_addr().value();
    OwnedFd fd(socket(addr.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), addr.data(), addr.size()), 0);
    return fd;
  }
};

TEST_F(TcpListenerTest, AcceptsAndReturnsThePeerAddress) {
  const TcpListener listener = Listen();
  const TcpStream client =
      Run(TcpStream::Connect(listener.local_addr().value())).value();
  const TcpListener::Accepted accepted = Run(listener.Accept()).value();
  EXPECT_EQ(accepted.peer, client.local_addr().value());
  EXPECT_EQ(accepted.stream.local_addr().value(),
            listener.local_addr().value());
}

static_assert(Stream<TcpListener>);

TEST_F(TcpListenerTest, IsAStreamOfConnections) {
  TcpListener listener = Listen();
  EXPECT_TRUE(task_.PollNext(listener).IsPending());
  std::vector<OwnedFd> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(ConnectTo(listener));
  auto first = Next(listener);
  EXPECT_TRUE(Run(first).value().ok());
  auto second = Next(listener);
  EXPECT_TRUE(Run(second).value().ok());
  auto third = Next(listener);
  EXPECT_TRUE(task_.Poll(third).IsPending());
}

TEST_F(TcpListenerTest, WaitsForAConnection) {
  const TcpListener listener = Listen();
  auto accept = listener.Accept();
  Turn();
  ASSERT_TRUE(task_.Poll(accept).IsPending());
  const OwnedFd client = ConnectTo(listener);
  EXPECT_TRUE(Run(accept).ok());
}

TEST_F(TcpListenerTest, AcceptsAllQueuedConnections) {
  const TcpListener listener = Listen();
  std::vector<OwnedFd> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(ConnectTo(listener));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Run(listener.Accept()).ok());
  auto sixth = listener.Accept();
  EXPECT_TRUE(task_.Poll(sixth).IsPending());
}

TEST_F(TcpListenerTest, ADestroyedAcceptLosesNoConnection) {
  const TcpListener listener = Listen();
  {
    auto accept = listener.Accept();
    ASSERT_TRUE(other_.Poll(accept).IsPending());
  }
  EXPECT_EQ(other_.live(), 0);
  const OwnedFd client = ConnectTo(listener);
  EXPECT_TRUE(Run(listener.Accept()).ok());
  EXPECT_EQ(other_.wakes(), 0);
}

TEST_F(TcpListenerTest, SeveralTasksCanAccept) {
  const TcpListener listener = Listen();
  auto first = listener.Accept();
  auto second = listener.Accept();
  ASSERT_TRUE(task_.Poll(first).IsPending());
  ASSERT_TRUE(other_.Poll(second).IsPending());
  const OwnedFd a = ConnectTo(listener);
  while (task_.wakes() == 0 || other_.wakes() == 0) reactor_.Park();
  // One future gets the connection; the other waits for the next.
  EXPECT_TRUE(task_.Poll(first).IsReady());
  EXPECT_TRUE(other_.Poll(second).IsPending());
  const OwnedFd b = ConnectTo(listener);
  EXPECT_TRUE(Run(second).ok());
}

TEST_F(TcpListenerTest, PortZeroChoosesAPort) {
  EXPECT_NE(Listen().local_addr()->port(), 0);
}

TEST_F(TcpListenerTest, AnAddressInUseIsFailedPrecondition) {
  const TcpListener listener = Listen();
  const SocketAddr addr = listener.local_addr().value();
  const absl::Status status = TcpListener::Bind(addr).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find(addr.ToString()), std::string_view::npos)
      << status;
}

TEST_F(TcpListenerTest, AForeignAddressIsAlreadyExists) {
  EXPECT_EQ(
      TcpListener::Bind(SocketAddr::IPv4({192, 0, 2, 1}, 0)).status().code(),
      absl::StatusCode::kAlreadyExists);
}

TEST_F(TcpListenerTest, CanBeRestartedAtOnce) {
  SocketAddr addr;
  {
    const TcpListener listener = Listen();
    addr = listener.local_addr().value();
    const OwnedFd client = ConnectTo(listener);
    // The end that closes first keeps the address for a while.
    {
      const TcpListener::Accepted closed = Run(listener.Accept()).value();
    }
    char byte;
    EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0);
  }
  const absl::StatusOr<TcpListener> again = TcpListener::Bind(addr);
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST_F(TcpListenerTest, ListensOnIPv6) {
  const absl::StatusOr<TcpListener> listener =
      TcpListener::Bind(SocketAddr::Parse("[::1]:0").value());
  if (!listener.ok()) GTEST_SKIP() << listener.status();
  const TcpStream client =
      Run(TcpStream::Connect(listener->local_addr().value())).value();
  EXPECT_EQ(Run(listener->Accept()).value().peer, client.local_addr().value());
}

TEST_F(TcpListenerTest, NeedsAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_EQ(TcpListener::Bind(SocketAddr::Localhost(0)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(
      TcpListener::Bind(SocketAddr::Localhost(0), reactor_.handle()).ok());
}

// The stream belongs to the listener's reactor, whatever reactor is current.
TEST_F(TcpListenerTest, StreamsUseTheListenersReactor) {
  const TcpListener listener = Listen();
  const OwnedFd client = ConnectTo(listener);
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_TRUE(Run(listener.Accept()).ok());
}

TEST_F(TcpListenerTest, SocketsAreNonBlockingAndCloseOnExec) {
  const TcpListener listener = Listen();
  const OwnedFd client = ConnectTo(listener);
  const TcpListener::Accepted accepted = Run(listener.Accept()).value();
  for (const int fd : {listener.fd(), accepted.stream.fd()}) {
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

// Covers trap R13 of reactor/traps_test.cc.
TEST_F(TcpListenerTest, AFloodOfConnectionsLetsOtherTasksRun) {
  const TcpListener listener = Listen();
  std::vector<OwnedFd> clients;
  for (uint32_t i = 0; i < kBudgetPerPoll + 10; ++i) {
    clients.push_back(ConnectTo(listener));
  }
  Turn();
  Context cx(task_.waker());
  uint32_t accepted = 0;
  while (listener.PollAccept(cx).IsReady()) ++accepted;
  EXPECT_EQ(accepted, kBudgetPerPoll);
  EXPECT_FALSE(cx.HasBudget());
  EXPECT_GT(task_.wakes(), 0);
}

TEST_F(TcpListenerTest, AdoptsAndReleasesADescriptor) {
  TcpListener listener = Listen();
  const SocketAddr addr = listener.local_addr().value();
  OwnedFd fd = std::move(listener).IntoFd();
  const absl::StatusOr<TcpListener> adopted =
      TcpListener::FromFd(std::move(fd));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_EQ(adopted->local_addr().value(), addr);
  const OwnedFd client = ConnectTo(*adopted);
  EXPECT_TRUE(Run(adopted->Accept()).ok());
  OwnedFd local(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(TcpListener::FromFd(std::move(local)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TcpListenerTest, AShutdownOfTheReactorIsUnavailable) {
  const TcpListener listener = Listen();
  auto accept = listener.Accept();
  ASSERT_TRUE(task_.Poll(accept).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(task_.Poll(accept)->status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(TcpListenerTest, PollingACompleteAcceptPanics) {
  const TcpListener listener = Listen();
  const OwnedFd client = ConnectTo(listener);
  auto accept = listener.Accept();
  ASSERT_TRUE(Run(accept).ok());
  EXPECT_PANIC((void)task_.Poll(accept),
               "TcpListener::Accept() was polled after");
}

TEST_F(TcpListenerTest, LogsConnections) {
  const TcpListener listener = Listen();
  const SocketAddr addr = listener.local_addr().value();
  KeptVlog log(2);
  const TcpStream client = Run(TcpStream::Connect(addr)).value();
  const std::string connected = absl::StrCat("connection to ", addr, ": OK");
  EXPECT_THAT(
      log.Take(),
      ::testing::IsSupersetOf(
          {absl::StrCat("connecting to ", addr, " by descriptor ", client.fd()),
           connected}));
  const TcpListener::Accepted accepted = Run(listener.Accept()).value();
  EXPECT_THAT(log.Take(), ::testing::Contains(absl::StrCat(
                              "accepted ", accepted.peer, " as descriptor ",
                              accepted.stream.fd())));
}

}  // namespace
}  // namespace rouse
