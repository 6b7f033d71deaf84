// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stack_room.h
// -----------------------------------------------------------------------------
//
// `HasStackRoom()` tells a function that may call itself, through code unknown
// to the function, when to stop. An error can be reported; a stack overflow
// cannot.

#ifndef ROUSE_BASE_STACK_ROOM_H_
#define ROUSE_BASE_STACK_ROOM_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>

namespace rouse {

namespace internal {

// Lowest address of a stack frame that leaves room on this thread. The highest
// address until the first query.
extern constinit thread_local uintptr_t stack_floor;

// Lowest address of a stack frame that leaves ample room. Like `stack_floor`
// until the first query.
extern constinit thread_local uintptr_t ample_stack_floor;

// Returns whether `frame`, which is below `stack_floor`, leaves room.
// Determines `stack_floor` if necessary.
bool HasStackRoomBelowFloor(uintptr_t frame);
// Returns whether `frame`, which is below `ample_stack_floor`, leaves ample
// room.
bool HasAmpleStackRoomBelowFloor(uintptr_t frame);

// The bounds of the stack on which a thread runs, as the functions of this
// header see them.
struct StackBounds {
  // Returns the bounds of a stack of `size` bytes from `end`, its lowest
  // address, on.
  static StackBounds Of(const void* end, size_t size);

  uintptr_t floor;
  uintptr_t ample_floor;
  uintptr_t end;
};

// Makes `bounds` the bounds of the calling thread's stack, and returns the
// bounds before. For a thread that changes its stack.
StackBounds ExchangeStackBounds(const StackBounds& bounds);

}  // namespace internal

// HasStackRoom()
//
// Returns whether more than an eighth of this thread's stack is left, or more
// than 256 KiB. Knows the stacks of `RunOnFreshStack()`. Returns true on any
// other stack that is not the thread's own, such as a fiber's, and if the
// system does not report the end of the stack. The size of
// the main thread's stack is the limit (RLIMIT_STACK) at the thread's first
// call; raising the limit later changes nothing.
//
// Costs a load and a comparison. The first call of each thread costs some
// microseconds. A call on a stack that is not the thread's own also costs a
// function call.
inline bool HasStackRoom() {
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return frame >= internal::stack_floor ||
         internal::HasStackRoomBelowFloor(frame);
}

// HasAmpleStackRoom()
//
// Like `HasStackRoom()`, but returns whether twice as much is left: more than a
// quarter of the stack, or more than 512 KiB. For a function that can do
// without a deeper stack, where a function called later would have to report an
// error.
inline bool HasAmpleStackRoom() {
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return frame >= internal::ample_stack_floor ||
         internal::HasAmpleStackRoomBelowFloor(frame);
}

}  // namespace rouse

#endif  // ROUSE_BASE_STACK_ROOM_H_
