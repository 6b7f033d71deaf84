// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests errors of the operating system, and inopportune actions of peers.
// net/tcp/tcp_fault_test.cc has the same tests for listeners and streams.

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/event_waker.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/poller.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/reactor_fixture.h"

namespace rouse::reactor {
namespace {

#ifdef SYS_epoll_wait
constexpr int kOldWait = SYS_epoll_wait;
#else
constexpr int kOldWait = SYS_epoll_pwait;
#endif

#define ROUSE_SKIP_UNLESS(allowed) \
  if (!(allowed)) GTEST_SKIP() << "no filters of system calls here"

class FaultTest : public ReactorTest {
 protected:
  FaultTest() { std::tie(a_, b_) = MakeSocketPair(); }

  AsyncFd<OwnedFd> Async(OwnedFd fd) {
    return AsyncFd<OwnedFd>::Create(std::move(fd),
                                    Interest::kReadable | Interest::kWritable,
                                    reactor_.handle())
        .value();
  }

  static auto Send(const AsyncFd<OwnedFd>& to, const std::string& data) {
    return to.Io(Direction::kWrite, "send", [fd = to.fd(), &data] {
      return send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    });
  }

  static auto Receive(const AsyncFd<OwnedFd>& from, char& byte) {
    return from.Io(Direction::kRead, "recv",
                   [fd = from.fd(), &byte] { return recv(fd, &byte, 1, 0); });
  }

