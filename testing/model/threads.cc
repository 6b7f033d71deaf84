// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/threads.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/debugging/leak_check.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "rouse/testing/model/fiber.h"
#include "rouse/testing/model/objects.h"
#include "rouse/testing/model/search.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/spin_watcher.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {
namespace {

// The object that every start of a thread writes, because the thread's number
// depends on the order of the starts.
constexpr int kThreadNumbers = 0;

// A step moves the thread's clock, of sixteen bits, by at most four.
constexpr int kMostSteps = 16'000;

}  // namespace

Threads::Threads(const Config& config, Search& search)
    : config_(config), search_(search), host_(Fiber::Main(config.fibers)) {
  CHECK_LE(config.max_steps, kMostSteps)
      << "Options::max_steps exceeds the range of a model's clocks";
}

ThreadSet Threads::unfinished() const {
  ThreadSet threads;
  for (int i = 0; i < thread_count_; ++i) {
    if (threads_[i].state != State::kFinished) threads.Insert(i);
  }
  return threads;
}

void Threads::RunThreads(absl::FunctionRef<void()> body) {
  memory_.Clear();
  search_.BeginExecution();
  objects_.BeginExecution();
  trace_.Clear();
  steps_ = 0;
  memory_.step = -1;
  draining_ = false;
  failed_ = false;
  failure_.clear();
  next_.fill(Footprint());
  for (int i = 0; i < thread_count_; ++i) threads_[i].state = State::kUnborn;

  objects_.New(nullptr, 0, "threads", Site::current());
  thread_count_ = 1;
  live_ = 1;
  running_ = 0;
  starter_ = -1;
  Thread& main = threads_[0];
  main.state = State::kReady;
  main.operation = Operation{};
  main.spurious_left = config_.spurious_failures;
  main.spin.Clear();
  main.body = body;
  if (main.fiber == nullptr) {
    main.fiber = Fiber::New(config_.fibers, [this] { RunThread(0); });
  }
  {
    // A failed execution frees nothing. The checker reports leaks, not
    // LeakSanitizer.
    const absl::LeakCheckDisabler disabler;
    host_->SwitchTo(*main.fiber);
  }
  tracks_memory_ = false;
}

// Objects that an unfinished execution has left, on the stacks and elsewhere,
// are never destroyed: destructors outside any execution would do harm.
void Threads::AbandonUnfinished() {
  if (live_ == 0) return;
  struct Remains {
    absl::AnyInvocable<void() &&> body;
    std::vector<Local> locals;
  };
  static auto& remains = *new std::vector<Remains>;  // not leaked, but kept
  for (Thread& thread : threads_) {
    thread.fiber.reset();
    remains.push_back({std::move(thread.body), std::move(thread.locals)});
    thread.body = nullptr;
    thread.locals.clear();
  }
}

void Threads::SetFailed(std::string message) {
  failed_ = true;
  failure_ = std::move(message);
}

void Threads::Fail(std::string message) {
  const Inside inside;
  SetFailed(std::move(message));
  self().fiber->SwitchTo(*host_);
  std::abort();  // No fiber switches back to a failed execution.
}

// ---- Starts and ends.

void Threads::RunThread(int thread) {
  for (;;) {
    tracks_memory_ = true;
#ifdef ABSL_HAVE_EXCEPTIONS
    try {
      std::move(threads_[thread].body)();
    } catch (const std::exception& e) {
      Fail(absl::StrCat("an exception escaped from thread ", thread, ": ",
                        e.what()));
    } catch (...) {
      Fail(absl::StrCat("an exception escaped from thread ", thread));
    }
#else
    std::move(threads_[thread].body)();
#endif
    threads_[thread].body = nullptr;
    while (!self().locals.empty()) {
      // The object leaves the list before it is destroyed, because a destructor
      // may search the list for another object.
      std::shared_ptr<void> last = std::move(self().locals.back().value);
      self().locals.pop_back();
      last.reset();
    }
    const Inside inside;
    Finish();
  }
}

// Returns in the next execution that has this thread.
void Threads::Finish() {
  if (rehearsing()) GivesUp(self().operation.site);
  self().state = State::kFinished;
  next_[running_] = Footprint();
  --live_;
  if (starter_ >= 0) {
    const int starter = std::exchange(starter_, -1);
    SwitchTo(starter);
    return;
  }
  Schedule();
}

