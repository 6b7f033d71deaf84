// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: check.h
// -----------------------------------------------------------------------------
//
// A model checker for lock-free code. It runs a small test in nearly every way
// that the C++20 memory model allows (memory.h explains the two limits), or in
// as many ways as the options ask for.
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
// In a GoogleTest, use gtest.h. docs/guide/model.md explains how to write a
// model, and how to read the checker's output. memory.h explains the memory
// model.

#ifndef ROUSE_TESTING_MODEL_CHECK_H_
#define ROUSE_TESTING_MODEL_CHECK_H_

#include "rouse/base/cxx20.h"

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
  // Every execution. If executions differ only in the order of independent
  // steps, only one execution.
  kExhaustive,
  // Like kExhaustive, but without the reduction. For checking the checker.
  kNaive,
  // Every execution in which threads are preempted (made to wait although they
  // could continue) at most `preemption_bound` times.
  kBounded,
  // `max_executions` random executions. In each execution, an order of threads
  // that requires d constraints occurs with a probability of at least
  // 1 / (threads * steps^(d-1)), for d = `pct_depth` (Burckhardt et al., "A
  // Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS
  // 2010). If a bug also requires outcomes of steps, such as an old value that
  // is read, the probability has a factor for each outcome: 1/2 + 1 / (2n) for
  // the first of n outcomes, 1 / (2n) for any other.
  kRandom,
};

// Options
//
// Says which executions `Check()` explores.
struct Options {
  Mode mode = Mode::kExhaustive;
  int preemption_bound = 2;
  int pct_depth = 3;
  uint64_t seed = 1;

  // Limits of the exploration. If a limit cuts the exploration off,
  // `Result::complete` is false. kRandom runs `max_executions` executions, and
  // is never complete.
  uint64_t max_executions = 50'000'000;
  absl::Duration max_time = absl::InfiniteDuration();

  // An execution with more steps fails as a livelock. At most 16,000: a larger
  // value ends the program.
  int max_steps = 10'000;

  // How often, in one execution, a weak compare-exchange or `TryLock()` of each
  // thread fails, or a wait of the thread returns, for no reason.
  int spurious_failures = 1;

  // True if every thread of the model is a system thread. Only one thread runs
  // at any moment. The mode is slow, but a debugger can follow the threads.
  bool system_threads = false;

  // If not empty, `Check()` runs only the execution of the failure with this
  // `Result::replay`. A string with other decisions than the model, or with
  // more decisions, is a failure. Any other string ends the program.
  std::string replay = {};
};

// Result
//
// The result of `Check()`.
struct Result {
  bool failed = false;
  std::string message;  // describes the failure
  std::string trace;    // a line for each step of the failing execution
  std::string replay;   // for Options::replay

  uint64_t executions = 0;  // number of executions that ran to the end
  uint64_t pruned = 0;      // number that turned out equivalent to another
  // True if all executions that the mode promises were explored.
  bool complete = false;
};

// Check
//
// Runs `body` repeatedly. The body must do the same each time, except for what
// the checker decides: no clock, no random numbers, no system threads. Only
// atomics, mutexes and condition variables of static storage are reset for each
// execution; the body must restore any other static data after a change. The
// body does not have to join the threads that it starts with Thread (thread.h).
// Stops at the first failure:
//
//   - a data race on a Cell, including its construction and destruction, or on
//     the construction or destruction of another object;
//   - use after free; double free; a leak of a block that holds an atomic, a
//     mutex or a condition variable;
//   - a deadlock, with what each thread waits for; a lost wake-up is a
//     deadlock;
//   - a livelock: `max_steps` is exceeded, or nothing will end a spin loop;
//   - an exception that leaves a thread; `Require(false)`; abort(), including a
//     CHECK or an assert that fails;
//   - a body that does not do the same each time. If this is noticed when a
//     failure is run again for its trace, the result has neither a trace nor a
//     `replay` string.
//
// Calls `failed_otherwise` after each execution; the execution has failed if
// `failed_otherwise` returns true. A process can run only one call at once.
Result Check(
    const Options& options, absl::FunctionRef<void()> body,
    absl::FunctionRef<bool()> failed_otherwise = [] { return false; });

// Require
//
// Fails the current execution unless `condition` is true. Outside a model,
// aborts the program instead.
void Require(bool condition, std::string_view what = "",
             std::source_location where = std::source_location::current());

// Choose
//
// Returns one of `count` possibilities, from 0 to `count - 1`, for the actions
// of the environment. The checker explores all possibilities. If `count` is
// more than 62, the exploration is not complete.
//
// REQUIRES: the call is in a model.
int Choose(int count);

// Mutant
//
// The code under test with one change: a memory order is one step weaker; a
// read-modify-write is torn into a load and a store; a store or a wake is
// skipped; or a marked step (mutable_step.h) is skipped, negated, always true
// or false, or swapped with the next step.
struct Mutant {
  std::string name;  // "Unlock: exchange at atomic_waker.cc:99: ..."
  bool killed = false;
  std::string message;  // of the failure that killed it
  uint64_t executions = 0;
};

// A model. `CheckMutants()` takes several models, which together must kill the
// mutants.
struct Model {
  Options options;
  void (*body)();
};

// CheckMutants
//
// Makes every mutant of the operations that the models run in source files
// whose path contains one of `files`, separated by '|'. For each mutant, checks
// the models that run into the mutant until one fails. Models with the fewest
// executions come first, and no model runs for much longer than without the
// mutant. A body that is not deterministic kills no mutant. Skips the mutants
// for whose names `is_wanted` returns false, and operations in the file named
// `except`.
//
// A surviving mutant is either equivalent, because the order is stronger than
// necessary or the step has no effect; or the mutant shows what no model tests.
//
// Returns nothing if a model fails on the unchanged code, before the mutants or
// after the mutants. A failure after the mutants means that a mutant has left
// plain static data behind, which may have killed other mutants.
std::vector<Mutant> CheckMutants(
    const std::vector<Model>& models, std::string_view files,
    std::string_view except, absl::FunctionRef<bool()> failed_otherwise,
    absl::FunctionRef<bool(std::string_view)> is_wanted = [](std::string_view) {
      return true;
    });

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_CHECK_H_
