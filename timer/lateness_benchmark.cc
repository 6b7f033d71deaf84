// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how late timers end, and how long a turn of the driving thread
// lasts, if many timers are due within one slot of a coarse level of the wheel.
//
// Time is the processor time of this thread, and the benchmark moves the clock,
// so other work on the machine does not count. While no timer is due, the
// driving thread sleeps, which takes no processor time, and the clock moves to
// the instant at which the thread would wake.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "rouse/base/fast_rand.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/heap/delay.h"
#include "rouse/timer/heap/timer.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/driver.h"
#include "rouse/waker/context.h"
#include "rouse/waker/thread_parker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// The finest tick of the wheel: 64 us.
constexpr int64_t kTick = 64'000;

int64_t ProcessorNanoseconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// A paused clock that moves with the processor time of this thread.
class Time {
 public:
  Time() { clock_->Pause(); }

  const std::shared_ptr<Clock>& clock() const { return clock_; }

  Instant Now() const {
    return clock_->Now().PlusNanoseconds(ProcessorNanoseconds() - moved_);
  }
  void Move() {
    const int64_t now = ProcessorNanoseconds();
    clock_->Advance(absl::Nanoseconds(now - moved_));
    moved_ = now;
  }

 private:
  const std::shared_ptr<Clock> clock_ = std::make_shared<Clock>();
  int64_t moved_ = ProcessorNanoseconds();
};

// A task that waits for one deadline. It has the size of a small task.
template <class Wait>
class alignas(64) Task {
 public:
  template <class Timers>
  Task(Timers& timers, const Time& time, Instant deadline,
       std::vector<int64_t>& late)
      : wait_(timers.Until(deadline)),
        time_(time),
        deadline_(deadline),
        late_(late) {
    const Waker waker(RawWaker{this, &kVTable});
    Context cx(waker);
    benchmark::DoNotOptimize(wait_.Poll(cx));
  }

 private:
  static void Wake(void* data) {
    const Task& task = *static_cast<Task*>(data);
    task.late_.push_back((task.time_.Now() - task.deadline_) /
                         absl::Nanoseconds(1));
  }
  static void Drop(void*) {}
  static RawWaker Clone(void* data) { return {data, &kVTable}; }
  static constexpr RawWakerVTable kVTable = {&Clone, &Wake, &Wake, &Drop};

  Wait wait_;
  const Time& time_;
  const Instant deadline_;
  std::vector<int64_t>& late_;
  [[maybe_unused]] char rest_[128];
};

class WheelTimers {
 public:
  using Wait = Sleep;

  explicit WheelTimers(const Time& time)
      : driver_(
            {.resolution = absl::Nanoseconds(kTick), .clock = time.clock()}) {
    time.clock()->SetAutoAdvance(true);
  }

  Sleep Until(Instant deadline) {
    return SleepUntil(driver_.handle(), deadline);
  }
  void Look() {}
  // Also moves the clock, if no timer is due.
  void Turn(Time&) { driver_.Park(); }

 private:
  wheel::Driver<ThreadParker> driver_;
};

class HeapTimers {
 public:
  using Wait = heap::Delay;

  explicit HeapTimers(const Time& time)
      : clock_(time.clock()), timer_(time.clock()) {}

  heap::Delay Until(Instant deadline) {
    return heap::Delay(timer_.handle(), deadline);
  }
  // Does what the timer's thread does while other threads make delays.
  void Look() { static_cast<void>(timer_.NextEvent()); }
  void Turn(Time& time) {
    const std::optional<Instant> next = timer_.NextEvent();
    time.Move();
    if (next.has_value()) clock_->AdvanceTo(*next);
    timer_.Advance();
  }

 private:
  const std::shared_ptr<Clock> clock_;
  heap::Timer timer_;
};

// Figures of one iteration, in nanoseconds.
struct Figures {
  explicit Figures(std::vector<int64_t> late, int64_t longest_turn)
      : longest_turn(longest_turn) {
    std::sort(late.begin(), late.end());
    p50 = late[late.size() / 2];
    p99 = late[late.size() * 99 / 100];
    p999 = late[late.size() * 999 / 1000];
    max = late.back();
  }

  int64_t p50;
  int64_t p99;
  int64_t p999;
  int64_t max;
  int64_t longest_turn;
};

// Runs `range(0)` timers. The first is due `range(1)` ticks after a round time,
// and all are due within `range(2)` ticks. Each figure is the median over the
// iterations.
template <class Timers>
void BM_Lateness(benchmark::State& state) {
  const size_t count = state.range(0);
  const int64_t start = state.range(1) * kTick;
  const int64_t length = state.range(2) * kTick;
  std::vector<Figures> all;
  for (auto _ : state) {
    Time time;
    Timers timers(time);
    // An instant at which slots of levels 1 and 2 begin, late enough for all
    // timers to be made before.
    const int64_t slot = 4096 * kTick;
    const int64_t round = (time.Now().nanoseconds() / slot + 20) * slot;
    FastRand rand(1);
    std::vector<int64_t> late;
    late.reserve(count);
    std::deque<Task<typename Timers::Wait>> tasks;
    for (size_t i = 0; i < count; ++i) {
      const int64_t deadline =
          round + start + static_cast<int64_t>(rand.Next() % length);
      tasks.emplace_back(timers, time, Instant::FromNanoseconds(deadline),
                         late);
      if (i % 64 == 0) timers.Look();
    }
    timers.Look();
    time.Move();
    int64_t longest_turn = 0;
    while (late.size() < count) {
      const int64_t begin = ProcessorNanoseconds();
      timers.Turn(time);
      longest_turn = std::max(longest_turn, ProcessorNanoseconds() - begin);
      time.Move();
    }
    all.emplace_back(std::move(late), longest_turn);
  }
  const auto report = [&](const char* name, int64_t Figures::* figure) {
    const auto middle = all.begin() + all.size() / 2;
    std::nth_element(all.begin(), middle, all.end(),
                     [&](const Figures& a, const Figures& b) {
                       return a.*figure < b.*figure;
                     });
    state.counters[name] = static_cast<double>((*middle).*figure) / 1000;
  };
  report("p50_us", &Figures::p50);
  report("p99_us", &Figures::p99);
  report("p999_us", &Figures::p999);
  report("max_us", &Figures::max);
  report("longest_turn_us", &Figures::longest_turn);
}

void Slots(benchmark::internal::Benchmark* b) {
  b->ArgNames({"timers", "start", "ticks"});
  b->Args({1'000, 64, 64});       // one slot of level 1
  b->Args({20'000, 4096, 4096});  // one slot of level 2
  b->Args({50'000, 4096, 4096});  // as above, but two and a half times as full
  b->Args({100'000, 4096, 15'625});  // a second: four slots of level 2
  b->Iterations(15)->Unit(benchmark::kMillisecond);
}
BENCHMARK_TEMPLATE(BM_Lateness, WheelTimers)->Apply(Slots);
BENCHMARK_TEMPLATE(BM_Lateness, HeapTimers)->Apply(Slots);

}  // namespace
}  // namespace rouse
