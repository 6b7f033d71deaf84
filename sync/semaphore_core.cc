#include "rouse/sync/semaphore_core.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "rouse/base/brief_lock.h"
#include "rouse/base/first_exception.h"
#include "rouse/base/panic.h"
#include "rouse/sync/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

SemaphoreCore::SemaphoreCore(size_t permits) : word_(permits * kPermit) {
  if (permits > kMaxPermits) PanicOverflow();
}

void SemaphoreCore::PanicOverflow() {
  Panic(
      "Semaphore: more than kMaxPermits permits; release what was acquired, "
      "and add no more than there may be");
}

size_t SemaphoreCore::Forget(size_t n) {
  // Relaxed: the compare-exchange acquires.
  uint64_t word = word_.load(std::memory_order_relaxed);
  size_t taken;
  do {
    taken = std::min<uint64_t>(n, word / kPermit);
    if (taken == 0) return 0;
    // Acquire: as in TryAcquire. Where permits are free nobody waits.
  } while (!word_.compare_exchange_weak(word, word - taken * kPermit,
                                        std::memory_order_acquire,
                                        std::memory_order_relaxed));
  return taken;
}

// Where the last waiter has left meanwhile it is another's turn to see to the
// word, without the lock: then the word is the last that is touched.
void SemaphoreCore::ReleaseToWaiters(size_t n) {
  FirstException first;
  do {
    WakeList woken;
    n = Assign(n, woken);
    first.Catch([&woken] { woken.WakeAll(); });
  } while (n > 0 && !TryRelease(n));
  first.Rethrow();
}

// What comes back is still to be released: nobody waits, or `woken` is full.
size_t SemaphoreCore::Assign(size_t n, WakeList& woken) {
  const BriefLockHolder lock(mu_);
  if (!HasWaiters()) return n;
  while (n > 0 && !waiters_.IsEmpty() && !woken.IsFull()) {
    auto* const front = static_cast<Waiter*>(waiters_.Front());
    size_t& missing = front->missing.Write();
    const size_t assigned = std::min(n, missing);
    n -= assigned;
    missing -= assigned;
    if (missing > 0) break;
    front->Unlink();
    woken.Push(front->TakeWaker());
  }
  if (!waiters_.IsEmpty()) return n;
  // Release pairs with the acquires of TryAcquire and of Enqueue.
  word_.store(n * kPermit, std::memory_order_release);
  return 0;
}

void SemaphoreCore::Close() {
  for (;;) {
    // Relaxed: the compare-exchange releases.
    uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & kHasWaiters) == 0) {
      // Release pairs with the acquires of IsClosed and of Enqueue.
      if (word_.compare_exchange_weak(word, word | kClosed,
                                      std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return;
      }
    }
    mu_.Lock();
    if (HasWaiters()) break;
    mu_.Unlock();
  }
  auto* const front = static_cast<Waiter*>(waiters_.Front());
  const size_t assigned = front->needed - front->missing.Read();
  front->missing.Write() = front->needed;
  // Release pairs as above.
  word_.store(kClosed | assigned * kPermit, std::memory_order_release);
  WakeAll(mu_, waiters_, [](WaitNode*) {});
}

SemaphoreCore::Attempt SemaphoreCore::Enqueue(Waiter& waiter) {
  const size_t n = waiter.needed;
  // Acquire pairs with the release of Close.
  uint64_t word = word_.load(std::memory_order_acquire);
  for (;;) {
    if ((word & kClosed) != 0) return Attempt::kClosed;
    if (n == 0) return Attempt::kAcquired;
    if ((word & kHasWaiters) != 0) break;
    const uint64_t taken = std::min<uint64_t>(n, word / kPermit);
    const uint64_t next = taken == n ? word - n * kPermit : kHasWaiters;
    // Acquire pairs with the releases of all who have given a permit back, and
    // with the release of Close.
    if (word_.compare_exchange_weak(word, next, std::memory_order_acquire,
                                    std::memory_order_acquire)) {
      if (taken == n) return Attempt::kAcquired;
      waiter.missing.Write() = n - taken;
      break;
    }
  }
  waiters_.PushBack(&waiter);
  return Attempt::kWaits;
}

SemaphoreCore::Attempt SemaphoreCore::Look(const Waiter& waiter) {
  if (waiter.missing.Read() == 0) return Attempt::kAcquired;
  // Relaxed: who closed it while somebody waited had the lock.
  return (word_.load(std::memory_order_relaxed) & kClosed) != 0
             ? Attempt::kClosed
             : Attempt::kWaits;
}

void SemaphoreCore::GiveUp(Waiter& waiter) {
  size_t assigned;
  {
    Waker waker;  // goes without the lock
    const BriefLockHolder lock(mu_);
    assigned = waiter.needed - waiter.missing.Read();
    waiter.Leave(waker);
    if (waiters_.IsEmpty() && HasWaiters()) {
      // Release pairs with the acquires of TryAcquire and of Enqueue.
      word_.store(assigned * kPermit, std::memory_order_release);
      return;
    }
  }
  if (assigned > 0) Release(assigned);
}

void CoreAcquire::PanicMoved() {
  Panic("Acquire: moved after its first poll; futures stay where they are");
}

// Whether it has ended.
bool CoreAcquire::PollQueued(Context& cx, const char* call) {
  if (state_ == State::kDone) {
    Panic(std::string(call) + ": polled after it was ready; call it again");
  }
  if (state_ == State::kNew) waiter_.emplace(n_);
  Waker waker = waiter_->CloneIfNew(cx.waker());  // goes without the lock
  const BriefLockHolder lock(core_->mu_);
  const SemaphoreCore::Attempt attempt =
      state_ == State::kNew ? core_->Enqueue(*waiter_) : core_->Look(*waiter_);
  switch (attempt) {
    case SemaphoreCore::Attempt::kWaits:
      waiter_->Register(waker);
      state_ = State::kQueued;
      return false;
    case SemaphoreCore::Attempt::kAcquired:
      state_ = State::kAcquired;
      break;
    case SemaphoreCore::Attempt::kClosed:
      state_ = State::kClosed;
      break;
  }
  waiter_->Leave(waker);
  return true;
}

void CoreAcquire::Cancel() {
  if (state_ == State::kAcquired) core_->Release(n_);
  if (state_ == State::kQueued) core_->GiveUp(*waiter_);
}

}  // namespace rouse::internal
