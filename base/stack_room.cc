// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/stack_room.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/config.h"

namespace rouse::internal {

constinit thread_local uintptr_t stack_floor = UINTPTR_MAX;
constinit thread_local uintptr_t ample_stack_floor = UINTPTR_MAX;

namespace {

constexpr size_t kMostRoom = size_t{256} << 10;

// End of this thread's stack. Zero until the end is known, or if it never is.
constinit thread_local uintptr_t stack_end = 0;

void FindStack() {
  ExchangeStackBounds({0, 0, 0});
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* end;
  size_t size;
  if (pthread_attr_getstack(&attributes, &end, &size) == 0) {
    ExchangeStackBounds(StackBounds::Of(end, size));
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

StackBounds StackBounds::Of(const void* end, size_t size) {
  const auto lowest = reinterpret_cast<uintptr_t>(end);
  const size_t room = std::min(size / 8, kMostRoom);
  size_t ample_room = 2 * room;
#ifdef ABSL_HAVE_THREAD_SANITIZER
  // ThreadSanitizer crashes if over 65,536 functions call one another. These
  // can fit into a stack of 4 MiB.
  constexpr size_t kMostUsed = size_t{2} << 20;
  if (size > kMostUsed) ample_room = std::max(ample_room, size - kMostUsed);
#endif
  return {lowest + room, lowest + ample_room, lowest};
}

StackBounds ExchangeStackBounds(const StackBounds& bounds) {
  return {std::exchange(stack_floor, bounds.floor),
          std::exchange(ample_stack_floor, bounds.ample_floor),
          std::exchange(stack_end, bounds.end)};
}

bool HasStackRoomBelowFloor(uintptr_t frame) {
  if (stack_floor == UINTPTR_MAX) FindStack();
  return frame >= stack_floor || frame < stack_end;
}

bool HasAmpleStackRoomBelowFloor(uintptr_t frame) {
  if (ample_stack_floor == UINTPTR_MAX) FindStack();
  return frame >= ample_stack_floor || frame < stack_end;
}

}  // namespace rouse::internal
