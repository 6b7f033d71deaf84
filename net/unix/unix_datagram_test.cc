// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_datagram.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/unix_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(Future<UnixDatagram::RecvFuture>);
static_assert(Future<UnixDatagram::RecvFromFuture>);
static_assert(Future<UnixDatagram::SendFuture>);
static_assert(Future<UnixDatagram::SendToFuture>);

class UnixDatagramTest : public UnixTest {
 protected:
  // Sends until the queue is full; returns the status of the last send.
  absl::Status Fill(const UnixDatagram& from, const UnixAddr& to) {
    for (;;) {
      auto send = from.SendTo("x", to);
      const auto sent = task_.Poll(send);
      if (sent.IsPending()) return absl::OkStatus();
      if (!sent->ok()) return sent->status();
    }
  }
};

TEST_F(UnixDatagramTest, ADatagramArrivesWithItsSender) {
  for (const auto& [from, to] :
       {std::pair(NewPathAddr(), NewPathAddr()),
        std::pair(NewAbstractAddr(), NewAbstractAddr())}) {
    const UnixDatagram a = UnixDatagram::Bind(from).value();
    const UnixDatagram b = UnixDatagram::Bind(to).value();
    EXPECT_EQ(b.local_addr().value(), to);
    EXPECT_EQ(Run(a.SendTo("ping", to)).value(), 4u);
    EXPECT_EQ(Run(a.SendTo("", to)).value(), 0u);
    const UnixDatagram::Received received = Run(b.RecvFrom(Buffer(3))).value();
    EXPECT_EQ(std::string_view(buffer_, received.size), "pin");
    EXPECT_TRUE(received.truncated);
    EXPECT_EQ(received.peer, from);
    EXPECT_EQ(Run(b.RecvFrom(Buffer())).value().size, 0u);
  }
}

TEST_F(UnixDatagramTest, AnUnnamedSocketCanSend) {
  const UnixDatagram a = UnixDatagram::Unbound().value();
  const UnixDatagram b = UnixDatagram::Bind(NewAbstractAddr()).value();
  ASSERT_TRUE(Run(a.SendTo("x", b.local_addr().value())).ok());
  EXPECT_TRUE(Run(b.RecvFrom(Buffer())).value().peer.IsUnnamed());
}

TEST_F(UnixDatagramTest, APairExchangesDatagrams) {
  auto [a, b] = UnixDatagram::Pair().value();
  auto receive = b.Recv(Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(receive).IsPending());
  EXPECT_EQ(Run(a.Send("ping")).value(), 4u);
  EXPECT_EQ(Run(receive).value(), 4u);
  EXPECT_EQ(a.GetPeerCredentials().value().pid, getpid());
}

