// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/blocking/spawn_blocking.h"

#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/scheduler/blocking/blocking_pool.h"

namespace rouse::scheduler {
namespace {
ABSL_CONST_INIT thread_local BlockingPool* current = nullptr;
}  // namespace

// Not inlined: a coroutine might keep the variable's address while the
// coroutine moves to another thread.
ABSL_ATTRIBUTE_NOINLINE BlockingPool* CurrentBlockingPool() { return current; }

ScopedBlockingPool::ScopedBlockingPool(BlockingPool& pool)
    : outer_(std::exchange(current, &pool)) {}

ScopedBlockingPool::~ScopedBlockingPool() { current = outer_; }

BlockingPool& CurrentBlockingPoolOrPanic() {
  BlockingPool* pool = CurrentBlockingPool();
  if (pool == nullptr) {
    Panic(
        "SpawnBlocking: this thread has no runtime; call SpawnBlocking() in a "
        "task or inside Runtime::BlockOn, hold a Runtime::Enter() guard, or "
        "call Handle::SpawnBlocking");
  }
  return *pool;
}

}  // namespace rouse::scheduler
