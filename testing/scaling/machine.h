// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: machine.h
// -----------------------------------------------------------------------------
//
// A virtual machine with many cores, on which the code of the `*_scaling`
// targets runs in a single thread of the system. Internal to the simulator.
//
// Each thread of the code under test is a fiber with a core and a clock of its
// own. The code runs for real, but its time is virtual: every atomic access,
// and every call that would enter the kernel, adds its price to the clock of
// the core. Before each access, the machine switches to the core whose clock is
// the earliest. Therefore all accesses happen one after another, in the order
// of their virtual times, and a run is repeatable.

#ifndef ROUSE_TESTING_SCALING_MACHINE_H_
#define ROUSE_TESTING_SCALING_MACHINE_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <source_location>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "rouse/testing/model/fiber.h"
#include "rouse/testing/scaling/costs.h"
#include "rouse/testing/scaling/line_model.h"

namespace rouse::scaling {

using Site = std::source_location;

// Machine
//
// Times are in nanoseconds of virtual time. Except for `Run()`, the functions
// are for code on one of the cores. At most one machine exists at once.
class Machine {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit Machine(const Costs& costs = {});
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  // Returns the machine on which the caller runs, or null.
  static Machine* current() { return current_; }

  // Runs `body` on core 0, until `body` and all threads have ended. Dies if no
  // core can ever continue.
  void Run(std::function<void()> body);

  const Costs& costs() const { return costs_; }
  LineModel& lines() { return lines_; }

  // ---- Time.

  double now() const { return running_->clock; }
  // Spends `time` on something that other cores do not notice.
  void Spend(double time) { running_->clock += time; }
  // Waits until `time`.
  void SleepUntil(double time);
  // Calls `callback` at `time`, on no core. It may call `FutexWakeAt()`, and
  // must not access anything with a price.
  void CallAt(double time, std::function<void()> callback);

  // ---- Accesses.

  // Accesses the line of `address`.
  void Do(Access access, const void* address, const Site& site);

  // ---- Threads.

  // Starts a thread on a core of its own, and returns the core.
  size_t Start(std::function<void()> body);
  // Waits for the end of a thread.
  void Join(size_t core);
  size_t core() const { return running_->index; }
  // Returns the calling thread's object for `key`, made by the first call.
  void* ThreadLocal(const void* key,
                    absl::FunctionRef<std::shared_ptr<void>()> make);

  // Returns the machine's only object for `key`, made by the first call.
  void* Shared(const void* key,
               absl::FunctionRef<std::shared_ptr<void>()> make);

  // ---- Waiting. The futex of an address is a list of sleeping threads.

  // Sleeps on `address` if `is_expected()`, until a wake or for `timeout`.
  void FutexWait(const void* address, absl::FunctionRef<bool()> is_expected,
                 double timeout);
  // Wakes a thread that sleeps on `address`, if any.
  void FutexWakeOne(const void* address);
  // Returns whether a thread sleeps on `address`, at no price.
  bool HasSleeper(const void* address) const {
    return sleepers_.contains(address);
  }
  // Wakes a thread at `time` on behalf of the kernel, at no price. Returns
  // whether a thread slept.
  bool FutexWakeAt(const void* address, double time);

  // Waits in line for `address` without the kernel, like a thread that spins
  // for a lock. `Admit()` lets the first in the line continue, and returns
  // whether a thread waited.
  void StandInLine(const void* address);
  bool Admit(const void* address);

  // Runs the barrier of membarrier(2).
  void BarrierElsewhere();

 private:
  struct Core {
    size_t index;
    double clock;
    std::unique_ptr<model::Fiber> fiber;
    // True if the core is in `ready_`; `order` is a part of the key there.
    bool is_ready = false;
    uint64_t order = 0;
    bool has_ended = false;
    std::vector<size_t> joiners;
    // In the order of their construction.
    std::vector<std::pair<const void*, std::shared_ptr<void>>> locals;
    // The address on which the thread sleeps, or null.
    const void* futex = nullptr;
  };
  // The time, a number that grows with each entry, and the core. An entry
  // without a core is a callback.
  using Ready = std::tuple<double, uint64_t, Core*>;

  void MakeReady(Core& core, double time);
  void Unready(Core& core);
  // Lets the cores run whose clocks are earlier than the running core's.
  void GiveWay();
  // Lets other cores run until the running core is ready, and its turn comes.
  void Block();
  // Takes the first core that is ready.
  Core* Next();
  void SwitchTo(Core& core);
  void End(Core& core);
  Core* TakeSleeper(const void* address);

  static Machine* current_;

  const Costs costs_;
  LineModel lines_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::unique_ptr<model::Fiber> outside_;
  Core* running_ = nullptr;
  std::set<Ready> ready_;
  absl::flat_hash_map<uint64_t, std::function<void()>> callbacks_;
  uint64_t orders_ = 0;
  size_t alive_ = 0;
  absl::flat_hash_map<const void*, std::deque<Core*>> sleepers_;
  absl::flat_hash_map<const void*, std::deque<Core*>> lines_of_waiters_;
  absl::flat_hash_map<const void*, std::shared_ptr<void>> shared_;
};

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_MACHINE_H_
