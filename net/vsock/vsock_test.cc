// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of `VsockListener` and `VsockStream`. A test that needs a connection is
// skipped unless the kernel connects a machine with itself (vsock_loopback).

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/net/split.h"
#include "rouse/net/vsock/vsock_addr.h"
#include "rouse/net/vsock/vsock_listener.h"
#include "rouse/net/vsock/vsock_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/tcp_fixture.h"

namespace rouse {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

static_assert(Future<VsockStream::ConnectFuture>);
static_assert(Future<VsockListener::AcceptFuture>);

class VsockTest : public TcpTest {
 protected:
  void SetUp() override {
    const OwnedFd fd(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.IsValid()) GTEST_SKIP() << "no vsock here: " << strerror(errno);
  }

  VsockListener Listen(uint32_t cid = VsockAddr::kAnyCid) {
    return VsockListener::Bind(VsockAddr(cid, VsockAddr::kAnyPort)).value();
  }

  // Returns the address at which this machine finds `listener`.
  static VsockAddr LocalAddrOf(const VsockListener& listener) {
    return VsockAddr(VsockAddr::kLocal, listener.local_addr().value().port());
  }
};

TEST_F(VsockTest, TheSystemChoosesAPort) {
  const VsockListener listener = Listen();
  const VsockAddr addr = listener.local_addr().value();
  EXPECT_EQ(addr.cid(), VsockAddr::kAnyCid);
  EXPECT_NE(addr.port(), VsockAddr::kAnyPort);
}

TEST_F(VsockTest, AnAddressInUseIsFailedPrecondition) {
  const VsockListener listener = Listen();
  const VsockAddr addr = listener.local_addr().value();
  const absl::Status status = VsockListener::Bind(addr).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), StartsWith(absl::StrCat("bind to ", addr)));
}

