// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/event_waker.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/poller.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse::reactor {
namespace {

constexpr Token kWake(1);

class EventWakerTest : public FdTest {
 protected:
  EventWakerTest() : poller_(*Poller::Create()), events_(4) {}

  size_t PollNow() {
    EXPECT_TRUE(poller_.Poll(events_, absl::ZeroDuration()).ok());
    return events_.size();
  }

  Poller poller_;
  Events events_;
};

TEST_F(EventWakerTest, WakesALaterPoll) {
  const EventWaker waker = *EventWaker::Create(poller_.registry(), kWake);
  EXPECT_EQ(PollNow(), 0u);
  ASSERT_TRUE(waker.Wake().ok());
  ASSERT_EQ(PollNow(), 1u);
  EXPECT_EQ(events_[0].token(), kWake);
  EXPECT_TRUE(events_[0].IsReadable());
}

TEST_F(EventWakerTest, WakesAPollOnAnotherThread) {
  const EventWaker waker = *EventWaker::Create(poller_.registry(), kWake);
  std::thread other([&] { EXPECT_TRUE(waker.Wake().ok()); });
  do {
    ASSERT_TRUE(poller_.Poll(events_, absl::InfiniteDuration()).ok());
  } while (events_.IsEmpty());
  EXPECT_EQ(events_[0].token(), kWake);
  other.join();
}

TEST_F(EventWakerTest, ManyWakesAreOneEvent) {
  const EventWaker waker = *EventWaker::Create(poller_.registry(), kWake);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(waker.Wake().ok());
  EXPECT_EQ(PollNow(), 1u);
  EXPECT_EQ(PollNow(), 0u);
}

TEST_F(EventWakerTest, WakesRepeatedly) {
  const EventWaker waker = *EventWaker::Create(poller_.registry(), kWake);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(waker.Wake().ok());
    ASSERT_EQ(PollNow(), 1u) << i;
  }
}

TEST_F(EventWakerTest, AFullCounterStillWakes) {
  const EventWaker waker = *EventWaker::Create(poller_.registry(), kWake);
  const uint64_t full = std::numeric_limits<uint64_t>::max() - 1;
  ASSERT_EQ(write(waker.fd(), &full, sizeof full),
            static_cast<ssize_t>(sizeof full));
  ASSERT_EQ(PollNow(), 1u);
  ASSERT_TRUE(waker.Wake().ok());
  EXPECT_EQ(PollNow(), 1u);
}

// Covers trap R19 of reactor/traps_test.cc.
TEST_F(EventWakerTest, ASecondWakerIsRefused) {
  const EventWaker waker = *EventWaker::Create(poller_.registry(), kWake);
  const absl::StatusOr<EventWaker> second =
      EventWaker::Create(poller_.registry(), kWake);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(EventWakerTest, ANewWakerCanReplaceADestroyedOne) {
  {
    const EventWaker first = *EventWaker::Create(poller_.registry(), kWake);
  }
  absl::StatusOr<EventWaker> second =
      EventWaker::Create(poller_.registry(), kWake);
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_TRUE(second->Wake().ok());
  EXPECT_EQ(PollNow(), 1u);
}

TEST_F(EventWakerTest, AMovedWakerStillWorks) {
  EventWaker first = *EventWaker::Create(poller_.registry(), kWake);
  const EventWaker second = std::move(first);
  ASSERT_TRUE(second.Wake().ok());
  EXPECT_EQ(PollNow(), 1u);
}

TEST_F(EventWakerTest, IsNonBlockingAndCloseOnExec) {
  const EventWaker waker = *EventWaker::Create(poller_.registry(), kWake);
  EXPECT_EQ(fcntl(waker.fd(), F_GETFD), FD_CLOEXEC);
  EXPECT_NE(fcntl(waker.fd(), F_GETFL) & O_NONBLOCK, 0);
}

}  // namespace
}  // namespace rouse::reactor
