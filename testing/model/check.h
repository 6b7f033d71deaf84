// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: check.h
// -----------------------------------------------------------------------------
//
// A model checker for lock-free code: runs a small test in nearly every way
// that the C++20 memory model allows (memory.h has the two limits), or as many
// as it is told to.
//
//   rouse::model::Result result = rouse::model::Check({}, [] {
//     rouse::model::Atomic<bool> ready(false);
//     rouse::model::Cell<int> data(0);
//     rouse::model::Thread other([&] {
//       data.Write() = 42;
//       ready.store(true, std::memory_order_relaxed);  // should release
//     });
//     if (ready.load(std::memory_order_acquire)) {
//       rouse::model::Require(data.Read() == 42);
//     }
//     other.Join();
//   });
//   std::cout << result.message << result.trace;   // a data race
//
// In a GoogleTest, use gtest.h. How to write a model, and how to read what
// the checker prints: docs/model.md. What the memory model is: memory.h.

#ifndef ROUSE_TESTING_MODEL_CHECK_H_
#define ROUSE_TESTING_MODEL_CHECK_H_

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace rouse::model {

// How much of a model to explore.
enum class Mode {
  // Every execution; of those that differ only in the order of independent
  // steps, one.
  kExhaustive,
  // The same without that reduction. To check the checker.
  kNaive,
  // Every execution in which threads are preempted (made to wait though they
  // could go on) at most `preemption_bound` times.
  kBounded,
  // `max_executions` at random. In each, an order of threads that takes d
  // constraints comes up with a probability of at least
  // 1 / (threads * steps^(d-1)), for d = `pct_depth` (Burckhardt et al., "A
  // Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS
  // 2010). A bug that takes outcomes of steps too, such as an old value that is
  // read, has a factor for each: 1/2 for the first of n, 1 / (2n) for another.
  kRandom,
};

// Options
struct Options {
  Mode mode = Mode::kExhaustive;
  int preemption_bound = 2;
  int pct_depth = 3;
  uint64_t seed = 1;

  // The exploration is cut off after so many executions, or so much time;
  // `Result::complete` then says so. kRandom makes so many and is not complete.
  uint64_t max_executions = 50'000'000;
  absl::Duration max_time = absl::InfiniteDuration();

  // An execution with more steps is taken for a livelock. Not more than 16,000:
  // that ends the program.
  int max_steps = 10'000;

  // How often each thread's weak compare-exchanges and `TryLock()`s fail, and
  // its waits return, for no reason, in one execution.
  int spurious_failures = 1;

  // Every thread of the model is one of the system's, and only one runs at a
  // time: slow, but a debugger can follow it.
  bool system_threads = false;

  // Runs the one execution that a failure has named. A string that has other
  // decisions than this model, or more of them, is a failure; one that is none
  // at all ends the program.
  std::string replay = {};
};

// Result
struct Result {
  bool failed = false;
  std::string message;  // what is wrong
  std::string trace;    // a line for each step of the failing execution
  std::string replay;   // for Options::replay

  uint64_t executions = 0;  // to the end
  uint64_t pruned = 0;      // found, on the way, to be equivalent to another
  // Whether all executions that the mode promises were explored.
  bool complete = false;
};

// Check
//
// Runs `body` again and again. It must do the same each time, but for what the
// checker decides: no clock, no random numbers, no system threads. Of what has
// static storage only atomics, mutexes and condition variables begin anew each
// time: it must itself put back what else it changes there. What it
// starts with Thread (thread.h) it need not join. Stops at the first failure:
//
//   - a data race on a Cell, its making and its end included, or on another
//     object's making or end;
//   - use after free, double free, a leak, of what holds an atomic, a mutex or
//     a condition variable;
//   - deadlock, with what each thread waits for: a lost wake-up is one;
//   - livelock: `max_steps`, or a spin loop that nothing will end;
//   - an exception that leaves a thread; `Require(false)`; abort(), and with it
//     a CHECK or an assert that fails;
//   - a body that does not do the same each time. If that is noticed when a
//     failure is run again for its trace, there is none, and no `replay`.
//
// `failed_otherwise` is asked after each execution. One call at a time in a
// process.
Result Check(
    const Options& options, absl::FunctionRef<void()> body,
    absl::FunctionRef<bool()> failed_otherwise = [] { return false; });

// Require
//
// Fails the execution under way, unless `condition`. Outside of a model, aborts
// the program.
void Require(bool condition, std::string_view what = "",
             std::source_location where = std::source_location::current());

// Choose
//
// One of `count` possibilities (62 at the most), all of which are explored:
// what the environment may do. In a model only.
int Choose(int count);

// Mutant
//
// The code under test with one change: a memory order is one step weaker; a
// read-modify-write is torn into a load and a store; a store or a wake is
// skipped; or a step that is marked (mutable_step.h) is skipped, negated, made
// always true or false, or swapped with the next.
struct Mutant {
  std::string name;  // "Unlock: exchange at atomic_waker.cc:108: ..."
  bool killed = false;
  std::string message;  // of what killed it
  uint64_t executions = 0;
};

// One model among several that are to kill mutants together.
struct Model {
  Options options;
  void (*body)();
};

// CheckMutants
//
// Makes every mutant of the operations in source files whose path contains one
// of `files`, which '|' separates, as far as the models run into them. Checks
// on each the models that run into it, until one fails: those that have the
// fewest executions first, and no model for much longer than the original. A
// mutant that survives is either equivalent, because the order is stronger than
// need be, or the step idle; or it shows what no model tests. Nothing is
// returned if a model fails on the code as it is, before the mutants or after
// them: what fails then is that one has left plain static data behind, by which
// others may have been killed. A body that is not deterministic kills none.
// Leaves out the mutants whose names `is_wanted` returns false for.
std::vector<Mutant> CheckMutants(
    const std::vector<Model>& models, std::string_view files,
    std::string_view except, absl::FunctionRef<bool()> failed_otherwise,
    absl::FunctionRef<bool(std::string_view)> is_wanted = [](std::string_view) {
      return true;
    });

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_CHECK_H_
