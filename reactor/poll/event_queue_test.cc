// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/event_queue.h"

#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/testing/internal/fd_fixture.h"

namespace rouse::reactor::internal {
namespace {

constexpr Token kInterrupt(1);
constexpr Token kSource(2);

class EventQueueTest : public FdTest {
 protected:
  // Returns the token of the only event.
  Token WaitForOne(absl::Duration max_wait) {
    int waits = 0;
    do {
      EXPECT_TRUE(queue_.Wait(events_, max_wait).ok());
      // A wait may end early: stopping and continuing the process interrupts
      // it.
    } while (events_.IsEmpty() && ++waits < 10);
    if (events_.size() == 1) return events_[0].token();
    ADD_FAILURE() << "there were " << events_.size() << " events";
    return Token();
  }

  bool IsQuiet() {
    EXPECT_TRUE(queue_.Wait(events_, absl::ZeroDuration()).ok());
    return events_.IsEmpty();
  }

  EventQueue queue_ = EventQueue::Open(kInterrupt).value();
  Events events_{16};
};

TEST_F(EventQueueTest, AnInterruptEndsAWait) {
  std::thread other([this] { EXPECT_TRUE(queue_.Interrupt().ok()); });
  EXPECT_EQ(WaitForOne(absl::InfiniteDuration()), kInterrupt);
  other.join();
  EXPECT_TRUE(IsQuiet());
}

TEST_F(EventQueueTest, EarlierInterruptsEndTheNextWaitOnce) {
  EXPECT_TRUE(queue_.Interrupt().ok());
  EXPECT_TRUE(queue_.Interrupt().ok());
  EXPECT_EQ(WaitForOne(absl::InfiniteDuration()), kInterrupt);
  EXPECT_TRUE(IsQuiet());
}

TEST_F(EventQueueTest, ReportsEventsOnlyOfRegisteredSources) {
  auto [a, b] = MakeSocketPair();
  ASSERT_TRUE(queue_.Register(a.get(), kSource, Interest::kReadable).ok());
  EXPECT_TRUE(IsQuiet());
  WriteTo(b.get(), "x");
  EXPECT_EQ(WaitForOne(absl::InfiniteDuration()), kSource);
  ASSERT_TRUE(queue_.Deregister(a.get()).ok());
  WriteTo(b.get(), "x");
  EXPECT_TRUE(IsQuiet());
}

TEST_F(EventQueueTest, RefusesInvalidDescriptors) {
  EXPECT_TRUE(absl::IsFailedPrecondition(
      queue_.Register(-1, kSource, Interest::kReadable)));
  EXPECT_TRUE(absl::IsFailedPrecondition(queue_.Deregister(-1)));
}

}  // namespace
}  // namespace rouse::reactor::internal
