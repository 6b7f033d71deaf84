// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutation.h
// -----------------------------------------------------------------------------
//
// Mutants of the code under test. In a mutant, an order is weaker, a
// read-modify-write is torn into a load and a store, or a step is skipped,
// negated or swapped with the next step. A model that cannot tell a mutant from
// the original does not test what the mutant took away. Internal; see
// `CheckMutants` in check.h.

#ifndef ROUSE_TESTING_MODEL_MUTATION_H_
#define ROUSE_TESTING_MODEL_MUTATION_H_

#include "rouse/base/cxx20.h"

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

// The kind of an operation.
enum class Role : uint8_t {
  // Atomic operations. kFailure is the load of a compare-exchange that fails.
  kLoad,
  kStore,
  kModify,
  kFailure,
  kFence,
  // A wake of a futex or a condition variable.
  kWake,
  // Steps that mutable_step.h marks.
  kCondition,
  kCall,
  kOrder,
};

// Returns the standard's name of an order, without the prefix `memory_order_`.
std::string_view Name(std::memory_order order);

// Mutation
//
// Records the operations of a model, or changes one operation.
class Mutation {
 public:
  // A place in the source. The same line and column is the same operation, in
  // any instance of a template.
  struct Place {
    std::string file;
    unsigned line;
    unsigned column;
    Role role;
    std::string function = {};  // not compared: the others determine it

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
    // For kWeaker.
    std::memory_order from = std::memory_order_relaxed;
    std::memory_order to = std::memory_order_relaxed;

    bool operator<(const Change& other) const {
      return std::tie(place, kind, from, to) <
             std::tie(other.place, other.kind, other.from, other.to);
    }
  };

  // Records operations in files whose path contains one of `files`, separated
  // by '|', except for operations in the file named `except`.
  Mutation(std::string_view files, std::string_view except);

  // Makes `change`. REQUIRES: `change` outlives the Mutation.
  explicit Mutation(const Change& change) : change_(&change) {}

  // Returns every change that can be made to the recorded operations.
  std::set<Change> Changes() const;

  // ---- For Execution, and for mutable_step.h. Each records the operation.

  std::memory_order OrderAt(const std::source_location& site, Role role,
                            std::memory_order order);
  bool IsSkipped(const std::source_location& site, Role role);
  // Returns the result of a condition whose own value is `value`.
  bool ConditionAt(const std::source_location& site, bool value);
  bool IsSwapped(const std::source_location& site);
  // REQUIRES: `OrderAt()` has recorded the operation.
  bool IsTorn(const std::source_location& site) const;

 private:
  // The record of an operation. The address of the file's name stands for the
  // name. A name can have several addresses.
  using Noted =
      std::tuple<const char*, unsigned, unsigned, Role, std::memory_order>;

  void Note(const std::source_location& site, Role role,
            std::memory_order order = std::memory_order_relaxed);
  bool Makes(const std::source_location& site, Role role, Kind kind) const;

  const std::vector<std::string> files_;
  const std::string except_;
  const Change* const change_ = nullptr;
  absl::flat_hash_set<Noted> noted_;  // in all files
  // A place can have several orders, in a wrapper whose order is a parameter.
  std::set<std::pair<Place, std::memory_order>> seen_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_MUTATION_H_
