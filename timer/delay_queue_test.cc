// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/delay_queue.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co.h"
#include "rouse/future/stream.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Driver = wheel::Driver<ThreadParker>;

static_assert(Stream<DelayQueue<int>>);
static_assert(std::same_as<StreamItem<DelayQueue<std::string>>,
                           DelayQueue<std::string>::Expired>);

class DelayQueueTest : public testing::Test {
 protected:
  template <class T>
  auto Poll(DelayQueue<T>& queue) {
    const Waker waker = task_.NewWaker();
    Context cx(waker);
    return queue.PollNext(cx);
  }

  // Returns the values of all expired entries; the last poll waits.
  template <class T>
  std::vector<T> Take(DelayQueue<T>& queue) {
    std::vector<T> values;
    for (;;) {
      auto expired = Poll(queue);
      if (expired.IsPending()) return values;
      EXPECT_TRUE(expired->has_value()) << "the stream has ended";
      if (!expired->has_value()) return values;
      EXPECT_LE((*expired)->deadline, clock_->Now()) << "early";
      EXPECT_FALSE(queue.Contains((*expired)->key));
      values.push_back(std::move((*expired)->value));
    }
  }

  void Pass(absl::Duration d) {
    clock_->Advance(d);
    driver_->ParkFor(absl::ZeroDuration());
  }

  const std::shared_ptr<Clock> clock_ = PausedClock();
  std::optional<Driver> driver_{std::in_place, wheel::Options{.clock = clock_}};
  wheel::ScopedDefault current_{driver_->handle()};
  CountingWaker task_;
};

constexpr absl::Duration Ms(int64_t n) { return absl::Milliseconds(n); }

// A waiting task must not spin either.
TEST_F(DelayQueueTest, WaitsForeverAtTheEndOfTheClock) {
  DelayQueue<int> queue;
  Pass(absl::InfiniteDuration());
  EXPECT_THAT(Take(queue), IsEmpty());
  EXPECT_EQ(task_.wakes(), 0);
  queue.Insert(1, Ms(1));
  EXPECT_THAT(Take(queue), IsEmpty());
  queue.InsertAt(2, Instant());
  EXPECT_THAT(Take(queue), ElementsAre(2));
  driver_->Shutdown();
  const auto end = Poll(queue);
  ASSERT_TRUE(end.IsReady());
  EXPECT_FALSE(end->has_value());
}

TEST_F(DelayQueueTest, ReturnsEntriesInTheOrderOfTheirDeadlines) {
  DelayQueue<int> queue;
  queue.Insert(3, Ms(30));
  queue.Insert(1, Ms(10));
  queue.Insert(2, Ms(20));
  EXPECT_EQ(queue.Len(), 3);
  EXPECT_THAT(Take(queue), IsEmpty());
  Pass(Ms(9));
  EXPECT_EQ(task_.wakes(), 0);
  Pass(Ms(1));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(Take(queue), ElementsAre(1));
  Pass(Ms(100));
  EXPECT_EQ(task_.wakes(), 2);
  EXPECT_THAT(Take(queue), ElementsAre(2, 3));
  EXPECT_TRUE(queue.IsEmpty());
}

TEST_F(DelayQueueTest, DeadlinesWithinATickAreInOrder) {
  DelayQueue<int> queue;
  for (const int us : {700, 100, 900, 300}) {
    queue.Insert(us, absl::Microseconds(us));
  }
  Pass(Ms(1));
  EXPECT_THAT(Take(queue), ElementsAre(100, 300, 700, 900));
}

TEST_F(DelayQueueTest, EqualDeadlinesAreInTheOrderOfInsertion) {
  DelayQueue<int> queue;
  std::vector<int> expected;
  for (int i = 0; i < 50; ++i) {
    queue.Insert(i, Ms(5));
    expected.push_back(i);
  }
  Pass(Ms(5));
  EXPECT_EQ(Take(queue), expected);
}

TEST_F(DelayQueueTest, AnExpiredEntryHasItsKeyAndDeadline) {
  DelayQueue<std::string> queue;
  const Instant deadline = clock_->Now() + Ms(3);
  const DelayKey key = queue.InsertAt("a", deadline);
  EXPECT_EQ(queue.Peek(), key);
  EXPECT_EQ(queue.Deadline(key), deadline);
  EXPECT_EQ(*queue.Get(key), "a");
  Pass(Ms(10));
  const auto expired = Poll(queue);
  ASSERT_TRUE(expired.IsReady() && expired->has_value());
  EXPECT_EQ((*expired)->key, key);
  EXPECT_EQ((*expired)->deadline, deadline);
  EXPECT_EQ((*expired)->value, "a");
}

