// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Performs a million random operations on delays, on a paused clock, and
// compares them with a `std::multimap`: no delay fires early, late, twice or
// not at all.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/testing/paused_clock.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {
namespace {

constexpr int kSeeds = 4;

// Fewer where each operation is ten times as slow.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr int kOperationsPerSeed = 25'000;
#else
constexpr int kOperationsPerSeed = 250'000;
#endif

class Trial {
 public:
  explicit Trial(uint64_t seed)
      : rand_(seed), clock_(PausedClock()), alarms_(100) {
    timer_.emplace(clock_);
  }

  uint32_t Below(uint32_t bound) { return rand_.Below(bound); }

  // Makes or resets the delay: for a time from now, or until an instant. In
  // half of the cases a task waits for the delay.
  void Set() {
    const size_t number = Any();
    Alarm& alarm = alarms_[number];
    Forget(alarm);
    const absl::Duration duration = Magnitude(37);
    const Instant deadline = clock_->Now() + duration;
    if (!alarm.delay.has_value()) {
      if (Below(2) == 0) {
        alarm.delay.emplace(timer_->handle(), duration);
      } else {
        alarm.delay.emplace(timer_->handle(), deadline);
      }
      alarm.is_awaited = false;
    } else if (Below(2) == 0) {
      ASSERT_TRUE(alarm.delay->Reset(duration).ok());
    } else {
      ASSERT_TRUE(alarm.delay->ResetAt(deadline).ok());
    }
    ASSERT_EQ(alarm.delay->Deadline(), deadline);
    alarm.expected = expected_.emplace(deadline, number);
    if (Below(2) == 0) Await(number);
  }

  void Drop() {
    Alarm& alarm = alarms_[Any()];
    Forget(alarm);
    alarm.delay.reset();
    alarm.is_awaited = false;
  }

  // Polls a delay, which waits if it has not fired.
  void AwaitAny() {
    const size_t number = Any();
    if (alarms_[number].expected.has_value()) Await(number);
  }

  // Moves a delay to another place in its present state.
  void Move() {
    const size_t from = Any();
    const size_t to = Any();
    if (from == to) return;
    Forget(alarms_[to]);
    // The delay still wakes the task that polled it in the old place.
    const bool is_awaited = alarms_[from].is_awaited;
    alarms_[to] = std::exchange(alarms_[from], Alarm());
    if (!alarms_[to].expected.has_value()) return;
    (*alarms_[to].expected)->second = to;
    if (is_awaited) Await(to);
  }

  void Advance() {
    clock_->Advance(Magnitude(37));
    const Instant now = clock_->Now();
    timer_->Advance();
    while (!expected_.empty() && expected_.begin()->first <= now) {
      Alarm& due = alarms_[expected_.begin()->second];
      if (due.is_awaited) {
        ++expected_wakes_;
        ASSERT_EQ(due.wakes, 1) << "late, or lost, or twice";
      } else {
        ASSERT_EQ(due.wakes, 0);
      }
      const PollResult<absl::Status> result = Poll(*due.delay, Waker());
      ASSERT_TRUE(result.IsReady()) << "late, or lost";
      ASSERT_TRUE(result->ok());
      due.is_awaited = false;
      due.wakes = 0;
      Forget(due);
    }
    ASSERT_EQ(wakes_, expected_wakes_) << "early, or twice";
  }

  void Compare() {
    const std::optional<Instant> next = timer_->NextEvent();
    ASSERT_EQ(next.has_value(), !expected_.empty());
    if (!next.has_value()) return;
    ASSERT_EQ(*next, expected_.begin()->first);
  }

 private:
  using Expected = std::multimap<Instant, size_t>;

  struct Alarm {
    std::optional<Delay> delay;
    std::optional<Expected::iterator> expected;  // until the delay has fired
    bool is_awaited = false;
    int wakes = 0;
  };

  static PollResult<absl::Status> Poll(Delay& delay, const Waker& waker) {
    Context cx(waker);
    return delay.Poll(cx);
  }

  void Await(size_t number) {
    const PollResult<absl::Status> result =
        Poll(*alarms_[number].delay, Waker::FromCallable([this, number] {
          ++wakes_;
          ++alarms_[number].wakes;
        }));
    ASSERT_TRUE(result.IsPending()) << "early";
    alarms_[number].is_awaited = true;
  }

  // Returns up to 2^bits nanoseconds, with every magnitude equally likely.
  absl::Duration Magnitude(int bits) {
    const uint32_t shift = 64 - Below(static_cast<uint32_t>(bits) + 1);
    return absl::Nanoseconds(
        shift == 64 ? 0 : static_cast<int64_t>(rand_.Next() >> shift));
  }

  size_t Any() { return Below(static_cast<uint32_t>(alarms_.size())); }

  void Forget(Alarm& alarm) {
    if (alarm.expected.has_value()) expected_.erase(*alarm.expected);
    alarm.expected.reset();
  }

  FastRand rand_;
  const std::shared_ptr<Clock> clock_;
  std::optional<Timer> timer_;
  Expected expected_;
  int wakes_ = 0;
  int expected_wakes_ = 0;
  std::vector<Alarm> alarms_;
};

TEST(TimerProperty, AgreesWithAMultimap) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Trial run(seed);
    for (int i = 0; i < kOperationsPerSeed; ++i) {
      switch (run.Below(12)) {
        case 0:
        case 1:
        case 2:
        case 3:
          run.Set();
          break;
        case 4:
          run.Drop();
          break;
        case 5:
        case 6:
          run.AwaitAny();
          break;
        case 7:
          run.Move();
          break;
        default:
          run.Advance();
          break;
      }
      run.Compare();
      ASSERT_FALSE(HasFatalFailure()) << "operation " << i;
    }
  }
}

}  // namespace
}  // namespace rouse::heap
