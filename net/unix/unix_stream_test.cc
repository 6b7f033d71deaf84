// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/unix/unix_stream.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/flush.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/net/split.h"
#include "rouse/net/unix/peer_credentials.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_listener.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/unix_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::absl_testing::StatusIs;

static_assert(Future<UnixStream::ConnectFuture>);

class UnixStreamTest : public UnixTest {
 protected:
  std::pair<UnixStream, UnixStream> Pair() {
    return UnixStream::Pair().value();
  }
};

TEST_F(UnixStreamTest, TransfersBytesBothWays) {
  auto [a, b] = Pair();
  const std::string_view parts[] = {"p", "ing"};
  EXPECT_EQ(Run(a.WriteVectored(parts)).value(), 4u);
  ASSERT_EQ(Run(b.Read(Buffer())).value(), 4u);
  EXPECT_EQ(std::string_view(buffer_, 4), "ping");
  EXPECT_EQ(Run(b.Write("pong!")).value(), 5u);
  EXPECT_EQ(Run(a.Read(Buffer())).value(), 5u);
}

TEST_F(UnixStreamTest, AReadFillsSeveralBuffersInOrder) {
  auto [a, b] = Pair();
  ASSERT_TRUE(Run(a.WriteAll("abc")).ok());
  const absl::Span<char> buffers[] = {Buffer().first(1), Buffer().subspan(2)};
  EXPECT_EQ(Run(b.ReadVectored(buffers)).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_ + 2, 2), "bc");
}

TEST_F(UnixStreamTest, AReaderAndAWriterShareTheStream) {
  auto [client, server] = Pair();
  Turn();
  // Both futures wait: the writer for room, the reader for bytes.
  static const std::string block(1 << 20, 'x');
  auto write = std::make_optional(server.Write(block));
  while (task_.Poll(*write).IsReady()) write.emplace(server.Write(block));
  auto read = server.Read(Buffer());
  ASSERT_TRUE(other_.Poll(read).IsPending());

  ASSERT_EQ(send(client.fd(), "y", 1, 0), 1);
  Turn();
  EXPECT_EQ(other_.wakes(), 1);
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(other_.Poll(read)->value(), 1u);

  static char drain[1 << 16];
  while (recv(client.fd(), drain, sizeof drain, 0) > 0) {
  }
  Turn();
  EXPECT_EQ(other_.wakes(), 1);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(task_.Poll(*write).IsReady());
}

TEST_F(UnixStreamTest, APendingReadCanBeCancelled) {
  auto [a, b] = Pair();
  auto read = b.Read(Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(read).IsPending());
  {
    auto other = b.Read(Buffer());
    ASSERT_TRUE(other_.Poll(other).IsPending());
  }
  ASSERT_TRUE(Run(a.WriteAll("x")).ok());
  EXPECT_EQ(Run(read).value(), 1u);
  EXPECT_EQ(other_.wakes(), 0);
}

// A read ends after the bytes with descriptors: a short read does not mean that
// the socket is empty.
TEST_F(UnixStreamTest, BytesAfterAPassedDescriptorAreRead) {
  auto [a, b] = Pair();
  const int passed = a.fd();
  char control[CMSG_SPACE(sizeof passed)] = {};
  char first = 'a';
  iovec vector = {&first, 1};
  msghdr message = {};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  ASSERT_EQ(sendmsg(a.fd(), &message, 0), 1);
  ASSERT_EQ(send(a.fd(), "bcd", 3, 0), 3);
  Turn();
  EXPECT_EQ(Run(b.Read(Buffer())).value(), 1u);
  EXPECT_EQ(Run(b.Read(Buffer())).value(), 3u);
}

TEST_F(UnixStreamTest, AShutdownEndsThePeersReads) {
  auto [a, b] = Pair();
  ASSERT_TRUE(Run(a.WriteAll("last")).ok());
  ASSERT_TRUE(Run(Shutdown(a)).ok());
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(b, all)).value(), 4u);
  EXPECT_EQ(all, "last");
  ASSERT_TRUE(Run(b.WriteAll("x")).ok());
  EXPECT_EQ(Run(a.Read(Buffer())).value(), 1u);
}

