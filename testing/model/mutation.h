// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mutation.h
// -----------------------------------------------------------------------------
//
// Mutants of the code under test: an ordering made weaker, a read-modify-write
// torn into a load and a store. A model that cannot tell a mutant from the
// original does not test what the mutant took away. Internal; see
// `CheckMutants` in check.h.

#ifndef ROUSE_TESTING_MODEL_MUTATION_H_
#define ROUSE_TESTING_MODEL_MUTATION_H_

#include <atomic>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace rouse::model {

// What an operation is, as far as its orderings go.
enum class Role { kLoad, kStore, kModify, kFailure, kFence };

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

  struct Change {
    Place place;
    std::memory_order from;
    std::memory_order to;
    bool torn = false;  // the orders are meaningless then
  };

  // Only operations in files whose path contains `files` are of interest, and
  // of these not the one named `except`.
  explicit Mutation(std::string files, std::string except)
      : files_(std::move(files)), except_(std::move(except)) {}

  // From now on, applies `change`.
  void Apply(const Change& change) { change_ = &change; }

  // Every change of one step that can be made to what was seen.
  std::vector<Change> Changes() const;

  // ---- For Execution.

  std::memory_order OrderAt(const std::source_location& site, Role role,
                            std::memory_order order);
  bool TornAt(const std::source_location& site);

 private:
  bool Matches(const std::source_location& site, Role role) const;

  const std::string files_;
  const std::string except_;
  const Change* change_ = nullptr;
  // One place may have several orders: of a wrapper that is given one.
  std::set<std::pair<Place, std::memory_order>> seen_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_MUTATION_H_
