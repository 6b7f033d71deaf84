// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting without a buffer, and attempts that do not wait, for each kind of
// socket and pipe: see evented_base.h.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/duplex.h"
#include "rouse/net/pipe.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/split.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/udp_socket.h"
#include "rouse/net/unix/unix_datagram.h"
#include "rouse/net/unix/unix_listener.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/async_io.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/tcp_fixture.h"
#include "rouse/testing/internal/unix_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using reactor::Interest;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Result = std::optional<absl::StatusOr<size_t>>;

template <class S>
concept CanWaitToRead = requires(const S& s) { s.Readable(); };
template <class S>
concept CanWaitToWrite = requires(const S& s) { s.Writable(); };

static_assert(CanWaitToRead<TcpStream> && CanWaitToWrite<TcpStream>);
static_assert(CanWaitToRead<UnixStream> && CanWaitToWrite<UnixStream>);
static_assert(CanWaitToRead<UdpSocket> && CanWaitToWrite<UdpSocket>);
static_assert(CanWaitToRead<UnixDatagram> && CanWaitToWrite<UnixDatagram>);
static_assert(CanWaitToRead<TcpListener> && !CanWaitToWrite<TcpListener>);
static_assert(CanWaitToRead<UnixListener> && !CanWaitToWrite<UnixListener>);
static_assert(CanWaitToRead<PipeReader> && !CanWaitToWrite<PipeReader>);
static_assert(!CanWaitToRead<PipeWriter> && CanWaitToWrite<PipeWriter>);
static_assert(CanWaitToRead<ReadHalf<TcpStream>>);
static_assert(CanWaitToWrite<OwnedWriteHalf<UnixStream>>);
// A `Duplex` is not a socket.
static_assert(!CanWaitToRead<ReadHalf<DuplexStream>>);
static_assert(!CanWaitToWrite<WriteHalf<DuplexStream>>);

class ReadinessTest : public UnixTest {
 protected:
  std::string_view Text(size_t size) { return {buffer_, size}; }

  template <class F>
  bool IsPending(F future) {
    return runner_.Poll(future).IsPending();
  }

  // Waits until the object is ready to read, or to write.
  template <class S>
  void AwaitReadable(const S& object) {
    ASSERT_TRUE(Run(object.Readable()).ok());
  }
  template <class S>
  void AwaitWritable(const S& object) {
    ASSERT_TRUE(Run(object.Writable()).ok());
  }

  // Writes to `writer`, which must be ready, until no more fits.
  template <class W>
  size_t Fill(const W& writer) {
    const std::string block(4096, 'x');
    for (size_t written = 0;;) {
      const Result size = writer.TryWrite(block);
      if (!size.has_value()) return written;
      written += size->value();
    }
  }
};

// ---- Streams.

TEST_F(ReadinessTest, AStreamWaitsForBytesWithoutABuffer) {
  auto [client, server] = Connect();
  auto readable = server.Readable();
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  ASSERT_TRUE(Run(client.WriteAll("ping")).ok());
  const absl::StatusOr<reactor::ReadyGuard> guard = Run(readable);
  ASSERT_TRUE(guard.ok());
  EXPECT_TRUE(guard->ready().IsReadable());
  EXPECT_FALSE(guard->ready().IsReadClosed());
  // The wait took no bytes.
  EXPECT_EQ(server.TryRead(Buffer())->value(), 4u);
  EXPECT_EQ(Text(4), "ping");
}

TEST_F(ReadinessTest, ARefusedAttemptEndsTheReadiness) {
  auto [client, server] = UnixStream::Pair().value();
  ASSERT_TRUE(Run(client.WriteAll("ping")).ok());
  AwaitReadable(server);
  // Waiting again before the attempt does not wait.
  EXPECT_FALSE(IsPending(server.Readable()));
  EXPECT_EQ(server.TryRead(Buffer())->value(), 4u);
  // The readiness was wrong: nobody knew that these were the last bytes.
  EXPECT_FALSE(IsPending(server.Readable()));
  EXPECT_EQ(server.TryRead(Buffer()), std::nullopt);
  auto readable = server.Readable();
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  ASSERT_TRUE(Run(client.WriteAll("!")).ok());
  EXPECT_TRUE(Run(readable).ok());
  EXPECT_EQ(server.TryRead(Buffer())->value(), 1u);
}

// An object is not ready before the reactor says so.
TEST_F(ReadinessTest, AnAttemptBeforeTheFirstEventIsNotMade) {
  auto [client, server] = UnixStream::Pair().value();
  ASSERT_EQ(write(client.fd(), "x", 1), 1);
  EXPECT_EQ(server.TryRead(Buffer()), std::nullopt);
  Turn();
  EXPECT_EQ(server.TryRead(Buffer())->value(), 1u);
}

