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
//   kEmpty     nobody waits in the poller, nothing to tell.
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
// No unpark is lost: one that comes before kParked makes the turn not wait, and
// one that comes after it makes an event, which ends a wait that has begun and
// one that will. An event that comes too late ends the next wait early.
//
// # The end
//
// `shut_down_` is set under `mu_`, before the shutdown unparks, and stays.
//
//   - Who registers looks at it under the same lock. Either that is refused, or
//     the slot is one of those that the shutdown goes through afterwards. There
//     the slot's lock decides: who waits is woken, who comes later is told.
//   - A turn looks at it first. For one that is too early to see it the unpark
//     is yet to come, and ends its wait. What uses up the unpark sees the flag,
//     so the next turn is refused.
//
// # The end of the last source
//
// `unpark_when_idle_` and the number of sources change under `mu_`. Either
// `ShutdownIfIdle()` finds that there is none, or it has asked for the unpark
// before the last one goes. That comes after it, and so ends the park that its
// caller begins next.
constexpr uint32_t kEmpty = 0;
constexpr uint32_t kParked = 1;
constexpr uint32_t kNotified = 2;

// A token is the slot's generation over its index. This index no slot has.
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
  // Relaxed: they order nothing.
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
    // Under the lock, so that Shutdown finds every slot. Nothing else to order.
    if (MutableCondition(shut_down_.load(std::memory_order_relaxed))) {
      return ShutDownError();
    }
    if (slots_.used() >= max_sources_) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the reactor has ", max_sources_,
          " sources, which is its limit; see reactor::Options::max_sources"));
    }
    slot = slots_.Allocate(index);
    if (slot == nullptr) {
      return absl::ResourceExhaustedError("no memory for another source");
    }
  }
  // Also if `attach` throws.
  absl::Cleanup release = [this, slot, index] {
    // Nobody waits, but a source of several descriptors may have had events
    // before one of them was refused: the generation ends.
    WakeBatch woken;
    FreeSlot(index, slot->Release(woken));
  };
  // From here on there may be events. The kernel's lock on the queue orders
  // them behind this call.
  absl::Status status = attach(MakeToken(slot->generation(), index));
  if (!status.ok()) return status;
  std::move(release).Cancel();
  // Relaxed: it orders nothing.
  registrations_.fetch_add(1, std::memory_order_relaxed);
  return slot;
}

absl::Status Core::Deregister(absl::FunctionRef<absl::Status()> detach,
                              Slot* slot, uint32_t index) {
  WakeBatch woken;
  absl::Status status;
  {
    // Also if `detach` throws.
    const absl::Cleanup release = [this, slot, index, &woken] {
      FreeSlot(index, slot->Release(woken));
      woken.WakeAll();
    };
    // The queue first: afterwards only events that were found before can come,
    // and the end of the generation makes those stale. Even if this fails.
    status = detach();
  }
  woken.Finish();
  return status;
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
  // Acquire pairs with the release below: the turn before, maybe on another
  // thread, has left what this one finds.
  if (turning_.exchange(true, std::memory_order_acquire)) {
    Panic(
        "a reactor was turned by two threads at once; let one turn it and the "
        "others wait for that one");
  }
  // Also if a waker throws.
  const absl::Cleanup turned = [this] {
    turning_.store(false, std::memory_order_release);
  };
  bool parked;
  if (max_wait > absl::ZeroDuration()) {
    parked = BeginToPark();
    if (!parked) max_wait = absl::ZeroDuration();
  } else {
    // By `PrepareToWait()`. Relaxed: the exchange below acquires.
    parked = park_state_.load(std::memory_order_relaxed) == kParked;
  }

  absl::Status status = queue_.Wait(events, max_wait);
  // Before the dispatch, so that who is woken by it and unparks need not make a
  // system call. Acquire pairs with the release of Unpark.
  if (parked) park_state_.exchange(kEmpty, std::memory_order_acquire);
  if (!status.ok()) return status;
  if (events.size() > 0) {
    // Relaxed: one thread at a time is here, and it orders nothing.
    ready_events_.store(
        ready_events_.load(std::memory_order_relaxed) + events.size(),
        std::memory_order_relaxed);
  }
  Dispatch(events);
  // Who unparked meanwhile is served by the return from this call. Nothing to
  // order in the look; acquire as above.
  if (park_state_.load(std::memory_order_relaxed) != kEmpty) {
    park_state_.exchange(kEmpty, std::memory_order_acquire);
  }
  return events.size();
}

bool Core::PrepareToWait() {
  if (turning_.load(std::memory_order_relaxed)) {
    Panic(
        "Reactor::PrepareToWait() while the reactor is being turned; let one "
        "thread do both");
  }
  // A shutdown that comes later unparks.
  return BeginToPark() && !MutableCondition(IsShutDown());
}

bool Core::BeginToPark() {
  // Nothing to order: what an unpark is about is acquired by the turn.
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
    // Null for the waker's, which has no more to say than that it is there.
    Slot* slot = slots_.Get(index);
    if (slot != nullptr) slot->Post(generation, event.ready(), woken);
  }
  woken.Finish();
}

void Core::Unpark() {
  // Release pairs with the acquire in Turn: what came before this call is
  // visible after the turn. Always an exchange, also from kNotified, for the
  // same reason.
  if (park_state_.exchange(kNotified, std::memory_order_release) != kParked) {
    return;
  }
  absl::Status status = queue_.Interrupt();
  if (!status.ok()) Panic(absl::StrCat("cannot unpark: ", status.message()));
}

void Core::Shutdown() {
  uint32_t bound;
  {
    const ThreadMutexLock lock(&mu_);
    // Changes under the lock alone: nothing to order.
    if (shut_down_.load(std::memory_order_relaxed)) return;
    // Release pairs with the acquire of IsShutDown.
    shut_down_.store(true, std::memory_order_release);
    bound = slots_.bound();
  }
  WakeAll(bound);
}

bool Core::ShutdownIfIdle() {
  const ThreadMutexLock lock(&mu_);
  unpark_when_idle_ = slots_.used() != 0;
  if (unpark_when_idle_) return false;
  // As in Shutdown. But nobody has to be told: no source is registered, so none
  // waits for one, and who would park is the caller.
  shut_down_.store(true, std::memory_order_release);
  return true;
}

void Core::WakeAll(uint32_t bound) {
  // No slot is allocated any more, and a slot that is free can be told too.
  WakeBatch woken;
  for (uint32_t index = 0; index < bound; ++index) {
    slots_.Get(index)->Shutdown(woken);
  }
  ROUSE_MUTABLE_CALL(Unpark());
  woken.Finish();
}

}  // namespace rouse::reactor::internal
