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
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/testing/internal/reactor_fixture.h"

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

// A fixture with a current reactor and connections of TCP.
class TcpTest : public reactor::CurrentReactorTest {
 protected:
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
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_TCP_FIXTURE_H_
