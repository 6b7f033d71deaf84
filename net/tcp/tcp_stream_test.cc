// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_stream.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
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
#include "rouse/io/buf_reader.h"
#include "rouse/io/flush.h"
#include "rouse/io/read_line.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/tcp_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(Future<TcpStream::ConnectFuture>);
static_assert(Future<TcpStream::ReadFuture>);
static_assert(Future<TcpStream::WriteFuture>);
static_assert(Future<TcpStream::WriteAllFuture>);
static_assert(Future<TcpStream::WriteVectoredFuture>);
static_assert(Future<TcpStream::PeekFuture>);

class TcpStreamTest : public TcpTest {
 protected:
  absl::Span<char> Buffer(size_t size = sizeof buffer_) {
    return absl::MakeSpan(buffer_, size);
  }

  char buffer_[64];
};

// Makes closing the stream send a reset.
void ResetOnClose(const TcpStream& stream) {
  const linger now = {1, 0};
  ASSERT_EQ(setsockopt(stream.fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now),
            0);
}

TEST_F(TcpStreamTest, TransfersBytesBothWays) {
  auto [client, server] = Connect();
  EXPECT_EQ(Run(client.Write("ping")).value(), 4u);
  ASSERT_EQ(Run(server.Read(Buffer())).value(), 4u);
  EXPECT_EQ(std::string_view(buffer_, 4), "ping");
  EXPECT_EQ(Run(server.Write("pong!")).value(), 5u);
  ASSERT_EQ(Run(client.Read(Buffer())).value(), 5u);
  EXPECT_EQ(std::string_view(buffer_, 5), "pong!");
}

TEST_F(TcpStreamTest, AReadWaitsForBytes) {
  auto [client, server] = Connect();
  auto read = server.Read(Buffer());
  EXPECT_TRUE(task_.Poll(read).IsPending());
  Run(client.WriteAll("x")).IgnoreError();
  EXPECT_EQ(Run(read).value(), 1u);
}

TEST_F(TcpStreamTest, AReadReturnsTheAvailableBytes) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(client.WriteAll("12345")).ok());
  EXPECT_EQ(Run(server.Read(Buffer(2))).value(), 2u);
  EXPECT_EQ(Run(server.Read(Buffer())).value(), 3u);
}

TEST_F(TcpStreamTest, AnEmptyReadIsNotTheEnd) {
  auto [client, server] = Connect();
  EXPECT_EQ(Run(server.Read({})).value(), 0u);
  EXPECT_EQ(Run(server.Write("")).value(), 0u);
  EXPECT_TRUE(Run(server.WriteAll("")).ok());
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  EXPECT_EQ(Run(server.Read(Buffer())).value(), 1u);
}

TEST_F(TcpStreamTest, ADestroyedReadTakesNothingAndIsNotWoken) {
  auto [client, server] = Connect();
  Turn();
  {
    auto read = server.Read(Buffer());
    ASSERT_TRUE(other_.Poll(read).IsPending());
    EXPECT_EQ(other_.live(), 1);
  }
  EXPECT_EQ(other_.live(), 0);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  EXPECT_EQ(Run(server.Read(Buffer())).value(), 1u);
  EXPECT_EQ(other_.wakes(), 0);
}

TEST_F(TcpStreamTest, AfterThePeersShutdownReadsReturnZero) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(client.WriteAll("last")).ok());
  ASSERT_TRUE(client.ShutdownWrite().ok());
  EXPECT_EQ(ReadAll(server), "last");
  EXPECT_EQ(Run(server.Read(Buffer())).value(), 0u);
  // The other direction still works.
  ASSERT_TRUE(Run(server.WriteAll("reply")).ok());
  EXPECT_EQ(Run(client.Read(Buffer())).value(), 5u);
}

TEST_F(TcpStreamTest, AnEndThatArrivesWithTheLastBytesIsSeen) {
  auto [client, server] = Connect();
  {
    TcpStream closed = std::move(client);
    ASSERT_TRUE(Run(closed.WriteAll("last")).ok());
  }
  // The bytes and the end arrive as one event, and the read is short.
  EXPECT_EQ(Run(server.Read(Buffer())).value(), 4u);
  EXPECT_EQ(Run(server.Read(Buffer())).value(), 0u);
}

