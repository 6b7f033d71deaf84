// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: search.h
// -----------------------------------------------------------------------------
//
// Decides which execution to explore next. Internal to the model checker.
//
// An execution is a sequence of decisions: on the thread that takes the next
// step, and on the outcome of the step. The search runs the same program
// repeatedly from the start, repeats the decisions of the last execution up to
// some decision, and decides differently there.
//
// # What is explored in full
//
// Two executions that differ only in the order of independent steps are
// equivalent, and the search needs only one. Two steps are dependent if both
// touch the same object and a step changes the object, if both are sequentially
// consistent, or if a step is a barrier in all threads. The algorithm is
// source-set dynamic partial order reduction with sleep sets (Abdulla, Aronis,
// Jonsson, Sagonas, "Optimal Dynamic Partial Order Reduction", POPL 2014,
// algorithm 1):
//
//  - A step races with an earlier step of another thread if the two steps are
//    dependent and nothing in between orders the two. The node before the
//    earlier step must then also try a thread that can begin the reversed
//    order: an initial of the steps that follow the earlier step without
//    depending on it.
//  - A thread whose alternatives at a node have all been explored sleeps in the
//    other branches, until a step is taken on which the thread's step depends.
//
// The search departs from the algorithm in two ways, both on the safe side.
// First, all races are reversed, even if a third step stands between: a step
// that was blocked (a mutex) races with the steps before the step that
// unblocked it. Second, the value that a load returns is a choice below the
// step, out of every message that memory.h allows, so that dependence is
// symmetric. Simpler schemes, in which a load races with a store only if the
// load comes first, have been seen to lose outcomes. The differential test
// (random_programs_test) compares the search with a search without reduction.

#ifndef ROUSE_TESTING_MODEL_SEARCH_H_
#define ROUSE_TESTING_MODEL_SEARCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

// Footprint
//
// The objects that a step touches, as far as other steps can tell.
struct Footprint {
  static constexpr int kNothing = -1;

  int object = kNothing;
  bool writes = false;  // else the step reads `object`
  bool seq_cst = false;
  int queue = kNothing;     // a second object, always written: waiters
  bool any_write = false;   // depends on every write: waits for a change
  bool everything = false;  // depends on every step: a barrier in all threads

  static bool Dependent(const Footprint& a, const Footprint& b) {
    if (a.everything || b.everything) return true;
    if (a.seq_cst && b.seq_cst) return true;
    if (a.object != kNothing && a.object == b.object &&
        (a.writes || b.writes)) {
      return true;
    }
    if (a.queue != kNothing && a.queue == b.queue) return true;
    return (a.any_write && b.writes) || (b.any_write && a.writes);
  }
};

// How executions are chosen.
enum class Strategy {
  kReduced,  // all, except those that are equivalent to another execution
  kNaive,    // all
  kBounded,  // all with at most `Config::preemptions` preemptions
  kRandom,   // probabilistic concurrency testing
  kReplay,   // only the execution `Config::replay`
};

class Search {
 public:
  struct Config {
    Strategy strategy = Strategy::kReduced;
    int preemptions = 2;      // kBounded: maximum number
    int depth = 3;            // kRandom: number of a bug's ordering constraints
    uint64_t seed = 1;        // kRandom
    std::string_view replay;  // kReplay: a result of `Encoded()`
  };

  static constexpr int kPruned = -1;

  explicit Search(const Config& config);

  // Returns whether `Encoded()` can have returned `replay`.
  static bool CanDecode(std::string_view replay);

  void BeginExecution();

  // Decides which of the `enabled` threads takes its next step. `current` is
  // the thread that took the last step. Returns kPruned if every possible
  // continuation is equivalent to an execution that has been explored.
  int ChooseThread(ThreadSet enabled, int current,
                   const std::array<Footprint, kMaxThreads>& next);

  // Decides between `count` outcomes of the current step.
  int Choose(int count);

  // Records that the last step of `from` comes before the next step of `to`.
  void Order(int from, int to) { past_[to].Join(past_[from]); }
  // Split `Order()` in two, if the later thread must take another step first:
  // `Past()` returns the earlier steps, for a later call of `Order()`.
  VectorClock Past(int from) const { return past_[from]; }
  void Order(const VectorClock& past, int to) { past_[to].Join(past); }
  // Returns whether every step of `from` comes before the next step of `to`.
  bool Ordered(int from, int to) const { return past_[to].Covers(past_[from]); }

  // Ends the execution. The `unfinished` threads could not take the next step,
  // or did not get to take the step. Returns false if no other execution
  // exists.
  bool EndExecution(ThreadSet unfinished,
                    const std::array<Footprint, kMaxThreads>& next);

  // Returns whether the program did not do the same again: it offered other
  // possibilities after the same decisions.
  bool diverged() const { return diverged_; }

  // Returns whether a step had more outcomes than the search can try.
  bool truncated() const { return truncated_; }

  // Returns the decisions of the execution so far, as text.
  std::string Encoded() const;

 private:
  // A decision.
  struct Node {
    bool is_thread;
    uint8_t chosen;
    uint8_t count;  // of outcomes, if the decision is not between threads
    ThreadSet enabled;
    ThreadSet done;       // explored, or being explored
    ThreadSet backtrack;  // to be explored
    ThreadSet sleep;
    uint64_t shape;  // of the possible steps
  };
  struct Step {
    Footprint footprint;
    int thread;
    uint16_t number;  // among this thread's steps, from 1
    int node;
    VectorClock clock;  // this step and all steps that come before it
  };
  // The clocks of the last steps that touched an object.
  struct ObjectClocks {
    VectorClock writes;
    VectorClock reads;
  };

  static uint64_t Shape(ThreadSet enabled,
                        const std::array<Footprint, kMaxThreads>& next);
  int Fresh(ThreadSet enabled, int current,
            const std::array<Footprint, kMaxThreads>& next);
  int FreshReduced(Node& node, int current,
                   const std::array<Footprint, kMaxThreads>& next);
  int FreshRandom(ThreadSet enabled);
  void Take(int thread, const Footprint& footprint, int node);
  VectorClock ClockOf(int thread, const Footprint& footprint);
  ObjectClocks& Clocks(int object);
  void ReverseRaces(int thread, const Footprint& footprint,
                    const VectorClock& clock);
  void Reverse(size_t step, int thread, const VectorClock& clock);
  bool Backtrack();
  uint64_t Random();

  const Config config_;
  std::vector<Node> path_;
  size_t position_ = 0;
  // The first decision that differs from the previous execution.
  size_t changed_ = 0;
  bool diverged_ = false;
  bool truncated_ = false;
  int preemptions_ = 0;

  // State of this execution.
  std::vector<Step> steps_;
  std::array<VectorClock, kMaxThreads> past_;
  std::vector<ObjectClocks> objects_;
  size_t objects_used_ = 0;
  VectorClock seq_cst_;
  VectorClock all_writes_;
  VectorClock any_writes_;

  // State for kRandom.
  uint64_t random_;
  std::array<int, kMaxThreads> priority_{};
  std::vector<int> change_points_;
  int longest_ = 1;
  int thread_decisions_ = 0;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_SEARCH_H_
