// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_seqpacket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/future/stream.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_seqpacket_listener.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/unix_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

static_assert(Future<UnixSeqpacket::ConnectFuture>);
static_assert(Future<UnixSeqpacket::SendFuture>);
static_assert(Future<UnixSeqpacket::RecvFuture>);
static_assert(Stream<UnixSeqpacketListener>);

class UnixSeqpacketTest : public UnixTest {
 protected:
  // Receives one message, which must fit into the buffer.
  std::string Receive(const UnixSeqpacket& socket) {
    const UnixSeqpacket::Received received = Run(socket.Recv(Buffer())).value();
    EXPECT_FALSE(received.truncated);
    return std::string(buffer_, received.size);
  }

  std::pair<UnixSeqpacket, UnixSeqpacket> Pair() {
    return UnixSeqpacket::Pair().value();
  }

  // Sends until a send would have to wait. Returns the number of messages.
  size_t Fill(const UnixSeqpacket& socket) {
    EXPECT_TRUE(Run(socket.Writable()).ok());
    size_t count = 0;
    while (socket.TrySend(std::string(1024, 'x')).has_value()) ++count;
    return count;
  }
};

TEST_F(UnixSeqpacketTest, ListensAndConnects) {
  for (const UnixAddr& addr : {NewPathAddr(), NewAbstractAddr()}) {
    const auto listener = UnixSeqpacketListener::Bind(addr).value();
    EXPECT_EQ(listener.local_addr().value(), addr);
    const UnixSeqpacket client = Run(UnixSeqpacket::Connect(addr)).value();
    const auto accepted = Run(listener.Accept()).value();
    EXPECT_TRUE(accepted.peer.IsUnnamed());
    EXPECT_EQ(accepted.stream.local_addr().value(), addr);
    EXPECT_EQ(client.peer_addr().value(), addr);
    EXPECT_TRUE(client.local_addr().value().IsUnnamed());
    EXPECT_EQ(accepted.stream.GetPeerCredentials().value().pid, getpid());
    EXPECT_EQ(Run(client.Send("ping")).value(), 4u);
    EXPECT_EQ(Receive(accepted.stream), "ping");
    EXPECT_EQ(Run(accepted.stream.Send("pong")).value(), 4u);
    EXPECT_EQ(Receive(client), "pong");
  }
}

TEST_F(UnixSeqpacketTest, TheListenerIsAStreamOfConnections) {
  auto listener = UnixSeqpacketListener::Bind(NewAbstractAddr()).value();
  auto first = Next(listener);
  ASSERT_TRUE(task_.Poll(first).IsPending());
  const UnixSeqpacket client =
      Run(UnixSeqpacket::Connect(listener.local_addr().value())).value();
  EXPECT_TRUE(Run(first).value().ok());
  EXPECT_FALSE(listener.TryAccept().has_value());
  EXPECT_PANIC((void)task_.Poll(first), "completed");
}

TEST_F(UnixSeqpacketTest, KeepsTheBoundariesOfMessages) {
  auto [a, b] = Pair();
  for (const std::string_view message : {"one", "three", "seven"}) {
    ASSERT_TRUE(Run(a.Send(message)).ok());
  }
  EXPECT_EQ(Receive(b), "one");
  EXPECT_EQ(Receive(b), "three");
  EXPECT_EQ(Receive(b), "seven");
}

TEST_F(UnixSeqpacketTest, ReportsWhatDoesNotFit) {
  auto [a, b] = Pair();
  ASSERT_TRUE(Run(a.Send("hello")).ok());
  ASSERT_TRUE(Run(a.Send("next")).ok());
  const UnixSeqpacket::Received cut = Run(b.Recv(Buffer(4))).value();
  EXPECT_EQ(cut.size, 4u);
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(std::string_view(buffer_, 4), "hell");
  // The rest is lost, and does not become a message.
  const UnixSeqpacket::Received whole = Run(b.Recv(Buffer(4))).value();
  EXPECT_EQ(whole.size, 4u);
  EXPECT_FALSE(whole.truncated);
}

TEST_F(UnixSeqpacketTest, AMessageThatNoBufferTakesIsTruncated) {
  auto [a, b] = Pair();
  ASSERT_TRUE(Run(a.Send("hello")).ok());
  const UnixSeqpacket::Received cut = Run(b.Recv({})).value();
  EXPECT_EQ(cut.size, 0u);
  EXPECT_TRUE(cut.truncated);
}