TEST_F(UnixDatagramTest, AShutdownEndsADirection) {
  auto [a, b] = UnixDatagram::Pair().value();
  ASSERT_TRUE(Run(a.Send("before")).ok());
  ASSERT_TRUE(a.ShutdownWrite().ok());
  EXPECT_EQ(Run(a.Send("after")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Run(b.Recv(Buffer())).value(), 6u);
  // The other direction continues until it is ended, too.
  ASSERT_TRUE(Run(b.Send("x")).ok());
  ASSERT_TRUE(a.ShutdownRead().ok());
  EXPECT_EQ(Run(a.Recv(Buffer())).value(), 1u);
  EXPECT_EQ(Run(b.Send("x")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  auto receive = a.Recv(Buffer());
  EXPECT_TRUE(task_.Poll(receive).IsPending());
}

TEST_F(UnixDatagramTest, ASocketWithoutAPeerCanBeShutDown) {
  const UnixDatagram a = UnixDatagram::Unbound().value();
  const UnixDatagram b = UnixDatagram::Bind(NewAbstractAddr()).value();
  const UnixDatagram c = UnixDatagram::Unbound().value();
  const UnixAddr to = b.local_addr().value();
  ASSERT_TRUE(a.ShutdownWrite().ok());
  EXPECT_EQ(Run(a.SendTo("x", to)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Run(c.SendTo("x", to)).ok());
  ASSERT_TRUE(b.ShutdownRead().ok());
  EXPECT_EQ(Run(c.SendTo("x", to)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(UnixDatagramTest, APairWaitsForRoom) {
  auto [a, b] = UnixDatagram::Pair().value();
  Turn();
  size_t sent = 0;
  for (;; ++sent) {
    auto send = a.Send("x");
    if (task_.Poll(send).IsPending()) break;
    ASSERT_LT(sent, 1'000'000u);
  }
  auto send = a.Send("last");
  ASSERT_TRUE(task_.Poll(send).IsPending());
  for (size_t i = 0; i < sent; ++i) {
    ASSERT_EQ(Run(b.Recv(Buffer())).value(), 1u);
  }
  EXPECT_EQ(Run(send).value(), 4u);
  EXPECT_EQ(Run(b.Recv(Buffer())).value(), 4u);
}

TEST_F(UnixDatagramTest, AConnectedSenderWaitsForAFullReceiver) {
  const UnixDatagram a = UnixDatagram::Unbound().value();
  const UnixDatagram b = UnixDatagram::Bind(NewAbstractAddr()).value();
  ASSERT_TRUE(a.Connect(b.local_addr().value()).ok());
  EXPECT_EQ(a.peer_addr().value(), b.local_addr().value());
  Turn();
  for (;;) {
    auto send = a.Send("x");
    if (task_.Poll(send).IsPending()) break;
  }
  auto send = a.Send("last");
  ASSERT_TRUE(task_.Poll(send).IsPending());
  ASSERT_EQ(Run(b.Recv(Buffer())).value(), 1u);
  EXPECT_EQ(Run(send).value(), 4u);
}

// For an unconnected socket no event would come: a wait would never end.
TEST_F(UnixDatagramTest, AnUnconnectedSenderLearnsThatTheReceiverIsFull) {
  const UnixDatagram a = UnixDatagram::Unbound().value();
  const UnixDatagram b = UnixDatagram::Bind(NewAbstractAddr()).value();
  Turn();
  const UnixAddr to = b.local_addr().value();
  EXPECT_EQ(Fill(a, to).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_EQ(Run(b.Recv(Buffer())).value(), 1u);
  EXPECT_EQ(Run(a.SendTo("x", to)).value(), 1u);
}

// A send does not fail if room appears right after the refusal.
TEST_F(UnixDatagramTest, AConnectedSenderWaitsWhenItNamesTheReceiver) {
  const UnixDatagram a = UnixDatagram::Unbound().value();
  const UnixDatagram b = UnixDatagram::Bind(NewAbstractAddr()).value();
  const UnixAddr to = b.local_addr().value();
  ASSERT_TRUE(a.Connect(to).ok());
  constexpr int kDatagrams = 20000;
  std::thread receiving([&b] {
    char buffer[8];
    for (int received = 0; received < kDatagrams;) {
      if (recv(b.fd(), buffer, sizeof buffer, MSG_DONTWAIT) > 0) ++received;
    }
  });
  for (int i = 0; i < kDatagrams; ++i) {
    const absl::StatusOr<size_t> sent = Run(a.SendTo("x", to));
    ASSERT_TRUE(sent.ok()) << sent.status();
  }
  receiving.join();
}

TEST_F(UnixDatagramTest, AConnectionToAnotherReceiverDoesNotDelaySends) {
  const UnixDatagram a = UnixDatagram::Unbound().value();
  const UnixDatagram full = UnixDatagram::Bind(NewAbstractAddr()).value();
  const UnixDatagram other = UnixDatagram::Bind(NewAbstractAddr()).value();
  Turn();
  ASSERT_TRUE(a.Connect(full.local_addr().value()).ok());
  const UnixDatagram third = UnixDatagram::Unbound().value();
  Turn();
  EXPECT_EQ(Fill(third, full.local_addr().value()).code(),
            absl::StatusCode::kResourceExhausted);
  const UnixAddr to = other.local_addr().value();
  EXPECT_EQ(Fill(a, to).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_EQ(Run(other.Recv(Buffer())).value(), 1u);
  EXPECT_EQ(Run(a.SendTo("x", to)).value(), 1u);
}

// The connection still refers to the old peer, which will never have room.
TEST_F(UnixDatagramTest, DoesNotWaitForAReplacedReceiver) {
  const UnixDatagram a = UnixDatagram::Unbound().value();
  const UnixAddr to = NewAbstractAddr();
  {
    const UnixDatagram before = UnixDatagram::Bind(to).value();
    ASSERT_TRUE(a.Connect(to).ok());
  }
  const UnixDatagram now = UnixDatagram::Bind(to).value();
  Turn();
  EXPECT_EQ(Fill(a, to).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_EQ(Run(now.Recv(Buffer())).value(), 1u);
  EXPECT_EQ(Run(a.SendTo("x", to)).value(), 1u);
}

TEST_F(UnixDatagramTest, ErrorsHaveTheirCodes) {
  const UnixDatagram a = UnixDatagram::Unbound().value();
  EXPECT_EQ(Run(a.SendTo("x", NewPathAddr())).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Run(a.SendTo("x", NewAbstractAddr())).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(Run(a.Send("x")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(a.Connect(NewAbstractAddr()).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(a.GetPeerCredentials().status().code(),
            absl::StatusCode::kFailedPrecondition);
  const UnixDatagram b = UnixDatagram::Bind(NewAbstractAddr()).value();
  const std::string large(8 << 20, 'x');
  EXPECT_EQ(Run(a.SendTo(large, b.local_addr().value())).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(UnixDatagram::Bind(b.local_addr().value()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Covers trap R13 of reactor/traps_test.cc.
TEST_F(UnixDatagramTest, AFloodOfDatagramsLetsOtherTasksRun) {
  auto [a, b] = UnixDatagram::Pair().value();
  Turn();
  Context cx(task_.waker());
  while (cx.HasBudget()) {
    ASSERT_TRUE(Run(a.Send("x")).ok());
    Turn();
    if (b.PollRecvFrom(cx, Buffer()).IsPending()) reactor_.Park();
  }
  ASSERT_TRUE(Run(a.Send("x")).ok());
  Turn();
  const int wakes = task_.wakes();
  EXPECT_TRUE(b.PollRecvFrom(cx, Buffer()).IsPending());
  EXPECT_EQ(task_.wakes(), wakes + 1);
}

TEST_F(UnixDatagramTest, AdoptsAndReleasesADescriptor) {
  auto [a, b] = UnixDatagram::Pair().value();
  const int fd = a.fd();
  OwnedFd taken = std::move(a).IntoFd();
  EXPECT_EQ(taken.get(), fd);
  const absl::StatusOr<UnixDatagram> adopted =
      UnixDatagram::FromFd(std::move(taken));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  ASSERT_TRUE(Run(adopted->Send("x")).ok());
  EXPECT_EQ(Run(b.Recv(Buffer())).value(), 1u);
  OwnedFd stream(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(UnixDatagram::FromFd(std::move(stream)).status().code(),
            absl::StatusCode::kInvalidArgument);
  OwnedFd udp(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(UnixDatagram::FromFd(std::move(udp)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UnixDatagramTest, SocketsAreNonBlockingAndCloseOnExec) {
  auto [a, b] = UnixDatagram::Pair().value();
  for (const int fd : {a.fd(), b.fd()}) {
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST_F(UnixDatagramTest, PollingACompleteFuturePanics) {
  auto [a, b] = UnixDatagram::Pair().value();
  auto send = a.Send("x");
  ASSERT_TRUE(Run(send).ok());
  EXPECT_PANIC((void)task_.Poll(send), "UnixDatagram::Send() was polled after");
}

}  // namespace
}  // namespace rouse
