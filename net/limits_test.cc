// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what happens to descriptors when the reactor or the system has reached
// its limit: no descriptor is left open, which the fixture checks.

#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/net/pipe.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_socket.h"
#include "rouse/net/udp_socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_datagram.h"
#include "rouse/net/unix/unix_listener.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/internal/tcp_fixture.h"
#include "rouse/testing/internal/unix_fixture.h"

namespace rouse {
namespace {

constexpr auto kResourceExhausted = absl::StatusCode::kResourceExhausted;

class LimitsTest : public UnixTest {
 protected:
  // Returns a reactor with room for `sources` sources.
  static reactor::Reactor Small(int sources) {
    reactor::Options options;
    options.max_sources = sources;
    return reactor::Reactor::Create(options).value();
  }
};

TEST_F(LimitsTest, AFailedPairLeavesNoDescriptorOpen) {
  const reactor::Reactor small = Small(1);
  EXPECT_EQ(UnixStream::Pair(small.handle()).status().code(),
            kResourceExhausted);
  EXPECT_EQ(UnixDatagram::Pair(small.handle()).status().code(),
            kResourceExhausted);
  EXPECT_EQ(MakePipe(small.handle()).status().code(), kResourceExhausted);
  // The reactor does not keep a source either.
  EXPECT_TRUE(UnixDatagram::Unbound(small.handle()).ok());
}

TEST_F(LimitsTest, ASocketThatCannotBeRegisteredIsClosed) {
  const reactor::Reactor small = Small(1);
  const UdpSocket only =
      UdpSocket::Bind(SocketAddr::Localhost(0), small.handle()).value();
  EXPECT_EQ(
      UdpSocket::Bind(SocketAddr::Localhost(0), small.handle()).status().code(),
      kResourceExhausted);
  EXPECT_EQ(
      UnixDatagram::Bind(NewAbstractAddr(), small.handle()).status().code(),
      kResourceExhausted);
  EXPECT_EQ(
      UnixListener::Bind(NewAbstractAddr(), small.handle()).status().code(),
      kResourceExhausted);
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  const UnixAddr addr = listener.local_addr().value();
  EXPECT_EQ(Run(UnixStream::Connect(addr, small.handle())).status().code(),
            kResourceExhausted);
  TcpSocket socket = TcpSocket::Open(SocketAddr::Localhost(0)).value();
  ASSERT_TRUE(socket.Bind(SocketAddr::Localhost(0)).ok());
  EXPECT_EQ(std::move(socket).Listen(1, small.handle()).status().code(),
            kResourceExhausted);
}

TEST_F(LimitsTest, AConnectionThatCannotBeRegisteredIsClosed) {
  reactor::Reactor small = Small(1);
  const UnixListener listener =
      UnixListener::Bind(NewAbstractAddr(), small.handle()).value();
  const UnixStream client =
      Run(UnixStream::Connect(listener.local_addr().value())).value();
  ASSERT_EQ(small.Turn(absl::InfiniteDuration()).value(), 1u);
  auto accept = listener.Accept();
  EXPECT_EQ(task_.Poll(accept)->status().code(), kResourceExhausted);
  EXPECT_EQ(Run(client.Read(Buffer())).value(), 0u);
}

TEST_F(LimitsTest, NothingOpensWithoutDescriptors) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  const UnixAddr addr = listener.local_addr().value();
  const UnixAddr other = NewAbstractAddr();
  const auto open_all = [&](absl::StatusCode code) {
    EXPECT_EQ(UdpSocket::Bind(SocketAddr::Localhost(0)).status().code(), code);
    EXPECT_EQ(TcpSocket::Open(SocketAddr::Localhost(0)).status().code(), code);
    EXPECT_EQ(UnixListener::Bind(other).status().code(), code);
    EXPECT_EQ(UnixDatagram::Bind(other).status().code(), code);
    EXPECT_EQ(UnixStream::Pair().status().code(), code);
    EXPECT_EQ(UnixDatagram::Pair().status().code(), code);
    EXPECT_EQ(MakePipe().status().code(), code);
    EXPECT_EQ(Run(UnixStream::Connect(addr)).status().code(), code);
  };
  // UBSan needs a descriptor when it checks an object for the first time.
  open_all(absl::StatusCode::kOk);
  const NoDescriptors none;
  open_all(kResourceExhausted);
}

}  // namespace
}  // namespace rouse