int Threads::Spawn(absl::AnyInvocable<void() &&> body, const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  Step({.object = kThreadNumbers, .writes = true}, "spawn", -1, site);
  if (thread_count_ == kMaxThreads) {
    Fail(absl::StrCat("a model has ", kMaxThreads, " threads at most"));
  }
  const int number = thread_count_++;
  Thread& thread = threads_[number];
  thread.state = State::kStarting;
  thread.operation = Operation{.site = site};
  thread.spurious_left = config_.spurious_failures;
  thread.spin.Clear();
  thread.body = std::move(body);
  thread.spawned = site;
  ++live_;
  if (tracing()) Note(absl::StrCat("spawns thread ", number), site);
  memory_.Tick(running_);
  memory_.StartThread(number, running_);
  search_.Order(running_, number);
  if (thread.fiber == nullptr) {
    thread.fiber =
        Fiber::New(config_.fibers, [this, number] { RunThread(number); });
  }
  // The thread runs to its first step now. No other thread can tell the
  // difference.
  const int outer = std::exchange(starter_, running_);
  CHECK_EQ(outer, -1);
  SwitchTo(number);
  return number;
}

void Threads::Join(int thread, const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  if (threads_[thread].state != State::kFinished) {
    self().operation = {"join", -1, site};
    self().state = State::kJoining;
    self().waits_for = thread;
    next_[running_] = Footprint();
    if (starter_ >= 0) {
      SwitchTo(std::exchange(starter_, -1));
    } else {
      Schedule();
    }
    self().state = State::kReady;
  }
  memory_.JoinThread(running_, thread);
  search_.Order(thread, running_);
  if (tracing()) Note(absl::StrCat("joins thread ", thread), site);
}

void* Threads::ThreadLocal(const void* key,
                           absl::FunctionRef<std::shared_ptr<void>()> make) {
  for (const Local& local : self().locals) {
    if (local.key == key) return local.value.get();
  }
  std::shared_ptr<void> value = make();
  void* address = value.get();
  const Inside inside;
  self().locals.push_back({key, std::move(value)});
  return address;
}

// ---- Scheduling points.

void Threads::SwitchTo(int thread) {
  if (thread == running_) return;
  Fiber& from = *self().fiber;
  running_ = thread;
  from.SwitchTo(*threads_[thread].fiber);
}

bool Threads::Enabled(const Thread& thread) const {
  switch (thread.state) {
    case State::kReady:
      return true;
    case State::kJoining:
      return threads_[thread.waits_for].state == State::kFinished;
    case State::kLocking:
      return objects_[thread.waits_for].owner < 0;
    case State::kAsleep:
      return thread.woken;
    case State::kSpinning: {
      const int number = static_cast<int>(&thread - threads_.data());
      return std::ranges::any_of(thread.spin.spins_on(),
                                 [&](const SpinWatcher::Watched& watched) {
                                   return IsNews(number, watched);
                                 });
    }
    case State::kUnborn:
    case State::kStarting:
    case State::kFinished:
      break;
  }
  return false;
}

// Returns whether no other thread can see what this thread does, because all
// others have ended, and their ends come before this point.
bool Threads::Alone() const {
  if (live_ > 1) return false;
  for (int i = 0; i < thread_count_; ++i) {
    if (i != running_ && !search_.Ordered(i, running_)) return false;
  }
  return true;
}

void Threads::Count(const Site& site) {
  if (++steps_ <= config_.max_steps) return;
  if (draining_) {
    // A pruned execution does not fail.
    self().fiber->SwitchTo(*host_);
  }
  Fail(absl::StrFormat(
      "livelock: the execution did not end within %d steps, the last at %s. A "
      "loop that waits for another thread must call SpinHint() and read the "
      "same atomics in each round",
      config_.max_steps, Where(site)));
}

void Threads::Step(const Footprint& footprint, std::string_view name,
                   int object, const Site& site) {
  Thread& thread = self();
  thread.operation = {name, object, site};
  Count(site);
  if (starter_ >= 0) {
    // This is the first step of a thread, so the parent continues.
    thread.state =
        thread.state == State::kLocking ? State::kLocking : State::kReady;
    next_[running_] = footprint;
    SwitchTo(std::exchange(starter_, -1));
  } else if (!Alone()) {
    next_[running_] = footprint;
    Schedule();
  }
  ++memory_.step;
}

void Threads::StepToLock(int mutex, const Site& site) {
  self().waits_for = mutex;
  self().state = State::kLocking;
  if (Alone() && !Enabled(self())) {
    self().operation = {"lock", mutex, site};
    NobodyCanGoOn();
  }
  Step({.object = mutex, .writes = true}, "lock", mutex, site);
  self().state = State::kReady;
}

