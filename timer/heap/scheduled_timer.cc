// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/scheduled_timer.h"

#include <atomic>
#include <cstdint>
#include <optional>

#include "rouse/base/mutable_step.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/waker.h"

namespace rouse::heap {

// A node's state is one word:
//
//   bit 0       fired: the deadline of this generation has come
//   bit 1       invalid: permanently; nothing fires any more
//   bits 2..63  the generation: how often the node has been reset
//
//   g, any     -> g + 1, not fired     Reset         the delay's thread
//   g          -> g, fired             Fire(g)       the timer's thread
//   any        -> the same, invalid    Invalidate    either
//   any        -> invalid              Cancel        the delay's thread, last
//
// The deadline is a separate word, so the two cannot be read at once. After a
// Reset has returned, no Fire happens at an old deadline, because
//
//   Reset   stores the deadline, and then bumps the generation (release);
//   Look    loads the generation (acquire), and then the deadline;
//   Fire    changes the state from the generation that Look found, or not at
//           all.
//
// Suppose that Look finds generation g. Then its deadline is that of g or of a
// later generation: the acquire saw the bump, and the store came before the
// bump. If it is that of g, all is well. If it is that of g + 1, the Reset had
// not bumped yet, and was still running. Fire(g) may then come early or late
// for g, but g is about to end: either the bump comes first and Fire(g) does
// nothing, or the fire comes first and the bump undoes it. The delay is not
// polled meanwhile, because its thread is in Reset; at worst there is one wake
// too many. Nothing is lost, because the node is pushed and checked again after
// Reset.
//
// Reset need not be a read-modify-write. A Fire(g) between its load and its
// store is undone, as it should be. An Invalidate is undone, too, but then the
// push finds the list sealed, and the delay's thread invalidates the node
// itself. (Invalidate comes after the sealing, and after the node was popped if
// it was in the list. If the push had come before either, this store would come
// before Invalidate.)
//
// No wake is lost either: Poll registers the waker and then checks the state;
// Fire and Invalidate change the state and then wake (atomic_waker.h).
//
// The generation does not wrap: 2^62 resets, one each nanosecond, take 146
// years. The word therefore has 64 bits on every platform rather than the size
// of a pointer: the 30 bits of a smaller word would wrap in seconds.
//
// Only the timer's thread accesses the registration.
namespace {

constexpr uint64_t kFired = 1;
constexpr uint64_t kInvalid = 2;

ScheduledTimer::State StateOf(uint64_t state) {
  // Invalid comes second: a node that has fired stays fired, even if the timer
  // is destroyed afterwards.
  if ((state & kFired) != 0) return ScheduledTimer::State::kFired;
  if ((state & kInvalid) != 0) return ScheduledTimer::State::kInvalid;
  return ScheduledTimer::State::kWaiting;
}

}  // namespace

bool ScheduledTimer::Reset(Instant deadline) {
  // Relaxed: the bump publishes the deadline.
  deadline_.store(deadline.nanoseconds(), std::memory_order_relaxed);
  // Relaxed: see above for changes that are lost between this load and the
  // store.
  const uint64_t state = state_.load(std::memory_order_relaxed);
  // Release pairs with the acquire of Look, which reads the deadline. Fire and
  // Invalidate pass the release on: they are read-modify-writes.
  state_.store((state & ~kFired) + kOneGeneration, std::memory_order_release);
  return (state & kInvalid) == 0;
}

ScheduledTimer::State ScheduledTimer::Poll(const Waker& waker) {
  // Acquire pairs with the release of Fire and Invalidate.
  const State state = StateOf(state_.load(std::memory_order_acquire));
  if (state != State::kWaiting) return state;
  ROUSE_MUTABLE_CALL(waker_.Register(waker));
  // Checks again: a change between the two would otherwise be lost. Acquire as
  // above.
  return StateOf(state_.load(std::memory_order_acquire));
}

bool ScheduledTimer::Cancel() {
  // Relaxed: this only saves a push. If a fire comes after the load, the push
  // is unnecessary.
  const State state = StateOf(state_.load(std::memory_order_relaxed));
  // A store, because the rest of the word no longer matters. Relaxed: the push
  // that notifies the timer's thread publishes the store, and a thread that
  // sees the store before that reads nothing else.
  state_.store(kInvalid, std::memory_order_relaxed);
  // The timer may hold the last reference to the node until the deadline, and
  // the waker must not be kept for that long.
  static_cast<void>(waker_.Take());
  // A node that has fired is no longer in the heap, and an invalid node will
  // never be in it.
  return state == State::kWaiting;
}

std::optional<ScheduledTimer::Armed> ScheduledTimer::Look() const {
  // Acquire pairs with the release of Reset: the deadline is at least as new as
  // the generation.
  const uint64_t state = state_.load(std::memory_order_acquire);
  if (StateOf(state) != State::kWaiting) return std::nullopt;
  // Relaxed: a deadline newer than the generation does no harm, see above.
  return Armed{.generation = state / kOneGeneration,
               .deadline = Instant::FromNanoseconds(
                   deadline_.load(std::memory_order_relaxed))};
}

void ScheduledTimer::Fire(uint64_t generation) {
  uint64_t state = generation * kOneGeneration;
  // Release pairs with the acquire of Poll. Relaxed on failure: nothing is done
  // then.
  if (state_.compare_exchange_strong(state, state | kFired,
                                     std::memory_order_release,
                                     std::memory_order_relaxed)) {
    ROUSE_MUTABLE_CALL(waker_.Wake());
  }
}

void ScheduledTimer::Invalidate() {
  // Release pairs with the acquire of Poll.
  const uint64_t state = state_.fetch_or(kInvalid, std::memory_order_release);
  if ((state & kInvalid) == 0) ROUSE_MUTABLE_CALL(waker_.Wake());
}

}  // namespace rouse::heap
