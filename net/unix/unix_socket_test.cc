// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_listener.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/testing/internal/unix_fixture.h"

namespace rouse {
namespace {

class UnixSocketTest : public UnixTest {};

TEST_F(UnixSocketTest, ListensAndConnects) {
  UnixSocket socket = UnixSocket::Open().value();
  const UnixAddr addr = NewPathAddr();
  ASSERT_TRUE(socket.Bind(addr).ok());
  EXPECT_EQ(socket.local_addr().value(), addr);
  const UnixListener listener = std::move(socket).Listen().value();
  const UnixStream client =
      Run(UnixSocket::Open().value().Connect(addr)).value();
  const UnixListener::Accepted accepted = Run(listener.Accept()).value();
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  EXPECT_EQ(Run(accepted.stream.Read(Buffer())).value(), 1u);
}

TEST_F(UnixSocketTest, AClientCanHaveAName) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  UnixSocket socket = UnixSocket::Open().value();
  EXPECT_TRUE(socket.local_addr()->IsUnnamed());
  const UnixAddr name = NewAbstractAddr();
  ASSERT_TRUE(socket.Bind(name).ok());
  const UnixStream client =
      Run(std::move(socket).Connect(listener.local_addr().value())).value();
  EXPECT_EQ(Run(listener.Accept())->peer, name);
}

TEST_F(UnixSocketTest, TheQueueHasTheChosenLength) {
  UnixSocket socket = UnixSocket::Open().value();
  ASSERT_TRUE(socket.Bind(NewAbstractAddr()).ok());
  const UnixListener listener = std::move(socket).Listen(2).value();
  const UnixAddr addr = listener.local_addr().value();
  std::vector<UnixStream> clients;
  for (;;) {
    absl::StatusOr<UnixStream> client = Run(UnixStream::Connect(addr));
    if (!client.ok()) {
      EXPECT_EQ(client.status().code(), absl::StatusCode::kUnavailable);
      break;
    }
    clients.push_back(*std::move(client));
    ASSERT_LT(clients.size(), 10u);
  }
  EXPECT_GE(clients.size(), 2u);
  // A place in the queue becomes free.
  EXPECT_TRUE(Run(listener.Accept()).ok());
  EXPECT_TRUE(Run(UnixStream::Connect(addr)).ok());
}

TEST_F(UnixSocketTest, ErrorsNameTheAddress) {
  const UnixAddr addr = NewAbstractAddr();
  const UnixListener listener = UnixListener::Bind(addr).value();
  const absl::Status status = UnixSocket::Open()->Bind(addr);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find(addr.ToString()), std::string::npos);

  const UnixAddr nobody = NewAbstractAddr();
  const absl::Status refused =
      Run(UnixSocket::Open().value().Connect(nobody)).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find(nobody.ToString()), std::string::npos);
}

TEST_F(UnixSocketTest, AnUnboundSocketCannotListen) {
  EXPECT_EQ(UnixSocket::Open().value().Listen().status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UnixSocketTest, AdoptsAndReleasesADescriptor) {
  OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  const int number = fd.get();
  UnixSocket socket = UnixSocket::FromFd(std::move(fd)).value();
  EXPECT_EQ(socket.fd(), number);
  EXPECT_NE(fcntl(number, F_GETFL) & O_NONBLOCK, 0);
  const OwnedFd released = std::move(socket).IntoFd();
  EXPECT_EQ(released.get(), number);
  OwnedFd datagram(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(UnixSocket::FromFd(std::move(datagram)).status().code(),
            absl::StatusCode::kInvalidArgument);
  OwnedFd tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(UnixSocket::FromFd(std::move(tcp)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UnixSocketTest, ADestroyedConnectClosesTheSocket) {
  // The fixture counts the descriptors.
  auto connect = UnixSocket::Open().value().Connect(NewAbstractAddr());
  const auto moved = std::move(connect);
}

}  // namespace
}  // namespace rouse