TEST_F(TcpStreamTest, WriteAllWritesMoreThanFits) {
  auto [client, server] = Connect();
  std::string sent(8 << 20, '\0');
  for (size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<char>(i * 2654435761u >> 13);
  }
  std::string received;
  static char buffer[1 << 16];
  auto write = client.WriteAll(sent);
  bool written = false;
  while (received.size() < sent.size()) {
    if (!written) {
      const auto result = task_.Poll(write);
      written = result.IsReady();
      if (written) {
        ASSERT_TRUE(result->ok()) << *result;
      }
    }
    auto read = server.Read(absl::MakeSpan(buffer));
    const auto size = other_.Poll(read);
    if (size.IsReady()) {
      received.append(buffer, size->value());
    } else {
      reactor_.Park();
    }
  }
  EXPECT_TRUE(written);
  EXPECT_EQ(received, sent);
  EXPECT_GT(task_.wakes(), 0) << "it all fitted";
}

TEST_F(TcpStreamTest, TwoReadersOfOneStreamAreBothWoken) {
  auto [client, server] = Connect();
  char a, b;
  auto first = server.Read(absl::MakeSpan(&a, 1));
  auto second = server.Read(absl::MakeSpan(&b, 1));
  ASSERT_TRUE(task_.Poll(first).IsPending());
  ASSERT_TRUE(other_.Poll(second).IsPending());
  ASSERT_EQ(send(client.fd(), "xy", 2, 0), 2);
  while (task_.wakes() == 0 || other_.wakes() == 0) reactor_.Park();
  EXPECT_TRUE(task_.Poll(first).IsReady());
  EXPECT_TRUE(other_.Poll(second).IsReady());
}

TEST_F(TcpStreamTest, PollReadWorksWithoutAFuture) {
  auto [client, server] = Connect();
  Context cx(task_.waker());
  ASSERT_TRUE(server.PollRead(cx, Buffer()).IsPending());
  ASSERT_EQ(send(client.fd(), "x", 1, 0), 1);
  while (task_.wakes() == 0) reactor_.Park();
  EXPECT_EQ(server.PollRead(cx, Buffer())->value(), 1u);
  EXPECT_EQ(server.PollWrite(cx, "y")->value(), 1u);
}

// A read stops before the out-of-band byte, although more bytes have arrived,
// for which no other event comes.
TEST_F(TcpStreamTest, OutOfBandDataDoesNotHideWhatFollows) {
  auto [client, server] = Connect();
  ASSERT_EQ(send(client.fd(), "abc", 3, 0), 3);
  ASSERT_EQ(send(client.fd(), "!", 1, MSG_OOB), 1);
  ASSERT_EQ(send(client.fd(), "def", 3, 0), 3);
  std::string received;
  while (received.size() < 6) {
    auto read = server.Read(Buffer());
    const auto size = task_.Poll(read);
    if (size.IsReady()) {
      received.append(buffer_, size->value());
    } else {
      reactor_.Park();
    }
  }
  EXPECT_EQ(received, "abcdef");
}

TEST_F(TcpStreamTest, PeekingLeavesTheBytes) {
  auto [client, server] = Connect();
  auto first = server.Peek(Buffer(2));
  Turn();
  ASSERT_TRUE(task_.Poll(first).IsPending());
  ASSERT_TRUE(Run(client.WriteAll("abcd")).ok());
  EXPECT_EQ(Run(first).value(), 2u);
  // The peek is short, but there is more to read.
  EXPECT_EQ(Run(server.Peek(Buffer())).value(), 4u);
  EXPECT_EQ(std::string_view(buffer_, 4), "abcd");
  EXPECT_EQ(Run(server.Read(Buffer())).value(), 4u);
  ASSERT_TRUE(client.ShutdownWrite().ok());
  EXPECT_EQ(Run(server.Peek(Buffer())).value(), 0u);
  EXPECT_EQ(Run(server.Peek({})).value(), 0u);
}

TEST_F(TcpStreamTest, PartsArriveInOrder) {
  auto [client, server] = Connect();
  const std::string_view parts[] = {"ab", "", "cd", "e"};
  EXPECT_EQ(Run(client.WriteVectored(parts)).value(), 5u);
  EXPECT_EQ(Run(client.WriteVectored({})).value(), 0u);
  ASSERT_TRUE(client.ShutdownWrite().ok());
  EXPECT_EQ(ReadAll(server), "abcde");
}

TEST_F(TcpStreamTest, AReadFillsSeveralBuffersInOrder) {
  auto [client, server] = Connect();
  char bytes[12] = {};
  const absl::Span<char> buffers[] = {absl::MakeSpan(bytes, 1),
                                      absl::Span<char>(),
                                      absl::MakeSpan(bytes + 4, 8)};
  EXPECT_EQ(Run(server.ReadVectored({})).value(), 0u);
  {
    auto read = server.ReadVectored(buffers);
    ASSERT_TRUE(task_.Poll(read).IsPending());
    ASSERT_TRUE(Run(client.WriteAll("abc")).ok());
    EXPECT_EQ(Run(read).value(), 3u);
    EXPECT_EQ(std::string_view(bytes, 1), "a");
    EXPECT_EQ(std::string_view(bytes + 4, 2), "bc");
  }
  ASSERT_TRUE(client.ShutdownWrite().ok());
  EXPECT_EQ(Run(server.ReadVectored(buffers)).value(), 0u);
}

