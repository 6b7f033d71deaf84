// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// System calls of the caller's own, by `TryIo()` and `AsyncIo()`: see
// evented_base.h.

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/net/pipe.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/udp_socket.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/async_io.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/readiness_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using reactor::Interest;
using ::testing::StartsWith;

using Result = std::optional<absl::StatusOr<size_t>>;

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

}  // namespace
}  // namespace rouse
