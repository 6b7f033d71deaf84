// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task/owned_tasks.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "rouse/base/atomic.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/lock/biased_lock.h"
#include "rouse/base/mutable_step.h"
#include "rouse/scheduler/task/task.h"

namespace rouse::task {
namespace {

// Called by the thread that holds the lock. Relaxed: the functions that read
// the counter promise no order.
template <class Counter>
void Count(Counter& count, size_t change) {
  count.store(count.load(std::memory_order_relaxed) + change,
              std::memory_order_relaxed);
}

}  // namespace

OwnedTasks::OwnedTasks(size_t owners, size_t shards_for_each)
    : log2_for_each_(std::countr_zero(std::bit_ceil(shards_for_each))),
      mask_((std::bit_ceil(std::max<size_t>(owners, 1)) << log2_for_each_) - 1),
      shards_(new Shard[mask_ + 1]) {}

uint32_t OwnedTasks::IndexFor(const Header* task, size_t owner) const {
  // Tasks of any size are distributed evenly by the upper bits of a product
  // with 2^64 divided by the golden ratio (Knuth, The Art of Computer
  // Programming, volume 3, 6.4: Fibonacci hashing).
  const uint64_t hash =
      reinterpret_cast<uintptr_t>(task) * uint64_t{0x9e3779b97f4a7c15};
  return FirstOf(owner) |
         (static_cast<uint32_t>(hash >> 48) & ((1U << log2_for_each_) - 1));
}

uint32_t OwnedTasks::NextForAdder(size_t owner) {
  const uint32_t first = FirstOf(owner);
  if (log2_for_each_ == 0) return first;
  return first | (shards_[first].adders++ & ((1U << log2_for_each_) - 1));
}

bool OwnedTasks::Add(Header* task, size_t owner) {
  const uint32_t index = IndexFor(task, owner);
  Shard& home = shards_[index];
  const BiasedLock::OwnerHolder lock(home.mu);
  if (MutableCondition(home.closed.Read())) return false;
  task->shard = index;
  home.tasks.Write().PushBack(task);
  Count(home.size, 1);
  Count(home.added, 1);
  return true;
}

bool OwnedTasks::Remove(Header* task, std::optional<size_t> owner) {
  if (!WasAdded(task)) return false;
  Shard& home = shards_[task->shard];
  if (owner.has_value() && MutableCondition(IsOwner(*owner, task))) {
    const BiasedLock::OwnerHolder lock(home.mu);
    return home.Remove(task);
  }
  const BiasedLock::Holder lock(home.mu);
  // Ends the bias because more removals by other threads will follow, and each
  // would cost all threads as much as this removal.
  home.mu.EndBias();
  return home.Remove(task);
}

bool OwnedTasks::Shard::Remove(Header* task) {
  // The list owns the task's links.
  static_cast<void>(tasks.Write());
  if (MutableCondition(!task->IsLinked())) return false;
  task->Unlink();
  Count(size, size_t{0} - 1);
  return true;
}

Header* OwnedTasks::Shard::PopFront() {
  const BiasedLock::Holder lock(mu);
  Header* task = tasks.Write().PopFront();
  if (task != nullptr) Count(size, size_t{0} - 1);
  return task;
}

void OwnedTasks::CloseAndShutdownAll(size_t start) {
  for (size_t i = 0; i < shards(); ++i) {
    Shard& shard = shards_[i];
    const BiasedLock::Holder lock(shard.mu);
    shard.mu.EndBias();
    shard.closed.Write() = true;
  }
  FirstException first;
  for (size_t i = 0; i < shards(); ++i) {
    Shard& shard = shards_[(FirstOf(start) + i) & mask_];
    while (Header* task = shard.PopFront()) {
      first.Catch([task] { Shutdown(task); });
      Unref(task);
    }
  }
  first.Rethrow();
}

size_t OwnedTasks::size() const {
  size_t size = 0;
  for (size_t i = 0; i < shards(); ++i) {
    // Relaxed: see the contract.
    size += shards_[i].size.load(std::memory_order_relaxed);
  }
  return size;
}

size_t OwnedTasks::added() const {
  size_t count = 0;
  for (size_t i = 0; i < shards(); ++i) {
    // Relaxed: see the contract.
    count += shards_[i].added.load(std::memory_order_relaxed);
  }
  return count;
}

size_t OwnedTasks::added_late() const {
  size_t count = 0;
  for (size_t i = 0; i < shards(); ++i) {
    count += shards_[i].added_late.load(std::memory_order_acquire);
  }
  return count;
}

OwnedTasks::Adder::~Adder() {
  Count(shard_.size, added_);
  // Release pairs with the acquire of added_late().
  const size_t before = shard_.added_late.load(std::memory_order_relaxed);
  shard_.added_late.store(before + added_, std::memory_order_release);
  shard_.mu.UnlockAsOwner();
}

void OwnedTasks::ForEach(absl::FunctionRef<void(Header&)> visit) {
  for (size_t i = 0; i < shards(); ++i) {
    Shard& shard = shards_[i];
    const BiasedLock::Holder lock(shard.mu);
    shard.tasks.Write().ForEach([visit](Header* task) { visit(*task); });
  }
}

}  // namespace rouse::task
