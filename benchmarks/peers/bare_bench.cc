// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// bare_bench WORKLOAD: workloads of ../rouse_bench.cc with the least possible
// effort: one thread, a list of coroutines to resume, and a wheel of timers.
// Without wakers, cancellation or other threads, this is no runtime, but the
// limit for one.
#include <time.h>

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <utility>
#include <vector>

#include "harness.h"

namespace {

using peers::Bench;
using peers::KeepAlive;
using peers::NowSeconds;
using peers::XorShift;

constexpr size_t kMillion = 1'000'000;

// The coroutines that are ready, in the order in which they became ready.
class Ready {
 public:
  void Add(std::coroutine_handle<> coroutine) { next_.push_back(coroutine); }

  void ResumeAll() {
    while (!next_.empty()) {
      std::swap(next_, turn_);
      for (std::coroutine_handle<> coroutine : turn_) coroutine.resume();
      turn_.clear();
    }
  }

 private:
  std::vector<std::coroutine_handle<>> next_;
  std::vector<std::coroutine_handle<>> turn_;
};

Ready ready;

// A coroutine that begins when it is resumed, and destroys its own frame.
class Task {
 public:
  struct promise_type {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  explicit Task(std::coroutine_handle<> coroutine) : coroutine_(coroutine) {}
  std::coroutine_handle<> coroutine() const { return coroutine_; }

 private:
  std::coroutine_handle<> coroutine_;
};

void Spawn(Task task) { ready.Add(task.coroutine()); }

// A coroutine that another coroutine awaits once, which destroys the frame.
class Joinable {
 public:
  struct promise_type {
    struct Final {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        if (self.promise().joiner) ready.Add(self.promise().joiner);
      }
      void await_resume() noexcept {}
    };

    Joinable get_return_object() {
      return Joinable(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() { return {}; }
    Final final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }

    std::coroutine_handle<> joiner;
  };

  explicit Joinable(std::coroutine_handle<promise_type> coroutine)
      : coroutine_(coroutine) {
    ready.Add(coroutine);
  }

  bool await_ready() const { return coroutine_.done(); }
  void await_suspend(std::coroutine_handle<> joiner) {
    coroutine_.promise().joiner = joiner;
  }
  void await_resume() { coroutine_.destroy(); }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

class Yield {
 public:
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> self) { ready.Add(self); }
  void await_resume() {}
};

size_t ended = 0;

// Functions that are not inlined, so that the frames are allocated.
[[gnu::noinline]] Task Count() {
  ++ended;
  co_return;
}

[[gnu::noinline]] Joinable Nothing() { co_return; }

Task SpawnAndJoin(size_t count) {
  std::vector<Joinable> tasks;
  tasks.reserve(count);
  for (size_t i = 0; i < count; ++i) tasks.push_back(Nothing());
  for (Joinable& task : tasks) co_await task;
}

Task YieldTimes(size_t count) {
  for (size_t i = 0; i < count; ++i) co_await Yield();
}

void SpawnJoined(const Bench& bench, size_t count) {
  bench.Measure(count, [&] {
    Spawn(SpawnAndJoin(count));
    ready.ResumeAll();
  });
}

void SpawnDetached(const Bench& bench) {
  constexpr size_t kCount = 1'000;
  bench.Measure(kCount, [] {
    for (size_t i = 0; i < kCount; ++i) Spawn(Count());
    ready.ResumeAll();
  });
}

void YieldMany(const Bench& bench) {
  constexpr size_t kTasks = 200;
  constexpr size_t kYields = 1'000;
  bench.Measure(kTasks * kYields, [] {
    for (size_t i = 0; i < kTasks; ++i) Spawn(YieldTimes(kYields));
    ready.ResumeAll();
  });
}

// A channel of one sender and one receiver. Each waits in its own place.
class Channel {
 public:
  // Waits until the channel has a free place, or a value.
  class Wait {
   public:
    Wait(bool is_ready, std::coroutine_handle<>& waiter)
        : is_ready_(is_ready), waiter_(waiter) {}
    bool await_ready() const { return is_ready_; }
    void await_suspend(std::coroutine_handle<> self) { waiter_ = self; }
    void await_resume() {}

   private:
    bool is_ready_;
    std::coroutine_handle<>& waiter_;
  };

  Wait Free() { return Wait(sent_ - received_ < kCapacity, sender_); }
  Wait Filled() { return Wait(sent_ != received_, receiver_); }

  void Push(size_t value) {
    values_[sent_++ % kCapacity] = value;
    Wake(receiver_);
  }

  size_t Pop() {
    const size_t value = values_[received_++ % kCapacity];
    Wake(sender_);
    return value;
  }

 private:
  static constexpr size_t kCapacity = 100;

  static void Wake(std::coroutine_handle<>& waiter) {
    if (waiter) ready.Add(std::exchange(waiter, nullptr));
  }

  std::array<size_t, kCapacity> values_;
  size_t sent_ = 0;
  size_t received_ = 0;
  std::coroutine_handle<> sender_;
  std::coroutine_handle<> receiver_;
};

Task Send(Channel& channel, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Channel::Wait free = channel.Free();
    co_await free;
    channel.Push(i);
  }
}

Task Receive(Channel& channel, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    Channel::Wait filled = channel.Filled();
    co_await filled;
    sum += channel.Pop();
  }
  KeepAlive(sum);
}

void OneProducer(const Bench& bench) {
  constexpr size_t kMessages = 200'000;
  bench.Measure(kMessages, [] {
    Channel channel;
    Spawn(Send(channel, kMessages));
    Spawn(Receive(channel, kMessages));
    ready.ResumeAll();
  });
}

