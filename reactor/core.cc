// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/core.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/log/vlog.h"
#include "rouse/base/mutable_step.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/poll/event_queue.h"
#include "rouse/reactor/poll/events.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/slot/slot.h"
#include "rouse/reactor/slot/wake_batch.h"

namespace rouse::reactor::internal {
namespace {

// # Parking
//
// `park_state_`:
//
//   kEmpty     no thread waits in the poller, no unpark to deliver.
//   kParked    the turning thread waits in the poller, or is about to, or waits
//              for the queue's descriptor in another loop.
//   kNotified  an unpark that no turn has used up yet.
//
//   kEmpty -> kParked             the turning thread, before it waits, or in
//                                 PrepareToWait()
//   kEmpty|kParked -> kNotified   any unparking thread; from kParked it also
//                                 writes to the event waker
//   kNotified|kParked -> kEmpty   the turning thread, after it has waited
//
// No unpark is lost. An unpark before kParked prevents the turn from waiting.
// An unpark after kParked makes an event, which ends a wait that has begun as
// well as a wait that is about to begin. An event that comes too late ends the
// next wait early.
//
// # Shutdown
//
// `shut_down_` is set under `mu_`, before the shutdown unparks, and stays set.
//
//   - `Register()` checks the flag under the same lock. Either `Register()` is
//     refused, or the shutdown visits the slot afterwards. There the slot's
//     lock decides: earlier waiters are woken, later waiters see the shutdown.
//   - A turn checks the flag first. If a turn is too early to see the flag, the
//     unpark is still to come, and ends the turn's wait. A turn that uses up
//     the unpark also acquires the flag, so the next turn is refused.
//
// # Deregistration of the last source
//
// `unpark_when_idle_` and the number of sources change under `mu_`. Either
// `ShutdownIfIdle()` finds no source, or it requests the unpark before the last
// source is deregistered. The unpark then comes after `ShutdownIfIdle()`, and
// therefore ends the park that the caller begins next.
constexpr uint32_t kEmpty = 0;
constexpr uint32_t kParked = 1;
constexpr uint32_t kNotified = 2;

// A token is the slot's generation over its index. No slot has this index.
constexpr Token kWakeToken(~uint32_t{0});
static_assert(SlotTable::kMaxSlots < ~uint32_t{0});

Token MakeToken(uint32_t generation, uint32_t index) {
  return Token(uint64_t{generation} << 32 | index);
}

absl::Status ShutDownError() {
  return absl::UnavailableError("the reactor has been shut down");
}

}  // namespace

Core::Core(EventQueue queue, uint32_t max_sources)
    : queue_(std::move(queue)), max_sources_(max_sources) {}

absl::StatusOr<Core*> Core::New(uint32_t max_sources) {
  absl::StatusOr<EventQueue> queue = EventQueue::Open(kWakeToken);
  if (!queue.ok()) return std::move(queue).status();
  return new Core(*std::move(queue), max_sources);
}

bool Core::IsIdle() const {
  const ThreadMutexLock lock(&mu_);
  return slots_.used() == 0;
}

Metrics Core::metrics() const {
  Metrics metrics;
  // Relaxed: the counts order nothing.
  metrics.registrations = registrations_.load(std::memory_order_relaxed);
  metrics.ready_events = ready_events_.load(std::memory_order_relaxed);
  const ThreadMutexLock lock(&mu_);
  metrics.sources = slots_.used();
  return metrics;
}

absl::StatusOr<Slot*> Core::Register(
    absl::FunctionRef<absl::Status(Token)> attach, uint32_t& index) {
  Slot* slot;
  {
    const ThreadMutexLock lock(&mu_);
    // Relaxed: the lock orders the flag. The check is under the lock so that
    // `Shutdown()` finds every slot.
    if (MutableCondition(shut_down_.load(std::memory_order_relaxed))) {
      return ShutDownError();
    }
    if (slots_.used() >= max_sources_) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the reactor has ", max_sources_,
          " sources, which is the limit; raise reactor::Options::max_sources"));
    }
    slot = slots_.Allocate(index);
    if (slot == nullptr) {
      return absl::ResourceExhaustedError("out of memory for another source");
    }
  }
  // The slot is released even if `attach` throws.
  absl::Cleanup release = [this, slot, index] {
    // No task waits, but a source of several descriptors may have had events
    // before one of the descriptors was refused: the generation ends.
    WakeBatch woken;
    FreeSlot(index, slot->Release(woken));
  };
  // From here on events can occur. The kernel's lock on the queue orders them
  // after this call.
  absl::Status status = attach(MakeToken(slot->generation(), index));
  if (!status.ok()) return status;
  std::move(release).Cancel();
  // Relaxed: the count orders nothing.
  registrations_.fetch_add(1, std::memory_order_relaxed);
  return slot;
}

absl::Status Core::Deregister(absl::FunctionRef<absl::Status()> detach,
                              Slot* slot, uint32_t index) {
  WakeBatch woken;
  absl::Status status;
  {
    // The slot is released even if `detach` throws.
    const absl::Cleanup release = [this, slot, index, &woken] {
      FreeSlot(index, slot->Release(woken));
      woken.WakeAll();
    };
    // The queue comes first: afterwards only events that were found before can
    // arrive, and the end of the generation makes them stale. This holds even
    // if `detach` fails.
    status = detach();
  }
  woken.Finish();
  return status;
}

