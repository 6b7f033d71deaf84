// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests errors of the operating system and their consequences.

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/tcp_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using reactor::WithFailingCalls;

class TcpFaultTest : public TcpTest {
 protected:
  TcpFaultTest()
      : listener_(TcpListener::Bind(SocketAddr::Localhost(0)).value()) {}

  OwnedFd ConnectToListener() {
    const SocketAddr addr = listener_.local_addr().value();
    OwnedFd fd(socket(addr.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), addr.data(), addr.size()), 0);
    return fd;
  }

  TcpListener listener_;
};

// Covers D33.
TEST_F(TcpFaultTest, AConnectionWaitsUntilADescriptorIsFree) {
  const OwnedFd client = ConnectToListener();
  Turn();
  {
    const NoDescriptors none;
    for (int i = 0; i < 3; ++i) {
      auto accept = listener_.Accept();
      const auto accepted = task_.Poll(accept);
      ASSERT_TRUE(accepted.IsReady());
      EXPECT_EQ(accepted->status().code(), absl::StatusCode::kResourceExhausted)
          << accepted->status();
    }
  }
  // No other event for the connection comes.
  auto accept = listener_.Accept();
  const auto accepted = task_.Poll(accept);
  ASSERT_TRUE(accepted.IsReady());
  EXPECT_TRUE(accepted->ok()) << accepted->status();
}

TEST_F(TcpFaultTest, NothingOpensWithoutDescriptors) {
  const SocketAddr addr = listener_.local_addr().value();
  // UBSan needs a descriptor when it checks an object for the first time.
  EXPECT_TRUE(Run(TcpStream::Connect(addr)).ok());
  const NoDescriptors none;
  EXPECT_EQ(Run(TcpStream::Connect(addr)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(TcpListener::Bind(SocketAddr::Localhost(0)).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// Neither the connection nor its descriptor is kept.
TEST_F(TcpFaultTest, AConnectionBeyondTheReactorsLimitIsClosed) {
  reactor::Options options;
  options.max_sources = 1;
  reactor::Reactor small = reactor::Reactor::Create(options).value();
  listener_ =
      TcpListener::Bind(SocketAddr::Localhost(0), small.handle()).value();
  const OwnedFd client = ConnectToListener();
  ASSERT_EQ(small.Turn(absl::InfiniteDuration()).value(), 1u);
  auto accept = listener_.Accept();
  EXPECT_EQ(task_.Poll(accept)->status().code(),
            absl::StatusCode::kResourceExhausted);
  char byte;
  EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0);
}

TEST_F(TcpFaultTest, ADescriptorClosedByOtherCodeIsAnError) {
  auto [client, server] = Connect();
  char buffer[1];
  ASSERT_TRUE(Run(client.WriteAll("xy")).ok());
  ASSERT_TRUE(Run(server.Read(absl::MakeSpan(buffer))).ok());
  // Keeps the descriptor's number in use by a file that is not a socket.
  const OwnedFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  ASSERT_EQ(dup3(null.get(), server.fd(), O_CLOEXEC), server.fd());
  // The registration still considers both directions ready.
  EXPECT_FALSE(Run(server.Write("x")).ok());
  EXPECT_FALSE(server.local_addr().ok());
  EXPECT_FALSE(server.SetNoDelay(true).ok());
  EXPECT_FALSE(server.ShutdownWrite().ok());
  EXPECT_FALSE(Run(server.Read(absl::MakeSpan(buffer))).ok());
}

TEST_F(TcpFaultTest, EachLackOfResourcesIsResourceExhausted) {
  const OwnedFd client = ConnectToListener();
  Turn();
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
    const bool allowed = WithFailingCalls({SYS_accept4}, error, [&] {
      auto accept = listener_.Accept();
      const auto accepted = task_.Poll(accept);
      ASSERT_TRUE(accepted.IsReady());
      EXPECT_EQ(accepted->status().code(), absl::StatusCode::kResourceExhausted)
          << accepted->status();
    });
    if (!allowed) GTEST_SKIP() << "no filters of system calls here";
  }
  EXPECT_TRUE(Run(listener_.Accept()).ok());
}

TEST_F(TcpFaultTest, AnAbortedConnectionIsSkipped) {
  const OwnedFd client = ConnectToListener();
  Turn();
  for (const int error : {ECONNABORTED, EPROTO, ENETDOWN}) {
    const bool allowed = WithFailingCalls({SYS_accept4}, error, [&] {
      // The task lets others run, however many connections there are.
      Context cx(task_.waker());
      const int wakes = task_.wakes();
      EXPECT_TRUE(listener_.PollAccept(cx).IsPending());
      EXPECT_FALSE(cx.HasBudget());
      EXPECT_EQ(task_.wakes(), wakes + 1);
    });
    if (!allowed) GTEST_SKIP() << "no filters of system calls here";
  }
  EXPECT_TRUE(Run(listener_.Accept()).ok());
}

TEST_F(TcpFaultTest, AnErrorOfTheListenerIsReported) {
  const OwnedFd client = ConnectToListener();
  Turn();
  const bool allowed = WithFailingCalls({SYS_accept4}, EBADF, [&] {
    auto accept = listener_.Accept();
    const auto accepted = task_.Poll(accept);
    ASSERT_TRUE(accepted.IsReady());
    EXPECT_NE(accepted->status().message().find("accept4 on 127.0.0.1:"),
              std::string::npos)
        << accepted->status();
  });
  if (!allowed) GTEST_SKIP() << "no filters of system calls here";
}

// R12: epoll_ctl fails, for a new connection and for a new listener.
TEST_F(TcpFaultTest, ASocketThatCannotBeRegisteredIsClosed) {
  const OwnedFd client = ConnectToListener();
  Turn();
  const bool allowed = WithFailingCalls({SYS_epoll_ctl}, ENOSPC, [&] {
    auto accept = listener_.Accept();
    EXPECT_EQ(task_.Poll(accept)->status().code(),
              absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(TcpListener::Bind(SocketAddr::Localhost(0), reactor_.handle())
                  .status()
                  .code(),
              absl::StatusCode::kResourceExhausted);
  });
  if (!allowed) GTEST_SKIP() << "no filters of system calls here";
  char byte;
  EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0);
}

}  // namespace
}  // namespace rouse