TEST_F(TcpStreamTest, AReadFillsTheFirstOfVeryManyBuffers) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(client.WriteAll(std::string(100, 'x'))).ok());
  std::string bytes(1000, '.');
  std::vector<absl::Span<char>> buffers;
  for (char& byte : bytes) buffers.emplace_back(&byte, 1);
  EXPECT_EQ(Run(server.ReadVectored(buffers)).value(), 64u);
  // The short read does not mean that the socket is empty.
  EXPECT_EQ(Run(server.ReadVectored(buffers)).value(), 36u);
}

TEST_F(TcpStreamTest, WritesTheFirstOfVeryManyParts) {
  auto [client, server] = Connect();
  const std::vector<std::string_view> parts(1000, "x");
  EXPECT_EQ(Run(client.WriteVectored(parts)).value(), 64u);
}

TEST_F(TcpStreamTest, ShuttingDownTwiceIsAllowed) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(Shutdown(client)).ok());
  ASSERT_TRUE(Run(Shutdown(client)).ok());
  EXPECT_EQ(ReadAll(server), "");
}

TEST_F(TcpStreamTest, ShuttingDownAClosedConnectionIsAllowed) {
  auto [client, server] = Connect();
  {
    TcpStream closed = std::move(client);
    ResetOnClose(closed);
  }
  EXPECT_FALSE(Run(server.Read(Buffer())).ok());
  EXPECT_FALSE(server.ShutdownWrite().ok());
  EXPECT_TRUE(Run(Shutdown(server)).ok());
}

TEST_F(TcpStreamTest, ReadingCanBeShutDown) {
  auto [client, server] = Connect();
  auto read = server.Read(Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(read).IsPending());
  ASSERT_TRUE(server.ShutdownRead().ok());
  EXPECT_EQ(Run(read).value(), 0u);
  ASSERT_TRUE(Run(server.WriteAll("x")).ok());
  EXPECT_EQ(Run(client.Read(Buffer())).value(), 1u);
}

TEST_F(TcpStreamTest, ReadsAndWritesThroughTheStreamInterface) {
  auto [client, server] = Connect();
  BufReader lines(server);
  ASSERT_TRUE(Run(client.WriteAll("one\ntwo\n")).ok());
  std::string line;
  EXPECT_TRUE(Run(ReadLine(lines, line)).value());
  EXPECT_EQ(line, "one");
  EXPECT_TRUE(Run(Flush(client)).ok());
}

// Covers trap R13 of reactor/traps_test.cc.
TEST_F(TcpStreamTest, AStreamThatIsNeverEmptyLetsOtherTasksRun) {
  auto [client, server] = Connect();
  const std::string bytes(size_t{2} * kBudgetPerPoll, 'x');
  ASSERT_TRUE(Run(client.WriteAll(bytes)).ok());
  Context cx(task_.waker());
  uint32_t reads = 0;
  for (;;) {
    auto read = server.Read(Buffer(1));
    auto size = read.Poll(cx);
    if (size.IsReady()) {
      ASSERT_EQ(size->value(), 1u);
      ++reads;
    } else if (!cx.HasBudget()) {
      break;
    } else {
      reactor_.Park();  // some bytes have not arrived yet
    }
  }
  EXPECT_EQ(reads, kBudgetPerPoll);
}

TEST_F(TcpStreamTest, ARefusedConnectionIsUnavailable) {
  SocketAddr nobody;
  {
    const TcpListener listener =
        TcpListener::Bind(SocketAddr::Localhost(0)).value();
    nobody = listener.local_addr().value();
  }
  const absl::Status status = Run(TcpStream::Connect(nobody)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find(nobody.ToString()), std::string_view::npos)
      << status;
}

TEST_F(TcpStreamTest, TheFirstAddressThatAnswersIsUsed) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  SocketAddr addrs[] = {SocketAddr::Localhost(0), SocketAddr::Localhost(0),
                        listener.local_addr().value(),
                        SocketAddr::Localhost(1)};
  for (SocketAddr& addr : absl::MakeSpan(addrs, 2)) {
    const TcpListener closed =
        TcpListener::Bind(SocketAddr::Localhost(0)).value();
    addr = closed.local_addr().value();
  }
  const absl::StatusOr<TcpStream> stream = Run(TcpStream::Connect(addrs));
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(stream->peer_addr().value(), listener.local_addr().value());
}