absl::Status Core::Reregister(absl::FunctionRef<absl::Status(Token)> change,
                              const Slot* slot, uint32_t index) const {
  if (IsShutDown()) return ShutDownError();
  return change(MakeToken(slot->generation(), index));
}

void Core::FreeSlot(uint32_t index, bool reusable) {
  bool unpark;
  {
    const ThreadMutexLock lock(&mu_);
    if (reusable) {
      slots_.Free(index);
    } else {
      slots_.Retire();
    }
    unpark = unpark_when_idle_ && slots_.used() == 0;
  }
  if (unpark) ROUSE_MUTABLE_CALL(Unpark());
}

absl::StatusOr<size_t> Core::Turn(Events& events, absl::Duration max_wait) {
  if (IsShutDown()) return ShutDownError();
  // Acquire pairs with the release below: the previous turn, perhaps on another
  // thread, has left the state that this turn finds.
  if (turning_.exchange(true, std::memory_order_acquire)) {
    Panic(
        "two threads turned a reactor at once; let one thread turn the "
        "reactor, and let the others wait for that thread");
  }
  // The flag is cleared even if a waker throws.
  const absl::Cleanup turned = [this] {
    turning_.store(false, std::memory_order_release);
  };
  bool parked;
  if (max_wait > absl::ZeroDuration()) {
    parked = BeginToPark();
    if (!parked) max_wait = absl::ZeroDuration();
  } else {
    // Set by `PrepareToWait()`. Relaxed: the exchange below acquires.
    parked = park_state_.load(std::memory_order_relaxed) == kParked;
  }

  absl::Status status = queue_.Wait(events, max_wait);
  // Reset before the dispatch, so that a woken thread can unpark without a
  // system call. Acquire pairs with the release of `Unpark()`.
  if (parked) park_state_.exchange(kEmpty, std::memory_order_acquire);
  if (!status.ok()) return status;
  if (events.size() > 0) {
    // Relaxed: only one thread at a time gets here, and the count orders
    // nothing.
    ready_events_.store(
        ready_events_.load(std::memory_order_relaxed) + events.size(),
        std::memory_order_relaxed);
  }
  Dispatch(events);
  // The return from this call serves threads that unparked meanwhile. Relaxed
  // load: nothing to order. Acquire as above.
  if (park_state_.load(std::memory_order_relaxed) != kEmpty) {
    park_state_.exchange(kEmpty, std::memory_order_acquire);
  }
  return events.size();
}

bool Core::PrepareToWait() {
  if (turning_.load(std::memory_order_relaxed)) {
    Panic(
        "Reactor::PrepareToWait() was called during a turn; let one thread "
        "call both PrepareToWait() and Turn()");
  }
  // A later shutdown unparks.
  return BeginToPark() && !MutableCondition(IsShutDown());
}

bool Core::BeginToPark() {
  // Relaxed: the turn acquires the memory to which an unpark refers.
  uint32_t state = kEmpty;
  return park_state_.compare_exchange_strong(state, kParked,
                                             std::memory_order_relaxed,
                                             std::memory_order_relaxed) ||
         state == kParked;
}

void Core::Dispatch(const Events& events) {
  WakeBatch woken;
  for (const Event& event : events) {
    const auto index = static_cast<uint32_t>(event.token().value());
    const auto generation = static_cast<uint32_t>(event.token().value() >> 32);
    // Null for the event waker's token: the event itself is the whole message.
    Slot* slot = slots_.Get(index);
    if (slot != nullptr) slot->Post(generation, event.ready(), woken);
  }
  woken.Finish();
}

void Core::Unpark() {
  // Release pairs with the acquire in `Turn()`: writes before this call are
  // visible after the turn. Always an exchange, even from kNotified, for the
  // same reason.
  if (park_state_.exchange(kNotified, std::memory_order_release) != kParked) {
    return;
  }
  absl::Status status = queue_.Interrupt();
  if (!status.ok()) {
    Panic(absl::StrCat("cannot unpark the reactor: ", status.message()));
  }
}

void Core::Shutdown() {
  uint32_t bound;
  {
    const ThreadMutexLock lock(&mu_);
    // Relaxed: changes only under the lock.
    if (shut_down_.load(std::memory_order_relaxed)) return;
    // Release pairs with the acquire of `IsShutDown()`.
    shut_down_.store(true, std::memory_order_release);
    bound = slots_.bound();
  }
  WakeAll(bound);
  ROUSE_VLOG(1, NewHandle());
}

bool Core::ShutdownIfIdle() {
  {
    const ThreadMutexLock lock(&mu_);
    unpark_when_idle_ = slots_.used() != 0;
    if (unpark_when_idle_) return false;
    // Release as in `Shutdown()`. No notification is necessary: without a
    // registered source there are no waiters, and the thread that would park is
    // the caller.
    shut_down_.store(true, std::memory_order_release);
  }
  ROUSE_VLOG(1, NewHandle());
  return true;
}

void Core::WakeAll(uint32_t bound) {
  // No slot is allocated any more, and notifying a free slot does no harm.
  WakeBatch woken;
  for (uint32_t index = 0; index < bound; ++index) {
    slots_.Get(index)->Shutdown(woken);
  }
  ROUSE_MUTABLE_CALL(Unpark());
  woken.Finish();
}

}  // namespace rouse::reactor::internal