TEST_F(VsockTest, ACidOfAnotherMachineIsAlreadyExists) {
  EXPECT_EQ(VsockListener::Bind(VsockAddr(0xfffffff0, 1024)).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(VsockTest, WaitsForAConnection) {
  const VsockListener listener = Listen();
  auto accept = listener.Accept();
  Turn();
  EXPECT_TRUE(task_.Poll(accept).IsPending());
  EXPECT_FALSE(listener.TryAccept().has_value());
}

TEST_F(VsockTest, APendingErrorNamesTheAddress) {
  OwnedFd fd(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const VsockAddr nobody(VsockAddr::kHost, 0xfffffff0);
  if (connect(fd.get(), nobody.data(), nobody.size()) == 0 ||
      errno != EINPROGRESS) {
    GTEST_SKIP() << "this machine has no way to a host by vsock";
  }
  const VsockStream stream = VsockStream::FromFd(std::move(fd)).value();
  ASSERT_TRUE(Run(stream.Writable()).ok());
  const absl::Status status = stream.TakeError();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(),
              StartsWith(absl::StrCat("pending error of ",
                                      stream.local_addr().value())));
  EXPECT_TRUE(stream.TakeError().ok());
}

// Which error it is depends on the machine: see `Connect()`.
TEST_F(VsockTest, AFailedConnectionNamesTheAddress) {
  const VsockAddr nobody(VsockAddr::kHost, 0xfffffff0);
  auto connect = VsockStream::Connect(nobody);
  const absl::Status status = Run(connect).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(),
              StartsWith(absl::StrCat("connect to ", nobody)));
  EXPECT_PANIC((void)task_.Poll(connect), "VsockStream::Connect()");
}

TEST_F(VsockTest, AnAbandonedConnectionLeavesNothing) {
  {
    // No machine has this CID. The attempt is pending if a host is asked.
    auto connect = VsockStream::Connect(VsockAddr(0xfffffff0, 1024));
    (void)task_.Poll(connect);
  }
  EXPECT_EQ(task_.live(), 0);
  EXPECT_TRUE(reactor_.IsIdle());
}

TEST_F(VsockTest, AdoptsOnlyVsocks) {
  const VsockAddr any;
  OwnedFd fd(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(fd.get(), any.data(), any.size()), 0);
  ASSERT_EQ(listen(fd.get(), 1), 0);
  auto adopted = VsockListener::FromFd(std::move(fd));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_NE(fcntl(adopted->fd(), F_GETFL) & O_NONBLOCK, 0);
  const OwnedFd released = (*std::move(adopted)).IntoFd();
  EXPECT_TRUE(released.IsValid());

  for (const bool listens : {false, true}) {
    OwnedFd tcp(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const absl::Status status =
        listens ? VsockListener::FromFd(std::move(tcp)).status()
                : VsockStream::FromFd(std::move(tcp)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("not a vsock"));
  }
}

TEST_F(VsockTest, NeedsAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_EQ(VsockListener::Bind(VsockAddr()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(VsockListener::Bind(VsockAddr(), reactor_.handle()).ok());
}

// Tests with connections of this machine to itself.
class VsockLoopbackTest : public VsockTest {
 protected:
  void SetUp() override {
    VsockTest::SetUp();
    if (IsSkipped()) return;
    const OwnedFd fd(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // Fails if the kernel has no loopback.
    const VsockAddr local(VsockAddr::kLocal, VsockAddr::kAnyPort);
    if (bind(fd.get(), local.data(), local.size()) != 0) {
      GTEST_SKIP() << "no vsock_loopback here: " << strerror(errno);
    }
  }

  // Makes a connection and returns both ends.
  std::pair<VsockStream, VsockStream> ConnectVsock() {
    const VsockListener listener = Listen();
    VsockStream client =
        Run(VsockStream::Connect(LocalAddrOf(listener))).value();
    VsockStream server = Run(listener.Accept()).value().stream;
    return {std::move(client), std::move(server)};
  }
};

TEST_F(VsockLoopbackTest, ListensAndConnects) {
  const VsockListener listener = Listen(VsockAddr::kLocal);
  const VsockAddr addr = listener.local_addr().value();
  const VsockStream client = Run(VsockStream::Connect(addr)).value();
  const VsockListener::Accepted accepted = Run(listener.Accept()).value();
  EXPECT_EQ(accepted.peer.cid(), VsockAddr::kLocal);
  EXPECT_EQ(accepted.peer, client.local_addr().value());
  EXPECT_EQ(client.peer_addr().value(), addr);
}

TEST_F(VsockLoopbackTest, CarriesBytesInBothDirections) {
  auto [client, server] = ConnectVsock();
  ASSERT_TRUE(Run(client.WriteAll("ping")).ok());
  ASSERT_TRUE(client.ShutdownWrite().ok());
  std::string text;
  ASSERT_TRUE(Run(ReadToEnd(server, text)).ok());
  EXPECT_EQ(text, "ping");
  auto [reader, writer] = IntoSplit(std::move(server));
  ASSERT_TRUE(Run(WriteAll(writer, "pong")).ok());
  char buffer[4];
  EXPECT_EQ(Run(client.Read(absl::MakeSpan(buffer))).value(), 4u);
}

TEST_F(VsockLoopbackTest, ARefusedConnectionIsUnavailable) {
  const VsockAddr nobody(VsockAddr::kLocal, 0xfffffff0);
  EXPECT_EQ(Run(VsockStream::Connect(nobody)).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(VsockLoopbackTest, AStreamCanBeAdopted) {
  auto [client, server] = ConnectVsock();
  const auto adopted = VsockStream::FromFd(std::move(client).IntoFd());
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  ASSERT_TRUE(Run(adopted->WriteAll("x")).ok());
  char byte;
  EXPECT_EQ(Run(server.Read(absl::MakeSpan(&byte, 1))).value(), 1u);
}

TEST_F(VsockLoopbackTest, AttemptsDoNotWait) {
  auto [client, server] = ConnectVsock();
  char byte;
  EXPECT_EQ(server.TryRead(absl::MakeSpan(&byte, 1)), std::nullopt);
  ASSERT_TRUE(Run(client.WriteAll("x")).ok());
  ASSERT_TRUE(Run(server.Readable()).ok());
  EXPECT_EQ(server.TryRead(absl::MakeSpan(&byte, 1))->value(), 1u);
}

}  // namespace
}  // namespace rouse