TEST_F(UnixSeqpacketTest, TheEndIsAMessageOfNoBytes) {
  auto [a, b] = Pair();
  ASSERT_TRUE(Run(a.Send("last")).ok());
  ASSERT_TRUE(a.ShutdownWrite().ok());
  EXPECT_EQ(Receive(b), "last");
  for (int i = 0; i < 2; ++i) {
    const UnixSeqpacket::Received end = Run(b.Recv(Buffer())).value();
    EXPECT_EQ(end.size, 0u);
    EXPECT_FALSE(end.truncated);
  }
  // The other direction goes on.
  ASSERT_TRUE(Run(b.Send("reply")).ok());
  EXPECT_EQ(Receive(a), "reply");
}

TEST_F(UnixSeqpacketTest, AnEmptyMessageIsRefused) {
  auto [a, b] = Pair();
  const absl::Status status = Run(a.Send("")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("at least one byte"));
  EXPECT_EQ(a.TrySend("")->status(), status);
  ASSERT_TRUE(Run(a.Send("x")).ok());
  EXPECT_EQ(Receive(b), "x");
}

TEST_F(UnixSeqpacketTest, AMessageThatIsTooLargeIsInvalidArgument) {
  auto [a, b] = Pair();
  const std::string message(8 << 20, 'x');
  const absl::Status status = Run(a.Send(message)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("too large"));
}

TEST_F(UnixSeqpacketTest, WaitsForAMessage) {
  auto [a, b] = Pair();
  auto receive = b.Recv(Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(receive).IsPending());
  ASSERT_TRUE(Run(a.Send("ping")).ok());
  EXPECT_EQ(Run(receive).value().size, 4u);
  EXPECT_PANIC((void)task_.Poll(receive), "UnixSeqpacket::Recv()");
}

TEST_F(UnixSeqpacketTest, WaitsForRoom) {
  auto [a, b] = Pair();
  const size_t count = Fill(a);
  EXPECT_GT(count, 0u);
  auto send = a.Send("more");
  ASSERT_TRUE(task_.Poll(send).IsPending());
  char buffer[1024];
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(Run(b.Recv(absl::MakeSpan(buffer))).value().size, 1024u);
  }
  EXPECT_EQ(Run(send).value(), 4u);
  EXPECT_EQ(Receive(b), "more");
}

TEST_F(UnixSeqpacketTest, ADestroyedFutureHasDoneNothing) {
  auto [a, b] = Pair();
  {
    auto receive = b.Recv(Buffer());
    ASSERT_TRUE(task_.Poll(receive).IsPending());
  }
  EXPECT_EQ(task_.live(), 0);
  const size_t count = Fill(a);
  {
    auto send = a.Send("lost");
    ASSERT_TRUE(task_.Poll(send).IsPending());
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(Run(b.Readable()).ok());
  char buffer[1024];
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(b.TryRecv(absl::MakeSpan(buffer))->value().size, 1024u);
  }
  EXPECT_FALSE(b.TryRecv(absl::MakeSpan(buffer)).has_value());
}

TEST_F(UnixSeqpacketTest, AttemptsDoNotWait) {
  auto [a, b] = Pair();
  EXPECT_FALSE(b.TryRecv(Buffer()).has_value());
  ASSERT_TRUE(Run(a.Writable()).ok());
  EXPECT_EQ(a.TrySend("ping")->value(), 4u);
  ASSERT_TRUE(Run(b.Readable()).ok());
  const auto received = b.TryRecv(Buffer());
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->value().size, 4u);
  EXPECT_FALSE(b.TryRecv(Buffer()).has_value());
}

TEST_F(UnixSeqpacketTest, APeerThatHasClosedEndsSends) {
  auto [a, b] = Pair();
  ASSERT_TRUE(b.ShutdownRead().ok());
  const absl::Status status = Run(a.Send("x")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), StartsWith("send to"));
}