TEST_F(DelayQueueTest, APastDeadlineExpiresAtOnce) {
  DelayQueue<int> queue;
  queue.Insert(2, absl::ZeroDuration());
  queue.Insert(1, -Ms(1));
  queue.Insert(0, -absl::InfiniteDuration());
  EXPECT_THAT(Take(queue), ElementsAre(0, 1, 2));
}

// T17.
TEST_F(DelayQueueTest, HugeDelaysNeverExpire) {
  DelayQueue<int> queue;
  queue.Insert(1, absl::InfiniteDuration());
  queue.Insert(2, absl::Hours(24) * 365 * 300);
  queue.Insert(3, absl::Hours(24) * 365 * 100);
  EXPECT_THAT(Take(queue), IsEmpty());
  Pass(absl::Hours(24) * 365 * 100);
  EXPECT_THAT(Take(queue), ElementsAre(3));
  EXPECT_EQ(queue.Len(), 2);
}

TEST_F(DelayQueueTest, AnEntryForNeverDoesNotExpireAtTheEndOfTheClock) {
  DelayQueue<int> queue;
  queue.Insert(1, absl::InfiniteDuration());
  queue.Insert(2, absl::Hours(1));
  EXPECT_THAT(Take(queue), IsEmpty());
  Pass(absl::InfiniteDuration());
  EXPECT_THAT(Take(queue), ElementsAre(2));
  queue.Insert(3, absl::InfiniteDuration());
  EXPECT_THAT(Take(queue), IsEmpty());
  EXPECT_EQ(queue.Len(), 2);
}

TEST_F(DelayQueueTest, WaitsWhileEmpty) {
  DelayQueue<int> queue;
  EXPECT_THAT(Take(queue), IsEmpty());
  Pass(absl::Hours(24) * 365 * 10);
  EXPECT_EQ(task_.wakes(), 0);
  queue.Insert(1, Ms(10));
  EXPECT_EQ(task_.wakes(), 0);
  Pass(Ms(10));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(Take(queue), ElementsAre(1));
}

// T9: tokio #2290, #6752, #8274, #8320. The four tests that follow cover them,
// too.
TEST_F(DelayQueueTest, AnEarlierEntryIsNoticedWithoutAPoll) {
  DelayQueue<int> queue;
  queue.Insert(2, Ms(100));
  EXPECT_THAT(Take(queue), IsEmpty());
  queue.Insert(1, Ms(10));
  Pass(Ms(10));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(Take(queue), ElementsAre(1));
}

TEST_F(DelayQueueTest, AnEntryWithAPastDeadlineWakesTheWaiter) {
  Pass(Ms(10));
  DelayQueue<int> queue;
  queue.Insert(2, Ms(100));
  EXPECT_THAT(Take(queue), IsEmpty());
  queue.Insert(1, -Ms(1));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(Take(queue), ElementsAre(1));
}

TEST_F(DelayQueueTest, RemovingTheFirstEntryLosesNoOther) {
  DelayQueue<int> queue;
  const DelayKey head = queue.Insert(1, Ms(10));
  queue.Insert(2, Ms(100));
  EXPECT_THAT(Take(queue), IsEmpty());
  EXPECT_EQ(queue.Remove(head).value, 1);
  Pass(Ms(10));
  EXPECT_LE(task_.wakes(), 1);  // once for nothing, maybe
  EXPECT_THAT(Take(queue), IsEmpty());
  const int wakes = task_.wakes();
  Pass(Ms(89));
  EXPECT_EQ(task_.wakes(), wakes);
  Pass(Ms(1));
  EXPECT_EQ(task_.wakes(), wakes + 1);
  EXPECT_THAT(Take(queue), ElementsAre(2));
}

