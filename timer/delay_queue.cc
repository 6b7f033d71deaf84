#include "rouse/timer/delay_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/base/macros.h"
#include "rouse/timer/has_come.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using State = wheel::internal::Registration::State;

bool DelayQueueBase::Contains(DelayKey key) const {
  return key.generation_ != 0 && key.slot_ < slots_.size() &&
         slots_[key.slot_].generation == key.generation_;
}

std::optional<Instant> DelayQueueBase::Deadline(DelayKey key) const {
  if (!Contains(key)) return std::nullopt;
  return heap_[slots_[key.slot_].position].deadline;
}

std::optional<DelayKey> DelayQueueBase::Peek() const {
  if (heap_.empty()) return std::nullopt;
  return DelayKey(heap_.front().slot, heap_.front().generation);
}

bool DelayQueueBase::ResetAt(DelayKey key, Instant deadline) {
  if (!Contains(key)) return false;
  const size_t position = slots_[key.slot_].position;
  heap_[position].deadline = deadline;
  Sift(position);
  WakeForNearerHead();
  return true;
}

void DelayQueueBase::ReserveSlots(size_t count) {
  slots_.reserve(count);
  heap_.reserve(count);
}

size_t DelayQueueBase::PrepareInsert() {
  if (first_free_ != kNone) return first_free_;
  // First, so that there is an item for each slot even if the next line throws.
  if (heap_.capacity() <= slots_.size()) {
    heap_.reserve(std::max(kArity, 2 * slots_.size()));
  }
  slots_.emplace_back();
  first_free_ = slots_.size() - 1;
  return first_free_;
}

DelayKey DelayQueueBase::CommitInsert(size_t slot, Instant deadline) {
  ABSL_ASSERT(slot == first_free_);
  first_free_ = slots_[slot].position;
  const uint64_t generation = ++last_generation_;
  slots_[slot].generation = generation;
  heap_.push_back({deadline, generation, slot});
  SiftUp(heap_.size() - 1);
  WakeForNearerHead();
  return DelayKey(slot, generation);
}

void DelayQueueBase::Erase(DelayKey key) {
  ABSL_ASSERT(Contains(key));
  Slot& slot = slots_[key.slot_];
  const size_t position = slot.position;
  slot.generation = 0;
  slot.position = first_free_;
  first_free_ = key.slot_;
  const Item last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  Put(position, last);
  Sift(position);
}

size_t DelayQueueBase::TakeAll() {
  size_t first = kNone;
  for (const Item& item : heap_) {
    slots_[item.slot] = {.generation = 0, .position = first};
    first = item.slot;
  }
  heap_.clear();
  return first;
}

size_t DelayQueueBase::FreeNext(size_t slot) {
  const size_t next = slots_[slot].position;
  slots_[slot].position = first_free_;
  first_free_ = slot;
  return next;
}

void DelayQueueBase::Put(size_t position, const Item& item) {
  heap_[position] = item;
  slots_[item.slot].position = position;
}

void DelayQueueBase::SiftUp(size_t position) {
  const Item item = heap_[position];
  while (position > 0) {
    const size_t parent = (position - 1) / kArity;
    if (!(item < heap_[parent])) break;
    Put(position, heap_[parent]);
    position = parent;
  }
  Put(position, item);
}

void DelayQueueBase::SiftDown(size_t position) {
  const Item item = heap_[position];
  for (;;) {
    const size_t first = position * kArity + 1;
    if (first >= heap_.size()) break;
    const auto begin = heap_.begin();
    const size_t end = std::min(first + kArity, heap_.size());
    const size_t least = std::min_element(begin + first, begin + end) - begin;
    if (!(heap_[least] < item)) break;
    Put(position, heap_[least]);
    position = least;
  }
  Put(position, item);
}

void DelayQueueBase::Sift(size_t position) {
  if (position > 0 && heap_[position] < heap_[(position - 1) / kArity]) {
    SiftUp(position);
  } else {
    SiftDown(position);
  }
}

void DelayQueueBase::WakeForNearerHead() {
  // In any other state the task has been woken, or none waits.
  if (registration_.state() != State::kWaiting) return;
  const Instant deadline = heap_.front().deadline;
  if (deadline < registration_.deadline()) registration_.Reset(deadline);
}

PollResult<bool> DelayQueueBase::PollHead(Context& cx) {
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (has_ended_) return false;
  for (;;) {
    Instant deadline = Instant::Max();
    if (!heap_.empty()) {
      deadline = heap_.front().deadline;
      if (internal::HasCome(deadline, Now())) {
        unit->MadeProgress();
        return true;
      }
    }
    if (registration_.state() != State::kWaiting) {
      registration_.Reset(deadline);
    }
    const State state = registration_.Wait(cx.waker());
    if (state == State::kWaiting) return kPending;
    if (state == State::kShutDown) {
      has_ended_ = true;
      return false;
    }
    // The deadline has come just now, or was that of an entry which has been
    // removed: look again.
  }
}

}  // namespace rouse
