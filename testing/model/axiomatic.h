// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: axiomatic.h
// -----------------------------------------------------------------------------
//
// What C++20 allows a small program to do, computed from the rules of the
// standard. A reference for tests of the checker: it shares no code with it,
// and no idea either. memory.h runs a program step by step on a machine. This
// knows no steps: it writes down every graph of who might read from which store
// and in which order the stores of each location might be, and then keeps those
// graphs that break no rule:
//
//   coherence   What happens before is not overtaken by reads-from,
//   modification
//               order, or by a load that returns what was overwritten before
//               ([intro.races]/13 to 16).
//   atomicity   A read-modify-write reads the store just before its own in
//               modification order ([atomics.order]/10).
//   S           There is an order of all that is sequentially consistent which
//               [atomics.order]/4 is content with.
//
// The two limits of the checker (docs/model.md) are rules here as well:
//
//   No load buffering: no circle of program order and reads-from, as in RC11
//   (Lahav et al., "Repairing Sequential Consistency in C/C++11", PLDI 2017).
//
//   S is the order of execution: S is a part of one order of all steps in which
//   each thread keeps its program order and each load comes after the store
//   that it reads from. `SOrder::kStandard` takes this one away.

#ifndef ROUSE_TESTING_MODEL_AXIOMATIC_H_
#define ROUSE_TESTING_MODEL_AXIOMATIC_H_

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace rouse::model::axiomatic {

struct Instruction {
  enum Kind {
    kLoad,
    kStore,
    kExchange,
    kAdd,
    kCompareExchange,
    kWeakCompareExchange,
    kFence,
    kReadPlain,
    kWritePlain,
  };
  Kind kind;
  int location = 0;  // atomics and plain data are numbered apart
  int value = 0;     // stored, or added
  int expected = 0;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure = std::memory_order_relaxed;
  // Left out if the thread's last atomic read before it returned 0, or if there
  // is none.
  bool guarded = false;
};

// Everything is 0 at first.
struct Program {
  int atomics = 0;
  int plain = 0;
  std::vector<std::vector<Instruction>> threads;
};

// For each instruction what it has read, or one of the two below; then the last
// value of each atomic.
using Outcome = std::vector<int>;
inline constexpr int kReadsNothing = -1;
inline constexpr int kLeftOut = -2;

// Whether S has to be a part of the order of execution, as in the checker.
enum class SOrder { kExecution, kStandard };

struct Allowed {
  std::set<Outcome> outcomes;  // of executions without a race
  bool race = false;           // whether some execution has one
  uint64_t graphs = 0;         // that break no rule
};

// What `program` may do. At most `spurious_failures` weak compare-exchanges of
// each thread fail for no reason.
Allowed Enumerate(const Program& program, int spurious_failures, SOrder s);

// The program as text, a line for each thread.
std::string ToString(const Program& program);

}  // namespace rouse::model::axiomatic

#endif  // ROUSE_TESTING_MODEL_AXIOMATIC_H_
