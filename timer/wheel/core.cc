#include "rouse/timer/wheel/core.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/entry.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/timer/wheel/wheel.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::wheel::internal {
namespace {

// Later than every tick that an instant can have.
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

constexpr int64_t kFinestResolution = 64'000;  // nanoseconds
constexpr int64_t kCoarsestResolution = 1'000'000'000;

// Since the clock's origin. What is before it is as long past as what is at it.
uint64_t Nanoseconds(Instant t) {
  return static_cast<uint64_t>(std::max(t, Instant()).nanoseconds());
}

constinit thread_local Core* current_core = nullptr;

}  // namespace

// Entries that have come out of the wheel, and whose wakers are still to be
// called.
class Core::Batch {
 public:
  explicit Batch(Core& core) : core_(core) {}
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() {
    if (spare_references_ == 0) return;
    // Relaxed: the driver has a reference beyond these.
    core_.references_.fetch_sub(spare_references_, std::memory_order_relaxed);
  }

  bool IsFull() const { return wakers_.IsFull(); }

  // Ends the wait of `registration`, which is not linked any more.
  // REQUIRES: the lock is held; the batch is not full.
  void Add(Registration& registration, State state) {
    // A second waker of the same bits: the first one's life ends here, without
    // a destructor.
    wakers_.Push(Waker(registration.waker_.raw()));
    if (!registration.owns_reference_) {
      registration.owns_reference_ = true;
      TakeReference();
    }
    // Release pairs with the acquire of Registration::state(). After this the
    // registration may be gone.
    registration.state_.store(state, std::memory_order_release);
  }

  // REQUIRES: the lock is not held.
  void Wake() { wakers_.WakeAll(); }

 private:
  // Counts for a whole batch at once.
  void TakeReference() {
    if (spare_references_ == 0) {
      spare_references_ = WakeList::kCapacity;
      // Relaxed: as in Ref().
      core_.references_.fetch_add(spare_references_, std::memory_order_relaxed);
    }
    --spare_references_;
  }

  Core& core_;
  size_t spare_references_ = 0;
  WakeList wakers_;
};

Core* Core::New(std::shared_ptr<Clock> clock, absl::Duration resolution,
                Unpark unpark) {
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(resolution);
  if (nanoseconds < kFinestResolution || nanoseconds > kCoarsestResolution) {
    Panic(
        "wheel::Driver with a resolution that is not from 64 us to 1 s; choose "
        "one in this range");
  }
  return new Core(std::move(clock), nanoseconds, std::move(unpark));
}

Core::Core(std::shared_ptr<Clock> clock, int64_t resolution, Unpark unpark)
    : clock_(std::move(clock)),
      resolution_(static_cast<uint64_t>(resolution)),
      unpark_(std::move(unpark)),
      wheel_(TickAt(clock_->Now())) {}

bool Core::IsShutDown() const {
  absl::MutexLock lock(&mu_);
  return shut_down_;
}

uint64_t Core::TickAtOrAfter(Instant t) const {
  const uint64_t nanoseconds = Nanoseconds(t);
  return nanoseconds / resolution_ + (nanoseconds % resolution_ != 0);
}

uint64_t Core::TickAt(Instant t) const { return Nanoseconds(t) / resolution_; }

Instant Core::StartOf(uint64_t tick) const {
  // The first tick after `Max()` is the last of all: 64 bits hold the product.
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  return Instant::FromNanoseconds(
      static_cast<int64_t>(std::min(tick * resolution_, kMax)));
}

bool Core::MustUnpark(uint64_t tick) {
  if (tick >= parked_until_) return false;
  parked_until_ = 0;
  return true;
}

Core::State Core::Insert(Registration& registration, Instant deadline,
                         Waker waker) {
  const uint64_t tick = TickAtOrAfter(deadline);
  bool must_unpark;
  {
    absl::MutexLock lock(&mu_);
    if (shut_down_) return State::kShutDown;
    if (!wheel_.Insert(registration, tick)) return State::kElapsed;
    std::construct_at(&registration.waker_, std::move(waker));
    // Relaxed: only the owner reads it without the lock, and it is the owner
    // who calls.
    registration.state_.store(State::kWaiting, std::memory_order_relaxed);
    must_unpark = MustUnpark(tick);
  }
  // The caller keeps this core alive: by its own reference or, the first time,
  // by the current handle.
  if (must_unpark) (*unpark_)();
  return State::kWaiting;
}