TEST_F(TcpStreamTest, IfNoAddressAnswersTheLastErrorIsReturned) {
  SocketAddr addrs[3];
  for (SocketAddr& addr : addrs) {
    const TcpListener closed =
        TcpListener::Bind(SocketAddr::Localhost(0)).value();
    addr = closed.local_addr().value();
  }
  const absl::Status status = Run(TcpStream::Connect(addrs)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find(addrs[2].ToString()), std::string_view::npos)
      << status;
}

TEST_F(TcpStreamTest, AnEmptyListOfAddressesIsInvalidArgument) {
  EXPECT_EQ(
      Run(TcpStream::Connect(absl::Span<const SocketAddr>())).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST_F(TcpStreamTest, AConnectCanBeCancelled) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  {
    auto connect = TcpStream::Connect(listener.local_addr().value());
    ASSERT_TRUE(other_.Poll(connect).IsPending());
  }
  EXPECT_EQ(other_.live(), 0);
  Turn();
  EXPECT_EQ(other_.wakes(), 0);
}

TEST_F(TcpStreamTest, ConnectingNeedsAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  auto connect = TcpStream::Connect(SocketAddr::Localhost(9));
  EXPECT_EQ(task_.Poll(connect)->status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(TcpStreamTest, ConnectTakesAHandle) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_TRUE(
      Run(TcpStream::Connect(listener.local_addr().value(), reactor_.handle()))
          .ok());
}

TEST_F(TcpStreamTest, AResetIsUnavailable) {
  auto [client, server] = Connect();
  {
    TcpStream closed = std::move(client);
    ResetOnClose(closed);
  }
  const absl::Status status = Run(server.Read(Buffer())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

// getpeername(2) does not know the address any more.
TEST_F(TcpStreamTest, AResetNamesTheAddress) {
  auto [client, server] = Connect();
  const SocketAddr peer = client.local_addr().value();
  {
    TcpStream closed = std::move(client);
    ResetOnClose(closed);
  }
  const absl::Status read = Run(server.Read(Buffer())).status();
  EXPECT_EQ(read.message(),
            absl::StrCat("recv from ", peer, ": Connection reset by peer"));
  const absl::Status written = Run(server.Write("x")).status();
  EXPECT_THAT(written.message(),
              testing::StartsWith(absl::StrCat("send to ", peer, ": ")));
  EXPECT_EQ(server.peer_addr().value(), peer);
}

TEST_F(TcpStreamTest, AResetWakesReaderAndWriter) {
  auto [client, server] = Connect();
  static const std::string block(1 << 20, 'x');
  auto write = std::make_optional(server.Write(block));
  while (task_.Poll(*write).IsReady()) write.emplace(server.Write(block));
  auto read = server.Read(Buffer());
  ASSERT_TRUE(other_.Poll(read).IsPending());
  {
    TcpStream closed = std::move(client);
    ResetOnClose(closed);
  }
  EXPECT_FALSE(Run(read).ok());
  EXPECT_FALSE(Run(*write).ok());
}

// Without MSG_NOSIGNAL this test would not survive.
TEST_F(TcpStreamTest, WritingToAClosedConnectionIsFailedPrecondition) {
  auto [client, server] = Connect();
  ASSERT_TRUE(server.ShutdownWrite().ok());
  const absl::Status status = Run(server.WriteAll("x"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
}

TEST_F(TcpStreamTest, AfterAShutdownOfTheReactorEveryCallIsUnavailable) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  auto read = client.Read(Buffer());
  ASSERT_TRUE(other_.Poll(read).IsPending());
  const int wakes = other_.wakes();
  reactor_.Shutdown();
  EXPECT_EQ(other_.wakes(), wakes + 1);
  EXPECT_EQ(other_.Poll(read)->status().code(), absl::StatusCode::kUnavailable);
  auto write = server.WriteAll("y");
  EXPECT_EQ(task_.Poll(write)->code(), absl::StatusCode::kUnavailable);
  auto connect = TcpStream::Connect(SocketAddr::Localhost(9));
  EXPECT_FALSE(task_.Poll(connect)->ok());
}

TEST_F(TcpStreamTest, ReturnsBothAddresses) {
  auto [client, server] = Connect();
  EXPECT_EQ(client.local_addr().value(), server.peer_addr().value());
  EXPECT_EQ(client.peer_addr().value(), server.local_addr().value());
  EXPECT_TRUE(client.local_addr()->IsLoopback());
}

TEST_F(TcpStreamTest, NoDelayIsOffUntilSet) {
  auto [client, server] = Connect();
  EXPECT_FALSE(client.NoDelay().value());
  ASSERT_TRUE(client.SetNoDelay(true).ok());
  EXPECT_TRUE(client.NoDelay().value());
  ASSERT_TRUE(client.SetNoDelay(false).ok());
  EXPECT_FALSE(client.NoDelay().value());
}

TEST_F(TcpStreamTest, SocketsAreNonBlockingAndCloseOnExec) {
  auto [client, server] = Connect();
  for (const int fd : {client.fd(), server.fd()}) {
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST_F(TcpStreamTest, AdoptsASocket) {
  auto [client, peer] = Connect();
  OwnedFd fd = std::move(client).IntoFd();
  ASSERT_EQ(fcntl(fd.get(), F_SETFL, 0), 0);
  ASSERT_EQ(fcntl(fd.get(), F_SETFD, 0), 0);
  absl::StatusOr<TcpStream> stream = TcpStream::FromFd(std::move(fd));
  ASSERT_TRUE(stream.ok()) << stream.status();
  auto read = stream->Read(Buffer());
  EXPECT_TRUE(task_.Poll(read).IsPending());  // the stream is non-blocking
  EXPECT_EQ(fcntl(stream->fd(), F_GETFD), FD_CLOEXEC);
  reactor::WriteTo(peer.fd(), "x");
  EXPECT_EQ(Run(read).value(), 1u);
}

TEST_F(TcpStreamTest, AdoptsOnlyTcpSockets) {
  OwnedFd udp(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(TcpStream::FromFd(std::move(udp)).status().code(),
            absl::StatusCode::kInvalidArgument);
  // Reads of a Unix socket may stop before the end of the data that has
  // arrived, if descriptors came with the data.
  OwnedFd local(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const OwnedFd shared(fcntl(local.get(), F_DUPFD_CLOEXEC, 0));
  EXPECT_EQ(TcpStream::FromFd(std::move(local)).status().code(),
            absl::StatusCode::kInvalidArgument);
  // For other owners of the open file, the socket still blocks.
  EXPECT_EQ(fcntl(shared.get(), F_GETFL) & O_NONBLOCK, 0);
  OwnedFd file(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(TcpStream::FromFd(std::move(file)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(TcpStream::FromFd(OwnedFd()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(TcpStreamTest, ReleasesItsDescriptor) {
  auto [client, server] = Connect();
  const int fd = client.fd();
  const OwnedFd taken = std::move(client).IntoFd();
  EXPECT_EQ(taken.get(), fd);
  EXPECT_EQ(send(taken.get(), "x", 1, 0), 1);
  EXPECT_EQ(Run(server.Read(Buffer())).value(), 1u);
}

TEST_F(TcpStreamTest, AFutureCanBeMovedBeforeItIsPolled) {
  auto [client, server] = Connect();
  auto read = server.Read(Buffer());
  auto moved = std::move(read);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  EXPECT_EQ(Run(moved).value(), 1u);
}

TEST_F(TcpStreamTest, MovingAPendingFuturePanics) {
  auto [client, server] = Connect();
  auto read = server.Read(Buffer());
  ASSERT_TRUE(task_.Poll(read).IsPending());
  EXPECT_PANIC(auto moved = std::move(read), "moved after");
}

TEST_F(TcpStreamTest, PollingACompleteFuturePanics) {
  auto [client, server] = Connect();
  auto write = server.Write("x");
  ASSERT_TRUE(Run(write).ok());
  EXPECT_PANIC((void)task_.Poll(write), "Write was polled after");
  auto write_all = server.WriteAll("x");
  ASSERT_TRUE(Run(write_all).ok());
  EXPECT_PANIC((void)task_.Poll(write_all), "WriteAll was polled after");
  auto read = client.Read(Buffer());
  ASSERT_TRUE(Run(read).ok());
  EXPECT_PANIC((void)task_.Poll(read), "Read was polled after");
  auto peek = client.Peek(Buffer());
  client.ShutdownRead().IgnoreError();
  ASSERT_TRUE(Run(peek).ok());
  EXPECT_PANIC((void)task_.Poll(peek), "TcpStream::Peek() was polled after");
  auto connect = TcpStream::Connect(SocketAddr::Localhost(0));
  Run(connect).IgnoreError();
  EXPECT_PANIC((void)task_.Poll(connect),
               "TcpStream::Connect() was polled after");
}

}  // namespace
}  // namespace rouse
