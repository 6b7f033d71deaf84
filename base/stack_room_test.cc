// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/stack_room.h"

#include <pthread.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

uintptr_t Here() {
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
}

// Calls itself until no more room is left. Returns the deepest frame.
ABSL_ATTRIBUTE_NOINLINE uintptr_t Descend() {
  if (!HasStackRoom()) return Here();
  const uintptr_t deepest = Descend();
  // This is not a tail call.
  return deepest < Here() ? deepest : 0;
}

struct Stack {
  size_t size;
  uintptr_t used = 0;
};

void* RunDescend(void* argument) {
  auto* stack = static_cast<Stack*>(argument);
  stack->used = Here() - Descend();
  return nullptr;
}

uintptr_t UsedOf(size_t size) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, size), 0);
  Stack stack{size};
  pthread_t thread;
  EXPECT_EQ(pthread_create(&thread, &attributes, &RunDescend, &stack), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return stack.used;
}

TEST(StackRoom, ExistsAtFirst) { EXPECT_TRUE(HasStackRoom()); }

// The stack of a thread also holds the thread-local variables of libraries, and
// the guard page.
TEST(StackRoom, LeavesAnEighthOfASmallStack) {
  const size_t size = size_t{512} << 10;
  const uintptr_t used = UsedOf(size);
  EXPECT_GT(used, size / 2);
  EXPECT_LE(used, size - size / 8);
}

TEST(StackRoom, Leaves256KiBOfALargeStack) {
  const size_t size = size_t{4} << 20;
  const uintptr_t used = UsedOf(size);
  EXPECT_GT(used, size - (size_t{512} << 10));
  EXPECT_LE(used, size - (size_t{256} << 10));
}

// A sanitizer must be informed of another stack.
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && \
    !defined(ABSL_HAVE_THREAD_SANITIZER)
ucontext_t fiber;
ucontext_t outside;
bool room_in_fiber = false;

void RunFiber() { room_in_fiber = HasStackRoom(); }

TEST(StackRoom, ExistsOnAnotherStack) {
  std::vector<char> stack(size_t{128} << 10);
  ASSERT_EQ(getcontext(&fiber), 0);
  fiber.uc_stack.ss_sp = stack.data();
  fiber.uc_stack.ss_size = stack.size();
  fiber.uc_link = &outside;
  makecontext(&fiber, &RunFiber, 0);
  ASSERT_EQ(swapcontext(&outside, &fiber), 0);
  EXPECT_TRUE(room_in_fiber);
}
#endif

}  // namespace
}  // namespace rouse