Core::State Core::ReplaceWaker(Registration& registration, Waker waker) {
  // When the lock is free, `waker` goes: the one before, or the new one.
  absl::MutexLock lock(&mu_);
  // Relaxed, here and below: the driver writes it under the lock.
  const State state = registration.state_.load(std::memory_order_relaxed);
  if (state == State::kWaiting) std::swap(registration.waker_, waker);
  return state;
}

void Core::Remove(Registration& registration) {
  Waker waker;  // dropped when the lock is free
  // The core may go as soon as the lock is free. Unlocking does not mind.
  absl::MutexLock lock(&mu_);
  if (registration.state_.load(std::memory_order_relaxed) != State::kWaiting) {
    return;
  }
  wheel_.Remove(registration);
  waker = Waker(registration.waker_.raw());
  // Relaxed: only the owner reads it from here on.
  registration.state_.store(State::kIdle, std::memory_order_relaxed);
}

bool Core::Move(Registration& registration, Instant deadline) {
  const uint64_t tick = TickAtOrAfter(deadline);
  Waker due;
  bool must_unpark = false;
  {
    absl::MutexLock lock(&mu_);
    if (registration.state_.load(std::memory_order_relaxed) !=
        State::kWaiting) {
      return false;
    }
    wheel_.Remove(registration);
    const bool inserted = wheel_.Insert(registration, tick);
    if (inserted) must_unpark = MustUnpark(tick);
    if ((!inserted || must_unpark) && !registration.owns_reference_) {
      // Not linked, or used below when the lock is free.
      registration.owns_reference_ = true;
      Ref();
    }
    if (!inserted) {
      due = Waker(registration.waker_.raw());
      // Relaxed: as in Remove.
      registration.state_.store(State::kElapsed, std::memory_order_relaxed);
    }
  }
  if (must_unpark) (*unpark_)();
  std::move(due).Wake();
  return true;
}

absl::Duration Core::BeginPark(absl::Duration limit) {
  if (limit <= absl::ZeroDuration()) return absl::ZeroDuration();
  // Should the clock stop or go on meanwhile: it unparks the driver.
  const bool paused = clock_->IsPaused();
  const Instant now = clock_->Now();
  uint64_t next;
  {
    absl::MutexLock lock(&mu_);
    next = wheel_.NextExpiration().value_or(kNever);
    if (next <= TickAt(now)) return absl::ZeroDuration();
    parked_until_ = std::min(next, TickAtOrAfter(now + limit));
  }
  if (paused || next == kNever) return limit;
  return std::min(limit, StartOf(next) - now);
}

void Core::EndPark() {
  const uint64_t now = TickAt(clock_->Now());
  Batch batch(*this);
  mu_.Lock();
  parked_until_ = 0;
  for (;;) {
    const Wheel::Step step = wheel_.Advance(now);
    if (!step.more) break;
    if (step.due != nullptr) {
      batch.Add(static_cast<Registration&>(*step.due), State::kElapsed);
      if (!batch.IsFull()) continue;
    }
    // After a full batch, or entries that have moved, others have their turn.
    mu_.Unlock();
    batch.Wake();
    mu_.Lock();
  }
  mu_.Unlock();
  batch.Wake();
}

void Core::Shutdown() {
  Batch batch(*this);
  mu_.Lock();
  shut_down_ = true;
  while (Entry* entry = wheel_.PopAny()) {
    batch.Add(static_cast<Registration&>(*entry), State::kShutDown);
    if (!batch.IsFull()) continue;
    mu_.Unlock();
    batch.Wake();
    mu_.Lock();
  }
  mu_.Unlock();
  batch.Wake();
}

ABSL_ATTRIBUTE_NOINLINE Core* CurrentCore() { return current_core; }

ABSL_ATTRIBUTE_NOINLINE Core* ExchangeCurrentCore(Core* core) {
  return std::exchange(current_core, core);
}

}  // namespace rouse::wheel::internal