// Lets the search choose, and returns when this thread has been chosen.
void Threads::Schedule() {
  for (;;) {
    ThreadSet enabled;
    for (int i = 0; i < thread_count_; ++i) {
      if (Enabled(threads_[i])) enabled.Insert(i);
    }
    if (enabled.empty()) {
      if (live_ == 0) {
        self().fiber->SwitchTo(*host_);
        return;
      }
      NobodyCanGoOn();
      continue;
    }
    int next = Search::kPruned;
    if (!draining_) next = search_.ChooseThread(enabled, running_, next_);
    if (next == Search::kPruned) {
      // An equivalent execution has been explored. This execution runs to its
      // end, so that the objects on the threads' stacks are destroyed.
      draining_ = true;
      next = DrainNext(enabled);
    }
    SwitchTo(next);
    return;
  }
}

int Threads::DrainNext(ThreadSet enabled) const {
  for (int i = 1; i <= kMaxThreads; ++i) {
    const int thread = (running_ + i) % kMaxThreads;
    if (enabled.Contains(thread)) return thread;
  }
  return enabled.First();
}

// Lets time pass if a thread waits with a timeout; otherwise fails the
// execution.
void Threads::NobodyCanGoOn() {
  bool any = false;
  for (int i = 0; i < thread_count_; ++i) {
    Thread& thread = threads_[i];
    if (thread.state != State::kAsleep || !thread.timed) continue;
    thread.timed_out = true;
    thread.woken = true;
    std::erase(objects_[thread.operation.object].waiters, i);
    any = true;
  }
  if (any) {
    // This is equivalent to an execution in which the time was up when the
    // thread fell asleep, which is another outcome of that step.
    draining_ = true;
    return;
  }
  bool spins = false;
  std::string text;
  for (int i = 0; i < thread_count_; ++i) {
    if (threads_[i].state == State::kFinished) continue;
    if (threads_[i].state == State::kSpinning) spins = true;
    absl::StrAppend(&text, "\n    thread ", i, " ", Waiting(i));
  }
  Fail(absl::StrCat(
      spins
          ? "livelock: no thread will change the values that a thread spins on"
          : "deadlock: no thread can continue",
      text));
}

std::string Threads::Waiting(int number) const {
  const Thread& thread = threads_[number];
  const std::string at = Where(thread.operation.site);
  switch (thread.state) {
    case State::kJoining:
      return absl::StrCat("joins thread ", thread.waits_for, " at ", at);
    case State::kLocking: {
      const Object& mutex = objects_[thread.waits_for];
      return absl::StrCat("locks ", Describe(thread.waits_for), " at ", at,
                          mutex.owner == number
                              ? ", which the same thread holds"
                              : absl::StrCat(", held by thread ", mutex.owner));
    }
    case State::kAsleep:
      return absl::StrCat("sleeps in ", thread.operation.name, " on ",
                          Describe(thread.operation.object), " at ", at,
                          ", and no thread wakes it");
    case State::kSpinning: {
      std::set<int> objects;
      for (const SpinWatcher::Watched& watched : thread.spin.spins_on()) {
        objects.insert(watched.object);
      }
      return absl::StrCat(
          "spins at ", at, " on ",
          absl::StrJoin(objects, " and ", [this](std::string* out, int object) {
            absl::StrAppend(out, Describe(object));
          }));
    }
    default:
      return absl::StrCat("is at ", at);
  }
}

bool Threads::Sleep(int queue, bool timed, std::string_view name,
                    const Site& site) {
  Thread& thread = self();
  thread.state = State::kAsleep;
  thread.timed = timed;
  thread.operation = {name, queue, site};
  next_[running_] = Footprint();
  if (thread.woken) {
    search_.Order(thread.waker, running_);
  } else {
    Schedule();
  }
  thread.state = State::kReady;
  std::erase(objects_[queue].waiters, running_);
  if (tracing()) {
    Note(thread.timed_out ? "times out" : "is woken", site);
  }
  return !thread.timed_out;
}

void Threads::WakeUp(int number) {
  Thread& thread = threads_[number];
  thread.woken = true;
  if (thread.state == State::kAsleep) {
    search_.Order(running_, number);
  } else {
    // The thread is in the queue, and has yet to unlock its mutex. The unlock
    // does not come after this wake.
    thread.waker = search_.Past(running_);
  }
}

int Threads::Choose(int count) {
  const Inside inside;
  DoesOtherwise(self().operation.site);
  return Decide(count);
}

void Threads::FailedSpuriously() {
  --self().spurious_left;
  // The next round of a loop can differ even if nothing has changed.
  self().spin.Forget();
}

}  // namespace rouse::model
