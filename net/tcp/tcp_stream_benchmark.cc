// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "benchmark/benchmark.h"
#include "rouse/future/co.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr std::string_view kMessage =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

// Uses a socket pair to exclude the cost of TCP. The stream is therefore a
// `UnixStream`, which behaves like a `TcpStream` with one exception: a short
// read is followed by another read.
std::pair<OwnedFd, OwnedFd> MakePair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) !=
      0) {
    std::abort();
  }
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

// The lower bound for the next benchmark.
void BM_BareReadOfReadySocket(benchmark::State& state) {
  auto [a, b] = MakePair();
  char buffer[32];
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < 100; ++i) {
      if (send(b.get(), kMessage.data(), 32, 0) != 32) std::abort();
    }
    state.ResumeTiming();
    for (int i = 0; i < 100; ++i) {
      if (recv(a.get(), buffer, sizeof buffer, 0) != 32) std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(BM_BareReadOfReadySocket);

// Each read fills the buffer, so the socket stays ready.
void BM_ReadOfReadySocket(benchmark::State& state) {
  reactor::Reactor reactor = reactor::Reactor::Create().value();
  auto [a, b] = MakePair();
  const UnixStream stream =
      UnixStream::FromFd(std::move(a), reactor.handle()).value();
  char buffer[32];
  const Waker waker;
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < 100; ++i) {
      if (send(b.get(), kMessage.data(), 32, 0) != 32) std::abort();
    }
    if (!reactor.Turn(absl::ZeroDuration()).ok()) std::abort();
    Context cx(waker);
    state.ResumeTiming();
    for (int i = 0; i < 100; ++i) {
      auto read = stream.Read(absl::MakeSpan(buffer));
      if (!read.Poll(cx).IsReady()) std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(BM_ReadOfReadySocket);

Co<void> Echo(const UnixStream& stream) {
  char buffer[1024];
  for (;;) {
    const auto size = co_await stream.Read(absl::MakeSpan(buffer));
    if (!size.ok() || *size == 0) break;
    const std::string_view data(buffer, *size);
    const absl::Status status = co_await stream.WriteAll(data);
    if (!status.ok()) break;
  }
}

// One request: the peer sends and, afterwards, receives with bare calls;
// between the two calls the server waits, reads and writes.
void BM_EchoOnEpoll(benchmark::State& state) {
  auto [a, b] = MakePair();
  const OwnedFd epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event = {};
  // Uses a stream's interest, because the kernel's cost depends on the
  // interest.
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
  epoll_ctl(epoll.get(), EPOLL_CTL_ADD, a.get(), &event);
  char buffer[1024];
  for (auto _ : state) {
    if (send(b.get(), kMessage.data(), 64, 0) != 64) std::abort();
    if (epoll_wait(epoll.get(), &event, 1, -1) != 1) std::abort();
    const ssize_t size = recv(a.get(), buffer, sizeof buffer, 0);
    if (send(a.get(), buffer, static_cast<size_t>(size), MSG_NOSIGNAL) != 64) {
      std::abort();
    }
    if (recv(b.get(), buffer, sizeof buffer, 0) != 64) std::abort();
  }
}
BENCHMARK(BM_EchoOnEpoll);

void BM_EchoOnReactor(benchmark::State& state) {
  reactor::Reactor reactor = reactor::Reactor::Create().value();
  auto [a, b] = MakePair();
  const UnixStream stream =
      UnixStream::FromFd(std::move(a), reactor.handle()).value();
  Co<void> server = Echo(stream);
  bool woken = false;
  const Waker waker = Waker::FromCallable([&woken] { woken = true; });
  const auto poll = [&] {
    Context cx(waker);
    if (server.Poll(cx).IsReady()) std::abort();
  };
  poll();
  char buffer[1024];
  for (auto _ : state) {
    if (send(b.get(), kMessage.data(), 64, 0) != 64) std::abort();
    do {
      if (!reactor.Turn(absl::InfiniteDuration()).ok()) std::abort();
    } while (!std::exchange(woken, false));
    poll();
    if (recv(b.get(), buffer, sizeof buffer, 0) != 64) std::abort();
  }
}
BENCHMARK(BM_EchoOnReactor);

// Connects, accepts and closes one connection.
void BM_AcceptOnReactor(benchmark::State& state) {
  reactor::Reactor reactor = reactor::Reactor::Create().value();
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0), reactor.handle()).value();
  const SocketAddr addr = listener.local_addr().value();
  const Waker waker;
  for (auto _ : state) {
    const OwnedFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // Resets connections, so that the ports are not exhausted.
    const linger now = {1, 0};
    setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    if (connect(client.get(), addr.data(), addr.size()) != 0) std::abort();
    for (;;) {
      Context cx(waker);
      auto accept = listener.Accept();
      const auto accepted = accept.Poll(cx);
      if (accepted.IsReady()) {
        if (!accepted->ok()) std::abort();
        break;
      }
      if (!reactor.Turn(absl::InfiniteDuration()).ok()) std::abort();
    }
  }
}
BENCHMARK(BM_AcceptOnReactor);

}  // namespace
}  // namespace rouse
