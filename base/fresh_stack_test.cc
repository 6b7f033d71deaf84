// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/fresh_stack.h"

#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/base/stack_room.h"
#include "rouse/base/thread.h"
#include "rouse/testing/internal/failing_calls.h"

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

TEST(FreshStack, CallsTheFunctionOnTheSameThread) {
  thread_local int local = 0;
  int calls = 0;
  const std::thread::id id = std::this_thread::get_id();
  EXPECT_TRUE(RunOnFreshStack([&] {
    ++calls;
    ++local;
    EXPECT_EQ(std::this_thread::get_id(), id);
  }));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(local, 1);
}

TEST(FreshStack, HasRoomUntilAnEighthOfItIsLeft) {
  uintptr_t used = 0;
  EXPECT_TRUE(RunOnFreshStack([&used] {
    EXPECT_TRUE(HasStackRoom());
    EXPECT_TRUE(HasAmpleStackRoom());
    used = Here() - Descend();
  }));
  EXPECT_GT(used, kFreshStackSize / 2);
  EXPECT_LE(used, kFreshStackSize - kFreshStackSize / 8);
}

TEST(FreshStack, TheOuterStackHasTheRoomOfBefore) {
  auto compare = [] {
    const uintptr_t before = Here() - Descend();
    EXPECT_TRUE(RunOnFreshStack([] { Descend(); }));
    const uintptr_t after = Here() - Descend();
    EXPECT_EQ(before, after);
  };
  absl::StatusOr<Thread> thread =
      Thread::Start("small", compare, size_t{1} << 20);
  ASSERT_TRUE(thread.ok());
  thread->Join();
}

// Calls itself `depth` times, on as many stacks as necessary.
ABSL_ATTRIBUTE_NOINLINE size_t Depth(size_t depth) {
  if (depth == 0) return 0;
  size_t below = 0;
  auto deeper = [&below, depth] { below = Depth(depth - 1); };
  if (HasAmpleStackRoom()) {
    deeper();
  } else {
    EXPECT_TRUE(RunOnFreshStack(deeper));
  }
  return below + 1;
}

TEST(FreshStack, CallsNest) { EXPECT_EQ(Depth(100000), 100000u); }

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(FreshStack, AnExceptionPropagates) {
  EXPECT_THROW(RunOnFreshStack([] { throw std::runtime_error("thrown"); }),
               std::runtime_error);
  EXPECT_TRUE(HasStackRoom());
}

TEST(FreshStack, ThrowsAndCatchesInside) {
  int caught = 0;
  EXPECT_TRUE(RunOnFreshStack([&caught] {
    try {
      throw std::runtime_error("thrown");
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }));
  EXPECT_EQ(caught, 1);
}

#endif  // ABSL_HAVE_EXCEPTIONS

// Sanitizers map memory of their own.
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && \
    !defined(ABSL_HAVE_THREAD_SANITIZER)

TEST(FreshStack, ReportsThatMemoryIsLacking) {
  int calls = 0;
  bool has_run = true;
  if (!reactor::WithFailingCalls({SYS_mmap}, ENOMEM, [&] {
        has_run = RunOnFreshStack([&calls] { ++calls; });
      })) {
    GTEST_SKIP() << "the system has no filters of system calls";
  }
  EXPECT_FALSE(has_run);
  EXPECT_EQ(calls, 0);
}

#endif

}  // namespace
}  // namespace rouse
