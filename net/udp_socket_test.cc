// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/udp_socket.h"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/tcp_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(Future<UdpSocket::RecvFuture>);
static_assert(Future<UdpSocket::RecvFromFuture>);
static_assert(Future<UdpSocket::SendFuture>);
static_assert(Future<UdpSocket::SendToFuture>);
static_assert(Future<UdpSocket::PeekFromFuture>);
static_assert(Future<UdpSocket::RecvBatchFuture>);
static_assert(Future<UdpSocket::SendBatchFuture>);

class UdpSocketTest : public TcpTest {
 protected:
  static UdpSocket Open() {
    return UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  }

  absl::Span<char> Buffer(size_t size = sizeof buffer_) {
    return absl::MakeSpan(buffer_, size);
  }
  std::string_view Text(size_t size) { return {buffer_, size}; }

  UdpSocket a_ = Open();
  UdpSocket b_ = Open();
  SocketAddr a_addr_ = a_.local_addr().value();
  SocketAddr b_addr_ = b_.local_addr().value();
  char buffer_[64];
};

TEST_F(UdpSocketTest, ADatagramArrivesWithItsSender) {
  EXPECT_EQ(Run(a_.SendTo("ping", b_addr_)).value(), 4u);
  const UdpSocket::Received received = Run(b_.RecvFrom(Buffer())).value();
  EXPECT_EQ(Text(received.size), "ping");
  EXPECT_EQ(received.peer, a_addr_);
  EXPECT_FALSE(received.truncated);
}

TEST_F(UdpSocketTest, WaitsForADatagram) {
  auto receive = b_.RecvFrom(Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(receive).IsPending());
  EXPECT_EQ(Run(a_.SendTo("x", b_addr_)).value(), 1u);
  EXPECT_EQ(Run(receive).value().size, 1u);
}

TEST_F(UdpSocketTest, ADestroyedReceiveTakesNothingAndIsNotWoken) {
  {
    auto receive = b_.RecvFrom(Buffer());
    Turn();
    ASSERT_TRUE(other_.Poll(receive).IsPending());
    EXPECT_EQ(other_.live(), 1);
  }
  EXPECT_EQ(other_.live(), 0);
  EXPECT_EQ(Run(a_.SendTo("x", b_addr_)).value(), 1u);
  EXPECT_EQ(Run(b_.Recv(Buffer())).value(), 1u);
}

TEST_F(UdpSocketTest, SmallDatagramsDoNotHideLaterOnes) {
  for (const std::string_view data : {"1", "2", "3"}) {
    ASSERT_TRUE(Run(a_.SendTo(data, b_addr_)).ok());
  }
  for (const std::string_view data : {"1", "2", "3"}) {
    ASSERT_EQ(Run(b_.Recv(Buffer())).value(), 1u);
    EXPECT_EQ(Text(1), data);
  }
}

TEST_F(UdpSocketTest, ADatagramLargerThanTheBufferIsTruncated) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Run(a_.SendTo("abcdef", b_addr_)).ok());
  }
  const UdpSocket::Received received = Run(b_.RecvFrom(Buffer(4))).value();
  EXPECT_EQ(Text(received.size), "abcd");
  EXPECT_TRUE(received.truncated);
  EXPECT_EQ(Run(b_.Recv(Buffer(4))).value(), 4u);
  auto none = b_.Recv(Buffer());
  EXPECT_TRUE(task_.Poll(none).IsPending());
}

TEST_F(UdpSocketTest, AnEmptyDatagramIsReceived) {
  EXPECT_EQ(Run(a_.SendTo("", b_addr_)).value(), 0u);
  ASSERT_TRUE(Run(a_.SendTo("x", b_addr_)).ok());
  EXPECT_EQ(Run(b_.RecvFrom(Buffer())).value().size, 0u);
  EXPECT_EQ(Run(b_.RecvFrom(Buffer())).value().size, 1u);
}

