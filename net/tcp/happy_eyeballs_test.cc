// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/happy_eyeballs.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_socket.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/runtime_fixture.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"

namespace rouse {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SocketAddr Addr(std::string_view text) {
  return SocketAddr::Parse(text).value();
}

// An address that does not answer, like one behind a dead route: the system
// ignores connections that find the queue of the socket full.
class SilentAddr {
 public:
  explicit SilentAddr(Runtime& runtime)
      : listener_(Listen()),
        client_(runtime.BlockOn(TcpStream::Connect(addr())).value()) {}

  SocketAddr addr() const { return listener_.local_addr().value(); }

 private:
  static TcpListener Listen() {
    TcpSocket socket = TcpSocket::Open(SocketAddr::Localhost(0)).value();
    EXPECT_TRUE(socket.Bind(SocketAddr::Localhost(0)).ok());
    return std::move(socket).Listen(/*backlog=*/0).value();
  }

  TcpListener listener_;
  TcpStream client_;  // the one connection for which the queue has room
};

// An address that refuses connections.
SocketAddr RefusingAddr() {
  return TcpListener::Bind(SocketAddr::Localhost(0))
      .value()
      .local_addr()
      .value();
}

class HappyEyeballsTest : public ::testing::Test {
 protected:
  template <class F>
  auto Run(F&& future) {
    return runtime_.BlockOn(std::forward<F>(future));
  }

  Runtime runtime_ =
      Builder::CurrentThread().WithClock(AutoAdvancingClock()).Build().value();
  const EnterGuard enter_ = runtime_.Enter();
  TcpListener listener_ = TcpListener::Bind(SocketAddr::Localhost(0)).value();
  const SocketAddr addr_ = listener_.local_addr().value();
};

TEST(InterleaveFamiliesTest, TheFamiliesTakeTurns) {
  const SocketAddr a4 = Addr("192.0.2.1:1");
  const SocketAddr b4 = Addr("192.0.2.2:1");
  const SocketAddr a6 = Addr("[2001:db8::1]:1");
  const SocketAddr b6 = Addr("[2001:db8::2]:1");
  const SocketAddr c6 = Addr("[2001:db8::3]:1");
  using internal::InterleaveFamilies;
  EXPECT_THAT(InterleaveFamilies({a6, b6, c6, a4, b4}),
              ElementsAre(a6, a4, b6, b4, c6));
  EXPECT_THAT(InterleaveFamilies({a4, b4, a6}), ElementsAre(a4, a6, b4));
  EXPECT_THAT(InterleaveFamilies({b6, a6}), ElementsAre(b6, a6));
  EXPECT_THAT(InterleaveFamilies({}), IsEmpty());
}

TEST_F(HappyEyeballsTest, ConnectsToTheFirstAddressThatAnswers) {
  const TcpStream stream = Run(ConnectHappyEyeballs({addr_})).value();
  EXPECT_THAT(stream.peer_addr(), IsOkAndHolds(addr_));
}

// A refusal starts the next attempt at once.
TEST_F(HappyEyeballsTest, ARefusalCostsNoDelay) {
  auto connect = ConnectHappyEyeballs({RefusingAddr(), RefusingAddr(), addr_},
                                      absl::InfiniteDuration());
  const TcpStream stream = Run(std::move(connect)).value();
  EXPECT_THAT(stream.peer_addr(), IsOkAndHolds(addr_));
}

TEST_F(HappyEyeballsTest, ASilentAddressCostsOneDelay) {
  const SilentAddr silent(runtime_);
  const absl::Duration delay = absl::Milliseconds(30);
  const Instant start = Now();
  auto connect = ConnectHappyEyeballs({silent.addr(), addr_}, delay);
  const TcpStream stream = Run(std::move(connect)).value();
  EXPECT_THAT(stream.peer_addr(), IsOkAndHolds(addr_));
  EXPECT_EQ(Now() - start, delay);
}

// The other attempts go on while a new one runs.
TEST_F(HappyEyeballsTest, AnEarlierAttemptCanStillWin) {
  const SilentAddr silent(runtime_);
  auto connect =
      ConnectHappyEyeballs({addr_, silent.addr()}, absl::ZeroDuration());
  const TcpStream stream = Run(std::move(connect)).value();
  EXPECT_THAT(stream.peer_addr(), IsOkAndHolds(addr_));
}

TEST_F(HappyEyeballsTest, TheAbandonedAttemptsAreClosed) {
  const SilentAddr silent(runtime_);
  ASSERT_TRUE(Run(ConnectHappyEyeballs({addr_})).ok());
  const size_t before = reactor::CountOpenFds();
  for (int i = 0; i < 3; ++i) {
    auto connect = ConnectHappyEyeballs({silent.addr(), silent.addr(), addr_},
                                        absl::Milliseconds(1));
    ASSERT_TRUE(Run(std::move(connect)).ok());
    EXPECT_EQ(reactor::CountOpenFds(), before);
  }
  auto connect = ConnectHappyEyeballs({silent.addr(), silent.addr()},
                                      absl::Milliseconds(1));
  auto in_time = Timeout(absl::Milliseconds(20), std::move(connect));
  EXPECT_THAT(Run(std::move(in_time)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(reactor::CountOpenFds(), before);
}

TEST_F(HappyEyeballsTest, TheErrorNamesAllAddresses) {
  const SocketAddr first = RefusingAddr();
  const SocketAddr second = RefusingAddr();
  auto connect = ConnectHappyEyeballs({first, second});
  EXPECT_THAT(Run(std::move(connect)),
              StatusIs(absl::StatusCode::kUnavailable,
                       testing::AllOf(
                           HasSubstr(absl::StrCat(first)),
                           HasSubstr(absl::StrCat("; connect to ", second)))));
}

TEST_F(HappyEyeballsTest, NoAddressIsInvalid) {
  EXPECT_THAT(Run(ConnectHappyEyeballs({})),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(HappyEyeballsWithoutTimersTest, TriesTheAddressesOneAfterAnother) {
  const TcpListener listener =
      TcpListener::Bind(SocketAddr::Localhost(0)).value();
  const SocketAddr addr = listener.local_addr().value();
  auto connect = ConnectHappyEyeballs({RefusingAddr(), addr});
  const TcpStream stream = BlockOn(std::move(connect)).value();
  EXPECT_THAT(stream.peer_addr(), IsOkAndHolds(addr));
}

}  // namespace
}  // namespace rouse
