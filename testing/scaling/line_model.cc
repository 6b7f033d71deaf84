// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/line_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "rouse/testing/scaling/caller.h"
#include "rouse/testing/scaling/costs.h"

namespace rouse::scaling {
namespace {

constexpr size_t kCluster = Costs::kCluster;

constexpr std::string_view kNamespaces[] = {
    "rouse_scaling::", "rouse::", "scheduler::", "internal::"};

uint8_t Bit(size_t core) { return static_cast<uint8_t>(1U << core % kCluster); }

// Returns the first `count` of `heats`, the hottest first.
std::vector<LineModel::Heat> Sorted(std::vector<LineModel::Heat> heats,
                                    size_t count) {
  std::sort(heats.begin(), heats.end(), [](const auto& one, const auto& other) {
    return one.stall > other.stall;
  });
  heats.resize(std::min(heats.size(), count));
  return heats;
}

}  // namespace

double LineModel::Distance(size_t one, size_t other) const {
  if (one == other) return 0;
  if (one / kCluster == other / kCluster) return costs_.in_cluster;
  return SocketOf(one) == SocketOf(other) ? costs_.in_socket
                                          : costs_.across_sockets;
}

bool LineModel::Has(const Line& line, size_t core) const {
  return (line.sharers[core / kCluster] & Bit(core)) != 0;
}

double LineModel::Nearest(const Line& line, size_t core) const {
  const size_t own = core / kCluster;
  if ((line.sharers[own] & ~Bit(core)) != 0) return costs_.in_cluster;
  double nearest = 0;
  for (size_t i = 0; i < line.sharers.size(); ++i) {
    if (i == own || line.sharers[i] == 0) continue;
    const double distance = Distance(core, i * kCluster);
    if (nearest == 0 || distance < nearest) nearest = distance;
  }
  return nearest;
}

double LineModel::Farthest(const Line& line, size_t core) const {
  const size_t own = core / kCluster;
  double farthest =
      (line.sharers[own] & ~Bit(core)) != 0 ? costs_.in_cluster : 0;
  for (size_t i = 0; i < line.sharers.size(); ++i) {
    if (i == own || line.sharers[i] == 0) continue;
    farthest = std::max(farthest, Distance(core, i * kCluster));
  }
  return farthest;
}

void LineModel::SetOnly(Line& line, size_t core) {
  line.sharers.fill(0);
  line.sharers[core / kCluster] = Bit(core);
  line.count = 1;
}

double LineModel::Do(Access access, size_t core, const void* address,
                     double now, const std::source_location& site) {
  CHECK_LT(core, kMaxCores);
  Line& line = lines_[reinterpret_cast<uintptr_t>(address) / kLineSize];
  const double hit = access == Access::kLoad    ? costs_.load
                     : access == Access::kStore ? costs_.store
                                                : costs_.modify;
  double begin = now;
  if (access == Access::kModify) begin = std::max(begin, drained_[core]);
  const bool has = Has(line, core);
  if (line.count == 0) SetOnly(line, core);
  if (has && (access == Access::kLoad || line.count == 1)) {
    // The line itself may still be on its way into the store buffer's core.
    if (access == Access::kModify) begin = std::max(begin, line.free_at);
    return begin + hit;
  }
  if (!has && line.count == 1 && Has(line, core)) return begin + hit;
  double arrived;
  if (access == Access::kLoad) {
    const double distance = Nearest(line, core);
    if (line.count == 1) {
      // The only sharer writes the line back.
      arrived = std::max(begin, line.free_at) + distance;
      line.free_at = arrived;
    } else {
      arrived = std::max(begin, line.free_at) + distance;
    }
    line.sharers[core / kCluster] |= Bit(core);
    ++line.count;
  } else {
    arrived = std::max(begin, line.free_at) + Farthest(line, core);
    line.free_at = arrived;
    SetOnly(line, core);
  }
  // One entry for each user of a lock, wherever in the lock it waits.
  Share& share =
      line.shares[IsInLock(site) ? Place{CallerOfLock(), 0, nullptr}
                                 : Place{site.file_name(), site.line(),
                                         site.function_name()}];
  ++share.transfers;
  if (access == Access::kStore) {
    drained_[core] = std::max(drained_[core], arrived);
    return now + hit;
  }
  share.stall += arrived - now;
  stall_ += arrived - now;
  return arrived + hit;
}

std::string LineModel::NameOf(const Place& place) {
  if (place.function == nullptr) {
    std::string_view user = place.file;
    for (const std::string_view prefix : kNamespaces) {
      if (user.starts_with(prefix)) user.remove_prefix(prefix.size());
    }
    return absl::StrCat(user, " (lock)");
  }
  std::string_view function = place.function;
  // "T Class<A>::Name(B) [C = D]": the name without result and parameters.
  size_t depth = 0;
  size_t end = function.size();
  for (size_t i = 0; i < function.size(); ++i) {
    if (function[i] == '<') ++depth;
    if (function[i] == '>' && depth > 0) --depth;
    if (function[i] == '(' && depth == 0 && i > 0 &&
        function.substr(i, 11) != "(anonymous ") {
      end = i;
      break;
    }
  }
  function = function.substr(0, end);
  depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < function.size(); ++i) {
    if (function[i] == '<') ++depth;
    if (function[i] == '>' && depth > 0) --depth;
    if (function[i] == ' ' && depth == 0) begin = i + 1;
  }
  function = function.substr(begin);
  std::string name;
  for (const char c : function) {
    if (c == '<') ++depth;
    if (depth == 0) name += c;
    if (c == '>' && depth > 0) --depth;
  }
  for (const std::string_view prefix : kNamespaces) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  std::string_view file = place.file;
  if (const size_t at = file.rfind("rouse/"); at != std::string_view::npos) {
    file.remove_prefix(at + 6);
  }
  return absl::StrCat(name, " (", file, ")");
}

std::vector<LineModel::Heat> LineModel::Hottest(size_t count) const {
  std::vector<Heat> heats;
  for (const auto& [address, line] : lines_) {
    Heat heat;
    for (const auto& [place, share] : line.shares) {
      heat.stall += share.stall;
      heat.transfers += share.transfers;
      if (share.stall >= heat.stall_here) {
        heat.stall_here = share.stall;
        heat.name = NameOf(place);
      }
    }
    if (heat.stall > 0) heats.push_back(std::move(heat));
  }
  return Sorted(std::move(heats), count);
}

std::vector<LineModel::Heat> LineModel::HottestAccesses(size_t count) const {
  absl::flat_hash_map<Place, Share> sums;
  for (const auto& [address, line] : lines_) {
    for (const auto& [place, share] : line.shares) {
      sums[place].stall += share.stall;
      sums[place].transfers += share.transfers;
    }
  }
  std::vector<Heat> heats;
  for (const auto& [place, share] : sums) {
    heats.push_back({share.stall, share.transfers, NameOf(place), share.stall});
  }
  return Sorted(std::move(heats), count);
}

void LineModel::ForgetStalls() {
  for (auto& [address, line] : lines_) line.shares.clear();
  stall_ = 0;
}

}  // namespace rouse::scaling
