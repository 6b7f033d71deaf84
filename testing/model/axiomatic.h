// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: axiomatic.h
// -----------------------------------------------------------------------------
//
// Computes what C++20 allows a small program to do, from the rules of the
// standard. This is a reference for tests of the checker: it shares neither
// code nor ideas with the checker. memory.h runs a program step by step on a
// machine. This header knows no steps. Each graph says from which store each
// load might read, and in which order the stores of each location might be. The
// functions below enumerate all graphs, and keep the graphs that break no rule:
//
//   coherence   Neither reads-from, nor modification order, nor a load that
//               returns an overwritten value contradicts happens-before
//               ([intro.races]/13 to 16).
//   atomicity   A read-modify-write reads the store just before its own store
//               in modification order ([atomics.order]/10).
//   S           The sequentially consistent operations have an order that
//               fulfils [atomics.order]/4.
//
// The two limits of the checker (docs/reference/model.md) are rules here, too:
//
//   No load buffering: no circle of program order and reads-from, as in RC11
//   (Lahav et al., "Repairing Sequential Consistency in C/C++11", PLDI 2017).
//
//   S is the order of execution: S is a part of one order of all steps, in
//   which each thread keeps its program order, and each load comes after the
//   store that the load reads from. `SOrder::kStandard` removes this limit.

#ifndef ROUSE_TESTING_MODEL_AXIOMATIC_H_
#define ROUSE_TESTING_MODEL_AXIOMATIC_H_

#include "rouse/base/cxx20.h"

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
  int location = 0;  // atomics and plain data are numbered separately
  int value = 0;     // to store or to add
  int expected = 0;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure = std::memory_order_relaxed;
  // True if the instruction is left out unless the thread's last atomic read
  // before the instruction returned a value other than 0.
  bool guarded = false;
};

// A program. Every location is 0 at first.
struct Program {
  int atomics = 0;
  int plain = 0;
  std::vector<std::vector<Instruction>> threads;
};

// For each instruction, the value read, or a constant from below; then the last
// value of each atomic.
using Outcome = std::vector<int>;
inline constexpr int kReadsNothing = -1;
inline constexpr int kLeftOut = -2;

// Says whether S must be a part of the order of execution, as in the checker.
enum class SOrder { kExecution, kStandard };

struct Allowed {
  std::set<Outcome> outcomes;  // of executions without a race
  bool race = false;           // true if an execution has a race
  uint64_t graphs = 0;         // number of graphs that break no rule
};

// Returns what `program` can do. At most `spurious_failures` weak
// compare-exchanges of each thread fail for no reason.
Allowed Enumerate(const Program& program, int spurious_failures, SOrder s);

// Returns the program as text, with a line for each thread.
std::string ToString(const Program& program);

}  // namespace rouse::model::axiomatic

#endif  // ROUSE_TESTING_MODEL_AXIOMATIC_H_