TEST_F(DelayQueueTest, AnEntryAfterTheRemovalOfTheOnlyOneIsNoticed) {
  DelayQueue<int> queue;
  const DelayKey only = queue.Insert(1, Ms(10));
  EXPECT_THAT(Take(queue), IsEmpty());
  queue.Remove(only);
  queue.Insert(2, Ms(5));
  Pass(Ms(5));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(Take(queue), ElementsAre(2));
  queue.Remove(queue.Insert(3, Ms(10)));
  queue.Insert(4, Ms(20));
  Pass(Ms(10));
  EXPECT_THAT(Take(queue), IsEmpty());
  Pass(Ms(10));
  EXPECT_THAT(Take(queue), ElementsAre(4));
}

TEST_F(DelayQueueTest, AResetToTheFirstDeadlineIsNoticed) {
  DelayQueue<int> queue;
  queue.Insert(1, Ms(50));
  const DelayKey key = queue.Insert(2, Ms(100));
  EXPECT_THAT(Take(queue), IsEmpty());
  EXPECT_TRUE(queue.Reset(key, Ms(10)));
  EXPECT_EQ(queue.Peek(), key);
  Pass(Ms(10));
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_THAT(Take(queue), ElementsAre(2));
}

TEST_F(DelayQueueTest, AnEntryCanBePostponedRepeatedly) {
  DelayQueue<int> queue;
  const DelayKey key = queue.Insert(1, Ms(100));
  EXPECT_THAT(Take(queue), IsEmpty());
  for (int i = 0; i < 10; ++i) {
    Pass(Ms(50));
    EXPECT_TRUE(queue.Reset(key, Ms(100)));
    EXPECT_THAT(Take(queue), IsEmpty());
  }
  EXPECT_EQ(queue.Deadline(key), clock_->Now() + Ms(100));
  // At most once for each deadline for which the task had waited.
  EXPECT_LE(task_.wakes(), 5);
  Pass(Ms(99));
  EXPECT_THAT(Take(queue), IsEmpty());
  Pass(Ms(1));
  EXPECT_THAT(Take(queue), ElementsAre(1));
}

// T10: tokio #5536, #5630.
TEST_F(DelayQueueTest, TakesDeadlinesBeyondTheRangeOfTheWheel) {
  DelayQueue<int> queue;
  const absl::Duration reach = Ms(int64_t{1} << 36);
  queue.Insert(3, reach + Ms(1));
  queue.Insert(2, reach);
  queue.Insert(1, reach - Ms(1));
  for (const int expected : {1, 2, 3}) {
    EXPECT_THAT(Take(queue), IsEmpty());
    Pass(expected == 1 ? reach - Ms(1) : Ms(1));
    EXPECT_THAT(Take(queue), ElementsAre(expected));
  }
}

TEST_F(DelayQueueTest, AKeyNamesOnlyItsEntry) {
  DelayQueue<int> queue;
  const DelayKey none;
  EXPECT_FALSE(queue.Contains(none));
  const DelayKey first = queue.Insert(1, Ms(10));
  EXPECT_FALSE(queue.Contains(none));
  EXPECT_TRUE(queue.Contains(first));
  EXPECT_EQ(queue.Remove(first).value, 1);
  // The second entry takes the place of the first.
  const DelayKey second = queue.Insert(2, Ms(10));
  EXPECT_FALSE(first == second);
  EXPECT_FALSE(queue.Contains(first));
  EXPECT_FALSE(queue.Reset(first, Ms(1)));
  EXPECT_EQ(queue.Deadline(first), std::nullopt);
  EXPECT_EQ(queue.Get(first), nullptr);
  EXPECT_FALSE(queue.TryRemove(first).has_value());
  EXPECT_EQ(queue.Len(), 1);
  Pass(Ms(10));
  EXPECT_THAT(Take(queue), ElementsAre(2));
  EXPECT_FALSE(queue.TryRemove(second).has_value());
  EXPECT_FALSE(queue.Reset(second, Ms(1)));
  EXPECT_PANIC(queue.Remove(second), "TryRemove");
}

TEST_F(DelayQueueTest, KeysCanBeHashed) {
  DelayQueue<int> queue;
  absl::flat_hash_set<DelayKey> keys;
  for (int i = 0; i < 100; ++i) keys.insert(queue.Insert(i, Ms(i)));
  EXPECT_EQ(keys.size(), 100);
  EXPECT_TRUE(keys.contains(*queue.Peek()));
}

