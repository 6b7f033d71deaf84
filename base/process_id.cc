// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/process_id.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <memory>

#include "rouse/base/atomic.h"

namespace rouse {
namespace {

using CachedId = Atomic<pid_t>;

// Returns a variable that is zero, and is zero again in a forked process, or
// null if no such variable can exist.
CachedId* MakeCachedId() {
  const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, size, MADV_WIPEONFORK) != 0) {
    munmap(page, size);
    return nullptr;
  }
  return std::construct_at(static_cast<CachedId*>(page), 0);
}

}  // namespace

pid_t ProcessId() {
  static CachedId* const cached = MakeCachedId();
  if (cached == nullptr) return getpid();
  // Relaxed, as below: all threads of a process store the same value, and
  // nothing else depends on it.
  pid_t id = cached->load(std::memory_order_relaxed);
  if (id == 0) {
    id = getpid();
    cached->store(id, std::memory_order_relaxed);
  }
  return id;
}

}  // namespace rouse
