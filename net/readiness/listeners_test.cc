// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting for a connection without accepting it, and attempts to accept that do
// not wait: see evented_base.h.

#include <sys/types.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/net/pipe.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/unix/unix_listener.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/reactor/interest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/readiness_fixture.h"
#include "rouse/testing/internal/tcp_fixture.h"

namespace rouse {
namespace {

using reactor::Interest;
using ::testing::StartsWith;

template <class S>
concept CanWaitToRead = requires(const S& s) { s.Readable(); };
template <class S>
concept CanWaitToWrite = requires(const S& s) { s.Writable(); };

static_assert(CanWaitToRead<TcpListener> && !CanWaitToWrite<TcpListener>);
static_assert(CanWaitToRead<UnixListener> && !CanWaitToWrite<UnixListener>);

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

}  // namespace
}  // namespace rouse
