// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_test_util.h
// -----------------------------------------------------------------------------
//
// What the tests of TCP share.

#ifndef ROUSE_NET_TCP_TCP_TEST_UTIL_H_
#define ROUSE_NET_TCP_TCP_TEST_UTIL_H_

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/test_util.h"

namespace rouse {

// While it lives no descriptor can be opened.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    // Fills the gaps below the limit.
    rlimit less = before_;
    const OwnedFd highest(dup(0));
    less.rlim_cur = static_cast<rlim_t>(highest.get());
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
    for (;;) {
      OwnedFd filler(dup(0));
      if (!filler.IsValid()) break;
      fillers_.push_back(std::move(filler));
    }
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_;
  std::vector<OwnedFd> fillers_;
};

// A thread that is its own runtime: it polls one future and turns the reactor,
// which is the current one.
class TcpTest : public reactor::FdTest {
 protected:
  TcpTest()
      : reactor_(std::make_unique<reactor::Reactor>(
            reactor::Reactor::Create().value())),
        current_(reactor_->handle()) {}

  // What has happened, happens to the tasks.
  void Turn() { ASSERT_TRUE(reactor_->Turn(absl::ZeroDuration()).ok()); }

  // How often the tasks have been woken, all of them together.
  int wakes() const { return runner_.wakes() + task_.wakes() + other_.wakes(); }

  // For after polls that were all pending, before which there were `wakes`:
  // waits for what they wait for. A task that they have woken, such as one
  // without budget, does not wait.
  void ParkUnlessWokenSince(int wakes) {
    if (this->wakes() == wakes) {
      reactor_->Park();
    } else {
      Turn();
    }
  }

  // Polls until the future is ready.
  template <class F>
  auto Run(F&& future) {
    for (;;) {
      const int before = wakes();
      auto result = runner_.Poll(future);
      if (result.IsReady()) return *std::move(result);
      ParkUnlessWokenSince(before);
    }
  }

  // Two ends of a connection.
  std::pair<TcpStream, TcpStream> Connect() {
    const TcpListener listener =
        TcpListener::Bind(SocketAddr::Localhost(0)).value();
    TcpStream client =
        Run(TcpStream::Connect(listener.local_addr().value())).value();
    TcpStream server = Run(listener.Accept()).value().stream;
    return {std::move(client), std::move(server)};
  }

  // All that comes until the end.
  std::string ReadAll(const TcpStream& stream) {
    std::string all;
    char buffer[4096];
    for (;;) {
      const size_t size = Run(stream.Read(absl::MakeSpan(buffer))).value();
      if (size == 0) return all;
      all.append(buffer, size);
    }
  }

  // `Run()` has a task of its own, so that wakes of the others can be counted.
  reactor::TestTask runner_, task_, other_;
  std::unique_ptr<reactor::Reactor> reactor_;
  reactor::ScopedDefault current_;
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_TEST_UTIL_H_