  OwnedFd a_, b_;
};

// Makes two ends of a TCP connection, the first of them non-blocking.
std::pair<OwnedFd, OwnedFd> MakeTcpPair() {
  const OwnedFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in addr = {};
  addr.sin_family = AF_INET;
  addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof addr;
  auto* const generic = reinterpret_cast<sockaddr*>(&addr);
  EXPECT_EQ(bind(listener.get(), generic, size), 0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), generic, &size), 0);
  OwnedFd peer(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(peer.get(), generic, size), 0);
  OwnedFd mine(
      accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  EXPECT_TRUE(mine.IsValid());
  return {std::move(mine), std::move(peer)};
}

// Ends the connection with a reset instead of an end of file.
void Reset(OwnedFd fd) {
  const linger now = {.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
}

TEST_F(FaultTest, AFailedEventQueueIsResourceExhausted) {
  for (const int error : {EMFILE, ENFILE, ENOMEM}) {
    ROUSE_SKIP_UNLESS(WithFailingCalls({SYS_epoll_create1}, error, [] {
      EXPECT_TRUE(absl::IsResourceExhausted(Poller::Create().status()));
      EXPECT_TRUE(absl::IsResourceExhausted(Reactor::Create().status()));
    }));
  }
}

// R18: the queue has been made, and is closed.
TEST_F(FaultTest, AFailedEventWakerIsResourceExhausted) {
  for (const int error : {EMFILE, ENFILE, ENOMEM}) {
    ROUSE_SKIP_UNLESS(WithFailingCalls({SYS_eventfd2}, error, [] {
      EXPECT_TRUE(absl::IsResourceExhausted(Reactor::Create().status()));
    }));
  }
}

TEST_F(FaultTest, AFailedWakerRegistrationCanBeRetried) {
  const Poller poller = Poller::Create().value();
  ROUSE_SKIP_UNLESS(WithFailingCalls({SYS_epoll_ctl}, ENOSPC, [&poller] {
    EXPECT_TRUE(absl::IsResourceExhausted(
        EventWaker::Create(poller.registry(), Token(1)).status()));
  }));
  EXPECT_TRUE(EventWaker::Create(poller.registry(), Token(1)).ok());
}

// R12: each failure has the code of its reason, and leaves nothing behind.
TEST_F(FaultTest, ARefusedDescriptorIsNotRegistered) {
  const std::pair<int, absl::StatusCode> faults[] = {
      {ENOSPC, absl::StatusCode::kResourceExhausted},
      {ENOMEM, absl::StatusCode::kResourceExhausted},
      {EEXIST, absl::StatusCode::kAlreadyExists},
      {EPERM, absl::StatusCode::kPermissionDenied},
      {EBADF, absl::StatusCode::kFailedPrecondition},
  };
  for (const auto& [error, code] : faults) {
    ROUSE_SKIP_UNLESS(
        WithFailingCalls({SYS_epoll_ctl}, error, [&, code = code] {
          const absl::Status status =
              Registration::Create(a_.get(), Interest::kReadable,
                                   reactor_.handle())
                  .status();
          EXPECT_EQ(status.code(), code) << status;
          EXPECT_NE(status.message().find("epoll_ctl(ADD)"), std::string::npos)
              << status;
        }));
    EXPECT_TRUE(reactor_.IsIdle());
  }
  EXPECT_TRUE(
      Registration::Create(a_.get(), Interest::kReadable, reactor_.handle())
          .ok());
}

TEST_F(FaultTest, AFailedDeregistrationStillFreesTheSlot) {
  Registration registration =
      Registration::Create(a_.get(), Interest::kReadable, reactor_.handle())
          .value();
  ROUSE_SKIP_UNLESS(WithFailingCalls({SYS_epoll_ctl}, ENOENT, [&] {
    EXPECT_TRUE(absl::IsNotFound(registration.Deregister()));
  }));
  EXPECT_TRUE(reactor_.IsIdle());
  // The queue still knows the descriptor, under a generation that has ended.
  WriteTo(b_.get(), "x");
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 1u);
}

TEST_F(FaultTest, AnInterruptedWaitIsNotAnError) {
  ROUSE_SKIP_UNLESS(WithFailingCalls(
      {SYS_epoll_pwait2, SYS_epoll_pwait, kOldWait}, EINTR, [this] {
        EXPECT_EQ(reactor_.Turn(absl::InfiniteDuration()).value(), 0u);
        EXPECT_EQ(reactor_.Turn(absl::Seconds(1)).value(), 0u);
        reactor_.Park();
      }));
}

TEST_F(FaultTest, AFailedWaitIsAnErrorOfTheTurn) {
  ROUSE_SKIP_UNLESS(WithFailingCalls(
      {SYS_epoll_pwait2, SYS_epoll_pwait, kOldWait}, EBADF, [this] {
        EXPECT_TRUE(absl::IsFailedPrecondition(
            reactor_.Turn(absl::InfiniteDuration()).status()));
#ifdef ABSL_HAVE_EXCEPTIONS
        EXPECT_PANIC(reactor_.Park(), "the reactor cannot wait");
#endif
      }));
  // Outside the filter, everything works as before.
  reactor_.unparker().Unpark();
  EXPECT_TRUE(reactor_.Turn(absl::InfiniteDuration()).ok());
}

TEST_F(FaultTest, WritesOfOneByteAllArrive) {
  auto [mine, peer] = MakeTcpPair();
  const auto async = Async(std::move(mine));
  const std::string one(1, 'x');
  char sink[512];
  for (int sent = 0; sent < 4096; ++sent) {
    ASSERT_EQ(Run(Send(async, one)).value(), 1u);
    if (sent % sizeof sink != sizeof sink - 1) continue;
    ASSERT_EQ(recv(peer.get(), sink, sizeof sink, MSG_WAITALL),
              static_cast<ssize_t>(sizeof sink));
  }
}

// Each write to an almost full buffer writes a part of the rest.
TEST_F(FaultTest, PartsOfAWriteAllArrive) {
  auto [mine, peer] = MakeTcpPair();
  const int small = 1;  // raised to the system's minimum
  ASSERT_EQ(setsockopt(mine.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small),
            0);
  const auto async = Async(std::move(mine));
  std::string data(300000, 'x');
  size_t received = 0;
  char sink[1000];
  while (!data.empty()) {
    auto write = Send(async, data);
    auto result = task_.Poll(write);
    while (result.IsPending()) {
      const ssize_t size = recv(peer.get(), sink, sizeof sink, MSG_DONTWAIT);
      if (size > 0) received += static_cast<size_t>(size);
      ASSERT_TRUE(reactor_.Turn(absl::ZeroDuration()).ok());
      result = task_.Poll(write);
    }
    ASSERT_TRUE(result->ok()) << result->status();
    data.erase(0, **result);
  }
  while (received < 300000) {
    const ssize_t size = recv(peer.get(), sink, sizeof sink, 0);
    ASSERT_GT(size, 0);
    received += static_cast<size_t>(size);
  }
}

TEST_F(FaultTest, AHalfClosedPeerCanStillBeWrittenTo) {
  auto [mine, peer] = MakeTcpPair();
  const auto async = Async(std::move(mine));
  ASSERT_EQ(shutdown(peer.get(), SHUT_WR), 0);
  char byte;
  EXPECT_EQ(Run(Receive(async, byte)).value(), 0u);
  EXPECT_EQ(Run(Receive(async, byte)).value(), 0u);
  const std::string data = "answer";
  EXPECT_EQ(Run(Send(async, data)).value(), data.size());
  EXPECT_EQ(recv(peer.get(), &byte, 1, 0), 1);
}

TEST_F(FaultTest, AResetInTheMiddleOfAWriteEndsIt) {
  auto [mine, peer] = MakeTcpPair();
  const auto async = Async(std::move(mine));
  const std::string data(1 << 20, 'x');
  for (bool has_reset = false;;) {
    auto write = Send(async, data);
    auto result = task_.Poll(write);
    if (result.IsPending() && !has_reset) {
      if (reactor_.Turn(absl::ZeroDuration()).value() > 0) continue;
      // All buffers are full.
      Reset(std::exchange(peer, OwnedFd()));
      has_reset = true;
    }
    while (result.IsPending()) {
      ASSERT_TRUE(reactor_.Turn(absl::InfiniteDuration()).ok());
      result = task_.Poll(write);
    }
    // A write may still succeed if room appeared before the reset.
    if (result->ok()) continue;
    ASSERT_TRUE(has_reset) << result->status();
    EXPECT_TRUE(absl::IsUnavailable(result->status())) << result->status();
    EXPECT_EQ(result->status().message().substr(0, 4), "send");
    return;
  }
}

TEST_F(FaultTest, AResetWakesReaderAndWriter) {
  auto [mine, peer] = MakeTcpPair();
  const auto async = Async(std::move(mine));
  char byte;
  auto read = Receive(async, byte);
  ASSERT_TRUE(task_.Poll(read).IsPending());
  Reset(std::move(peer));
  while (task_.wakes() == 0) {
    ASSERT_TRUE(reactor_.Turn(absl::InfiniteDuration()).ok());
  }
  EXPECT_TRUE(absl::IsUnavailable(task_.Poll(read)->status()));  // ECONNRESET
  const std::string data = "x";
  EXPECT_TRUE(
      absl::IsFailedPrecondition(Run(Send(async, data)).status()));  // EPIPE
}

}  // namespace
}  // namespace rouse::reactor
