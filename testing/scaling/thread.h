// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread.h
// -----------------------------------------------------------------------------
//
// Threads of the virtual machine, and their clocks. Code under test uses
// base/thread.h, base/lock/spin_hint.h and base/cycle_clock.h.

#ifndef ROUSE_TESTING_SCALING_THREAD_H_
#define ROUSE_TESTING_SCALING_THREAD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "rouse/testing/scaling/machine.h"

namespace rouse::scaling {

// Thread
//
// Has a core of its own. Joined on destruction.
class Thread {
 public:
  explicit Thread(absl::AnyInvocable<void() &&> body)
      : core_(Machine::current()->Start(
            [body = std::make_shared<absl::AnyInvocable<void() &&>>(
                 std::move(body))] { std::move (*body)(); })) {}
  Thread(Thread&& other) noexcept
      : core_(std::exchange(other.core_, std::nullopt)) {}
  Thread& operator=(Thread&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Thread() { Join(); }

  void Join() {
    if (core_.has_value()) Machine::current()->Join(*std::exchange(core_, {}));
  }
  void Detach() { core_.reset(); }
  bool IsThisThread() const { return Machine::current()->core() == *core_; }

 private:
  std::optional<size_t> core_;
};

// Spends `nanoseconds` on something that other threads do not notice.
inline void Spend(double nanoseconds) {
  Machine::current()->Spend(nanoseconds);
}

// Like the functions of these names in base/lock/spin_hint.h.
inline void SpinHint() {
  Machine* const machine = Machine::current();
  machine->Spend(machine->costs().pause);
}
inline void YieldHint() {
  Machine* const machine = Machine::current();
  machine->Spend(machine->costs().system_call);
}

// Returns the virtual time in nanoseconds, at the price of a reading of the
// cycle counter or of the system's clock.
inline uint64_t CycleClockNow() {
  Machine* const machine = Machine::current();
  if (machine == nullptr) return 1;
  machine->Spend(machine->costs().cycle_clock);
  return static_cast<uint64_t>(machine->now());
}
inline int64_t SystemNanoseconds() {
  Machine* const machine = Machine::current();
  if (machine == nullptr) return 1;
  machine->Spend(machine->costs().system_clock);
  return static_cast<int64_t>(machine->now());
}

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_THREAD_H_