TEST_F(DelayQueueTest, ReusesItsMemory) {
  DelayQueue<int> queue;
  queue.Reserve(100);
  const size_t capacity = queue.Capacity();
  EXPECT_GE(capacity, 100);
  for (int round = 0; round < 10; ++round) {
    std::vector<DelayKey> keys;
    for (int i = 0; i < 100; ++i) keys.push_back(queue.Insert(i, Ms(i)));
    for (const DelayKey key : keys) queue.Remove(key);
  }
  EXPECT_EQ(queue.Capacity(), capacity);
}

// Inserts another value when it is destroyed, unless it was moved from.
class InsertsAnother {
 public:
  explicit InsertsAnother(DelayQueue<InsertsAnother>* queue) : queue_(queue) {}
  InsertsAnother(InsertsAnother&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)) {}
  InsertsAnother& operator=(InsertsAnother&&) = delete;
  ~InsertsAnother() {
    if (queue_ == nullptr) return;
    queue_->Insert(InsertsAnother(nullptr), absl::ZeroDuration());
  }

 private:
  DelayQueue<InsertsAnother>* queue_;
};

TEST_F(DelayQueueTest, ClearKeepsWhatADestructorInserts) {
  DelayQueue<InsertsAnother> queue(driver_->handle());
  std::vector<DelayKey> keys;
  for (int i = 0; i < 4; ++i) {
    keys.push_back(queue.Insert(InsertsAnother(&queue), absl::Hours(1)));
  }
  queue.Clear();
  EXPECT_EQ(queue.Len(), 4);
  for (const DelayKey key : keys) EXPECT_FALSE(queue.Contains(key));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Poll(queue).IsReady());
  EXPECT_TRUE(Poll(queue).IsPending());
}

