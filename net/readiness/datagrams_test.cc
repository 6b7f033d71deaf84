// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting without a buffer, and attempts that do not wait, on sockets for
// datagrams: see evented_base.h.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/udp_socket.h"
#include "rouse/net/unix/unix_datagram.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/readiness_fixture.h"

namespace rouse {
namespace {

using ::testing::StartsWith;

using Result = std::optional<absl::StatusOr<size_t>>;

template <class S>
concept CanWaitToRead = requires(const S& s) { s.Readable(); };
template <class S>
concept CanWaitToWrite = requires(const S& s) { s.Writable(); };

static_assert(CanWaitToRead<UdpSocket> && CanWaitToWrite<UdpSocket>);
static_assert(CanWaitToRead<UnixDatagram> && CanWaitToWrite<UnixDatagram>);

TEST_F(ReadinessTest, ADatagramIsSentAndReceivedWithoutWaiting) {
  const UdpSocket a = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  const UdpSocket b = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  EXPECT_FALSE(b.TryRecvFrom(Buffer()).has_value());
  AwaitWritable(a);
  EXPECT_EQ(a.TrySendTo("ping", b.local_addr().value())->value(), 4u);
  AwaitReadable(b);
  EXPECT_EQ(b.TryPeekFrom(Buffer(2))->value().truncated, true);
  const auto received = b.TryRecvFrom(Buffer());
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(Text(received->value().size), "ping");
  EXPECT_EQ(received->value().peer, a.local_addr().value());
  EXPECT_FALSE(b.TryRecvFrom(Buffer()).has_value());
  EXPECT_EQ(b.TryRecv(Buffer()), std::nullopt);
  EXPECT_FALSE(b.TryPeekFrom(Buffer()).has_value());

  ASSERT_TRUE(a.Connect(b.local_addr().value()).ok());
  EXPECT_EQ(a.TrySend("pong")->value(), 4u);
  AwaitReadable(b);
  EXPECT_EQ(b.TryRecv(Buffer())->value(), 4u);
}

TEST_F(ReadinessTest, ABatchIsSentAndReceivedWithoutWaiting) {
  const UdpSocket a = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  const UdpSocket b = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  const SocketAddr to = b.local_addr().value();
  const UdpSocket::Outgoing out[] = {UdpSocket::Outgoing("one", to),
                                     UdpSocket::Outgoing("three", to)};
  AwaitWritable(a);
  EXPECT_EQ(a.TrySendBatch(out)->value(), 2u);
  char first[8];
  char second[8];
  UdpSocket::Incoming in[] = {UdpSocket::Incoming(absl::MakeSpan(first)),
                              UdpSocket::Incoming(absl::MakeSpan(second))};
  AwaitReadable(b);
  EXPECT_EQ(b.TryRecvBatch(absl::MakeSpan(in))->value(), 2u);
  EXPECT_EQ(in[1].size, 5u);
  EXPECT_EQ(b.TryRecvBatch(absl::MakeSpan(in)), std::nullopt);
}

TEST_F(ReadinessTest, AFailedSendNamesTheReceiver) {
  const UdpSocket a = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  AwaitWritable(a);
  const std::string too_large(70'000, 'x');
  const SocketAddr to = SocketAddr::Localhost(9);
  const Result size = a.TrySendTo(too_large, to);
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(size->status().message(),
              StartsWith(absl::StrCat("sendto ", to)));
}

TEST_F(ReadinessTest, AFullQueueOfDatagramsWaitsForRoom) {
  auto [a, b] = UnixDatagram::Pair().value();
  AwaitWritable(a);
  size_t sent = 0;
  while (a.TrySend("x").has_value()) ++sent;
  auto writable = a.Writable();
  ASSERT_TRUE(task_.Poll(writable).IsPending());
  AwaitReadable(b);
  for (size_t i = 0; i < sent; ++i) {
    ASSERT_EQ(b.TryRecv(Buffer())->value(), 1u);
  }
  EXPECT_TRUE(Run(writable).ok());
  EXPECT_EQ(a.TrySend("last")->value(), 4u);
}

}  // namespace
}  // namespace rouse
