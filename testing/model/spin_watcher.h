// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spin_watcher.h
// -----------------------------------------------------------------------------
//
// Watches a thread of a model between calls of SpinHint(): whether the thread
// spins, on which objects, and whether the thread would continue to spin.
// Internal to the model checker.
//
// # Giving up
//
// A thread that spins is not run again until a value that the thread has read
// changes. This loses nothing if the thread would do the same in each round
// until then, but hides the code after a loop that gives up. Therefore, before
// a loop waits for the first time, the thread is rehearsed: the thread runs on
// alone for a thousand rounds. Each step of a rehearsal has the result that the
// step had in the last round, and no effect. A loop that waits for another
// thread does not notice. A thread that does anything else gives up.

#ifndef ROUSE_TESTING_MODEL_SPIN_WATCHER_H_
#define ROUSE_TESTING_MODEL_SPIN_WATCHER_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace rouse::model {

class SpinWatcher {
 public:
  using Site = std::source_location;

  // A read of a thread.
  struct Watched {
    int object;
    // The value that the thread would read again if no other thread wrote.
    uint64_t value;

    friend bool operator==(const Watched&, const Watched&) = default;
  };

  // A step of a thread, or an access of plain data.
  struct Deed {
    enum Kind : uint8_t {
      kLoad,
      kStore,
      kModify,   // including a compare-exchange that succeeds
      kCompare,  // a compare-exchange that fails
      kTryLock,  // a TryLock() that fails
      kFence,
      kYield,
      kPlain,      // `read` is the address
      kSpinHint,   // `read` and `written` are the place
      kOtherwise,  // anything that cannot be rehearsed
    };
    Kind kind;
    int object = -1;
    uint64_t read = 0;
    uint64_t written = 0;

    friend bool operator==(const Deed&, const Deed&) = default;
  };

  // The loops of one exploration that have been rehearsed. Each loop is
  // rehearsed once.
  using Rehearsed = absl::flat_hash_set<size_t>;

  // Resets the watcher, for a new execution.
  void Clear();

  // Records an action of the thread.
  void Did(const Deed& deed);
  void DidOtherwise() { Did({.kind = Deed::kOtherwise}); }
  // Forgets the last rounds, because the next round can differ even if nothing
  // has changed.
  void Forget();

  // Records a call of SpinHint(). Returns whether the thread spins: whether the
  // round has read the objects that the round before read last, and ends at the
  // same place. In a loop with several places, the same must hold for the
  // rounds of the last two laps. If the thread spins, `spins_on()` returns the
  // reads of the lap.
  bool EndRound(const Site& site);
  // Returns the reads that the thread spins on, until `Waited()`.
  const std::vector<Watched>& spins_on() const { return spins_on_; }
  // Returns whether all elements of `spins_on()` are the same object.
  bool SpinsOnOne() const;
  // Records that the thread continues because a value has changed.
  void Waited() { spins_on_.clear(); }

  // Begins a rehearsal of the thread and returns true. Returns false if the
  // loop has already been rehearsed, if the last two laps differed in any way,
  // or if a lap did anything that cannot be rehearsed.
  //
  // REQUIRES: the thread spins.
  bool BeginRehearsal(int thread, Rehearsed& rehearsed);
  void EndRehearsal() { rehearsal_.clear(); }
  bool rehearsing() const { return !rehearsal_.empty(); }
  // Returns the next action of a thread that does the same again.
  const Deed& cue() const { return rehearsal_[at_]; }
  // Records that the thread has followed the cue. Returns the cue.
  const Deed& TakeCue();
  // Returns how many laps of the loop have been rehearsed.
  int laps() const { return laps_; }

 private:
  // The actions of a thread between two calls of SpinHint(), and the place of
  // the second call.
  struct Round {
    const char* file;
    unsigned line;
    std::vector<Watched> watched;  // in the order of the last reads
    std::vector<Deed> deeds;
  };

  std::span<const Round> Last(size_t lap) const {
    return std::span(rounds_).last(lap);
  }
  void Read(int object, uint64_t value);
  void Write(int object, uint64_t value);
  // Returns how many of the last rounds are one lap of a loop, or 0.
  size_t Lap() const;
  bool DidTheSame() const;

  std::vector<Watched> watched_;
  std::vector<Deed> deeds_;
  std::vector<Round> rounds_;  // the last rounds that were not empty
  size_t lap_ = 0;
  std::vector<Watched> spins_on_;

  std::vector<Deed> rehearsal_;
  size_t at_ = 0;
  int laps_ = 0;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_SPIN_WATCHER_H_
