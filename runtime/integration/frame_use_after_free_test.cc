// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

// Tests what AddressSanitizer finds in coroutines.

#include <cstddef>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"

namespace rouse {
namespace {

#ifdef ABSL_HAVE_ADDRESS_SANITIZER

Co<> Read(const int& number, const bool& may_read, int* result) {
  while (!may_read) co_await Yield();
  *result = number;
}

// WRONG: the spawned task refers to this frame, and outlives it.
Co<> SpawnReader(const bool& may_read, int* result) {
  const int number = 1;
  Spawn(Read(number, may_read, result)).Detach();
  co_await Yield();
}

Co<> ReadFromAFrameThatHasGone(int* result) {
  bool may_read = false;
  (void)co_await Spawn(SpawnReader(may_read, result));
  // Frames of the same size, which a pool would put in the place of the first
  // frame.
  std::vector<Co<>> frames;
  for (int i = 0; i < 100; ++i) frames.push_back(SpawnReader(may_read, result));
  may_read = true;
  for (int i = 0; i < 100; ++i) co_await Yield();
}

TEST(FrameUseAfterFreeDeathTest, AUseOfADestroyedFrameIsFoundAfterNewFrames) {
  EXPECT_DEATH(
      {
        absl::StatusOr<Runtime> runtime = Builder::CurrentThread().Build();
        int result = 0;
        runtime->BlockOn(ReadFromAFrameThatHasGone(&result));
      },
      "heap-use-after-free");
}

#else

TEST(FrameUseAfterFreeDeathTest, NeedsAddressSanitizer) {
  GTEST_SKIP() << "run it with --config=asan";
}

#endif

}  // namespace
}  // namespace rouse
