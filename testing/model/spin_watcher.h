// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: spin_watcher.h
// -----------------------------------------------------------------------------
//
// What one thread of a model does between its calls of SpinHint(): whether it
// spins, on what, and whether it would go on to. Internal to the model checker.
//
// # Giving up
//
// A thread that spins is not run again until something it has read is another.
// That loses nothing if the thread would do the same in each round until then,
// and hides what comes after a loop that gives up. So before a loop waits for
// the first time, the thread is rehearsed: it runs on alone for a thousand
// rounds, in which each of its steps has the result that it had in the last
// round, and no effect. A loop that waits for another thread does not notice. A
// thread that does anything else is one that gives up.

#ifndef ROUSE_TESTING_MODEL_SPIN_WATCHER_H_
#define ROUSE_TESTING_MODEL_SPIN_WATCHER_H_

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

  // What a thread has read.
  struct Watched {
    int object;
    // What it would read again, if no other thread wrote.
    uint64_t value;

    friend bool operator==(const Watched&, const Watched&) = default;
  };

  // A step of a thread, or an access of plain data.
  struct Deed {
    enum Kind : uint8_t {
      kLoad,
      kStore,
      kModify,   // a compare-exchange that succeeds, too
      kCompare,  // a compare-exchange that fails
      kTryLock,  // that fails
      kFence,
      kYield,
      kPlain,      // `read` is the address
      kSpinHint,   // `read` and `written` are the place
      kOtherwise,  // what can not be rehearsed
    };
    Kind kind;
    int object = -1;
    uint64_t read = 0;
    uint64_t written = 0;

    friend bool operator==(const Deed&, const Deed&) = default;
  };

  // The loops of one exploration that have been rehearsed, so that each is
  // once.
  using Rehearsed = absl::flat_hash_set<size_t>;

  // A new execution begins.
  void Clear();

  // The thread has done this.
  void Did(const Deed& deed);
  void DidOtherwise() { Did({.kind = Deed::kOtherwise}); }
  // What follows may be another round though nothing has changed.
  void Forget();

  // The thread calls SpinHint(). Returns whether it spins: whether this round
  // has read what the one before read last, and ends at the same place; or, of
  // a loop with several places, whether this lap of rounds and the lap before
  // are such. If so, `spins_on()` is what the lap has read.
  bool EndRound(const Site& site);
  // Until `Waited()`.
  const std::vector<Watched>& spins_on() const { return spins_on_; }
  // Whether all of `spins_on()` is one object.
  bool SpinsOnOne() const;
  // The thread goes on: what it spun on has changed.
  void Waited() { spins_on_.clear(); }

  // Whether the thread, which spins, is to be rehearsed now. It is not when the
  // last two laps were different in any way, or did what has no imitation.
  bool BeginRehearsal(int thread, Rehearsed& rehearsed);
  void EndRehearsal() { rehearsal_.clear(); }
  bool rehearsing() const { return !rehearsal_.empty(); }
  // What the thread does next, if it does the same again.
  const Deed& cue() const { return rehearsal_[at_]; }
  // It has done that. Returns the cue that it took.
  const Deed& TakeCue();
  // How many rounds of the loop have been rehearsed.
  int laps() const { return laps_; }

 private:
  // What a thread did between one SpinHint and another, and where the second
  // is.
  struct Round {
    const char* file;
    unsigned line;
    std::vector<Watched> watched;  // in the order of their last reads
    std::vector<Deed> deeds;
  };

  std::span<const Round> Last(size_t lap) const {
    return std::span(rounds_).last(lap);
  }
  void Read(int object, uint64_t value);
  void Write(int object, uint64_t value);
  // How many of the last rounds are one lap of a loop, or 0.
  size_t Lap() const;
  bool DidTheSame() const;

  std::vector<Watched> watched_;
  std::vector<Deed> deeds_;
  std::vector<Round> rounds_;  // the last ones that were not empty
  size_t lap_ = 0;
  std::vector<Watched> spins_on_;

  std::vector<Deed> rehearsal_;
  size_t at_ = 0;
  int laps_ = 0;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_SPIN_WATCHER_H_