uint64_t NowMillis() { return static_cast<uint64_t>(NowSeconds() * 1e3); }

// A timer, which is a member of a ring while it is armed.
struct Timer {
  Timer* previous = this;
  Timer* next = this;
  std::coroutine_handle<> waiter;

  void Disarm() {
    previous->next = next;
    next->previous = previous;
    previous = next = this;
  }
};

// Has a slot for each of the next 65,536 milliseconds, and no other deadlines.
class Wheel {
 public:
  // Sets the time of a wheel without timers.
  void Reset(uint64_t now) { now_ = now; }

  void Arm(Timer& timer, uint64_t deadline) {
    Timer& slot = SlotOf(deadline);
    timer.previous = slot.previous;
    timer.next = &slot;
    slot.previous->next = &timer;
    slot.previous = &timer;
  }

  // Adds the waiters whose deadlines are not after `now` to the ready ones.
  void Advance(uint64_t now) {
    while (now_ < now) {
      Timer& slot = SlotOf(++now_);
      while (slot.next != &slot) {
        Timer* due = slot.next;
        due->Disarm();
        ready.Add(due->waiter);
      }
    }
  }

 private:
  static constexpr size_t kSlots = 65'536;

  Timer& SlotOf(uint64_t millis) { return slots_[millis % kSlots]; }

  std::vector<Timer> slots_ = std::vector<Timer>(kSlots);
  uint64_t now_ = 0;
};

Wheel wheel;

class SleepUntil {
 public:
  explicit SleepUntil(uint64_t deadline) : deadline_(deadline) {}
  SleepUntil(const SleepUntil&) = delete;
  ~SleepUntil() { timer_.Disarm(); }

  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    timer_.waiter = self;
    wheel.Arm(timer_, deadline_);
  }
  void await_resume() {}

 private:
  Timer timer_;
  uint64_t deadline_;
};

Task Sleeper(uint64_t millis) {
  SleepUntil sleep(NowMillis() + millis);
  co_await sleep;
  ++ended;
}

// Stores how late the task is woken, in microseconds.
Task LateSleeper(double deadline, double& late) {
  SleepUntil sleep(static_cast<uint64_t>(deadline * 1e3) + 1);
  co_await sleep;
  late = (NowSeconds() - deadline) * 1e6;
  ++ended;
}

// Turns the wheel each millisecond until `tasks` have ended.
void RunTimers(size_t tasks) {
  ready.ResumeAll();
  while (ended < tasks) {
    const uint64_t next = NowMillis() + 1;
    const timespec until = {static_cast<time_t>(next / 1000),
                            static_cast<long>(next % 1000 * 1'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    wheel.Advance(NowMillis());
    ready.ResumeAll();
  }
}

void MillionSleepers(const Bench& bench) {
  const double resident_before = peers::StatusBytes("VmRSS:");
  const double start = NowSeconds();
  wheel.Reset(NowMillis());
  for (size_t i = 0; i < kMillion; ++i) Spawn(Sleeper(2000));
  ready.ResumeAll();
  const double spawned = NowSeconds() - start;
  RunTimers(kMillion);
  bench.ReportSleepers(spawned, NowSeconds() - start, resident_before,
                       kMillion);
}

void SequentialCancel(const Bench& bench) {
  bench.Measure(kMillion, [] {
    XorShift random;
    for (size_t i = 0; i < kMillion; ++i) {
      Timer timer;
      wheel.Arm(timer, NowMillis() + 1 + random.Next() % 1000);
      KeepAlive(timer);
      timer.Disarm();
    }
  });
}

void BulkCancel(const Bench& bench) {
  bench.Measure(kMillion, [] {
    XorShift random;
    std::deque<Timer> timers;  // never moves its elements
    for (size_t i = 0; i < kMillion; ++i) {
      wheel.Arm(timers.emplace_back(),
                NowMillis() + 1000 + random.Next() % 60'000);
    }
    for (Timer& timer : timers) timer.Disarm();
  });
}

void Lateness(const Bench& bench) {
  std::vector<double> late(100'000);
  XorShift random;
  wheel.Reset(NowMillis());
  const double base = NowSeconds() + 0.2;
  for (double& one : late) {
    Spawn(LateSleeper(base + random.Next() % 1'000'000 / 1e6, one));
  }
  RunTimers(late.size());
  bench.ReportLateness(std::move(late));
}

}  // namespace

int main(int argc, char** argv) {
  const Bench bench(argc, argv);
  if (bench.Is("ct_spawn_local")) {
    SpawnJoined(bench, 1'000);
  } else if (bench.Is("spawn_join_worker")) {
    SpawnJoined(bench, 10'000);
  } else if (bench.Is("ct_spawn_detached")) {
    SpawnDetached(bench);
  } else if (bench.Is("ct_yield")) {
    YieldMany(bench);
  } else if (bench.Is("mpsc_bounded100_1p_ct")) {
    OneProducer(bench);
  } else if (bench.Is("timer_1m_tasks_ct")) {
    MillionSleepers(bench);
  } else if (bench.Is("timer_seq_cancel_ct")) {
    SequentialCancel(bench);
  } else if (bench.Is("timer_bulk_cancel_ct")) {
    BulkCancel(bench);
  } else if (bench.Is("timer_lateness_ct")) {
    Lateness(bench);
  } else {
    return bench.UnknownWorkload("bare_bench");
  }
}
