// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/by_name.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/net/resolver/static_resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_socket.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/udp_socket.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

class ByNameTest : public ::testing::Test {
 protected:
  template <class F>
  auto Run(F&& future) {
    return runtime_.BlockOn(std::forward<F>(future));
  }

  Runtime runtime_ = Builder::CurrentThread().Build().value();
  const EnterGuard enter_ = runtime_.Enter();
};

TEST_F(ByNameTest, ConnectsToAName) {
  TcpListener listener = Run(ListenTcp("localhost:0")).value();
  const SocketAddr addr = listener.local_addr().value();
  EXPECT_TRUE(addr.IsLoopback());
  EXPECT_NE(addr.port(), 0);
  TcpStream client =
      Run(ConnectTcp(absl::StrCat("localhost:", addr.port()))).value();
  EXPECT_THAT(client.peer_addr(), IsOkAndHolds(addr));
}

TEST_F(ByNameTest, TriesAllAddresses) {
  // If "localhost" is also ::1, that address refuses the connection first.
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  const SocketAddr addr = listener.local_addr().value();
  absl::StatusOr<TcpStream> stream =
      Run(ConnectTcp(absl::StrCat("localhost:", addr.port())));
  EXPECT_THAT(stream, IsOk());
}

TEST_F(ByNameTest, ConnectsToAnAddress) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  EXPECT_THAT(Run(ConnectTcp(listener.local_addr().value().ToString())),
              IsOk());
  EXPECT_EQ(runtime_.metrics().blocking.threads, 0u);
}

TEST_F(ByNameTest, ReturnsTheErrorOfTheConnection) {
  // No socket listens at this address, and no other socket can.
  const SocketAddr localhost = SocketAddr::Localhost(0);
  const TcpSocket bound = TcpSocket::Open(localhost).value();
  ASSERT_THAT(bound.Bind(localhost), IsOk());
  const std::string addr = bound.local_addr().value().ToString();
  EXPECT_THAT(Run(ConnectTcp(addr)), StatusIs(absl::StatusCode::kUnavailable,
                                              ::testing::HasSubstr(addr)));
}

TEST_F(ByNameTest, ReturnsTheErrorOfTheLookup) {
  EXPECT_THAT(Run(ConnectTcp("localhost")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Run(ListenTcp(":80")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Run(BindUdp("")), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ByNameTest, ReturnsTheErrorOfTheLastAddress) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  EXPECT_THAT(Run(ListenTcp(listener.local_addr().value().ToString())),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ByNameTest, BindsADatagramSocket) {
  const UdpSocket socket = Run(BindUdp("localhost:0")).value();
  const SocketAddr addr = socket.local_addr().value();
  EXPECT_TRUE(addr.IsLoopback());
  EXPECT_NE(addr.port(), 0);
}

TEST_F(ByNameTest, UsesAGivenResolver) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  const SocketAddr addr = listener.local_addr().value();
  StaticResolver resolver;
  resolver.Add("db.test", {addr});
  resolver.Add("here.test", {SocketAddr::Localhost(0)});
  resolver.Fail("cache.test", absl::InternalError("failed permanently"));
  const TcpStream stream = Run(ConnectTcp("db.test:5432", resolver)).value();
  EXPECT_THAT(stream.peer_addr(), IsOkAndHolds(addr));
  EXPECT_THAT(Run(ListenTcp("here.test:0", resolver)), IsOk());
  EXPECT_THAT(Run(BindUdp("here.test:0", resolver)), IsOk());
  EXPECT_EQ(runtime_.metrics().lookups.threads, 0u);
  EXPECT_THAT(Run(ConnectTcp("cache.test:80", resolver)),
              StatusIs(absl::StatusCode::kInternal, "failed permanently"));
  EXPECT_THAT(Run(ListenTcp("other.test:80", resolver)),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Run(BindUdp("here.test", resolver)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace rouse
