// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/execution.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
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
#include "rouse/testing/model/memory.h"
#include "rouse/testing/model/mutation.h"
#include "rouse/testing/model/search.h"
#include "rouse/testing/model/spin_watcher.h"
#include "rouse/testing/model/static_storage.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {
namespace {

// The object that every start of a thread writes, because the thread's number
// depends on the order of the starts.
constexpr int kThreadNumbers = 0;

constexpr std::string_view kMutex = "mutex";
constexpr std::string_view kFutex = "futex";

// Accesses of plain data. All except the first are writes.
constexpr std::string_view kReadsPlain = "reads";
constexpr std::string_view kWritesPlain = "writes";
constexpr std::string_view kMakesPlain = "makes";
constexpr std::string_view kEndsPlain = "destroys";

// A step moves the thread's clock, of sixteen bits, by at most four.
constexpr int kMostSteps = 16'000;

// Number of rounds of a rehearsal of a loop that calls SpinHint().
constexpr int kRehearsal = 1'000;

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string Where(const Site& site) {
  return absl::StrCat(BaseName(site.file_name()), ":", site.line());
}

// Returns the part of an order that remains for the load, or for the store, of
// a read-modify-write that is torn, or whose store is skipped.
std::memory_order Half(std::memory_order order, bool load) {
  switch (order) {
    case std::memory_order_acq_rel:
      return load ? std::memory_order_acquire : std::memory_order_release;
    case std::memory_order_acquire:
    case std::memory_order_consume:
      return load ? order : std::memory_order_relaxed;
    case std::memory_order_release:
      return load ? std::memory_order_relaxed : order;
    case std::memory_order_relaxed:
    case std::memory_order_seq_cst:
      break;
  }
  return order;
}

// Installs signal handlers that fail the model when the code under test calls
// abort() (as a failed CHECK or assert does), or crashes. The handler does not
// return then, so the signal must not stay blocked.
void FailOnSignals() {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_flags = SA_NODEFER;
    action.sa_handler = [](int number) {
      Execution* const execution = Execution::current();
      if (execution != nullptr && number == SIGABRT) {
        execution->Fail("the code under test has aborted");
      }
      if (execution != nullptr && Execution::tracks_memory()) {
        execution->Fail("the code under test has crashed");
      }
      // Ends the program when the handler returns.
      std::signal(number, SIG_DFL);
    };
    bool done = sigaction(SIGABRT, &action, nullptr) == 0;
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && \
    !defined(ABSL_HAVE_THREAD_SANITIZER)
    // The sanitizers report a crash themselves, and better.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      done = sigaction(signal, &action, nullptr) == 0 && done;
    }
#endif
    return done;
  }();
  CHECK(installed);
}

}  // namespace

Execution::Execution(const Config& config, Search& search, Mutation* mutation)
    : config_(config),
      search_(search),
      mutation_(mutation),
      host_(Fiber::Main(config.fibers)) {
  CHECK_LE(config.max_steps, kMostSteps)
      << "Options::max_steps is more than a model's clocks can count";
}

Execution::~Execution() { CHECK(current_ == nullptr); }

ThreadSet Execution::unfinished() const {
  ThreadSet threads;
  for (int i = 0; i < thread_count_; ++i) {
    if (threads_[i].state != State::kFinished) threads.Insert(i);
  }
  return threads;
}

Execution::Outcome Execution::Run(absl::FunctionRef<void()> body) {
  CHECK(current_ == nullptr) << "a model within a model";
  FailOnSignals();
  // The number is unique in the program, because global objects remember the
  // number of their execution.
  static uint32_t last_number = 0;
  if (++last_number == 0) ++last_number;
  number_ = last_number;
  memory_.Clear();
  search_.BeginExecution();
  steps_ = 0;
  memory_.step = -1;
  draining_ = false;
  has_fence_all_.reset();
  failed_ = false;
  failure_.clear();
  object_count_ = 0;
  plain_.clear();
  futexes_.clear();
  events_.clear();
  next_.fill(Footprint());
  for (int i = 0; i < thread_count_; ++i) threads_[i].state = State::kUnborn;

  NewObject(nullptr, 0, "threads", Site::current());
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
  current_ = this;
  {
    // A failed execution frees nothing. The checker reports leaks, not
    // LeakSanitizer.
    const absl::LeakCheckDisabler disabler;
    host_->SwitchTo(*main.fiber);
  }
  current_ = nullptr;
  tracks_memory_ = false;

  bool pruned = draining_;
  if (!failed_ && !draining_) CheckLeaks();
  EndExecution();
  if (live_ > 0) Abandon();
  if (failed_) return Outcome::kFailed;
  return pruned ? Outcome::kPruned : Outcome::kFinished;
}

