// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the ends of channels as streams and as sinks.

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/iter.h"
#include "rouse/future/stream.h"
#include "rouse/future/streams/forward.h"
#include "rouse/future/streams/sink.h"
#include "rouse/sync/broadcast.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/watch.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/poll_once.h"

namespace rouse {
namespace {

using ::testing::Optional;

static_assert(Stream<mpsc::Receiver<int>>);
static_assert(Stream<broadcast::Receiver<int>>);
static_assert(Stream<watch::Receiver<int>>);
static_assert(!Stream<watch::Receiver<std::unique_ptr<int>>>);
static_assert(Sink<mpsc::Sender<int>, int>);
static_assert(
    Sink<mpsc::UnboundedSender<std::unique_ptr<int>>, std::unique_ptr<int>>);
static_assert(Sink<broadcast::Sender<int>, int>);

TEST(BroadcastStream, GivesValuesAndMissedNumbers) {
  CountingWaker task;
  auto [sender, rx] = broadcast::Channel<int>(2);
  std::optional<broadcast::Sender<int>> tx(std::move(sender));
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  ASSERT_TRUE(tx->Send(1).ok());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(**task.PollNext(rx).value(), 1);
  for (int i = 2; i <= 4; ++i) ASSERT_TRUE(tx->Send(i).ok());
  EXPECT_EQ(task.PollNext(rx).value()->lagged(), 1);
  EXPECT_EQ(**task.PollNext(rx).value(), 3);
  EXPECT_EQ(**task.PollNext(rx).value(), 4);
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  tx.reset();
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_FALSE(task.PollNext(rx).value().has_value());
  EXPECT_FALSE(task.PollNext(rx).value().has_value());
}

TEST(BroadcastStream, ANextThatIsDestroyedDoesNotWait) {
  CountingWaker task;
  auto [tx, rx] = broadcast::Channel<int>(2);
  {
    auto next = Next(rx);
    EXPECT_TRUE(task.Poll(next).IsPending());
    EXPECT_EQ(task.live(), 1);
  }
  EXPECT_EQ(task.live(), 0);
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task.wakes(), 0);
  EXPECT_EQ(**task.PollNext(rx).value(), 1);
}

TEST(BroadcastStream, AMoveEndsTheWait) {
  CountingWaker task;
  auto [tx, rx] = broadcast::Channel<int>(2);
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  broadcast::Receiver<int> moved = std::move(rx);
  EXPECT_EQ(task.live(), 0);
  EXPECT_TRUE(task.PollNext(moved).IsPending());
  ASSERT_TRUE(tx.Send(1).ok());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(**task.PollNext(moved).value(), 1);
  EXPECT_TRUE(task.PollNext(moved).IsPending());
  moved = tx.Subscribe();
  EXPECT_EQ(task.live(), 0);
}

TEST(BroadcastStream, IsDestroyedWhileItWaits) {
  CountingWaker task;
  auto [tx, rx] = broadcast::Channel<std::string>(2);
  {
    broadcast::Receiver<std::string> waiting = tx.Subscribe();
    EXPECT_TRUE(task.PollNext(waiting).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
}

TEST(WatchStream, GivesValuesThatWereNotSeen) {
  CountingWaker task;
  auto [sender, rx] = watch::Channel<std::string>("zero");
  std::optional<watch::Sender<std::string>> tx(std::move(sender));
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  rx.MarkChanged();
  EXPECT_THAT(task.PollNext(rx).value(), Optional(std::string("zero")));
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  const int wakes = task.wakes();
  EXPECT_TRUE(tx->Send("one"));
  EXPECT_EQ(task.wakes(), wakes + 1);
  EXPECT_TRUE(tx->Send("two"));
  EXPECT_THAT(task.PollNext(rx).value(), Optional(std::string("two")));
  EXPECT_TRUE(tx->Send("last"));
  tx.reset();
  EXPECT_THAT(task.PollNext(rx).value(), Optional(std::string("last")));
  EXPECT_EQ(task.PollNext(rx).value(), std::nullopt);
  EXPECT_EQ(task.PollNext(rx).value(), std::nullopt);
}

TEST(WatchStream, AMoveEndsTheWait) {
  CountingWaker task;
  auto [tx, rx] = watch::Channel<int>(0);
  EXPECT_TRUE(task.PollNext(rx).IsPending());
  watch::Receiver<int> moved = std::move(rx);
  EXPECT_EQ(task.live(), 0);
  EXPECT_TRUE(task.PollNext(moved).IsPending());
  const watch::Receiver<int> copy = moved;
  EXPECT_TRUE(tx.Send(1));
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.PollNext(moved).value(), 1);
  EXPECT_TRUE(*copy.HasChanged());
  EXPECT_TRUE(task.PollNext(moved).IsPending());
  moved = copy;
  EXPECT_EQ(task.live(), 0);
  EXPECT_EQ(task.PollNext(moved).value(), 1);
}

TEST(WatchStream, ANextThatIsDestroyedDoesNotWait) {
  CountingWaker task;
  auto [tx, rx] = watch::Channel<int>(0);
  {
    auto next = Next(rx);
    EXPECT_TRUE(task.Poll(next).IsPending());
  }
  EXPECT_EQ(task.live(), 0);
  EXPECT_TRUE(tx.Send(1));
  EXPECT_EQ(task.wakes(), 0);
}

#ifdef ABSL_HAVE_EXCEPTIONS
class ThrowsOnce {
 public:
  ThrowsOnce() = default;
  ThrowsOnce(const ThrowsOnce&) {
    if (std::exchange(throws, false)) throw std::runtime_error("copy");
  }
  ThrowsOnce(ThrowsOnce&&) noexcept {}
  ThrowsOnce& operator=(const ThrowsOnce&) = default;

  static inline bool throws = false;
};

TEST(WatchStream, GivesAValueAgainIfItsCopyHasThrown) {
  auto [tx, rx] = watch::Channel(ThrowsOnce());
  rx.MarkChanged();
  ThrowsOnce::throws = true;
  EXPECT_THROW((void)PollNextOnce(rx), std::runtime_error);
  EXPECT_TRUE(PollNextOnce(rx).value().has_value());
  EXPECT_TRUE(PollNextOnce(rx).IsPending());
}
#endif

TEST(MpscSink, ForwardsWithBackpressure) {
  CountingWaker task;
  auto [tx, receiver] = mpsc::Channel<int>(1);
  std::optional<mpsc::Receiver<int>> rx(std::move(receiver));
  {
    auto items = Iter(std::vector{1, 2, 3});
    auto all = items | Forward(tx);
    EXPECT_TRUE(task.Poll(all).IsPending());
    EXPECT_EQ(task.PollNext(*rx).value(), 1);
    EXPECT_EQ(task.wakes(), 1);
    EXPECT_TRUE(task.Poll(all).IsPending());
    rx.reset();
    EXPECT_EQ(task.Poll(all)->code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(all.TakeUnsent(), 3);
  }
}

TEST(MpscSink, ClosesTheChannelWithTheLastSender) {
  auto [tx, rx] = mpsc::UnboundedChannel<int>();
  auto all = Iter(std::vector{1, 2}) | Forward(std::move(tx));
  EXPECT_EQ(PollOnce(all).value(), absl::OkStatus());
  EXPECT_EQ(PollNextOnce(rx).value(), 1);
  EXPECT_EQ(PollNextOnce(rx).value(), 2);
  EXPECT_EQ(PollNextOnce(rx).value(), std::nullopt);
}

}  // namespace
}  // namespace rouse
