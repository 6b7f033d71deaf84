// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_listener_group.h"

#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_socket.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/runtime/runtime.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/tcp_fixture.h"

namespace rouse {
namespace {

using ::testing::HasSubstr;

// The kernel's choice of a listener depends on the client's port. With this
// number of clients, a listener of two is left out once in 2^63 runs.
constexpr int kClients = 64;

class TcpListenerGroupTest : public TcpTest {
 protected:
  static TcpListenerGroup Bind(size_t count,
                               const TcpListenerGroupOptions& options = {}) {
    return TcpListenerGroup::Bind(SocketAddr::Localhost(0), count, options)
        .value();
  }

  // Makes a connection, which the kernel completes before it is accepted.
  static OwnedFd ConnectTo(const SocketAddr& addr) {
    OwnedFd fd(socket(addr.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), addr.data(), addr.size()), 0);
    return fd;
  }
  static std::vector<OwnedFd> ConnectAllTo(const SocketAddr& addr) {
    std::vector<OwnedFd> clients;
    for (int i = 0; i < kClients; ++i) clients.push_back(ConnectTo(addr));
    return clients;
  }

  // Accepts the connections that wait at `listener`.
  std::vector<TcpStream> AcceptWaiting(const TcpListener& listener) {
    Turn();
    std::vector<TcpStream> streams;
    while (std::optional<absl::StatusOr<TcpListener::Accepted>> accepted =
               listener.TryAccept()) {
      EXPECT_TRUE(accepted->ok()) << accepted->status();
      if (!accepted->ok()) break;
      streams.push_back(std::move((*accepted)->stream));
    }
    return streams;
  }
};

TEST_F(TcpListenerGroupTest, AllListenersHaveThePortThatTheSystemChose) {
  TcpListenerGroup group = Bind(3);
  EXPECT_EQ(group.size(), 3u);
  EXPECT_NE(group.local_addr().port(), 0);
  for (size_t i = 0; i < group.size(); ++i) {
    const absl::StatusOr<TcpListener> listener = group.Take(i);
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_EQ(listener->local_addr().value(), group.local_addr());
  }
}

TEST_F(TcpListenerGroupTest, EveryListenerGetsConnections) {
  TcpListenerGroup group = Bind(2);
  const TcpListener first = group.Take(0).value();
  const TcpListener second = group.Take(1).value();
  const std::vector<OwnedFd> clients = ConnectAllTo(group.local_addr());
  const size_t of_first = AcceptWaiting(first).size();
  const size_t of_second = AcceptWaiting(second).size();
  EXPECT_GT(of_first, 0u);
  EXPECT_GT(of_second, 0u);
  EXPECT_EQ(of_first + of_second, clients.size());
}

// Sends `name` over each connection.
Co<absl::Status> SendName(TcpListener listener, std::string_view name) {
  for (;;) {
    absl::StatusOr<TcpListener::Accepted> accepted = co_await listener.Accept();
    if (!accepted.ok()) co_return accepted.status();
    absl::Status status = co_await accepted->stream.WriteAll(name);
    if (!status.ok()) co_return status;
  }
}

Co<> SendNameUntil(CancellationToken stop, TcpListenerGroup& group,
                   size_t index, std::string_view name) {
  auto serving = SendName(group.Take(index).value(), name);
  const std::optional<absl::Status> ended =
      co_await stop.RunUntilCancelled(std::move(serving));
  EXPECT_FALSE(ended.has_value()) << *ended;
}

TEST_F(TcpListenerGroupTest, TwoThreadsAcceptEachWithARuntimeOfItsOwn) {
  TcpListenerGroup group = Bind(2);
  const CancellationToken stop;
  const auto serve = [&group, &stop](size_t index, std::string_view name) {
    Runtime runtime = Builder::CurrentThread().Build().value();
    runtime.BlockOn(SendNameUntil(stop, group, index, name));
  };
  std::thread a(serve, 0, "a");
  std::thread b(serve, 1, "b");
  int of_a = 0;
  int of_b = 0;
  for (const OwnedFd& client : ConnectAllTo(group.local_addr())) {
    char name = '\0';
    EXPECT_EQ(recv(client.get(), &name, 1, 0), 1);
    EXPECT_TRUE(name == 'a' || name == 'b') << name;
    ++(name == 'a' ? of_a : of_b);
  }
  stop.Cancel();
  a.join();
  b.join();
  EXPECT_GT(of_a, 0);
  EXPECT_GT(of_b, 0);
}

TEST_F(TcpListenerGroupTest, OptionsAreSetOnEverySocketBeforeItsBind) {
  int calls = 0;
  const auto configure = [&calls](const TcpSocket& socket) {
    ++calls;
    EXPECT_TRUE(socket.ReusePort().value());
    EXPECT_TRUE(socket.ReuseAddr().value());
    EXPECT_EQ(socket.local_addr().value().port(), 0);
    return socket.SetReceiveBufferSize(20'000);
  };
  TcpListenerGroup group =
      TcpListenerGroup::Bind(SocketAddr::Localhost(0), 2, {}, configure)
          .value();
  EXPECT_EQ(calls, 2);
  const TcpListener listener = group.Take(1).value();
  int size = 0;
  socklen_t length = sizeof size;
  ASSERT_EQ(getsockopt(listener.fd(), SOL_SOCKET, SO_RCVBUF, &size, &length),
            0);
  EXPECT_EQ(size, 40'000);
}

TEST_F(TcpListenerGroupTest, AnErrorOfAnOptionIsReturned) {
  int calls = 0;
  const auto configure = [&calls](const TcpSocket&) {
    return ++calls < 2 ? absl::OkStatus() : absl::UnknownError("refused");
  };
  // The fixture sees that no socket stays open.
  EXPECT_EQ(TcpListenerGroup::Bind(SocketAddr::Localhost(0), 3, {}, configure)
                .status(),
            absl::UnknownError("refused"));
  EXPECT_EQ(calls, 2);
}

TEST_F(TcpListenerGroupTest, AGroupNeedsAListener) {
  const absl::Status status =
      TcpListenerGroup::Bind(SocketAddr::Localhost(80), 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("127.0.0.1:80"));
}

TEST_F(TcpListenerGroupTest, AnAddressOfAnotherKindOfListenerIsInUse) {
  const TcpListener other = TcpListener::Bind(SocketAddr::Localhost(0)).value();
  EXPECT_EQ(
      TcpListenerGroup::Bind(other.local_addr().value(), 2).status().code(),
      absl::StatusCode::kFailedPrecondition);
}

TEST_F(TcpListenerGroupTest, AnotherGroupCanJoin) {
  TcpListenerGroup old = Bind(1);
  TcpListenerGroup next = TcpListenerGroup::Bind(old.local_addr(), 1).value();
  EXPECT_EQ(next.local_addr(), old.local_addr());
  const TcpListener old_listener = old.Take(0).value();
  const TcpListener next_listener = next.Take(0).value();
  const std::vector<OwnedFd> clients = ConnectAllTo(old.local_addr());
  EXPECT_GT(AcceptWaiting(old_listener).size(), 0u);
  EXPECT_GT(AcceptWaiting(next_listener).size(), 0u);
}

TEST_F(TcpListenerGroupTest, AListenerIsTakenOnce) {
  TcpListenerGroup group = Bind(2);
  ASSERT_TRUE(group.Take(1).ok());
  const absl::Status status = group.Take(1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("listener 1"));
  EXPECT_TRUE(group.Take(0).ok());
  EXPECT_EQ(group.size(), 2u);
}

TEST_F(TcpListenerGroupTest, AnIndexThatIsTooLargeIsAPanic) {
  TcpListenerGroup group = Bind(2);
  EXPECT_PANIC((void)group.Take(2), "the group has only 2 listeners");
}

TEST_F(TcpListenerGroupTest, AListenerThatNoReactorAcceptsStaysInTheGroup) {
  TcpListenerGroup group = Bind(1);
  const OwnedFd client = ConnectTo(group.local_addr());
  {
    const reactor::ScopedDefault none((reactor::Handle()));
    EXPECT_EQ(group.Take(0).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
  // The connection has waited.
  const TcpListener listener = group.Take(0).value();
  EXPECT_TRUE(Run(listener.Accept()).ok());
}

TEST_F(TcpListenerGroupTest, ListenersThatNobodyTakesAreClosed) {
  SocketAddr addr;
  {
    const TcpListenerGroup group = Bind(2);
    addr = group.local_addr();
  }
  EXPECT_EQ(Run(TcpStream::Connect(addr)).status().code(),
            absl::StatusCode::kUnavailable);
}

// Returns whether the kernel moves the connections of a listener that is
// closed.
bool MigratesConnections() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_migrate_req");
  int on = 0;
  return (file >> on) && on != 0;
}

TEST_F(TcpListenerGroupTest, TheQueueOfAClosedListenerIsResetOrMoved) {
  TcpListenerGroup group = Bind(2);
  const TcpListener stays = group.Take(0).value();
  TcpListener ends = group.Take(1).value();
  const std::vector<OwnedFd> clients = ConnectAllTo(group.local_addr());
  {
    const TcpListener closed = std::move(ends);
  }
  const std::vector<TcpStream> accepted = AcceptWaiting(stays);
  size_t reset = 0;
  for (const OwnedFd& client : clients) {
    char byte;
    if (recv(client.get(), &byte, 1, MSG_DONTWAIT) == 0 ||
        errno == ECONNRESET) {
      ++reset;
    }
  }
  if (MigratesConnections()) {
    EXPECT_EQ(reset, 0u);
  } else {
    EXPECT_GT(reset, 0u);
  }
  EXPECT_EQ(accepted.size() + reset, clients.size());
}

// After the steps of the class comment, no connection is lost.
TEST_F(TcpListenerGroupTest, ADrainedListenerLosesNoConnection) {
  TcpListenerGroup group = Bind(2);
  const TcpListener stays = group.Take(0).value();
  const std::vector<OwnedFd> clients = ConnectAllTo(group.local_addr());
  std::vector<TcpStream> drained;
  {
    const TcpListener ends = group.Take(1).value();
    drained = AcceptWaiting(ends);
  }
  EXPECT_GT(drained.size(), 0u);
  EXPECT_EQ(drained.size() + AcceptWaiting(stays).size(), clients.size());
}

// Runs this thread on one CPU during its lifetime.
class OnCpu {
 public:
  explicit OnCpu(int cpu) {
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    works_ = sched_setaffinity(0, sizeof one, &one) == 0;
  }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;
  ~OnCpu() { EXPECT_EQ(sched_setaffinity(0, sizeof before_, &before_), 0); }

  bool works() const { return works_; }

 private:
  cpu_set_t before_;
  bool works_;
};

// The loopback interface receives a packet on the CPU that sends it.
TEST_F(TcpListenerGroupTest, ByCpuTheListenerOfTheCpuGetsTheConnections) {
  TcpListenerGroupOptions options;
  options.steering = TcpSteering::kByCpu;
  TcpListenerGroup group = Bind(2, options);
  const TcpListener listeners[] = {group.Take(0).value(),
                                   group.Take(1).value()};
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    SCOPED_TRACE(cpu);
    const OnCpu on_cpu(cpu);
    if (!on_cpu.works()) GTEST_SKIP() << "a thread cannot choose its CPU here";
    const std::vector<OwnedFd> clients = ConnectAllTo(group.local_addr());
    EXPECT_EQ(AcceptWaiting(listeners[cpu % 2]).size(), clients.size());
    EXPECT_EQ(AcceptWaiting(listeners[1 - cpu % 2]).size(), 0u);
  }
}

TEST(TcpSteeringTest, IsPrinted) {
  EXPECT_EQ(absl::StrCat(TcpSteering::kByAddress, " ", TcpSteering::kByCpu),
            "by-address by-cpu");
}

}  // namespace
}  // namespace rouse
