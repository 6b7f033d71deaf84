#include "rouse/base/spin_lock.h"

#include <atomic>

#include "rouse/base/spin_hint.h"

#ifndef ROUSE_MODEL
#include <chrono>
#include <thread>
#endif

namespace rouse {
namespace {

// Passes some time before the lock is asked for again.
void BackOff([[maybe_unused]] int& rounds) {
#ifndef ROUSE_MODEL
  constexpr int kSpins = 100;
  constexpr int kYields = 20;
  if (rounds == kSpins + kYields) {
    return std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (rounds++ >= kSpins) return std::this_thread::yield();
#endif
  SpinHint();
}

}  // namespace

void SpinLock::SlowLock() {
  int rounds = 0;
  // The load keeps the holder's cache line where it is. Relaxed: TryLock
  // acquires.
  while (locked_.load(std::memory_order_relaxed) || !TryLock()) {
    BackOff(rounds);
  }
}

}  // namespace rouse
