// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/mutation.h"

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace rouse::model {
namespace {

// Returns the orders that are one step weaker.
std::vector<std::memory_order> Weaker(std::memory_order order, Role role) {
  const bool reads = role == Role::kLoad || role == Role::kFailure;
  switch (order) {
    case std::memory_order_seq_cst:
      if (reads) return {std::memory_order_acquire};
      if (role == Role::kStore) return {std::memory_order_release};
      return {std::memory_order_acq_rel};
    case std::memory_order_acq_rel:
      return {std::memory_order_acquire, std::memory_order_release};
    case std::memory_order_acquire:
    case std::memory_order_consume:
    case std::memory_order_release:
      return {std::memory_order_relaxed};
    case std::memory_order_relaxed:
      break;
  }
  return {};
}

}  // namespace

std::string_view Name(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

Mutation::Mutation(std::string_view files, std::string_view except)
    : files_(absl::StrSplit(files, '|')), except_(except) {}

std::set<Mutation::Change> Mutation::Changes() const {
  std::set<Change> changes;
  for (const auto& [place, order] : seen_) {
    for (const std::memory_order weaker : Weaker(order, place.role)) {
      changes.insert(
          {.place = place, .kind = Kind::kWeaker, .from = order, .to = weaker});
    }
    const auto add = [&changes, &place](std::initializer_list<Kind> kinds) {
      for (const Kind kind : kinds) {
        changes.insert({.place = place, .kind = kind});
      }
    };
    switch (place.role) {
      case Role::kModify:
        add({Kind::kTorn, Kind::kSkipped});
        break;
      case Role::kStore:
      case Role::kWake:
      case Role::kCall:
        add({Kind::kSkipped});
        break;
      case Role::kCondition:
        add({Kind::kAlwaysTrue, Kind::kAlwaysFalse, Kind::kNegated});
        break;
      case Role::kOrder:
        add({Kind::kSwapped});
        break;
      case Role::kLoad:
      case Role::kFailure:
      case Role::kFence:
        break;
    }
  }
  return changes;
}

void Mutation::Note(const std::source_location& site, Role role,
                    std::memory_order order) {
  if (change_ != nullptr ||
      !noted_.emplace(site.file_name(), site.line(), site.column(), role, order)
           .second) {
    return;
  }
  const std::string_view file = site.file_name();
  if (file == except_ ||
      std::ranges::none_of(files_, [file](const std::string& part) {
        return absl::StrContains(file, part);
      })) {
    return;
  }
  seen_.emplace(Place{.file = std::string(file),
                      .line = site.line(),
                      .column = site.column(),
                      .role = role,
                      .function = site.function_name()},
                order);
}

bool Mutation::Makes(const std::source_location& site, Role role,
                     Kind kind) const {
  return change_ != nullptr && change_->kind == kind &&
         change_->place.line == site.line() &&
         change_->place.column == site.column() &&
         change_->place.role == role &&
         change_->place.file == std::string_view(site.file_name());
}

std::memory_order Mutation::OrderAt(const std::source_location& site, Role role,
                                    std::memory_order order) {
  Note(site, role, order);
  return Makes(site, role, Kind::kWeaker) && change_->from == order
             ? change_->to
             : order;
}

bool Mutation::IsTorn(const std::source_location& site) const {
  return Makes(site, Role::kModify, Kind::kTorn);
}

bool Mutation::IsSkipped(const std::source_location& site, Role role) {
  // Operations with an order have already been recorded with the order.
  if (role == Role::kWake || role == Role::kCall) Note(site, role);
  return Makes(site, role, Kind::kSkipped);
}

bool Mutation::ConditionAt(const std::source_location& site, bool value) {
  Note(site, Role::kCondition);
  if (Makes(site, Role::kCondition, Kind::kAlwaysTrue)) return true;
  if (Makes(site, Role::kCondition, Kind::kAlwaysFalse)) return false;
  return value != Makes(site, Role::kCondition, Kind::kNegated);
}

bool Mutation::IsSwapped(const std::source_location& site) {
  Note(site, Role::kOrder);
  return Makes(site, Role::kOrder, Kind::kSwapped);
}

}  // namespace rouse::model
