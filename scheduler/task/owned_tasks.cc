// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task/owned_tasks.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "rouse/base/atomic.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/lock/biased_lock.h"
#include "rouse/scheduler/task/task.h"

namespace rouse::task {

OwnedTasks::OwnedTasks(size_t owners, size_t shards_for_each)
    : log2_for_each_(std::countr_zero(std::bit_ceil(shards_for_each))),
      mask_((std::bit_ceil(std::max<size_t>(owners, 1)) << log2_for_each_) - 1),
      shards_(new Shard[mask_ + 1]) {}

uint32_t OwnedTasks::NextForAdder(size_t owner) {
  const uint32_t first = FirstOf(owner);
  if (log2_for_each_ == 0) return first;
  return first | (shards_[first].adders++ & ((1U << log2_for_each_) - 1));
}

bool OwnedTasks::RemoveAsOther(Header* task) {
  Shard& home = shards_[task->shard];
  const BiasedLock::Holder lock(home.mu);
  // Ends the bias because more removals by other threads will follow, and each
  // would cost all threads as much as this removal.
  home.mu.EndBias();
  return home.Remove(task);
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