TEST_F(UnixSeqpacketTest, APeerThatHasNotReadEverythingResets) {
  auto [a, b] = Pair();
  ASSERT_TRUE(Run(a.Send("x")).ok());
  {
    const UnixSeqpacket closed = std::move(b);
  }
  EXPECT_EQ(Run(a.Recv(Buffer())).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(UnixSeqpacketTest, ConnectingNamesTheAddressThatFailed) {
  const UnixAddr nobody = NewPathAddr();
  const absl::Status missing = Run(UnixSeqpacket::Connect(nobody)).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.message(),
              HasSubstr(absl::StrCat("connect to ", nobody)));

  const UnixAddr addr = NewAbstractAddr();
  const OwnedFd stream(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(stream.get(), addr.data(), addr.size()), 0);
  ASSERT_EQ(listen(stream.get(), 1), 0);
  EXPECT_FALSE(Run(UnixSeqpacket::Connect(addr)).ok());

  auto connect = UnixSeqpacket::Connect(addr);
  EXPECT_FALSE(Run(connect).ok());
  EXPECT_PANIC((void)task_.Poll(connect), "UnixSeqpacket::Connect()");
}

TEST_F(UnixSeqpacketTest, AnAddressInUseIsFailedPrecondition) {
  const auto listener = UnixSeqpacketListener::Bind(NewAbstractAddr()).value();
  EXPECT_EQ(UnixSeqpacketListener::Bind(listener.local_addr().value())
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(UnixSeqpacketTest, AdoptsAndReleasesADescriptor) {
  auto [a, b] = Pair();
  OwnedFd fd = std::move(a).IntoFd();
  ASSERT_EQ(fcntl(fd.get(), F_SETFL, 0), 0);
  const auto adopted = UnixSeqpacket::FromFd(std::move(fd));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_NE(fcntl(adopted->fd(), F_GETFL) & O_NONBLOCK, 0);
  ASSERT_TRUE(Run(adopted->Send("x")).ok());
  EXPECT_EQ(Receive(b), "x");

  for (const bool listens : {false, true}) {
    OwnedFd other(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const absl::Status status =
        listens ? UnixSeqpacketListener::FromFd(std::move(other)).status()
                : UnixSeqpacket::FromFd(std::move(other)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(),
                HasSubstr("a Unix stream socket, not a Unix seqpacket socket"));
  }
}

TEST_F(UnixSeqpacketTest, ASocketOfAnotherFamilyIsRefused) {
  // Vsock has sockets of this type, too.
  for (const int family : {AF_VSOCK, AF_INET}) {
    const int type = family == AF_INET ? SOCK_STREAM : SOCK_SEQPACKET;
    OwnedFd fd(socket(family, type | SOCK_CLOEXEC, 0));
    if (!fd.IsValid()) continue;  // a kernel without vsock
    const absl::Status status = UnixSeqpacket::FromFd(std::move(fd)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("not a Unix seqpacket socket"));
  }
}

TEST_F(UnixSeqpacketTest, AnEmptyMessageTakesAUnitOfTheBudget) {
  auto [a, b] = Pair();
  Context cx(task_.waker());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    ASSERT_TRUE(a.PollSend(cx, "").IsReady());
  }
  EXPECT_TRUE(a.PollSend(cx, "").IsPending());
}

TEST_F(UnixSeqpacketTest, AdoptsAListener) {
  auto listener = UnixSeqpacketListener::Bind(NewAbstractAddr()).value();
  const UnixAddr addr = listener.local_addr().value();
  const auto adopted =
      UnixSeqpacketListener::FromFd(std::move(listener).IntoFd());
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  const UnixSeqpacket client = Run(UnixSeqpacket::Connect(addr)).value();
  EXPECT_TRUE(Run(adopted->Accept()).ok());
}

TEST_F(UnixSeqpacketTest, TakesAUnitOfTheBudgetForEachMessage) {
  auto [a, b] = Pair();
  ASSERT_TRUE(Run(a.Writable()).ok());
  Context cx(task_.waker());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    ASSERT_TRUE(a.PollSend(cx, "x").IsReady());
    ASSERT_TRUE(Run(b.Recv(Buffer())).ok());
  }
  EXPECT_TRUE(a.PollSend(cx, "x").IsPending());
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(UnixSeqpacketTest, AShutdownOfTheReactorEndsEverything) {
  auto [a, b] = Pair();
  const auto listener = UnixSeqpacketListener::Bind(NewAbstractAddr()).value();
  auto receive = b.Recv(Buffer());
  ASSERT_TRUE(task_.Poll(receive).IsPending());
  reactor_.Shutdown();
  auto connect = UnixSeqpacket::Connect(listener.local_addr().value());
  for (const absl::Status& status :
       {(*task_.Poll(receive)).status(), Run(connect).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(status.message(), HasSubstr("shut down"));
  }
}

TEST_F(UnixSeqpacketTest, NeedsAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_EQ(UnixSeqpacket::Pair().status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(UnixSeqpacket::Pair(reactor_.handle()).ok());
}

}  // namespace
}  // namespace rouse
