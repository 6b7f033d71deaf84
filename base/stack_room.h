// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stack_room.h
// -----------------------------------------------------------------------------
//
// `HasStackRoom()` tells a function that may call itself, through code that it
// does not know, when to stop: an error can be told of, an overflow cannot.

#ifndef ROUSE_BASE_STACK_ROOM_H_
#define ROUSE_BASE_STACK_ROOM_H_

#include <cstdint>

namespace rouse {

namespace internal {

// The lowest address of a stack frame of this thread that leaves room. The
// highest one until somebody asks.
extern constinit thread_local uintptr_t stack_floor;

// For a frame below `stack_floor`: finds where that is, if need be.
bool HasStackRoomBelowFloor(uintptr_t frame);

}  // namespace internal

// HasStackRoom()
//
// Returns whether the stack of this thread has more than an eighth of its size
// left, or more than 256 KiB. True on a stack that is not the thread's own, as
// a fiber's is, and where the system does not tell where the stack ends. The
// size of the main thread's stack is its limit (RLIMIT_STACK) at the thread's
// first call; raising the limit later changes nothing.
//
// Costs a load and a comparison; once for each thread some microseconds, and on
// a stack that is not the thread's own a function call.
inline bool HasStackRoom() {
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return frame >= internal::stack_floor ||
         internal::HasStackRoomBelowFloor(frame);
}

}  // namespace rouse

#endif  // ROUSE_BASE_STACK_ROOM_H_