TEST_F(UdpSocketTest, PeekingLeavesTheDatagram) {
  ASSERT_TRUE(Run(a_.SendTo("ping", b_addr_)).ok());
  const UdpSocket::Received peeked = Run(b_.PeekFrom(Buffer(2))).value();
  EXPECT_EQ(peeked.size, 2u);
  EXPECT_TRUE(peeked.truncated);
  EXPECT_EQ(peeked.peer, a_addr_);
  EXPECT_EQ(Run(b_.Recv(Buffer())).value(), 4u);
}

TEST_F(UdpSocketTest, AConnectedSocketReceivesOnlyFromItsPeer) {
  EXPECT_FALSE(a_.peer_addr().ok());
  ASSERT_TRUE(a_.Connect(b_addr_).ok());
  EXPECT_EQ(a_.peer_addr().value(), b_addr_);
  const UdpSocket stranger = Open();
  ASSERT_TRUE(Run(stranger.SendTo("no", a_addr_)).ok());
  ASSERT_TRUE(Run(b_.SendTo("yes", a_addr_)).ok());
  ASSERT_EQ(Run(a_.Recv(Buffer())).value(), 3u);
  EXPECT_EQ(Text(3), "yes");
  EXPECT_EQ(Run(a_.Send("back")).value(), 4u);
  EXPECT_EQ(Run(b_.Recv(Buffer())).value(), 4u);
}

