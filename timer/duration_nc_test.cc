// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Types that users pass as durations. rouse_cc_nc_test compiles this file, one
// case at a time.

#include <chrono>
#include <utility>

#include "rouse/future/co.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/delay_queue.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/interval.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/interval.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/stream_timeout.h"
#include "rouse/timer/timeout.h"

namespace rouse {
namespace {

[[maybe_unused]] Co<int> Answer() { co_return 42; }

// Compiles. The cases differ from this function only in their errors.
[[maybe_unused]] Co<> Fine(Clock& clock, DelayQueue<int>& queue) {
  using std::chrono_literals::operator""ms;
  co_await Sleep(5ms);
  co_await SleepUntil(Now() + 5ms - std::chrono::seconds(1));
  Co<int> answer = Answer();
  auto timeout = Timeout(5ms, std::move(answer));
  (void)co_await timeout;
  Interval interval(5ms);
  interval.Reset(std::chrono::hours(1));
  auto items = StreamTimeout(5ms, interval);
  const DelayKey key = queue.Insert(1, 5ms);
  queue.Reset(key, 5ms);
  clock.Advance(5ms);
  heap::Delay delay(5ms);
  (void)delay.Reset(5ms);
  heap::Interval ticks(5ms);
}

#ifdef ROUSE_NC_SLEEP_OF_NUMBER
Co<> Bad() { co_await Sleep(5); }
#endif

#ifdef ROUSE_NC_TIMEOUT_OF_NUMBER
Co<> Bad() {
  Co<int> answer = Answer();
  auto timeout = Timeout(0.5, std::move(answer));
  (void)co_await timeout;
}
#endif

#ifdef ROUSE_NC_INTERVAL_OF_NUMBER
void Bad() { Interval interval(100); }
#endif

#ifdef ROUSE_NC_INSERT_NUMBER
void Bad(DelayQueue<int>& queue) { queue.Insert(1, 100); }
#endif

#ifdef ROUSE_NC_ADVANCE_BY_NUMBER
void Bad(Clock& clock) { clock.Advance(100); }
#endif

#ifdef ROUSE_NC_INSTANT_PLUS_NUMBER
Instant Bad(Instant start) { return start + 100; }
#endif

}  // namespace
}  // namespace rouse
