// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs coroutines on several threads, while another thread drives their
// sockets.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse {
namespace {

constexpr int kPairs = 3;
constexpr int kConnections = 40;
constexpr size_t kMessages = 20;

Co<absl::Status> Echo(const TcpStream& stream) {
  char buffer[97];
  for (;;) {
    const size_t size = co_await OrReturn(stream.Read(absl::MakeSpan(buffer)));
    if (size == 0) break;
    const std::string_view data(buffer, size);
    co_await OrReturn(stream.WriteAll(data));
  }
  co_return absl::OkStatus();
}

Co<absl::Status> Serve(const TcpListener& listener) {
  for (int i = 0; i < kConnections; ++i) {
    const TcpListener::Accepted accepted = co_await OrReturn(listener.Accept());
    co_await OrReturn(accepted.stream.SetNoDelay(true));
    co_await OrReturn(Echo(accepted.stream));
  }
  co_return absl::OkStatus();
}

Co<absl::Status> Ask(SocketAddr addr, uint64_t seed) {
  FastRand rand(seed);
  for (int i = 0; i < kConnections; ++i) {
    const TcpStream stream = co_await OrReturn(TcpStream::Connect(addr));
    co_await OrReturn(stream.SetNoDelay(true));
    for (size_t message = 0; message < kMessages; ++message) {
      const std::string sent(1 + rand.Below(300),
                             static_cast<char>('a' + rand.Below(26)));
      co_await OrReturn(stream.WriteAll(sent));
      std::string received;
      char buffer[64];
      while (received.size() < sent.size()) {
        const size_t size =
            co_await OrReturn(stream.Read(absl::MakeSpan(buffer)));
        if (size == 0) co_return absl::DataLossError("ended early");
        received.append(buffer, size);
      }
      if (received != sent) co_return absl::DataLossError("other bytes");
    }
  }
  co_return absl::OkStatus();
}

using TcpStressTest = reactor::FdTest;

TEST_F(TcpStressTest, EveryByteIsEchoed) {
  reactor::Reactor reactor = reactor::Reactor::Create().value();
  std::thread driving([&reactor] {
    while (!reactor.handle().IsShutDown()) reactor.Park();
  });
  {
    const TcpListener listener =
        TcpListener::Bind(SocketAddr::Localhost(0), reactor.handle()).value();
    const SocketAddr addr = listener.local_addr().value();
    std::vector<std::thread> threads;
    for (int i = 0; i < kPairs; ++i) {
      threads.emplace_back([&] {
        const reactor::ScopedDefault current(reactor.handle());
        const absl::Status status = BlockOn(Serve(listener));
        EXPECT_TRUE(status.ok()) << status;
      });
      threads.emplace_back([&, i] {
        const reactor::ScopedDefault current(reactor.handle());
        const absl::Status status =
            BlockOn(Ask(addr, static_cast<uint64_t>(i)));
        EXPECT_TRUE(status.ok()) << status;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_TRUE(reactor.IsIdle());
  reactor.Shutdown();
  driving.join();
}

}  // namespace
}  // namespace rouse