TEST_F(UdpSocketTest, SendingWithoutAPeerIsInvalidArgument) {
  EXPECT_EQ(Run(a_.Send("x")).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UdpSocketTest, AnUnreachablePeerIsReportedLater) {
  SocketAddr closed_addr;
  {
    const UdpSocket closed = Open();
    closed_addr = closed.local_addr().value();
  }
  ASSERT_TRUE(a_.Connect(closed_addr).ok());
  ASSERT_TRUE(Run(a_.Send("x")).ok());
  EXPECT_EQ(Run(a_.Recv(Buffer())).status().code(),
            absl::StatusCode::kUnavailable);
  // The socket continues to work.
  ASSERT_TRUE(a_.Connect(b_addr_).ok());
  ASSERT_TRUE(Run(a_.Send("x")).ok());
  EXPECT_EQ(Run(b_.Recv(Buffer())).value(), 1u);
}

TEST_F(UdpSocketTest, ATooLargeDatagramIsAnError) {
  const std::string data(70'000, 'x');
  const absl::Status status = Run(a_.SendTo(data, b_addr_)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(b_addr_.ToString()), std::string_view::npos)
      << status;
  ASSERT_TRUE(a_.Connect(b_addr_).ok());
  EXPECT_EQ(Run(a_.Send(data)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UdpSocketTest, SendsAndReceivesBatches) {
  std::vector<std::string> texts;
  for (int i = 0; i < 5; ++i) texts.push_back(absl::StrCat("datagram ", i));
  std::vector<UdpSocket::Outgoing> out;
  for (const std::string& text : texts) out.emplace_back(text, b_addr_);
  ASSERT_EQ(Run(a_.SendBatch(out)).value(), 5u);

  char buffers[8][16];
  std::vector<UdpSocket::Incoming> in;
  for (auto& buffer : buffers) in.emplace_back(absl::MakeSpan(buffer));
  in[1].buffer = in[1].buffer.first(4);
  size_t received = 0;
  while (received < 5) {
    const auto rest = absl::MakeSpan(in).subspan(received);
    const size_t count = Run(b_.RecvBatch(rest)).value();
    ASSERT_GT(count, 0u);
    received += count;
  }
  EXPECT_EQ(received, 5u);
  for (size_t i = 0; i < 5; ++i) {
    const std::string_view text(in[i].buffer.data(), in[i].size);
    EXPECT_EQ(text, i == 1 ? "data" : texts[i]);
    EXPECT_EQ(in[i].truncated, i == 1);
    EXPECT_EQ(in[i].peer, a_addr_);
  }
}

TEST_F(UdpSocketTest, ABatchWaits) {
  UdpSocket::Incoming in{Buffer()};
  auto receive = b_.RecvBatch(absl::MakeSpan(&in, 1));
  Turn();
  ASSERT_TRUE(task_.Poll(receive).IsPending());
  ASSERT_TRUE(Run(a_.SendTo("x", b_addr_)).ok());
  EXPECT_EQ(Run(receive).value(), 1u);
  EXPECT_EQ(in.size, 1u);
}

TEST_F(UdpSocketTest, ABatchHasALimitAndCanBeEmpty) {
  const std::vector<UdpSocket::Outgoing> out(UdpSocket::kMaxBatch + 10,
                                             UdpSocket::Outgoing("x", b_addr_));
  EXPECT_EQ(Run(a_.SendBatch(out)).value(), UdpSocket::kMaxBatch);
  EXPECT_EQ(Run(a_.SendBatch({})).value(), 0u);
  EXPECT_EQ(Run(b_.RecvBatch({})).value(), 0u);
}

TEST_F(UdpSocketTest, ABatchEndsBeforeAFailingDatagram) {
  const std::string large(70'000, 'x');
  const UdpSocket::Outgoing out[] = {UdpSocket::Outgoing("x", b_addr_),
                                     UdpSocket::Outgoing(large, b_addr_),
                                     UdpSocket::Outgoing("z", b_addr_)};
  EXPECT_EQ(Run(a_.SendBatch(out)).value(), 1u);
  EXPECT_FALSE(Run(a_.SendBatch(absl::MakeConstSpan(out).subspan(1))).ok());
}

// Covers trap R13 of reactor/traps_test.cc.
TEST_F(UdpSocketTest, AFloodOfDatagramsLetsOtherTasksRun) {
  ASSERT_TRUE(b_.SetReceiveBufferSize(1 << 20).ok());
  for (uint32_t i = 0; i < kBudgetPerPoll + 10; ++i) {
    ASSERT_TRUE(Run(a_.SendTo("x", b_addr_)).ok());
  }
  Turn();
  Context cx(task_.waker());
  uint32_t received = 0;
  while (b_.PollRecvFrom(cx, Buffer()).IsReady()) ++received;
  EXPECT_EQ(received, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
  Context sending(other_.waker());
  uint32_t sent = 0;
  while (a_.PollSendTo(sending, "x", b_addr_).IsReady()) ++sent;
  EXPECT_EQ(sent, kBudgetPerPoll);
}

TEST_F(UdpSocketTest, EachDatagramGoesToOneOfSeveralTasks) {
  char x, y;
  auto first = b_.Recv(absl::MakeSpan(&x, 1));
  auto second = b_.Recv(absl::MakeSpan(&y, 1));
  Turn();
  ASSERT_TRUE(task_.Poll(first).IsPending());
  ASSERT_TRUE(other_.Poll(second).IsPending());
  ASSERT_TRUE(Run(a_.SendTo("1", b_addr_)).ok());
  ASSERT_TRUE(Run(a_.SendTo("2", b_addr_)).ok());
  while (task_.wakes() == 0 || other_.wakes() == 0) reactor_.Park();
  ASSERT_EQ(task_.Poll(first)->value(), 1u);
  ASSERT_EQ(other_.Poll(second)->value(), 1u);
  EXPECT_EQ((std::set<char>{x, y}), (std::set<char>{'1', '2'}));
}

TEST_F(UdpSocketTest, AGroupIsJoinedAndLeft) {
  const SocketAddr group = SocketAddr::IPv4({239, 255, 77, 7}, 0);
  const uint32_t loopback = if_nametoindex("lo");
  const UdpSocket member = UdpSocket::Bind(SocketAddr()).value();
  const absl::Status joined = member.JoinMulticast(group, loopback);
  if (!joined.ok()) GTEST_SKIP() << "no groups here: " << joined;
  EXPECT_EQ(member.JoinMulticast(group, loopback).code(),
            absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(a_.SetMulticastInterface(loopback).ok());
  const SocketAddr to = group.WithPort(member.local_addr()->port());
  const absl::StatusOr<size_t> sent = Run(a_.SendTo("all", to));
  // Not every machine has a route to the group.
  if (sent.ok()) {
    const UdpSocket::Received received = Run(member.RecvFrom(Buffer())).value();
    EXPECT_EQ(Text(received.size), "all");
    EXPECT_EQ(received.peer.port(), a_addr_.port());
  }
  ASSERT_TRUE(member.LeaveMulticast(group, loopback).ok());
  EXPECT_EQ(member.LeaveMulticast(group, loopback).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(UdpSocketTest, AnIPv6GroupIsJoinedAndLeft) {
  const SocketAddr group = SocketAddr::Parse("[ff01::77:7]:0").value();
  const uint32_t loopback = if_nametoindex("lo");
  const absl::StatusOr<UdpSocket> member =
      UdpSocket::Bind(SocketAddr::Parse("[::]:0").value());
  if (!member.ok()) GTEST_SKIP() << "no IPv6 here: " << member.status();
  const absl::Status joined = member->JoinMulticast(group, loopback);
  if (!joined.ok()) GTEST_SKIP() << "no groups here: " << joined;
  ASSERT_TRUE(member->SetMulticastInterface(loopback).ok());
  const SocketAddr to = group.WithPort(member->local_addr()->port());
  const absl::StatusOr<size_t> sent = Run(member->SendTo("all", to));
  // Not every machine has a route to the group.
  if (sent.ok()) {
    EXPECT_EQ(Run(member->Recv(Buffer())).value(), 3u);
  }
  EXPECT_TRUE(member->LeaveMulticast(group, loopback).ok());
  EXPECT_EQ(member->LeaveMulticast(group, loopback).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(UdpSocketTest, TheScopeOfAGroupIsItsInterface) {
  const SocketAddr group = SocketAddr::Parse("[ff02::77:7]:0").value();
  const absl::StatusOr<SocketAddr> scoped =
      SocketAddr::Parse("[ff02::77:7%lo]:0");
  const absl::StatusOr<UdpSocket> member =
      UdpSocket::Bind(SocketAddr::Parse("[::]:0").value());
  if (!member.ok()) GTEST_SKIP() << "no IPv6 here: " << member.status();
  ASSERT_TRUE(scoped.ok()) << scoped.status();
  const uint32_t loopback = scoped->scope();
  const absl::Status able = member->JoinMulticast(group, loopback);
  if (!able.ok()) GTEST_SKIP() << "no groups here: " << able;
  EXPECT_EQ(member->JoinMulticast(*scoped).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(member->JoinMulticast(*scoped, loopback).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(member->JoinMulticast(*scoped, loopback + 1).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(member->LeaveMulticast(*scoped, loopback + 1).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(member->LeaveMulticast(*scoped).ok());
  EXPECT_EQ(member->LeaveMulticast(group, loopback).code(),
            absl::StatusCode::kNotFound);
}

// Returns OK if the system can join a source, without the code under test.
absl::Status ProbeSources(const SocketAddr& group, const SocketAddr& source,
                          uint32_t interface) {
  const OwnedFd fd(socket(group.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  group_source_req request = {};
  request.gsr_interface = interface;
  std::memcpy(&request.gsr_group, group.data(), group.size());
  std::memcpy(&request.gsr_source, source.data(), source.size());
  if (setsockopt(fd.get(), group.IsIPv4() ? IPPROTO_IP : IPPROTO_IPV6,
                 MCAST_JOIN_SOURCE_GROUP, &request, sizeof request) != 0) {
    return absl::ErrnoToStatus(errno, "setsockopt(MCAST_JOIN_SOURCE_GROUP)");
  }
  return absl::OkStatus();
}

TEST_F(UdpSocketTest, OnlyTheJoinedSourceOfAGroupIsReceived) {
  const SocketAddr group = SocketAddr::Parse("232.77.7.7:0").value();
  const SocketAddr joined = SocketAddr::Parse("127.0.0.1:0").value();
  const SocketAddr other = SocketAddr::Parse("127.0.0.2:0").value();
  const uint32_t loopback = if_nametoindex("lo");
  const absl::Status able = ProbeSources(group, joined, loopback);
  if (!able.ok()) GTEST_SKIP() << "no groups here: " << able;
  const UdpSocket member =
      UdpSocket::Bind(SocketAddr::Parse("0.0.0.0:0").value()).value();
  const absl::Status status =
      member.JoinMulticastSource(group, joined, loopback);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(member.JoinMulticastSource(group, joined, loopback).code(),
            absl::StatusCode::kAlreadyExists);
  const SocketAddr to = group.WithPort(member.local_addr()->port());
  const UdpSocket a = UdpSocket::Bind(joined).value();
  const UdpSocket b = UdpSocket::Bind(other).value();
  ASSERT_TRUE(a.SetMulticastInterface(loopback).ok());
  ASSERT_TRUE(b.SetMulticastInterface(loopback).ok());
  const absl::StatusOr<size_t> sent = Run(b.SendTo("other", to));
  if (sent.ok()) {
    ASSERT_TRUE(Run(a.SendTo("joined", to)).ok());
    const UdpSocket::Received received = Run(member.RecvFrom(Buffer())).value();
    EXPECT_EQ(Text(received.size), "joined");
    EXPECT_EQ(received.peer, a.local_addr().value());
    // A second source can be joined.
    ASSERT_TRUE(member.JoinMulticastSource(group, other, loopback).ok());
    ASSERT_TRUE(Run(b.SendTo("other", to)).ok());
    EXPECT_EQ(Text(Run(member.Recv(Buffer())).value()), "other");
    ASSERT_TRUE(member.LeaveMulticastSource(group, other, loopback).ok());
  }
  const absl::Status left = member.LeaveMulticastSource(group, other, loopback);
  EXPECT_EQ(left.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(left.message(), ::testing::HasSubstr("127.0.0.2"));
  EXPECT_TRUE(member.LeaveMulticastSource(group, joined, loopback).ok());
  // The last source takes the group with it.
  EXPECT_EQ(member.LeaveMulticastSource(group, joined, loopback).code(),
            absl::StatusCode::kNotFound);
  if (!sent.ok()) GTEST_SKIP() << "no route to the group: " << sent.status();
}

TEST_F(UdpSocketTest, TheSourceOfAnIPv6GroupIsJoinedAndLeft) {
  const SocketAddr group = SocketAddr::Parse("[ff31::77:7]:0").value();
  const SocketAddr source = SocketAddr::Parse("[::1]:0").value();
  const uint32_t loopback = if_nametoindex("lo");
  const absl::StatusOr<UdpSocket> member =
      UdpSocket::Bind(SocketAddr::Parse("[::]:0").value());
  if (!member.ok()) GTEST_SKIP() << "no IPv6 here: " << member.status();
  const absl::Status able = ProbeSources(group, source, loopback);
  if (!able.ok()) GTEST_SKIP() << "no groups here: " << able;
  const absl::Status joined =
      member->JoinMulticastSource(group, source, loopback);
  ASSERT_TRUE(joined.ok()) << joined;
  EXPECT_EQ(member->JoinMulticastSource(group, source, loopback).code(),
            absl::StatusCode::kAlreadyExists);
  const absl::StatusOr<UdpSocket> sender = UdpSocket::Bind(source);
  absl::Status sent = sender.status();
  if (sender.ok()) {
    ASSERT_TRUE(sender->SetMulticastInterface(loopback).ok());
    const SocketAddr to = group.WithPort(member->local_addr()->port());
    sent = Run(sender->SendTo("all", to)).status();
    if (sent.ok()) {
      EXPECT_EQ(Run(member->Recv(Buffer())).value(), 3u);
    }
  }
  EXPECT_TRUE(member->LeaveMulticastSource(group, source, loopback).ok());
  EXPECT_EQ(member->LeaveMulticastSource(group, source, loopback).code(),
            absl::StatusCode::kNotFound);
  if (!sent.ok()) GTEST_SKIP() << "no route to the group: " << sent;
}

TEST_F(UdpSocketTest, ASourceLimitsAMembershipOfTheWholeGroup) {
  const SocketAddr group = SocketAddr::Parse("232.77.7.8:0").value();
  const SocketAddr joined = SocketAddr::Parse("127.0.0.1:0").value();
  const SocketAddr other = SocketAddr::Parse("127.0.0.2:0").value();
  const uint32_t loopback = if_nametoindex("lo");
  const UdpSocket member =
      UdpSocket::Bind(SocketAddr::Parse("0.0.0.0:0").value()).value();
  const absl::Status status = member.JoinMulticast(group, loopback);
  if (!status.ok()) GTEST_SKIP() << "no groups here: " << status;
  const UdpSocket a = UdpSocket::Bind(joined).value();
  const UdpSocket b = UdpSocket::Bind(other).value();
  ASSERT_TRUE(a.SetMulticastInterface(loopback).ok());
  ASSERT_TRUE(b.SetMulticastInterface(loopback).ok());
  const SocketAddr to = group.WithPort(member.local_addr()->port());
  const absl::StatusOr<size_t> sent = Run(b.SendTo("whole", to));
  if (!sent.ok()) GTEST_SKIP() << "no route to the group: " << sent.status();
  EXPECT_EQ(Text(Run(member.Recv(Buffer())).value()), "whole");

  EXPECT_EQ(member.LeaveMulticastSource(group, joined, loopback).code(),
            absl::StatusCode::kNotFound);
  ASSERT_TRUE(Run(a.SendTo("lost", to)).ok());
  ASSERT_TRUE(member.JoinMulticastSource(group, joined, loopback).ok());
  ASSERT_TRUE(Run(b.SendTo("lost", to)).ok());
  ASSERT_TRUE(Run(a.SendTo("joined", to)).ok());
  EXPECT_EQ(Text(Run(member.Recv(Buffer())).value()), "joined");
}

TEST_F(UdpSocketTest, ASourceMustFitItsGroup) {
  const SocketAddr group = SocketAddr::Parse("232.77.7.7:0").value();
  const SocketAddr source = SocketAddr::Localhost(0);
  const SocketAddr six = SocketAddr::Parse("[::1]:0").value();
  const SocketAddr scoped = SocketAddr::IPv6(
      {0xff, 0x31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}, 0, /*scope=*/1);
  for (const absl::Status& status :
       {a_.JoinMulticastSource(group, six), a_.LeaveMulticastSource(group, six),
        a_.JoinMulticastSource(source, source),
        a_.JoinMulticastSource(scoped, six, /*interface=*/2)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
}

TEST_F(UdpSocketTest, AnAddressThatIsNotAGroupIsInvalidArgument) {
  EXPECT_EQ(a_.JoinMulticast(SocketAddr::Localhost(1)).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UdpSocketTest, OptionsHaveTheValuesSet) {
  EXPECT_TRUE(a_.MulticastLoop().value());
  ASSERT_TRUE(a_.SetMulticastLoop(false).ok());
  EXPECT_FALSE(a_.MulticastLoop().value());
  EXPECT_EQ(a_.MulticastTtl().value(), 1);
  ASSERT_TRUE(a_.SetMulticastTtl(4).ok());
  EXPECT_EQ(a_.MulticastTtl().value(), 4);
  ASSERT_TRUE(a_.SetTtl(5).ok());
  EXPECT_EQ(a_.Ttl().value(), 5);
  EXPECT_FALSE(a_.Broadcast().value());
  ASSERT_TRUE(a_.SetBroadcast(true).ok());
  EXPECT_TRUE(a_.Broadcast().value());
  ASSERT_TRUE(a_.SetSendBufferSize(20'000).ok());
  EXPECT_EQ(a_.SendBufferSize().value(), 40'000);
  ASSERT_TRUE(a_.SetReceiveBufferSize(20'000).ok());
  EXPECT_EQ(a_.ReceiveBufferSize().value(), 40'000);
  EXPECT_FALSE(a_.SetTtl(256).ok());
  ASSERT_TRUE(a_.SetMulticastInterface(0).ok());
  EXPECT_FALSE(a_.SetMulticastInterface(1 << 30).ok());
}

TEST_F(UdpSocketTest, AnAddressInUseIsFailedPrecondition) {
  EXPECT_EQ(UdpSocket::Bind(a_addr_).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(UdpSocketTest, AdoptsAndReleasesADescriptor) {
  const int fd = a_.fd();
  OwnedFd taken = std::move(a_).IntoFd();
  EXPECT_EQ(taken.get(), fd);
  const absl::StatusOr<UdpSocket> adopted = UdpSocket::FromFd(std::move(taken));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_EQ(adopted->local_addr().value(), a_addr_);
  OwnedFd tcp(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(UdpSocket::FromFd(std::move(tcp)).status().code(),
            absl::StatusCode::kInvalidArgument);
  OwnedFd local(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(UdpSocket::FromFd(std::move(local)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UdpSocketTest, IsNonBlockingAndCloseOnExec) {
  EXPECT_EQ(fcntl(a_.fd(), F_GETFD), FD_CLOEXEC);
  EXPECT_NE(fcntl(a_.fd(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(UdpSocketTest, NeedsAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_EQ(UdpSocket::Bind(SocketAddr::Localhost(0)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(
      UdpSocket::Bind(SocketAddr::Localhost(0), reactor_.handle()).ok());
}

// Nobody receives at `b_addr_`, which the kernel reports for a later call.
TEST_F(UdpSocketTest, APendingErrorCanBeTaken) {
  EXPECT_TRUE(a_.TakeError().ok());
  ASSERT_TRUE(a_.Connect(b_addr_).ok());
  {
    const UdpSocket closed = std::move(b_);
  }
  ASSERT_TRUE(Run(a_.Send("x")).ok());
  const absl::Status error = a_.TakeError();
  EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(error.message().substr(0, 16), "pending error of");
  EXPECT_NE(error.message().find(a_addr_.ToString()), std::string::npos);
  EXPECT_TRUE(a_.TakeError().ok());
  EXPECT_TRUE(Run(a_.Send("y")).ok());
}

TEST_F(UdpSocketTest, AShutdownOfTheReactorIsUnavailable) {
  auto receive = a_.RecvFrom(Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(receive).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(task_.Poll(receive)->status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(UdpSocketTest, PollingACompleteFuturePanics) {
  auto send = a_.SendTo("x", b_addr_);
  ASSERT_TRUE(Run(send).ok());
  EXPECT_PANIC((void)task_.Poll(send), "UdpSocket::SendTo() was polled after");
  auto receive = b_.RecvFrom(Buffer());
  ASSERT_TRUE(Run(receive).ok());
  EXPECT_PANIC((void)task_.Poll(receive),
               "UdpSocket::RecvFrom() was polled after");
  UdpSocket::Outgoing one("x", b_addr_);
  auto batch = a_.SendBatch(absl::MakeConstSpan(&one, 1));
  ASSERT_TRUE(Run(batch).ok());
  EXPECT_PANIC((void)task_.Poll(batch),
               "UdpSocket::SendBatch() was polled after");
}

}  // namespace
}  // namespace rouse
