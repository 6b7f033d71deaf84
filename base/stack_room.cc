// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/stack_room.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rouse::internal {

constinit thread_local uintptr_t stack_floor = UINTPTR_MAX;

namespace {

constexpr size_t kMostRoom = size_t{256} << 10;

// End of this thread's stack. Zero until the end is known, or if it never is.
constinit thread_local uintptr_t stack_end = 0;

void FindStack() {
  stack_floor = 0;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* end;
  size_t size;
  if (pthread_attr_getstack(&attributes, &end, &size) == 0) {
    stack_end = reinterpret_cast<uintptr_t>(end);
    stack_floor = stack_end + std::min(size / 8, kMostRoom);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

bool HasStackRoomBelowFloor(uintptr_t frame) {
  if (stack_floor == UINTPTR_MAX) FindStack();
  return frame >= stack_floor || frame < stack_end;
}

}  // namespace rouse::internal
