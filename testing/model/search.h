// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: search.h
// -----------------------------------------------------------------------------
//
// Which execution to look at next. Internal to the model checker.
//
// An execution is a sequence of decisions: which thread takes the next step,
// and, within a step, which of several outcomes it has. The search runs the
// same program again and again from the start, repeats the decisions of the
// last execution up to one, and decides that one differently.
//
// # What is explored in full
//
// Two executions that differ only in the order of independent steps are the
// same; one of them is enough. Steps are dependent if they touch one object and
// one of them changes it, or if both are sequentially consistent, or if one is
// a barrier in all threads. The algorithm is source-set dynamic partial order
// reduction with sleep sets (Abdulla, Aronis, Jonsson, Sagonas, "Optimal
// Dynamic Partial Order Reduction", POPL 2014, algorithm 1):
//
//  - When a step races with an earlier one of another thread (they are
//    dependent and nothing in between orders them), the node before the earlier
//    step must also try a thread that can begin the reversed order: an initial
//    of what follows the earlier step without depending on it.
//  - A thread whose alternatives at a node have all been explored sleeps in the
//    other branches until a step is taken that its own one depends on.
//
// Two departures, on the safe side. All races are reversed, not only those that
// no third step stands between: a step that was blocked (a mutex) races with
// what is before the one that unblocked it. And what a load may return is a
// choice below the step, out of every message that memory.h allows, so that
// "depends" is symmetric: simpler schemes, in which only a load that comes
// first races with a store, have been seen to lose outcomes. The differential
// test (random_programs_test) compares with a search without any reduction.

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
// What a step touches, as far as other steps can tell.
struct Footprint {
  static constexpr int kNothing = -1;

  int object = kNothing;
  bool writes = false;  // else it reads `object`
  bool seq_cst = false;
  int queue = kNothing;     // a second object, always written: waiters
  bool any_write = false;   // depends on every write: it waits for a change
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
  kReduced,  // all, but for those that are equivalent to another
  kNaive,    // all
  kBounded,  // all with at most so many preemptions
  kRandom,   // probabilistic concurrency testing
  kReplay,   // one, given
};

class Search {
 public:
  struct Config {
    Strategy strategy = Strategy::kReduced;
    int preemptions = 2;  // kBounded: how many
    int depth = 3;        // kRandom: how many ordering constraints a bug has
    uint64_t seed = 1;    // kRandom
    std::string_view replay;  // kReplay: what `Encoded()` gave
  };

  static constexpr int kPruned = -1;

  explicit Search(const Config& config);

  // Whether `replay` is one that `Encoded()` can have given.
  static bool CanDecode(std::string_view replay);

  void BeginExecution();

  // Decides which of the `enabled` threads takes its next step; `current` took
  // the last one. Or kPruned: whatever comes, an equivalent has been seen.
  int ChooseThread(ThreadSet enabled, int current,
                   const std::array<Footprint, kMaxThreads>& next);

  // Decides between `count` outcomes of the step under way.
  int Choose(int count);

  // The last step of `from` comes before the next one of `to`.
  void Order(int from, int to) { past_[to].Join(past_[from]); }
  // The same in two parts: what comes before is noted now, and the thread that
  // comes after has first another step to take.
  VectorClock Past(int from) const { return past_[from]; }
  void Order(const VectorClock& past, int to) { past_[to].Join(past); }
  // Whether all that `from` did comes before the next step of `to`.
  bool Ordered(int from, int to) const { return past_[to].Covers(past_[from]); }

  // Ends the execution. `unfinished` threads have a step that they could not,
  // or did not get to, take. False if there is no other execution.
  bool EndExecution(ThreadSet unfinished,
                    const std::array<Footprint, kMaxThreads>& next);

  // Whether the program did not do the same again: it gave other possibilities
  // where the decisions before were the same.
  bool diverged() const { return diverged_; }

  // Whether a step had more outcomes than are ever tried.
  bool truncated() const { return truncated_; }

  // The decisions of the execution so far, as text.
  std::string Encoded() const;

 private:
  // One decision.
  struct Node {
    bool is_thread;
    uint8_t chosen;
    uint8_t count;  // outcomes, where it is not a thread
    ThreadSet enabled;
    ThreadSet done;       // explored, or being explored
    ThreadSet backtrack;  // to be explored
    ThreadSet sleep;
    uint64_t shape;  // of the steps that could be taken
  };
  struct Step {
    Footprint footprint;
    int thread;
    uint16_t number;  // of this thread's steps, from 1
    int node;
    VectorClock clock;  // this step and all that come before it
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
  // The first decision that differs from those of the execution before.
  size_t changed_ = 0;
  bool diverged_ = false;
  bool truncated_ = false;
  int preemptions_ = 0;

  // Of this execution.
  std::vector<Step> steps_;
  std::array<VectorClock, kMaxThreads> past_;
  std::vector<ObjectClocks> objects_;
  size_t objects_used_ = 0;
  VectorClock seq_cst_;
  VectorClock all_writes_;
  VectorClock any_writes_;

  // kRandom.
  uint64_t random_;
  std::array<int, kMaxThreads> priority_{};
  std::vector<int> change_points_;
  int longest_ = 1;
  int thread_decisions_ = 0;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_SEARCH_H_
