// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/mutation.h"

#include <atomic>
#include <source_location>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"

namespace rouse::model {
namespace {

// The orders that are one step weaker.
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

std::vector<Mutation::Change> Mutation::Changes() const {
  std::vector<Change> changes;
  const Place* torn = nullptr;
  for (const auto& [place, order] : seen_) {
    for (const std::memory_order weaker : Weaker(order, place.role)) {
      changes.push_back({.place = place, .from = order, .to = weaker});
    }
    // Torn once, whatever its orders.
    if (place.role == Role::kModify && (torn == nullptr || *torn < place)) {
      torn = &place;
      changes.push_back(
          {.place = place, .from = order, .to = order, .torn = true});
    }
  }
  return changes;
}

bool Mutation::Matches(const std::source_location& site, Role role) const {
  return change_ != nullptr && change_->place.line == site.line() &&
         change_->place.column == site.column() &&
         change_->place.role == role &&
         change_->place.file == std::string_view(site.file_name());
}

std::memory_order Mutation::OrderAt(const std::source_location& site, Role role,
                                    std::memory_order order) {
  if (change_ != nullptr) {
    return Matches(site, role) && !change_->torn && order == change_->from
               ? change_->to
               : order;
  }
  if (absl::StrContains(site.file_name(), files_) &&
      site.file_name() != except_) {
    seen_.emplace(Place{.file = site.file_name(),
                        .line = site.line(),
                        .column = site.column(),
                        .role = role,
                        .function = site.function_name()},
                  order);
  }
  return order;
}

bool Mutation::TornAt(const std::source_location& site) {
  return Matches(site, Role::kModify) && change_->torn;
}

}  // namespace rouse::model
