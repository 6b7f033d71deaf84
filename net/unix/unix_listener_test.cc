// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/unix_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(Future<UnixListener::AcceptFuture>);

class UnixListenerTest : public UnixTest {
 protected:
  UnixStream ConnectTo(const UnixListener& listener) {
    return Run(UnixStream::Connect(listener.local_addr().value())).value();
  }
};

TEST_F(UnixListenerTest, AcceptsAtAPathAndAtAName) {
  for (const UnixAddr& addr : {NewPathAddr(), NewAbstractAddr()}) {
    const UnixListener listener = UnixListener::Bind(addr).value();
    EXPECT_EQ(listener.local_addr().value(), addr);
    const UnixStream client = ConnectTo(listener);
    const UnixListener::Accepted accepted = Run(listener.Accept()).value();
    EXPECT_TRUE(accepted.peer.IsUnnamed());
    EXPECT_EQ(accepted.stream.local_addr().value(), addr);
    EXPECT_EQ(accepted.stream.GetPeerCredentials().value().pid, getpid());
    ASSERT_TRUE(Run(client.WriteAll("x")).ok());
    EXPECT_EQ(Run(accepted.stream.Read(Buffer())).value(), 1u);
  }
}

TEST_F(UnixListenerTest, ReturnsTheNameOfAClient) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  const UnixAddr addr = listener.local_addr().value();
  const UnixAddr from = NewAbstractAddr();
  const OwnedFd client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(client.get(), from.data(), from.size()), 0);
  ASSERT_EQ(connect(client.get(), addr.data(), addr.size()), 0);
  EXPECT_EQ(Run(listener.Accept()).value().peer, from);
}

TEST_F(UnixListenerTest, WaitsForAConnection) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  auto accept = listener.Accept();
  Turn();
  ASSERT_TRUE(task_.Poll(accept).IsPending());
  const UnixStream client = ConnectTo(listener);
  EXPECT_TRUE(Run(accept).ok());
}

TEST_F(UnixListenerTest, ADestroyedAcceptLosesNoConnection) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  {
    auto accept = listener.Accept();
    ASSERT_TRUE(other_.Poll(accept).IsPending());
  }
  EXPECT_EQ(other_.live(), 0);
  const UnixStream client = ConnectTo(listener);
  EXPECT_TRUE(Run(listener.Accept()).ok());
  EXPECT_EQ(other_.wakes(), 0);
}

TEST_F(UnixListenerTest, AnAddressInUseIsFailedPrecondition) {
  for (const UnixAddr& addr : {NewPathAddr(), NewAbstractAddr()}) {
    const UnixListener listener = UnixListener::Bind(addr).value();
    EXPECT_EQ(UnixListener::Bind(addr).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
}

TEST_F(UnixListenerTest, APathStaysAndAnAbstractNameIsFreed) {
  const std::string path = NewPath();
  const UnixAddr addr = UnixAddr::FromPath(path).value();
  const UnixAddr name = NewAbstractAddr();
  {
    const UnixListener at_path = UnixListener::Bind(addr).value();
    const UnixListener at_name = UnixListener::Bind(name).value();
  }
  struct stat status;
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_FALSE(UnixListener::Bind(addr).ok());
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_TRUE(UnixListener::Bind(addr).ok());
  EXPECT_TRUE(UnixListener::Bind(name).ok());
}

TEST_F(UnixListenerTest, AMissingDirectoryIsNotFound) {
  const UnixAddr addr = UnixAddr::FromPath(NewPath() + "/x").value();
  EXPECT_EQ(UnixListener::Bind(addr).status().code(),
            absl::StatusCode::kNotFound);
}

// Covers trap R13 of reactor/traps_test.cc.
TEST_F(UnixListenerTest, AFloodOfConnectionsLetsOtherTasksRun) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  std::vector<UnixStream> clients;
  for (uint32_t i = 0; i < kBudgetPerPoll + 10; ++i) {
    clients.push_back(ConnectTo(listener));
  }
  Turn();
  Context cx(task_.waker());
  uint32_t accepted = 0;
  while (listener.PollAccept(cx).IsReady()) ++accepted;
  EXPECT_EQ(accepted, kBudgetPerPoll);
  EXPECT_GT(task_.wakes(), 0);
}

TEST_F(UnixListenerTest, SocketsAreNonBlockingAndCloseOnExec) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  const UnixStream client = ConnectTo(listener);
  const UnixListener::Accepted accepted = Run(listener.Accept()).value();
  for (const int fd : {listener.fd(), client.fd(), accepted.stream.fd()}) {
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST_F(UnixListenerTest, AdoptsAndReleasesADescriptor) {
  UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  const UnixAddr addr = listener.local_addr().value();
  OwnedFd fd = std::move(listener).IntoFd();
  const absl::StatusOr<UnixListener> adopted =
      UnixListener::FromFd(std::move(fd));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_EQ(adopted->local_addr().value(), addr);
  const UnixStream client = ConnectTo(*adopted);
  EXPECT_TRUE(Run(adopted->Accept()).ok());
  OwnedFd tcp(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(UnixListener::FromFd(std::move(tcp)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UnixListenerTest, AShutdownOfTheReactorIsUnavailable) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  auto accept = listener.Accept();
  ASSERT_TRUE(task_.Poll(accept).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.Poll(accept)->status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(UnixListenerTest, PollingACompleteAcceptPanics) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  const UnixStream client = ConnectTo(listener);
  auto accept = listener.Accept();
  ASSERT_TRUE(Run(accept).ok());
  EXPECT_PANIC((void)task_.Poll(accept),
               "UnixListener::Accept() was polled after");
}

}  // namespace
}  // namespace rouse
