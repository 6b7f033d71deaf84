// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/futex.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/base/config.h"
#include "absl/time/clock.h"
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

TEST(Futex, AWaitEndsAtItsTimeout) {
  Atomic<uint32_t> word{0};
  FutexWait(word, 0, absl::Milliseconds(1));
  EXPECT_EQ(word.load(), 0u);
}

TEST(Futex, AWaitWithoutTimeReturnsAtOnce) {
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
  // Works whichever comes first: the kernel compares the word before blocking.
  while (word.load(std::memory_order_acquire) == 0) FutexWait(word, 0);
  waker.join();
  EXPECT_EQ(word.load(), 1u);
}

TEST(Futex, AVeryLongTimeoutIsValid) {
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
  // An error would return at once, and the loop would spin.
  EXPECT_LT(waits, 100);
}

Atomic<uint32_t> handled{0};  // accessible to the handler

TEST(Futex, ASignalIsHandledDuringAWait) {
#if defined(ABSL_HAVE_THREAD_SANITIZER) && \
    !__has_include(<sanitizer/linux_syscall_hooks.h>)
  GTEST_SKIP() << "GCC's TSan holds signals back from a thread that is parked";
#endif
  handled.store(0, std::memory_order_relaxed);  // no handler runs yet
  struct sigaction action = {};
  action.sa_handler = [](int) {
    handled.store(1, std::memory_order_release);
    FutexWakeOne(handled);
  };
  // The system call itself continues, as for most handlers.
  action.sa_flags = SA_RESTART;
  struct sigaction before;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  const pthread_t waiting = pthread_self();
  std::thread sender([waiting] {
    // The main thread is most likely waiting by then. If not, the test must
    // pass all the same.
    absl::SleepFor(absl::Milliseconds(20));
    EXPECT_EQ(pthread_kill(waiting, SIGUSR1), 0);
  });
  while (handled.load(std::memory_order_acquire) == 0) FutexWait(handled, 0);
  sender.join();
  EXPECT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST(Futex, AWakeWithoutAWaiterDoesNothing) {
  Atomic<uint32_t> word{0};
  FutexWakeOne(word);
  EXPECT_EQ(word.load(), 0u);
}

}  // namespace
}  // namespace rouse