TEST_F(UnixStreamTest, WritingToAClosedPeerIsFailedPrecondition) {
  auto [a, b] = Pair();
  ASSERT_TRUE(b.ShutdownRead().ok());
  EXPECT_EQ(Run(a.WriteAll("x")).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(UnixStreamTest, APeerThatClosesWithUnreadBytesIsUnavailable) {
  auto pair = std::make_optional(Pair());
  const UnixStream a = std::move(pair->first);
  ASSERT_TRUE(Run(a.WriteAll("unread")).ok());
  pair.reset();
  EXPECT_EQ(Run(a.Read(Buffer())).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(UnixStreamTest, ItsHalvesAreIndependent) {
  auto [a, b] = Pair();
  auto halves = std::make_optional(IntoSplit(std::move(a)));
  ASSERT_TRUE(Run(WriteAll(halves->second, "x")).ok());
  EXPECT_EQ(Run(b.Read(Buffer())).value(), 1u);
  {
    const auto dropped = std::move(halves->second);
  }
  EXPECT_EQ(Run(b.Read(Buffer())).value(), 0u);
}

TEST_F(UnixStreamTest, ReturnsThePeersCredentials) {
  auto [a, b] = Pair();
  const PeerCredentials peer = a.GetPeerCredentials().value();
  EXPECT_EQ(peer.pid, getpid());
  EXPECT_EQ(peer.uid, geteuid());
  EXPECT_EQ(peer.gid, getegid());
}

TEST_F(UnixStreamTest, ReturnsBothAddresses) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  const UnixAddr addr = listener.local_addr().value();
  const UnixStream stream = Run(UnixStream::Connect(addr)).value();
  EXPECT_EQ(stream.peer_addr().value(), addr);
  EXPECT_TRUE(stream.local_addr().value().IsUnnamed());
}

TEST_F(UnixStreamTest, AMissingPathIsNotFound) {
  const UnixAddr addr = NewPathAddr();
  const absl::Status status = Run(UnixStream::Connect(addr)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find(*addr.path()), std::string_view::npos)
      << status;
}

TEST_F(UnixStreamTest, APathWithoutAListenerIsUnavailable) {
  EXPECT_EQ(Run(UnixStream::Connect(NewAbstractAddr())).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(UnixStreamTest, AFullBacklogIsUnavailable) {
  const UnixAddr addr = NewAbstractAddr();
  const OwnedFd listening(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listening.get(), addr.data(), addr.size()), 0);
  ASSERT_EQ(listen(listening.get(), 0), 0);
  const absl::StatusOr<UnixStream> first = Run(UnixStream::Connect(addr));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Run(UnixStream::Connect(addr)).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(UnixStreamTest, NeedsAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_EQ(UnixStream::Pair().status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(UnixStream::Pair(reactor_.handle()).ok());
}

TEST_F(UnixStreamTest, AdoptsAndReleasesADescriptor) {
  auto [a, b] = Pair();
  const int fd = a.fd();
  OwnedFd taken = std::move(a).IntoFd();
  EXPECT_EQ(taken.get(), fd);
  const absl::StatusOr<UnixStream> adopted =
      UnixStream::FromFd(std::move(taken));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  ASSERT_TRUE(Run(adopted->WriteAll("x")).ok());
  EXPECT_EQ(Run(b.Read(Buffer())).value(), 1u);
  OwnedFd datagrams(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(UnixStream::FromFd(std::move(datagrams)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(UnixStreamTest, AdoptsOnlyUnixStreamSockets) {
  const auto refused = [](int family, int type) {
    OwnedFd fd(socket(family, type | SOCK_CLOEXEC, 0));
    const OwnedFd shared(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    absl::Status status = UnixStream::FromFd(std::move(fd)).status();
    // For other owners of the open file, the socket still blocks.
    EXPECT_EQ(fcntl(shared.get(), F_GETFL) & O_NONBLOCK, 0);
    return status;
  };
  EXPECT_THAT(refused(AF_INET, SOCK_STREAM),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the descriptor is a TCP socket, not a Unix stream "
                       "socket; use TcpStream or TcpListener"));
  EXPECT_THAT(refused(AF_INET, SOCK_DGRAM),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the descriptor is a UDP socket, not a Unix stream "
                       "socket; use UdpSocket"));
  EXPECT_THAT(refused(AF_UNIX, SOCK_SEQPACKET),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the descriptor is a Unix seqpacket socket, not a Unix "
                       "stream socket; use UnixSeqpacket or "
                       "UnixSeqpacketListener"));
  EXPECT_THAT(refused(AF_NETLINK, SOCK_DGRAM),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the descriptor is a socket of family 16 and type 2, "
                       "not a Unix stream socket"));
}

TEST_F(UnixStreamTest, SocketsAreNonBlockingAndCloseOnExec) {
  auto [a, b] = Pair();
  for (const int fd : {a.fd(), b.fd()}) {
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

// Covers trap R13 of reactor/traps_test.cc.
TEST_F(UnixStreamTest, AStreamThatIsNeverEmptyLetsOtherTasksRun) {
  auto [a, b] = Pair();
  ASSERT_TRUE(
      Run(a.WriteAll(std::string(size_t{2} * kBudgetPerPoll, 'x'))).ok());
  Turn();
  Context cx(task_.waker());
  uint32_t reads = 0;
  while (b.PollRead(cx, Buffer(1)).IsReady()) ++reads;
  EXPECT_EQ(reads, kBudgetPerPoll);
}

TEST_F(UnixStreamTest, PollingACompleteFuturePanics) {
  auto connect = UnixStream::Connect(NewAbstractAddr());
  ASSERT_TRUE(task_.Poll(connect).IsReady());
  EXPECT_PANIC((void)task_.Poll(connect),
               "UnixStream::Connect() was polled after");
}

TEST_F(UnixStreamTest, PeerCredentialsArePrinted) {
  EXPECT_EQ(absl::StrCat(PeerCredentials(7, 1000, 100)),
            "process 7 (user 1000, group 100)");
}

}  // namespace
}  // namespace rouse