TEST_F(ReadinessTest, TheEndOfAStreamIsReadable) {
  auto [client, server] = Connect();
  ASSERT_TRUE(client.ShutdownWrite().ok());
  EXPECT_TRUE(Run(server.Readable()).value().ready().IsReadClosed());
  EXPECT_EQ(server.TryRead(Buffer())->value(), 0u);
  // The end stays.
  EXPECT_FALSE(IsPending(server.Readable()));
  EXPECT_EQ(server.TryRead(Buffer())->value(), 0u);
}

TEST_F(ReadinessTest, AnEmptyBufferOrTextNeedsNoReadiness) {
  auto [client, server] = Connect();
  EXPECT_EQ(server.TryRead({})->value(), 0u);
  EXPECT_EQ(server.TryWrite("")->value(), 0u);
  EXPECT_EQ(server.TryWriteVectored({})->value(), 0u);
}

TEST_F(ReadinessTest, AFullStreamWaitsForRoom) {
  auto [client, server] = UnixStream::Pair().value();
  AwaitWritable(client);
  const size_t written = Fill(client);
  EXPECT_GT(written, 0u);
  const std::string_view parts[] = {"more", "parts"};
  EXPECT_EQ(client.TryWriteVectored(parts), std::nullopt);
  auto writable = client.Writable();
  ASSERT_TRUE(task_.Poll(writable).IsPending());
  for (size_t read = 0; read < written;) {
    AwaitReadable(server);
    read += server.TryRead(Buffer())->value();
  }
  EXPECT_TRUE(Run(writable).value().ready().IsWritable());
  EXPECT_EQ(client.TryWriteVectored(parts)->value(), 9u);
}

TEST_F(ReadinessTest, AnErrorOfAnAttemptNamesTheCallAndThePeer) {
  auto [client, server] = Connect();
  const SocketAddr peer = server.peer_addr().value();
  ASSERT_TRUE(client.SetLinger(absl::ZeroDuration()).ok());
  {
    const TcpStream reset = std::move(client);
  }
  AwaitReadable(server);
  const Result size = server.TryRead(Buffer());
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(size->status().message(),
              StartsWith(absl::StrCat("recv from ", peer)));
}

TEST_F(ReadinessTest, PeekingLeavesTheBytes) {
  auto [client, server] = Connect();
  EXPECT_EQ(server.TryPeek(Buffer()), std::nullopt);
  ASSERT_TRUE(Run(client.WriteAll("ping")).ok());
  AwaitReadable(server);
  EXPECT_EQ(server.TryPeek(Buffer())->value(), 4u);
  EXPECT_EQ(server.TryRead(Buffer())->value(), 4u);
}

TEST_F(ReadinessTest, EitherDirectionEndsAWaitForBoth) {
  auto [client, server] = UnixStream::Pair().value();
  AwaitWritable(server);
  Fill(server);
  auto either = server.Ready(Interest::kReadable | Interest::kWritable);
  ASSERT_TRUE(task_.Poll(either).IsPending());
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  const auto guard = Run(either);
  EXPECT_TRUE(guard->ready().IsReadable());
  EXPECT_FALSE(guard->ready().IsWritable());
}

TEST_F(ReadinessTest, AllWaitersAreWokenAndOneGetsTheBytes) {
  auto [client, server] = UnixStream::Pair().value();
  auto first = server.Readable();
  auto second = server.Readable();
  ASSERT_TRUE(task_.Poll(first).IsPending());
  ASSERT_TRUE(other_.Poll(second).IsPending());
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  ASSERT_TRUE(task_.Poll(first).IsReady());
  EXPECT_EQ(server.TryRead(Buffer())->value(), 1u);
  ASSERT_TRUE(other_.Poll(second).IsReady());
  EXPECT_EQ(server.TryRead(Buffer()), std::nullopt);
}

// Neither a refused attempt nor its wait takes the place of a task's wait.
TEST_F(ReadinessTest, AnAttemptLeavesTheWaitsOfTasks) {
  auto [client, server] = UnixStream::Pair().value();
  auto read = server.Read(Buffer());
  ASSERT_TRUE(task_.Poll(read).IsPending());
  {
    // A hand-written future, which waits without a `Waiter`.
    Context cx(other_.waker());
    ASSERT_TRUE(server.PollRead(cx, Buffer()).IsPending());
  }
  char byte;
  EXPECT_EQ(server.TryRead(absl::MakeSpan(&byte, 1)), std::nullopt);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  EXPECT_EQ(Run(read).value(), 1u);
}