// Objects that an unfinished execution has left, on the stacks and elsewhere,
// are never destroyed: destructors outside any execution would do harm.
void Execution::Abandon() {
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

void Execution::EndExecution() {
  allocations_.clear();
  for (void* block : kept_) std::free(block);
  kept_.clear();
}

void Execution::CheckLeaks() {
  // A block is a leak only if it holds an atomic or a similar object, which the
  // caches of libraries do not hold. The loop is in the order in which those
  // objects were made, because every execution has other addresses.
  for (int i = 0; i < object_count_; ++i) {
    const Object& object = objects_[i];
    if (object.destroyed || object.maker < 0) continue;
    const char* address = static_cast<const char*>(object.address);
    for (const auto& [block, allocation] : allocations_) {
      const char* begin = static_cast<const char*>(block);
      if (allocation.freed || address < begin ||
          address >= begin + allocation.size) {
        continue;
      }
      failed_ = true;
      failure_ =
          absl::StrFormat("leak: a block of %d bytes with %s was never freed",
                          allocation.size, Describe(i));
      kept_.push_back(block);
      return;
    }
  }
}

void Execution::Fail(std::string message) {
  const Inside inside;
  failed_ = true;
  failure_ = std::move(message);
  self().fiber->SwitchTo(*host_);
  std::abort();  // No fiber switches back to a failed execution.
}

// ---- Threads.

void Execution::RunThread(int thread) {
  for (;;) {
    tracks_memory_ = true;
#ifdef ABSL_HAVE_EXCEPTIONS
    try {
      std::move(threads_[thread].body)();
    } catch (const std::exception& e) {
      Fail(absl::StrCat("an exception left thread ", thread, ": ", e.what()));
    } catch (...) {
      Fail(absl::StrCat("an exception left thread ", thread));
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
void Execution::Finish() {
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

int Execution::Spawn(absl::AnyInvocable<void() &&> body, const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  Step({.object = kThreadNumbers, .writes = true}, "spawn", -1, site);
  if (thread_count_ == kMaxThreads) {
    Fail(absl::StrCat("a model has ", kMaxThreads, " threads at the most"));
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
  if (tracing_) Note(absl::StrCat("spawns thread ", number), site);
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

void Execution::Join(int thread, const Site& site) {
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
  if (tracing_) Note(absl::StrCat("joins thread ", thread), site);
}

void Execution::SwitchTo(int thread) {
  if (thread == running_) return;
  Fiber& from = *self().fiber;
  running_ = thread;
  from.SwitchTo(*threads_[thread].fiber);
}

bool Execution::Enabled(const Thread& thread) const {
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
bool Execution::Alone() const {
  if (live_ > 1) return false;
  for (int i = 0; i < thread_count_; ++i) {
    if (i != running_ && !search_.Ordered(i, running_)) return false;
  }
  return true;
}

void Execution::Count(const Site& site) {
  if (++steps_ <= config_.max_steps) return;
  if (draining_) {
    // A pruned execution does not fail.
    self().fiber->SwitchTo(*host_);
  }
  Fail(absl::StrFormat(
      "livelock: %d steps and no end, the last at %s. A loop that waits for "
      "another thread must call SpinHint() in each round, and read the same "
      "atomics in each",
      config_.max_steps, Where(site)));
}

void Execution::Step(const Footprint& footprint, std::string_view name,
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

// Lets the search choose, and returns when this thread has been chosen.
void Execution::Schedule() {
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

int Execution::DrainNext(ThreadSet enabled) const {
  for (int i = 1; i <= kMaxThreads; ++i) {
    const int thread = (running_ + i) % kMaxThreads;
    if (enabled.Contains(thread)) return thread;
  }
  return enabled.First();
}

// Lets time pass if a thread waits with a timeout; otherwise fails the
// execution.
void Execution::NobodyCanGoOn() {
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
  Fail(absl::StrCat(spins ? "livelock: nothing will change what is spun on"
                          : "deadlock: nobody can go on",
                    text));
}

std::string Execution::Waiting(int number) const {
  const Thread& thread = threads_[number];
  const std::string at = Where(thread.operation.site);
  switch (thread.state) {
    case State::kJoining:
      return absl::StrCat("joins thread ", thread.waits_for, " at ", at);
    case State::kLocking: {
      const Object& mutex = objects_[thread.waits_for];
      return absl::StrCat("locks ", Describe(thread.waits_for), " at ", at,
                          mutex.owner == number
                              ? ", which it holds itself"
                              : absl::StrCat(", held by thread ", mutex.owner));
    }
    case State::kAsleep:
      return absl::StrCat("sleeps in ", thread.operation.name, " on ",
                          Describe(thread.operation.object), " at ", at,
                          ", and nobody wakes it");
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

void Execution::Yield(const Site& site) {
  const Inside inside;
  if (rehearsing()) {
    Cue(Deed::kYield, nullptr, site);
    return;
  }
  Step({}, "yield", -1, site);
  self().spin.Did({.kind = Deed::kYield});
}

void Execution::SpinHint(const Site& site) {
  const Inside inside;
  Thread& thread = self();
  if (rehearsing()) {
    const Deed cue = Cue(Deed::kSpinHint, nullptr, site);
    if (cue.read != reinterpret_cast<uintptr_t>(site.file_name()) ||
        cue.written != site.line()) {
      GivesUp(site);
    }
    if (thread.spin.laps() < kRehearsal) return;
    thread.spin.EndRehearsal();
    AwaitNews(site);
    return;
  }
  if (!thread.spin.EndRound(site)) {
    Step({}, "spin", -1, site);
    return;
  }
  Count(site);
  if (!draining_ && thread.spin.BeginRehearsal(running_, rehearsed_)) {
    thread.operation = {"spin", -1, site};
    return;
  }
  AwaitNews(site);
}

bool Execution::IsNews(int thread, const SpinWatcher::Watched& watched) const {
  const Object& object = objects_[watched.object];
  return object.kind == kMutex
             ? object.owner < 0
             : memory_.CanAdvance(thread, watched.object, watched.value);
}

void Execution::AwaitNews(const Site& site) {
  Thread& thread = self();
  const std::vector<SpinWatcher::Watched>& spins_on = thread.spin.spins_on();
  thread.state = State::kSpinning;
  const bool one = thread.spin.SpinsOnOne();
  // If several values are watched, the search must know which has changed,
  // because this depends on the steps of the other threads.
  if (!Enabled(thread) || (!one && !Alone())) {
    thread.operation = {"spin", -1, site};
    next_[running_] = one ? Footprint{.object = spins_on.front().object}
                          : Footprint{.any_write = true};
    Schedule();
    if (tracing_) Note("has spun until something changed", site);
  }
  thread.state = State::kReady;
  // The thread reads one new value. It may read the old values of the other
  // objects.
  std::vector<SpinWatcher::Watched> news;
  for (const SpinWatcher::Watched& watched : spins_on) {
    if (IsNews(running_, watched)) news.push_back(watched);
  }
  const SpinWatcher::Watched& read =
      news[news.size() == 1 ? 0 : Decide(static_cast<int>(news.size()))];
  memory_.Advance(running_, read.object, read.value);
  thread.spin.Waited();
}

// Returns the expected action of a thread that is rehearsed. The thread gives
// up if it does not do the same as in its last round.
const Execution::Deed& Execution::Cue(Deed::Kind kind,
                                      const ObjectHandle* handle,
                                      const Site& site) {
  SpinWatcher& spin = self().spin;
  const Deed& cue = spin.cue();
  const int object =
      handle != nullptr && handle->execution == number_ ? handle->id : -1;
  if (cue.kind != kind || cue.object != object) GivesUp(site);
  return spin.TakeCue();
}

void Execution::GivesUp(const Site& site) {
  const int laps = self().spin.laps();
  const std::string spins = Where(self().operation.site);
  self().spin.EndRehearsal();
  if (tracing_) {
    Note(absl::StrCat("goes on after ", laps + 2,
                      " rounds in which nothing has changed"),
         site);
  }
  Fail(absl::StrFormat(
      "gives up: thread %d calls SpinHint() at %s, and after %d rounds it goes "
      "on at %s though nothing that it reads there has changed. SpinHint() is "
      "for a loop that waits for another thread for as long as it takes, and "
      "does the same in each round",
      running_, spins, laps + 2, Where(site)));
}

void Execution::DoesOtherwise(const Site& site) {
  if (rehearsing()) GivesUp(site);
  self().spin.DidOtherwise();
}

int Execution::Choose(int count) {
  const Inside inside;
  DoesOtherwise(self().operation.site);
  return Decide(count);
}

int Execution::Decide(int count) {
  return draining_ ? 0 : search_.Choose(count);
}

bool Execution::MayFailSpuriously() const {
  return threads_[running_].spurious_left > 0;
}

void Execution::FailedSpuriously() {
  --self().spurious_left;
  // The next round of a loop can differ even if nothing has changed.
  self().spin.Forget();
}

// ---- Objects.

int Execution::NewObject(const void* address, uint64_t value,
                         std::string_view kind, const Site& site) {
  const int number = memory_.NewLocation(value);
  CHECK_EQ(number, object_count_);
  if (object_count_ == static_cast<int>(objects_.size())) {
    objects_.emplace_back();
  }
  Object& object = objects_[object_count_++];
  object.address = address;
  object.kind = kind;
  object.made = site;
  object.maker = -1;
  object.made_at = 0;
  object.destroyed = false;
  object.accesses = VectorClock();
  object.owner = -1;
  object.view.Clear();
  object.waiters.clear();
  return number;
}

void Execution::Construct(ObjectHandle& handle, const void* address,
                          uint64_t value, std::string_view kind,
                          const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  Count(site);
  handle.id = NewObject(address, value, kind, site);
  handle.execution = number_;
  Object& object = objects_[handle.id];
  // A function's static object exists already in later executions. In this
  // execution the compiler's guard, which the checker does not see, orders the
  // construction.
  if (InStaticStorage(address)) return;
  object.maker = running_;
  object.made_at = memory_.Tick(running_);
  object.accesses[running_] = object.made_at;
}

int Execution::Resolve(ObjectHandle& handle, const void* address,
                       uint64_t initial, std::string_view kind,
                       const Site& site) {
  if (handle.execution != number_) {
    handle.id = NewObject(address, initial, kind, site);
    handle.execution = number_;
  }
  return handle.id;
}

void Execution::CheckAlive(int number, const Site& site) {
  Object& object = objects_[number];
  if (object.destroyed) {
    Fail(
        absl::StrFormat("use after free: thread %d uses %s, which is gone, at "
                        "%s",
                        running_, Describe(number), Where(site)));
  }
  const VectorClock& happened = memory_.happened(running_);
  if (object.maker >= 0 && happened[object.maker] < object.made_at) {
    Fail(absl::StrFormat(
        "data race: thread %d uses %s at %s, and its making by thread %d does "
        "not happen before",
        running_, Describe(number), Where(site), object.maker));
  }
  object.accesses[running_] = memory_.Tick(running_);
}

void Execution::End(Object& object, std::string_view how, const Site& site) {
  if (object.destroyed) return;
  const VectorClock& happened = memory_.happened(running_);
  for (int thread = 0; thread < thread_count_; ++thread) {
    if (thread == running_ || object.accesses[thread] <= happened[thread]) {
      continue;
    }
    const bool unused =
        thread == object.maker && object.accesses[thread] == object.made_at;
    Fail(absl::StrFormat(
        "data race: thread %d %s %s at %s, and its %s by thread %d does not "
        "happen before",
        running_, how, Describe(static_cast<int>(&object - objects_.data())),
        Where(site), unused ? "making" : "use", thread));
  }
  object.destroyed = true;
}

void Execution::Destroy(ObjectHandle& handle, const Site& site) {
  if (handle.execution != number_) return;
  const Inside inside;
  DoesOtherwise(site);
  if (objects_[handle.id].destroyed) {
    Fail(absl::StrFormat("double free: thread %d destroys %s again at %s",
                         running_, Describe(handle.id), Where(site)));
  }
  End(objects_[handle.id], "destroys", site);
}

std::string Execution::Describe(int number) const {
  if (number < 0) return "nothing";
  const Object& object = objects_[number];
  return absl::StrCat(object.kind, " #", number, " of ", Where(object.made));
}

std::string Execution::ReadFrom(int object, int message) const {
  const int step = memory_.message(object, message).step;
  if (step < 0) return "the first value";
  return absl::StrCat("of step ", step);
}

uint64_t Execution::Load(ObjectHandle& handle, const void* address,
                         uint64_t initial, std::memory_order order,
                         const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    order = mutation_->OrderAt(site, Role::kLoad, order);
  }
  if (rehearsing()) return Cue(Deed::kLoad, &handle, site).read;
  const int object = Resolve(handle, address, initial, "atomic", site);
  Step({.object = object, .seq_cst = order == std::memory_order_seq_cst},
       "load", object, site);
  CheckAlive(object, site);
  const Memory::Access access = memory_.Load(
      running_, object, order, [this](int n) { return Decide(n); });
  self().spin.Did(
      {.kind = Deed::kLoad, .object = object, .read = access.value});
  if (tracing_) {
    Note(absl::StrFormat("%s.load(%s) = %d, %s", Describe(object), Name(order),
                         access.value, ReadFrom(object, access.read)),
         site);
  }
  return access.value;
}

void Execution::Store(ObjectHandle& handle, const void* address,
                      uint64_t initial, uint64_t value, std::memory_order order,
                      const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    order = mutation_->OrderAt(site, Role::kStore, order);
    if (mutation_->IsSkipped(site, Role::kStore)) return;
  }
  if (rehearsing()) {
    if (Cue(Deed::kStore, &handle, site).written != value) GivesUp(site);
    return;
  }
  const int object = Resolve(handle, address, initial, "atomic", site);
  Step({.object = object,
        .writes = true,
        .seq_cst = order == std::memory_order_seq_cst},
       "store", object, site);
  CheckAlive(object, site);
  const Memory::Access access = memory_.Store(
      running_, object, value, order, [this](int n) { return Decide(n); });
  self().spin.Did({.kind = Deed::kStore, .object = object, .written = value});
  if (tracing_) {
    Note(absl::StrFormat(
             "%s.store(%d, %s)%s", Describe(object), value, Name(order),
             access.place == 0
                 ? ""
                 : absl::StrCat(", ", access.place, " before the newest")),
         site);
  }
}

uint64_t Execution::Modify(ObjectHandle& handle, const void* address,
                           uint64_t initial, std::memory_order order,
                           absl::FunctionRef<uint64_t(uint64_t)> change,
                           std::string_view name, const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    order = mutation_->OrderAt(site, Role::kModify, order);
    const bool torn = mutation_->IsTorn(site);
    if (torn || mutation_->IsSkipped(site, Role::kModify)) {
      const uint64_t value =
          Load(handle, address, initial, Half(order, /*load=*/true), site);
      if (torn) {
        Store(handle, address, initial, change(value),
              Half(order, /*load=*/false), site);
      }
      return value;
    }
  }
  if (rehearsing()) {
    const Deed& cue = Cue(Deed::kModify, &handle, site);
    if (change(cue.read) != cue.written) GivesUp(site);
    return cue.read;
  }
  const int object = Resolve(handle, address, initial, "atomic", site);
  Step({.object = object,
        .writes = true,
        .seq_cst = order == std::memory_order_seq_cst},
       name, object, site);
  CheckAlive(object, site);
  const Memory::Access access = memory_.Modify(
      running_, object, order, change, [this](int n) { return Decide(n); });
  self().spin.Did({.kind = Deed::kModify,
                   .object = object,
                   .read = access.value,
                   .written = access.stored});
  if (tracing_) {
    Note(absl::StrFormat("%s.%s(%s): %d, %s, becomes %d", Describe(object),
                         name, Name(order), access.value,
                         ReadFrom(object, access.read), access.stored),
         site);
  }
  return access.value;
}

bool Execution::CompareExchange(ObjectHandle& handle, const void* address,
                                uint64_t initial, uint64_t& expected,
                                uint64_t desired, std::memory_order success,
                                std::memory_order failure, bool weak,
                                const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    failure = mutation_->OrderAt(site, Role::kFailure, failure);
    success = mutation_->OrderAt(site, Role::kModify, success);
    const bool torn = mutation_->IsTorn(site);
    if (torn || mutation_->IsSkipped(site, Role::kModify)) {
      const uint64_t value =
          LoadToCompare(handle, address, initial, expected,
                        Half(success, /*load=*/true), failure, site);
      if (value == expected) {
        if (torn) {
          Store(handle, address, initial, desired,
                Half(success, /*load=*/false), site);
        }
        return true;
      }
      expected = value;
      return false;
    }
  }
  if (rehearsing()) {
    const bool succeeds = self().spin.cue().kind == Deed::kModify;
    const Deed& cue =
        Cue(succeeds ? Deed::kModify : Deed::kCompare, &handle, site);
    if (succeeds != (cue.read == expected) ||
        (succeeds && cue.written != desired)) {
      GivesUp(site);
    }
    expected = cue.read;
    return succeeds;
  }
  const int object = Resolve(handle, address, initial, "atomic", site);
  Step({.object = object,
        .writes = true,
        .seq_cst = success == std::memory_order_seq_cst ||
                   failure == std::memory_order_seq_cst},
       "compare_exchange", object, site);
  CheckAlive(object, site);
  const Memory::Access access = memory_.CompareExchange(
      running_, object, expected, desired, success, failure,
      weak && MayFailSpuriously(), [this](int n) { return Decide(n); });
  const bool succeeded = access.written >= 0;
  self().spin.Did({.kind = succeeded ? Deed::kModify : Deed::kCompare,
                   .object = object,
                   .read = access.value,
                   .written = desired});
  if (!succeeded && access.value == expected) FailedSpuriously();
  if (tracing_) {
    const std::string read =
        absl::StrFormat("%d, %s,", access.value, ReadFrom(object, access.read));
    Note(absl::StrFormat("%s.compare_exchange_%s(%d, %d, %s, %s): %s",
                         Describe(object), weak ? "weak" : "strong", expected,
                         desired, Name(success), Name(failure),
                         succeeded ? absl::StrCat(read, " becomes ", desired)
                         : access.value == expected
                             ? absl::StrCat(read, " fails for no reason")
                             : absl::StrCat(read, " differs")),
         site);
  }
  expected = access.value;
  return succeeded;
}

uint64_t Execution::LoadToCompare(ObjectHandle& handle, const void* address,
                                  uint64_t initial, uint64_t expected,
                                  std::memory_order match,
                                  std::memory_order differ, const Site& site) {
  if (rehearsing()) return Cue(Deed::kLoad, &handle, site).read;
  const int object = Resolve(handle, address, initial, "atomic", site);
  Step({.object = object,
        .seq_cst = match == std::memory_order_seq_cst ||
                   differ == std::memory_order_seq_cst},
       "load", object, site);
  CheckAlive(object, site);
  const Memory::Access access =
      memory_.LoadToCompare(running_, object, expected, match, differ,
                            [this](int n) { return Decide(n); });
  self().spin.Did(
      {.kind = Deed::kLoad, .object = object, .read = access.value});
  if (tracing_) {
    Note(absl::StrFormat("%s.load(%s) = %d, %s", Describe(object),
                         Name(access.value == expected ? match : differ),
                         access.value, ReadFrom(object, access.read)),
         site);
  }
  return access.value;
}

void Execution::Fence(std::memory_order order, const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    order = mutation_->OrderAt(site, Role::kFence, order);
  }
  if (rehearsing()) {
    Cue(Deed::kFence, nullptr, site);
    return;
  }
  self().spin.Did({.kind = Deed::kFence});
  if (order == std::memory_order_seq_cst) {
    Step({.seq_cst = true}, "fence", -1, site);
  } else {
    Count(site);
  }
  memory_.Fence(running_, order);
  if (tracing_) Note(absl::StrCat("fence(", Name(order), ")"), site);
}

void Execution::FenceAllThreads(const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  Step({.everything = true}, "barrier", -1, site);
  ThreadSet threads;
  // Finished threads are included, because their stores remain.
  for (int i = 0; i < thread_count_; ++i) threads.Insert(i);
  memory_.FenceAll(threads);
  if (tracing_) Note("barrier in all threads", site);
}

// ---- Marked steps.

bool Execution::ConditionAt(bool condition, const Site& site) {
  const Inside inside;
  return mutation_ == nullptr ? condition
                              : mutation_->ConditionAt(site, condition);
}

bool Execution::MakesCall(const Site& site) {
  const Inside inside;
  return mutation_ == nullptr || !mutation_->IsSkipped(site, Role::kCall);
}

bool Execution::KeepsOrder(const Site& site) {
  const Inside inside;
  return mutation_ == nullptr || !mutation_->IsSwapped(site);
}

// ---- Plain data.

void Execution::ReadPlain(const void* address, const Site& site) {
  AccessPlain(address, kReadsPlain, site);
}

void Execution::WritePlain(const void* address, const Site& site) {
  AccessPlain(address, kWritesPlain, site);
}

void Execution::ConstructPlain(const void* address, const Site& site) {
  const Inside inside;
  if (InStaticStorage(address)) return;
#ifdef ABSL_HAVE_THREAD_SANITIZER
  // The checker does not see the heap. Another object at this address may have
  // been freed, and only the allocator orders the two objects.
  plain_.erase(address);
#endif
  AccessPlain(address, kMakesPlain, site);
}

void Execution::DestroyPlain(const void* address, const Site& site) {
  const Inside inside;
  if (InStaticStorage(address)) return;
  // A destructor has no place of its own. The message names the place where the
  // data was last written or constructed.
  const auto found = plain_.find(address);
  const bool known =
      found != plain_.end() && found->second.last_write.line() != 0;
  AccessPlain(address, kEndsPlain, known ? found->second.last_write : site);
}

void Execution::AccessPlain(const void* address, std::string_view how,
                            const Site& site) {
  const bool write = how != kReadsPlain;
  const Inside inside;
  if (how == kMakesPlain || how == kEndsPlain) {
    DoesOtherwise(site);
  } else if (rehearsing()) {
    const Deed& cue = Cue(Deed::kPlain, nullptr, site);
    if (cue.read != reinterpret_cast<uintptr_t>(address) ||
        cue.written != static_cast<uint64_t>(write)) {
      GivesUp(site);
    }
    return;
  } else {
    self().spin.Did({.kind = Deed::kPlain,
                     .read = reinterpret_cast<uintptr_t>(address),
                     .written = static_cast<uint64_t>(write)});
  }
  Count(site);
  const auto [entry, is_new] = plain_.try_emplace(address);
  PlainData& data = entry->second;
  if (data.freed || (is_new && InFreedBlock(address))) {
    Fail(
        absl::StrFormat("use after free: thread %d uses plain data in a block "
                        "that has been freed, at %s",
                        running_, Where(site)));
  }
  if (tracing_ && how != kMakesPlain) {
    Note(absl::StrCat(how, " plain data"), site);
  }
  const VectorClock& happened = memory_.happened(running_);
  for (int other = 0; other < thread_count_; ++other) {
    if (other == running_) continue;
    const bool after_write = data.writes[other] > happened[other];
    const bool after_read = write && data.reads[other] > happened[other];
    if (!after_write && !after_read) continue;
    Fail(absl::StrFormat(
        "data race: thread %d %s plain data at %s, and thread %d %s it at %s; "
        "neither happens before the other",
        running_, how, Where(site), other, after_write ? "wrote" : "read",
        Where(after_write ? data.last_write : data.last_read)));
  }
  const uint16_t now = memory_.Tick(running_);
  if (write) {
    data.writes[running_] = now;
    data.last_write = site;
  } else {
    data.reads[running_] = now;
    data.last_read = site;
  }
}

// ---- Mutexes.

bool Execution::Holds(const ObjectHandle& handle) const {
  return handle.execution == number_ && objects_[handle.id].owner == running_;
}

void Execution::Lock(ObjectHandle& handle, const void* address,
                     const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  const int object = Resolve(handle, address, 0, kMutex, site);
  self().waits_for = object;
  self().state = State::kLocking;
  if (Alone() && !Enabled(self())) {
    self().operation = {"lock", object, site};
    NobodyCanGoOn();
  }
  Step({.object = object, .writes = true}, "lock", object, site);
  self().state = State::kReady;
  CheckAlive(object, site);
  objects_[object].owner = running_;
  memory_.Subscribe(running_, objects_[object].view, /*happens=*/true);
  if (tracing_) Note(absl::StrCat("locks ", Describe(object)), site);
}

bool Execution::TryLock(ObjectHandle& handle, const void* address,
                        const Site& site) {
  const Inside inside;
  if (rehearsing()) {
    Cue(Deed::kTryLock, &handle, site);
    return false;
  }
  const int object = Resolve(handle, address, 0, kMutex, site);
  Step({.object = object, .writes = true}, "try_lock", object, site);
  CheckAlive(object, site);
  const bool is_free = objects_[object].owner < 0;
  const bool locked = is_free && !(MayFailSpuriously() && Decide(2) == 1);
  if (locked) {
    self().spin.DidOtherwise();
    objects_[object].owner = running_;
    memory_.Subscribe(running_, objects_[object].view, /*happens=*/true);
  } else {
    self().spin.Did({.kind = Deed::kTryLock, .object = object});
    if (is_free) FailedSpuriously();
  }
  if (tracing_) {
    Note(absl::StrCat(locked    ? "locks "
                      : is_free ? "fails for no reason to lock "
                                : "finds locked ",
                      Describe(object)),
         site);
  }
  return locked;
}

void Execution::Unlock(ObjectHandle& handle, const void* address,
                       const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  const int object = Resolve(handle, address, 0, kMutex, site);
  Step({.object = object, .writes = true}, "unlock", object, site);
  CheckAlive(object, site);
  if (objects_[object].owner != running_) {
    Fail(absl::StrFormat("thread %d unlocks %s at %s without holding it",
                         running_, Describe(object), Where(site)));
  }
  memory_.Publish(running_, objects_[object].view, /*happens=*/true);
  objects_[object].owner = -1;
  if (tracing_) Note(absl::StrCat("unlocks ", Describe(object)), site);
}

// ---- Queues of waiting threads.

// Puts a thread that is in the queue to sleep until it is woken. If the thread
// has been woken before, it leaves the queue at once. Returns false if time is
// up.
bool Execution::Sleep(int queue, bool timed, std::string_view name,
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
  if (tracing_) {
    Note(thread.timed_out ? "finds its time up" : "is woken", site);
  }
  return !thread.timed_out;
}

int Execution::FutexQueue(const void* address, const Site& site) {
  const auto [entry, is_new] = futexes_.try_emplace(address, -1);
  if (is_new) entry->second = NewObject(nullptr, 0, kFutex, site);
  return entry->second;
}

bool Execution::FutexWait(ObjectHandle& word, const void* address,
                          uint64_t initial, uint64_t expected, bool timed,
                          const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  const int object = Resolve(word, address, initial, "atomic", site);
  const int queue = FutexQueue(address, site);
  Step({.object = object, .queue = queue}, "futex wait", object, site);
  CheckAlive(object, site);
  // The kernel reads the word under a lock that the wakers take too, so a wake
  // that found no waiter comes before the read. This orders what is read. There
  // is no promise that this synchronizes, nor that a wake learns anything about
  // the waiters.
  memory_.Subscribe(running_, objects_[queue].view, /*happens=*/false);
  const Memory::Access access =
      memory_.Load(running_, object, std::memory_order_relaxed,
                   [this](int n) { return Decide(n); });
  self().spin.Did(
      {.kind = Deed::kLoad, .object = object, .read = access.value});
  if (access.value != expected) {
    if (tracing_) {
      Note(absl::StrFormat("futex wait on %s: %d, %s, is not %d",
                           Describe(object), access.value,
                           ReadFrom(object, access.read), expected),
           site);
    }
    return true;
  }
  const bool spurious = MayFailSpuriously();
  const int outcome = Decide(1 + (spurious ? 1 : 0) + (timed ? 1 : 0));
  if (outcome != 0) {
    const bool woken = spurious && outcome == 1;
    if (woken) --self().spurious_left;
    if (tracing_) {
      Note(absl::StrFormat(
               "futex wait on %s %s", Describe(object),
               woken ? "returns for no reason" : "finds its time up"),
           site);
    }
    return woken;
  }
  if (tracing_) {
    Note(absl::StrFormat("futex wait on %s: is %d, sleeps", Describe(object),
                         expected),
         site);
  }
  self().woken = false;
  self().timed_out = false;
  objects_[queue].waiters.push_back(running_);
  return Sleep(queue, timed, "futex wait", site);
}

bool Execution::ConditionWait(ObjectHandle& queue_handle, const void* address,
                              ObjectHandle& mutex, const void* mutex_address,
                              bool timed, const Site& site) {
  bool woken = true;
  {
    const Inside inside;
    DoesOtherwise(site);
    const int queue =
        Resolve(queue_handle, address, 0, "condition variable", site);
    if (!Holds(mutex)) {
      Fail(absl::StrFormat("thread %d waits on %s at %s without the mutex",
                           running_, Describe(queue), Where(site)));
    }
    Step({.queue = queue}, "wait", queue, site);
    CheckAlive(queue, site);
    const bool spurious = MayFailSpuriously();
    const int outcome = Decide(1 + (spurious ? 1 : 0) + (timed ? 1 : 0));
    self().woken = outcome != 0;
    self().waker = VectorClock();
    self().timed = timed;
    self().timed_out = outcome != 0 && !(spurious && outcome == 1);
    if (outcome != 0 && !self().timed_out) --self().spurious_left;
    if (outcome == 0) objects_[queue].waiters.push_back(running_);
    if (tracing_) Note(absl::StrCat("waits on ", Describe(queue)), site);
    Unlock(mutex, mutex_address, site);
    woken = Sleep(queue, timed, "wait", site);
  }
  Lock(mutex, mutex_address, site);
  return woken;
}

void Execution::FutexWake(const void* address, int count, const Site& site) {
  const Inside inside;
  Wake(FutexQueue(address, site), count, site);
}

void Execution::ConditionWake(ObjectHandle& handle, const void* address,
                              int count, const Site& site) {
  const Inside inside;
  Wake(Resolve(handle, address, 0, "condition variable", site), count, site);
}

void Execution::Wake(int queue, int count, const Site& site) {
  if (mutation_ != nullptr && mutation_->IsSkipped(site, Role::kWake)) return;
  DoesOtherwise(site);
  Step({.queue = queue}, "wake", queue, site);
  CheckAlive(queue, site);
  Object& object = objects_[queue];
  // A condition variable orders nothing. The mutex orders accesses.
  if (object.kind == kFutex) {
    memory_.Publish(running_, object.view, /*happens=*/false);
  }
  for (; count > 0 && !object.waiters.empty(); --count) {
    const int index = Decide(static_cast<int>(object.waiters.size()));
    const int woken = object.waiters[index];
    object.waiters.erase(object.waiters.begin() + index);
    Thread& thread = threads_[woken];
    thread.woken = true;
    if (thread.state == State::kAsleep) {
      search_.Order(running_, woken);
    } else {
      // The thread is in the queue, and has yet to unlock its mutex. The unlock
      // does not come after this wake.
      thread.waker = search_.Past(running_);
    }
    // The thread's time may be up as well, and the thread may report that. The
    // signal is used up then.
    if (thread.timed && object.kind != kFutex && Decide(2) == 1) {
      thread.timed_out = true;
    }
    if (tracing_) {
      Note(absl::StrCat("wakes thread ", woken, " on ", Describe(queue)), site);
    }
  }
}

// ---- Thread-local objects.

void* Execution::ThreadLocal(const void* key,
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

// ---- Memory.

void Execution::Allocated(void* block, size_t size) {
  const Inside inside;
  allocations_[block] = {.size = size, .freed = false};
}

bool Execution::InFreedBlock(const void* address) const {
  return std::ranges::any_of(kept_, [&](void* block) {
    const char* begin = static_cast<const char*>(block);
    return address >= begin &&
           address < begin + allocations_.find(block)->second.size;
  });
}

bool Execution::Freed(void* block) {
  const Inside inside;
  const auto found = allocations_.find(block);
  if (found == allocations_.end()) return false;
  Allocation& allocation = found->second;
  if (allocation.freed) {
    Fail(
        absl::StrFormat("double free: thread %d frees a block of %d bytes "
                        "again",
                        running_, allocation.size));
  }
  allocation.freed = true;
  kept_.push_back(block);
  const char* begin = static_cast<const char*>(block);
  const char* end = begin + allocation.size;
  for (int i = 0; i < object_count_; ++i) {
    const char* address = static_cast<const char*>(objects_[i].address);
    if (address >= begin && address < end) {
      End(objects_[i], "frees", objects_[i].made);
    }
  }
  // The order of the map differs between executions. The order in the block
  // does not.
  std::vector<std::pair<const void*, PlainData*>> held;
  for (auto& [address, data] : plain_) {
    if (address >= begin && address < end) held.emplace_back(address, &data);
  }
  std::ranges::sort(held);
  for (const auto& [address, data] : held) {
    AccessPlain(address, kEndsPlain, data->last_write);
    data->freed = true;
  }
  return true;
}

// ---- The trace.

void Execution::Note(std::string text, const Site& site) {
  events_.push_back({running_, memory_.step, std::move(text), site});
}

std::string Execution::Trace() const {
  std::string trace;
  for (const Event& event : events_) {
    absl::StrAppendFormat(&trace, "  %3d  %*sthread %d  %s  [%s]\n", event.step,
                          2 * event.thread, "", event.thread, event.text,
                          Where(event.site));
  }
  return trace;
}

}  // namespace rouse::model