// Clear() must not visit the slots of an earlier peak, or else this takes
// minutes.
TEST_F(DelayQueueTest, ClearCostsOnlyTheCurrentEntries) {
  DelayQueue<int> queue(driver_->handle());
  for (int i = 0; i < 300'000; ++i) queue.Insert(i, absl::Hours(1));
  queue.Clear();
  for (int i = 0; i < 300'000; ++i) {
    queue.Insert(i, absl::Hours(1));
    queue.Clear();
  }
  EXPECT_TRUE(queue.IsEmpty());
}

TEST_F(DelayQueueTest, ClearRemovesAllEntries) {
  auto value = std::make_shared<int>(1);
  DelayQueue<std::shared_ptr<int>> queue;
  const DelayKey key = queue.Insert(value, Ms(10));
  for (int i = 0; i < 10; ++i) queue.Insert(value, Ms(i));
  EXPECT_THAT(Take(queue).size(), 1);
  queue.Clear();
  EXPECT_TRUE(queue.IsEmpty());
  EXPECT_FALSE(queue.Contains(key));
  EXPECT_EQ(value.use_count(), 1);
  queue.Insert(value, Ms(5));
  Pass(Ms(5));
  EXPECT_THAT(Take(queue), ElementsAre(value));
}

TEST_F(DelayQueueTest, ARemovedValueIsDestroyed) {
  auto value = std::make_shared<int>(1);
  DelayQueue<std::shared_ptr<int>> queue;
  const DelayKey key = queue.Insert(value, Ms(10));
  EXPECT_EQ(value.use_count(), 2);
  queue.Remove(key);
  EXPECT_EQ(value.use_count(), 1);
}

TEST_F(DelayQueueTest, TakesMoveOnlyValues) {
  DelayQueue<std::unique_ptr<int>> queue;
  queue.Insert(std::make_unique<int>(7), Ms(1));
  Pass(Ms(1));
  EXPECT_EQ(*(**Poll(queue)).value, 7);
}

TEST_F(DelayQueueTest, DestroyingTheQueueCancels) {
  {
    DelayQueue<int> queue;
    queue.Insert(1, Ms(10));
    EXPECT_THAT(Take(queue), IsEmpty());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
}

TEST_F(DelayQueueTest, EndsWhenTheDriverIsDestroyed) {
  DelayQueue<int> queue;
  const DelayKey key = queue.Insert(1, Ms(10));
  EXPECT_THAT(Take(queue), IsEmpty());
  driver_.reset();
  EXPECT_EQ(task_.wakes(), 1);
  for (int i = 0; i < 3; ++i) {
    const auto item = Poll(queue);
    ASSERT_TRUE(item.IsReady());
    EXPECT_FALSE(item->has_value());
    queue.Insert(2, -Ms(1));
  }
  EXPECT_EQ(queue.Remove(key).value, 1);
}

TEST_F(DelayQueueTest, AnEmptyQueueIsNotifiedThatTheDriverIsDestroyed) {
  DelayQueue<int> queue;
  EXPECT_THAT(Take(queue), IsEmpty());
  driver_.reset();
  EXPECT_EQ(task_.wakes(), 1);
  const auto item = Poll(queue);
  ASSERT_TRUE(item.IsReady());
  EXPECT_FALSE(item->has_value());
}

TEST_F(DelayQueueTest, TheTaskThatPolledLastIsWoken) {
  CountingWaker other;
  DelayQueue<int> queue;
  queue.Insert(1, Ms(10));
  EXPECT_THAT(Take(queue), IsEmpty());
  const Waker waker = other.NewWaker();
  Context cx(waker);
  EXPECT_TRUE(queue.PollNext(cx).IsPending());
  Pass(Ms(10));
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(other.wakes(), 1);
}

TEST_F(DelayQueueTest, AnEntryTakesAUnitOfTheBudget) {
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  DelayQueue<int> queue;
  for (uint32_t i = 0; i <= kBudgetPerPoll; ++i) queue.Insert(1, -Ms(1));
  uint32_t given = 0;
  while (queue.PollNext(cx).IsReady()) ++given;
  EXPECT_EQ(given, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(queue.Len(), 1);
}

#ifdef ABSL_HAVE_EXCEPTIONS
struct Fragile {
  explicit Fragile(bool* broken) : broken(broken) {}
  Fragile(const Fragile&) = default;
  // NOLINTNEXTLINE(bugprone-exception-escape,performance-noexcept-move-constructor)
  Fragile(Fragile&& other) : broken(other.broken) {
    if (*broken) throw std::runtime_error("no");
  }
  bool* broken;
};

TEST_F(DelayQueueTest, AValueWithAThrowingMoveIsNotInserted) {
  bool broken = false;
  DelayQueue<Fragile> queue;
  const Fragile value(&broken);
  const DelayKey first = queue.Insert(value, Ms(1));
  for (int i = 0; i < 10; ++i) {
    broken = true;
    EXPECT_THROW(queue.Insert(Fragile(&broken), Ms(2)), std::runtime_error);
    EXPECT_THROW(queue.Remove(first), std::runtime_error);
    broken = false;
    EXPECT_EQ(queue.Len(), i + 1);
    queue.Insert(value, Ms(3));
  }
  EXPECT_TRUE(queue.Contains(first));
  Pass(Ms(3));
  EXPECT_EQ(Take(queue).size(), 11);
}
#endif

Co<int> Sum(DelayQueue<int>& queue, size_t count) {
  int sum = 0;
  for (size_t i = 0; i < count; ++i) {
    auto expired = co_await Next(queue);
    if (!expired.has_value()) break;
    sum += expired->value;
  }
  co_return sum;
}

TEST_F(DelayQueueTest, WorksInCoroutines) {
  const Waker waker = task_.NewWaker();
  Context cx(waker);
  DelayQueue<int> queue;
  queue.Insert(1, Ms(10));
  queue.Insert(20, Ms(20));
  queue.Insert(300, Ms(30));
  Co<int> sum = Sum(queue, 2);
  ASSERT_TRUE(sum.Poll(cx).IsPending());
  Pass(Ms(10));
  ASSERT_TRUE(sum.Poll(cx).IsPending());
  Pass(Ms(10));
  PollResult<int> result = sum.Poll(cx);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(*result, 21);
  EXPECT_EQ(queue.Len(), 1);
}

// The driver parks on another thread. A lost wake hangs the test.
TEST(DelayQueue, FollowsADriverOfAnotherThread) {
  Driver driver({.resolution = absl::Microseconds(64)});
  std::thread driving([&] {
    while (!driver.clock().IsPaused()) driver.Park();
  });
  {
    ThreadParker parker;
    const ThreadParker::Unparker unparker = parker.unparker();
    DelayQueue<int> queue(driver.handle());
    FastRand rand(1);
    int given = 0;
    for (int i = 0; i < 3000; ++i) {
      queue.Insert(i, absl::Microseconds(rand.Below(300)));
      for (;;) {
        Context cx(unparker.waker());
        const auto item = queue.PollNext(cx);
        if (item.IsReady()) {
          ASSERT_TRUE(item->has_value());
          ASSERT_LE((*item)->deadline, driver.clock().Now());
          ++given;
        } else if (queue.Len() < 20) {
          break;
        } else {
          parker.Park();
        }
      }
    }
    EXPECT_EQ(given + queue.Len(), 3000);
  }
  driver.clock().Pause();
  driver.unparker().Unpark();
  driving.join();
}

// Compares the queue with an ordered map under random operations, at both ends
// of the range of resolutions.
TEST(DelayQueueProperty, AgreesWithAMap) {
  for (const auto resolution : {absl::Microseconds(64), Ms(1)}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      FastRand rand(seed);
      Driver driver({.resolution = resolution, .clock = PausedClock()});
      Clock& clock = driver.clock();
      CountingWaker task;
      DelayQueue<int> queue(driver.handle());
      // Ordered by deadline and then by insertion.
      std::map<std::pair<Instant, int>, DelayKey> expected;
      bool waits = false;
      int wakes = 0;
      const auto delay = [&] {
        return absl::Nanoseconds(
            static_cast<int64_t>(rand.Next() >> (20 + rand.Below(44))));
      };
      const auto any = [&] {
        auto it = expected.begin();
        std::advance(it, rand.Below(static_cast<uint32_t>(expected.size())));
        return it;
      };
      for (int i = 0; i < 20'000; ++i) {
        switch (rand.Below(8)) {
          case 0:
          case 1:
          case 2: {
            const Instant deadline = clock.Now() + delay();
            const DelayKey key = queue.InsertAt(i, deadline);
            expected.emplace(std::pair(deadline, i), key);
            break;
          }
          case 3: {
            if (expected.empty()) break;
            const auto it = any();
            const auto removed = queue.TryRemove(it->second);
            ASSERT_TRUE(removed.has_value());
            ASSERT_EQ(removed->deadline, it->first.first);
            ASSERT_EQ(removed->value, it->first.second);
            ASSERT_FALSE(queue.Contains(it->second));
            expected.erase(it);
            break;
          }
          case 4: {
            if (expected.empty()) break;
            const auto it = any();
            const Instant deadline = clock.Now() + delay();
            const int value = it->first.second;
            const DelayKey key = it->second;
            ASSERT_TRUE(queue.ResetAt(key, deadline));
            expected.erase(it);
            expected.emplace(std::pair(deadline, value), key);
            break;
          }
          case 5: {
            clock.Advance(delay());
            driver.ParkFor(absl::ZeroDuration());
            // A waiting task is woken no later than a tick after the deadline.
            if (waits && !expected.empty() &&
                expected.begin()->first.first + resolution <= clock.Now()) {
              ASSERT_GT(task.wakes(), wakes) << "lost";
            }
            break;
          }
          default: {
            const Waker waker = task.NewWaker();
            Context cx(waker);
            const auto item = queue.PollNext(cx);
            waits = item.IsPending();
            wakes = task.wakes();
            if (waits) {
              ASSERT_TRUE(expected.empty() ||
                          expected.begin()->first.first > clock.Now())
                  << "late";
              break;
            }
            ASSERT_TRUE(item->has_value());
            ASSERT_LE((*item)->deadline, clock.Now()) << "early";
            ASSERT_EQ((*item)->deadline, expected.begin()->first.first);
            ASSERT_EQ((*item)->value, expected.begin()->first.second);
            expected.erase(expected.begin());
            break;
          }
        }
        ASSERT_EQ(queue.Len(), expected.size());
        ASSERT_EQ(queue.Peek().has_value(), !expected.empty());
        if (!expected.empty()) {
          ASSERT_EQ(*queue.Peek(), expected.begin()->second);
        }
      }
    }
  }
}

TEST_F(DelayQueueTest, AKeyIsPrinted) {
  EXPECT_EQ(absl::StrCat(DelayKey()), "no key");
  DelayQueue<int> queue;
  const DelayKey first = queue.Insert(1, Ms(1));
  const DelayKey second = queue.Insert(2, Ms(1));
  EXPECT_THAT(absl::StrCat(first), ::testing::StartsWith("key "));
  EXPECT_NE(absl::StrCat(first), absl::StrCat(second));
}

}  // namespace
}  // namespace rouse