TEST_F(ReadinessTest, ADestroyedWaitLeavesNothingBehind) {
  auto [client, server] = UnixStream::Pair().value();
  {
    auto readable = server.Readable();
    ASSERT_TRUE(task_.Poll(readable).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(server.TryRead(Buffer())->value(), 1u);
}

TEST_F(ReadinessTest, AWaitTakesAUnitOfTheBudgetAndAnAttemptTakesNone) {
  auto [client, server] = UnixStream::Pair().value();
  AwaitWritable(client);
  {
    Context cx(task_.waker());
    for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
      auto writable = client.Writable();
      ASSERT_TRUE(writable.Poll(cx).IsReady());
      ASSERT_EQ(client.TryWrite("x")->value(), 1u);
    }
    auto writable = client.Writable();
    ASSERT_TRUE(writable.Poll(cx).IsPending());
    EXPECT_EQ(task_.wakes(), 1);
  }
}

TEST_F(ReadinessTest, TheHalvesOfAStreamHaveTheFunctionsOfTheirDirection) {
  auto [client, server] = Connect();
  auto [reader, writer] = IntoSplit(std::move(client));
  AwaitWritable(writer);
  EXPECT_EQ(writer.TryWrite("p")->value(), 1u);
  const std::string_view parts[] = {"in", "g"};
  EXPECT_EQ(writer.TryWriteVectored(parts)->value(), 3u);
  EXPECT_EQ(reader.TryRead(Buffer()), std::nullopt);
  const auto [server_reader, server_writer] = Split(server);
  for (size_t read = 0; read < 4;) {
    AwaitReadable(server_reader);
    read += server_reader.TryRead(Buffer())->value();
  }
  AwaitWritable(server_writer);
  EXPECT_EQ(server_writer.TryWrite("pong")->value(), 4u);
  AwaitReadable(reader);
  EXPECT_EQ(reader.TryRead(Buffer())->value(), 4u);
}

// ---- Calls of the caller's own.

TEST_F(ReadinessTest, TryIoMakesACallOnlyIfItIsWorthwhile) {
  auto [client, server] = UnixStream::Pair().value();
  int calls = 0;
  const auto receive = [&, fd = server.fd()] {
    ++calls;
    return recv(fd, buffer_, sizeof buffer_, 0);
  };
  EXPECT_EQ(server.TryIo(Interest::kReadable, "recv", receive), std::nullopt);
  EXPECT_EQ(calls, 0);
  ASSERT_TRUE(Run(client.WriteAll("ping")).ok());
  AwaitReadable(server);
  EXPECT_EQ(server.TryIo(Interest::kReadable, "recv", receive)->value(), 4u);
  // A refusal ends the readiness, so the next call is not made.
  EXPECT_EQ(server.TryIo(Interest::kReadable, "recv", receive), std::nullopt);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(server.TryIo(Interest::kReadable, "recv", receive), std::nullopt);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(IsPending(server.Readable()));
}

TEST_F(ReadinessTest, TryIoNamesTheCallThatFailed) {
  auto [client, server] = UnixStream::Pair().value();
  AwaitWritable(server);
  int calls = 0;
  const auto fail = [&calls]() -> ssize_t {
    errno = ++calls == 1 ? EINTR : EPIPE;
    return -1;
  };
  const Result size = server.TryIo(Interest::kWritable, "sendmsg", fail);
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(size->status().message(), StartsWith("sendmsg"));
  EXPECT_EQ(calls, 2);
  // An error is no refusal.
  EXPECT_FALSE(IsPending(server.Writable()));
}

TEST_F(ReadinessTest, ARefusalCountsForEveryDirectionThatWasNamed) {
  auto [client, server] = UnixStream::Pair().value();
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  AwaitReadable(server);
  AwaitWritable(server);
  const auto refuse = []() -> ssize_t {
    errno = EAGAIN;
    return -1;
  };
  EXPECT_EQ(server.TryIo(Interest::kReadable, "recv", refuse), std::nullopt);
  EXPECT_FALSE(IsPending(server.Writable()));
  EXPECT_EQ(
      server.TryIo(Interest::kReadable | Interest::kWritable, "recv", refuse),
      std::nullopt);
  EXPECT_TRUE(IsPending(server.Writable()));
}

// A QUIC stack receives the destination's address, which `RecvFrom()` does not
// return.
TEST_F(ReadinessTest, AsyncIoWaitsAndMakesTheCall) {
  const UdpSocket a = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  const UdpSocket b = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  int calls = 0;
  iovec vector = {buffer_, sizeof buffer_};
  msghdr message = {};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  const auto receive = [&, fd = b.fd()] {
    ++calls;
    return recvmsg(fd, &message, 0);
  };
  auto io = b.AsyncIo(Interest::kReadable, "recvmsg", receive);
  static_assert(Future<decltype(io)>);
  Turn();
  ASSERT_TRUE(task_.Poll(io).IsPending());
  EXPECT_EQ(calls, 0);
  ASSERT_TRUE(Run(a.SendTo("ping", b.local_addr().value())).ok());
  EXPECT_EQ(Run(io).value(), 4u);
  EXPECT_EQ(Text(4), "ping");
  EXPECT_EQ(calls, 1);
  EXPECT_PANIC((void)task_.Poll(io), "AsyncIo() was polled after it completed");
}

TEST_F(ReadinessTest, AsyncIoRepeatsACallThatIsRefused) {
  auto [client, server] = UnixStream::Pair().value();
  int calls = 0;
  const auto receive = [&, fd = server.fd()] {
    ++calls;
    return recv(fd, buffer_, sizeof buffer_, 0);
  };
  auto io = server.AsyncIo(Interest::kReadable, "recv", receive);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  AwaitReadable(server);
  ASSERT_EQ(recv(server.fd(), buffer_, 1, 0), 1);  // another was faster
  ASSERT_TRUE(task_.Poll(io).IsPending());
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(Run(client.WriteAll("yz")).ok());
  EXPECT_EQ(Run(io).value(), 2u);
}

TEST_F(ReadinessTest, AsyncIoReturnsTheErrorOfTheCall) {
  auto [client, server] = UnixStream::Pair().value();
  const auto fail = []() -> ssize_t {
    errno = EPIPE;
    return -1;
  };
  const auto size =
      Run(server.AsyncIo(Interest::kWritable, "sendmsg to it", fail));
  EXPECT_EQ(size.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(size.status().message(), StartsWith("sendmsg to it"));
}

TEST_F(ReadinessTest, ADestroyedAsyncIoMakesNoCall) {
  auto [client, server] = UnixStream::Pair().value();
  int calls = 0;
  const auto receive = [&calls]() -> ssize_t { return ++calls; };
  {
    auto io = server.AsyncIo(Interest::kReadable, "recv", receive);
    ASSERT_TRUE(task_.Poll(io).IsPending());
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(calls, 0);
}

// A call that is refused again and again, with events in between, yields.
TEST_F(ReadinessTest, AsyncIoTakesAUnitOfTheBudgetForEachCall) {
  auto [client, server] = UnixStream::Pair().value();
  AwaitWritable(server);
  int calls = 0;
  const auto refuse = [&]() -> ssize_t {
    ++calls;
    // Raises an event.
    EXPECT_EQ(write(client.fd(), "x", 1), 1);
    Turn();
    errno = EAGAIN;
    return -1;
  };
  auto io = server.AsyncIo(Interest::kReadable, "recv", refuse);
  ASSERT_EQ(write(client.fd(), "x", 1), 1);
  Turn();
  ASSERT_TRUE(task_.Poll(io).IsPending());
  EXPECT_EQ(calls, static_cast<int>(kBudgetPerPoll));
  EXPECT_EQ(task_.wakes(), 1);
}

// ---- Misuse and the end.

TEST_F(ReadinessTest, TheWrongDirectionIsAPanic) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  const auto pipe = MakePipe().value();
  const auto call = []() -> ssize_t { return 0; };
  EXPECT_PANIC((void)listener.Ready(Interest::kWritable),
               "Ready(): a listener and a PipeReader only read; pass "
               "Interest::kReadable");
  EXPECT_PANIC((void)pipe.first.AsyncIo(Interest::kWritable, "write", call),
               "AsyncIo(): a listener");
  EXPECT_PANIC((void)pipe.second.TryIo(Interest::kReadable, "read", call),
               "TryIo(): a PipeWriter only writes; pass Interest::kWritable");
}

TEST_F(ReadinessTest, AFinishedWaitIsAPanic) {
  auto [client, server] = UnixStream::Pair().value();
  auto writable = client.Writable();
  ASSERT_TRUE(Run(writable).ok());
  EXPECT_PANIC((void)task_.Poll(writable), "polled after it completed");
}

TEST_F(ReadinessTest, AShutdownOfTheReactorEndsWaitsAndAttempts) {
  auto [client, server] = UnixStream::Pair().value();
  auto readable = server.Readable();
  const auto call = []() -> ssize_t { return 1; };
  auto io = server.AsyncIo(Interest::kReadable, "recv", call);
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  ASSERT_TRUE(other_.Poll(io).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  for (const absl::Status& status :
       {(*task_.Poll(readable)).status(), (*other_.Poll(io)).status(),
        server.TryRead(Buffer())->status(), server.TryWrite("x")->status(),
        server.TryIo(Interest::kReadable, "recv", call)->status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(status.message(), HasSubstr("shut down"));
  }
}

TEST_F(ReadinessTest, AMovedFromObjectIsAFailedPrecondition) {
  auto [client, server] = UnixStream::Pair().value();
  const UnixStream moved = std::move(server);
  // NOLINTNEXTLINE(bugprone-use-after-move): tested
  EXPECT_EQ(server.TryRead(Buffer())->status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Run(server.Readable()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// ---- Listeners.

TEST_F(ReadinessTest, AListenerAcceptsWithoutWaiting) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  Turn();
  EXPECT_FALSE(listener.TryAccept().has_value());
  auto readable = listener.Readable();
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  const TcpStream client =
      Run(TcpStream::Connect(listener.local_addr().value())).value();
  ASSERT_TRUE(Run(readable).ok());
  const auto accepted = listener.TryAccept();
  ASSERT_TRUE(accepted.has_value());
  EXPECT_EQ(accepted->value().peer, client.local_addr().value());
  EXPECT_FALSE(listener.TryAccept().has_value());
  EXPECT_TRUE(IsPending(listener.Readable()));
}

TEST_F(ReadinessTest, AUnixListenerAcceptsWithoutWaiting) {
  const UnixListener listener = UnixListener::Bind(NewAbstractAddr()).value();
  const UnixStream client =
      Run(UnixStream::Connect(listener.local_addr().value())).value();
  AwaitReadable(listener);
  ASSERT_TRUE(listener.TryAccept()->ok());
  EXPECT_FALSE(listener.TryAccept().has_value());
}

TEST_F(ReadinessTest, AFailedAcceptNamesTheAddress) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  const SocketAddr addr = listener.local_addr().value();
  const TcpStream client = Run(TcpStream::Connect(addr)).value();
  AwaitReadable(listener);
  {
    const NoDescriptors no_descriptors;
    const auto accepted = listener.TryAccept();
    ASSERT_TRUE(accepted.has_value());
    EXPECT_EQ(accepted->status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(accepted->status().message(),
                StartsWith(absl::StrCat("accept4 on ", addr)));
  }
  // The connection is not lost.
  EXPECT_TRUE(listener.TryAccept()->ok());
}

// ---- Datagrams.

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

// ---- Pipes.

TEST_F(ReadinessTest, APipeIsReadAndWrittenWithoutWaiting) {
  auto [reader, writer] = MakePipe().value();
  EXPECT_EQ(reader.TryRead(Buffer()), std::nullopt);
  AwaitWritable(writer);
  EXPECT_EQ(writer.TryWrite("p")->value(), 1u);
  const std::string_view parts[] = {"in", "g"};
  EXPECT_EQ(writer.TryWriteVectored(parts)->value(), 3u);
  AwaitReadable(reader);
  EXPECT_EQ(reader.TryRead(Buffer())->value(), 4u);
  EXPECT_EQ(Text(4), "ping");
  EXPECT_EQ(reader.TryRead(Buffer()), std::nullopt);

  const size_t written = Fill(writer);
  EXPECT_TRUE(IsPending(writer.Writable()));
  EXPECT_GT(written, 0u);
}

// A writer learns that the reader is closed without a write.
TEST_F(ReadinessTest, AWriterWithoutAReaderIsReadyToFail) {
  auto [reader, writer] = MakePipe().value();
  {
    const PipeReader closed = std::move(reader);
  }
  EXPECT_TRUE(Run(writer.Writable()).value().ready().IsWriteClosed());
  const Result size = writer.TryWrite("x");
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(size->status().message(), StartsWith("write to a pipe"));
}

TEST_F(ReadinessTest, APipeHasCallsOfTheCallersOwn) {
  auto [reader, writer] = MakePipe().value();
  const auto write_two = [fd = writer.fd()] { return write(fd, "ab", 2); };
  EXPECT_EQ(
      Run(writer.AsyncIo(Interest::kWritable, "write", write_two)).value(), 2u);
  const auto read_one = [&, fd = reader.fd()] { return read(fd, buffer_, 1); };
  AwaitReadable(reader);
  EXPECT_EQ(reader.TryIo(Interest::kReadable, "read", read_one)->value(), 1u);
}

}  // namespace
}  // namespace rouse
