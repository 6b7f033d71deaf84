#include "rouse/base/futex.h"

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/atomic.h"

namespace rouse {
namespace {

TEST(Futex, DoesNotWaitForAWordThatHasChanged) {
  Atomic<uint32_t> word{1};
  FutexWait(word, 0);
  EXPECT_EQ(word.load(), 1u);
}

TEST(Futex, AWaitEndsWithItsTime) {
  Atomic<uint32_t> word{0};
  FutexWait(word, 0, absl::Milliseconds(1));
  EXPECT_EQ(word.load(), 0u);
}

TEST(Futex, NoTimeIsNoWait) {
  Atomic<uint32_t> word{0};
  FutexWait(word, 0, absl::ZeroDuration());
  FutexWait(word, 0, absl::Seconds(-1));
  FutexWait(word, 0, -absl::InfiniteDuration());
  EXPECT_EQ(word.load(), 0u);
}

TEST(Futex, AWakeEndsAWait) {
  Atomic<uint32_t> word{0};
  std::thread waker([&] {
    word.store(1, std::memory_order_release);
    FutexWakeOne(word);
  });
  // Whichever comes first: the kernel compares the word before it blocks.
  while (word.load(std::memory_order_acquire) == 0) FutexWait(word, 0);
  waker.join();
  EXPECT_EQ(word.load(), 1u);
}

TEST(Futex, AVeryLongTimeIsNotAnError) {
  Atomic<uint32_t> word{0};
  std::thread waker([&] {
    word.store(1, std::memory_order_release);
    FutexWakeOne(word);
  });
  int waits = 0;
  while (word.load(std::memory_order_acquire) == 0) {
    FutexWait(word, 0, absl::Hours(24) * 365 * 1000000000.0);
    ++waits;
  }
  waker.join();
  // An error would come back at once, and this loop spin.
  EXPECT_LT(waits, 100);
}

TEST(Futex, AWakeWithoutAWaiterDoesNothing) {
  Atomic<uint32_t> word{0};
  FutexWakeOne(word);
  EXPECT_EQ(word.load(), 0u);
}

}  // namespace
}  // namespace rouse
