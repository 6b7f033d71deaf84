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
void BackOff([[maybe_unused]] int round) {
#ifndef ROUSE_MODEL
  constexpr int kSpins = 100;
  constexpr int kYields = 20;
  if (round >= kSpins + kYields) {
    return std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (round >= kSpins) return std::this_thread::yield();
#endif
  SpinHint();
}

}  // namespace

void SpinLock::SlowLock() {
  // The load keeps the holder's cache line where it is. Relaxed: TryLock
  // acquires.
  for (int round = 0; locked_.load(std::memory_order_relaxed) || !TryLock();
       ++round) {
    BackOff(round);
  }
}

}  // namespace rouse
