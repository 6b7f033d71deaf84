// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers shared by the tests of TCP.

#ifndef ROUSE_TESTING_INTERNAL_TCP_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_TCP_FIXTURE_H_

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
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse {

// Prevents any descriptor from being opened during its lifetime.
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

// A thread that acts as a runtime: polls one future at a time and turns the
// current reactor.
class TcpTest : public reactor::FdTest {
 protected:
  TcpTest()
      : reactor_(std::make_unique<reactor::Reactor>(
            reactor::Reactor::Create().value())),
        current_(reactor_->handle()) {}

  // Delivers all pending events to the tasks.
  void Turn() { ASSERT_TRUE(reactor_->Turn(absl::ZeroDuration()).ok()); }

  // Returns how often the tasks have been woken in total.
  int wakes() const { return runner_.wakes() + task_.wakes() + other_.wakes(); }

  // Waits for an event after polls that were all pending. `wakes` is the count
  // before those polls. Does not wait if the polls woke a task, such as a task
  // without budget.
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

  // Makes a connection and returns both ends.
  std::pair<TcpStream, TcpStream> Connect() {
    const TcpListener listener =
        TcpListener::Bind(SocketAddr::Localhost(0)).value();
    TcpStream client =
        Run(TcpStream::Connect(listener.local_addr().value())).value();
    TcpStream server = Run(listener.Accept()).value().stream;
    return {std::move(client), std::move(server)};
  }

  // Reads until the end of the stream and returns all bytes.
  std::string ReadAll(const TcpStream& stream) {
    std::string all;
    char buffer[4096];
    for (;;) {
      const size_t size = Run(stream.Read(absl::MakeSpan(buffer))).value();
      if (size == 0) return all;
      all.append(buffer, size);
    }
  }

  // `Run()` uses a task of its own, so that a test can count the wakes of the
  // other tasks.
  CountingWaker runner_, task_, other_;
  std::unique_ptr<reactor::Reactor> reactor_;
  reactor::ScopedDefault current_;
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_TCP_FIXTURE_H_
