// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutation.h
// -----------------------------------------------------------------------------
//
// Mutants of the code under test: an ordering made weaker, a read-modify-write
// torn into a load and a store, a step that is skipped, negated or swapped with
// the next. A model that cannot tell a mutant from the original does not test
// what the mutant took away. Internal; see `CheckMutants` in check.h.

#ifndef ROUSE_TESTING_MODEL_MUTATION_H_
#define ROUSE_TESTING_MODEL_MUTATION_H_

#include <atomic>
#include <cstdint>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace rouse::model {

// What an operation is.
enum class Role : uint8_t {
  // Atomic operations. kFailure is the load of a compare-exchange that fails.
  kLoad,
  kStore,
  kModify,
  kFailure,
  kFence,
  // Of a futex or a condition variable.
  kWake,
  // What mutable_step.h marks.
  kCondition,
  kCall,
  kOrder,
};

// The name that the standard has for an order, without its prefix.
std::string_view Name(std::memory_order order);

// Mutation
//
// Notes which operations there are, or changes one of them.
class Mutation {
 public:
  // A place in the source. What is under the same line and column is one
  // operation, in whatever instance of a template.
  struct Place {
    std::string file;
    unsigned line;
    unsigned column;
    Role role;
    std::string function = {};  // says no more than the others

    bool operator<(const Place& other) const {
      return std::tie(file, line, column, role) <
             std::tie(other.file, other.line, other.column, other.role);
    }
  };

  enum class Kind : uint8_t {
    kWeaker,
    kTorn,
    kSkipped,
    kAlwaysTrue,
    kAlwaysFalse,
    kNegated,
    kSwapped,
  };

  struct Change {
    Place place;
    Kind kind;
    // Of kWeaker.
    std::memory_order from = std::memory_order_relaxed;
    std::memory_order to = std::memory_order_relaxed;

    bool operator<(const Change& other) const {
      return std::tie(place, kind, from, to) <
             std::tie(other.place, other.kind, other.from, other.to);
    }
  };

  // Notes operations in files whose path contains one of `files`, which '|'
  // separates, and not those in the file named `except`.
  Mutation(std::string_view files, std::string_view except);

  // Makes `change`, which must live as long as this.
  explicit Mutation(const Change& change) : change_(&change) {}

  // Every change that can be made to what was noted.
  std::set<Change> Changes() const;

  // ---- For Execution, and for mutable_step.h. Each notes the operation.

  std::memory_order OrderAt(const std::source_location& site, Role role,
                            std::memory_order order);
  bool IsSkipped(const std::source_location& site, Role role);
  // What becomes of a condition that is `value`.
  bool ConditionAt(const std::source_location& site, bool value);
  bool IsSwapped(const std::source_location& site);
  // Of an operation that OrderAt() has noted.
  bool IsTorn(const std::source_location& site) const;

 private:
  // What is noted of an operation: the address of the file's name stands for
  // the name, of which there may be several copies.
  using Noted =
      std::tuple<const char*, unsigned, unsigned, Role, std::memory_order>;

  void Note(const std::source_location& site, Role role,
            std::memory_order order = std::memory_order_relaxed);
  bool Makes(const std::source_location& site, Role role, Kind kind) const;

  const std::vector<std::string> files_;
  const std::string except_;
  const Change* const change_ = nullptr;
  absl::flat_hash_set<Noted> noted_;  // also those that are not of interest
  // One place may have several orders: of a wrapper that is given one.
  std::set<std::pair<Place, std::memory_order>> seen_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_MUTATION_H_
