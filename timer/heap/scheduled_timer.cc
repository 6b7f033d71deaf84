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
//   bit 1       invalid: for ever; nothing fires any more
//   bits 2..63  the generation: how often the node has been reset
//
//   g, any     -> g + 1, not fired     Reset         the delay's thread
//   g          -> g, fired             Fire(g)       the timer's thread
//   any        -> the same, invalid    Invalidate    either
//   any        -> invalid              Cancel        the delay's thread, last
//
// The deadline is apart from it, and so the two cannot be read at once. No
// reset that has returned is followed by a fire at an old deadline, because
//
//   Reset   stores the deadline, and then bumps the generation (release);
//   Look    loads the generation (acquire), and then the deadline;
//   Fire    goes from the generation that was looked at, or not at all.
//
// Say that Look finds generation g. Then its deadline is that of g or a later
// one: the acquire saw the bump, and the store came before that. If it is of g,
// all is well. If it is of g + 1, that Reset had not bumped yet: it was still
// running. Fire(g) may then come early or late for g, but g is about to end:
// either the bump comes first, and Fire(g) does nothing, or the fire does, and
// the bump undoes it. The delay is not polled meanwhile, for its thread is in
// Reset; there is one wake too many at the worst. Nothing is lost, for after
// Reset the node is pushed and looked at again.
//
// Reset need be no read-modify-write. A Fire(g) between its load and its store
// is undone, as it should be. So is an Invalidate, but then the push finds the
// list sealed, and the delay's thread invalidates the node itself. (Invalidate
// comes after the sealing, and after the node was popped if it was in the list.
// Had the push come before either, this store would come before Invalidate.)
//
// A wake is not lost either: Poll registers and then looks, Fire and Invalidate
// change the state and then wake (atomic_waker.h).
//
// The generation does not wrap: 2^62 resets, one a nanosecond, take 146 years.
// Hence 64 bits on every platform, and not the size of a pointer, of which 30
// bits would wrap in seconds.
//
// The registration is the timer's thread's alone.
namespace {

constexpr uint64_t kFired = 1;
constexpr uint64_t kInvalid = 2;

ScheduledTimer::State StateOf(uint64_t state) {
  // Invalid second: what has fired has fired, though the timer go thereafter.
  if ((state & kFired) != 0) return ScheduledTimer::State::kFired;
  if ((state & kInvalid) != 0) return ScheduledTimer::State::kInvalid;
  return ScheduledTimer::State::kWaiting;
}

}  // namespace

bool ScheduledTimer::Reset(Instant deadline) {
  // Relaxed: the bump publishes it.
  deadline_.store(deadline.nanoseconds(), std::memory_order_relaxed);
  // Relaxed: what is lost between this and the store is said above.
  const uint64_t state = state_.load(std::memory_order_relaxed);
  // Release pairs with the acquire of Look, which reads the deadline. Fire and
  // Invalidate pass it on: they are read-modify-writes.
  state_.store((state & ~kFired) + kOneGeneration, std::memory_order_release);
  return (state & kInvalid) == 0;
}

ScheduledTimer::State ScheduledTimer::Poll(const Waker& waker) {
  // Acquire pairs with the release of Fire and Invalidate.
  const State state = StateOf(state_.load(std::memory_order_acquire));
  if (state != State::kWaiting) return state;
  ROUSE_MUTABLE_CALL(waker_.Register(waker));
  // Looks again: a change between the two would otherwise be lost. Acquire as
  // above.
  return StateOf(state_.load(std::memory_order_acquire));
}

bool ScheduledTimer::Cancel() {
  // Relaxed: only to spare a push. A fire after it makes for one in vain.
  const State state = StateOf(state_.load(std::memory_order_relaxed));
  // A store: what else there was in the word matters no more. Relaxed: the push
  // that tells the timer's thread publishes it, and who sees it before reads
  // nothing else.
  state_.store(kInvalid, std::memory_order_relaxed);
  // The last reference to the node may be the timer's, until the deadline: the
  // waker is not to wait for that.
  static_cast<void>(waker_.Take());
  // What has fired is in the heap no more, and what was invalid never will be.
  return state == State::kWaiting;
}

std::optional<ScheduledTimer::Armed> ScheduledTimer::Look() const {
  // Acquire pairs with the release of Reset: the deadline is as new as the
  // generation.
  const uint64_t state = state_.load(std::memory_order_acquire);
  if (StateOf(state) != State::kWaiting) return std::nullopt;
  // Relaxed: one that is newer than the generation does no harm, see above.
  return Armed{.generation = state / kOneGeneration,
               .deadline = Instant::FromNanoseconds(
                   deadline_.load(std::memory_order_relaxed))};
}

void ScheduledTimer::Fire(uint64_t generation) {
  uint64_t state = generation * kOneGeneration;
  // Release pairs with the acquire of Poll. Relaxed if it fails: nothing is
  // done then.
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
