// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace rouse {
namespace {

// Describes a mounted hierarchy of control groups.
struct Mount {
  bool v2 = false;
  // Group at the mount point. The groups above it cannot be seen from here.
  std::string group;
  std::string point;
};

std::vector<std::string> Lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Returns whether `item` is in `list`, whose items are separated by commas.
bool Contains(std::string_view list, std::string_view item) {
  for (;;) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == item) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result =
      // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): with its end
      std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// Returns a path of mountinfo, in which blanks are written as \040.
std::string Unescaped(std::string_view text) {
  std::string path;
  while (!text.empty()) {
    int code = 0;
    if (text.size() >= 4 && text[0] == '\\' &&
        std::from_chars(text.data() + 1, text.data() + 4, code, 8).ptr ==
            text.data() + 4) {
      path += static_cast<char>(code);
      text.remove_prefix(4);
    } else {
      path += text[0];
      text.remove_prefix(1);
    }
  }
  return path;
}

// 36 35 98:0 <group> <point> rw,... <optional fields> - cgroup2 <source> rw,...
std::vector<Mount> CpuMounts(const std::string& mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string& line : Lines(mountinfo)) {
    const std::vector<std::string> words = Words(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (dash - words.begin() < 6 || words.end() - dash < 3) continue;
    const bool v2 = dash[1] == "cgroup2";
    // The source may be empty, but the options are last.
    if (!v2 && (dash[1] != "cgroup" || !Contains(words.back(), "cpu"))) {
      continue;
    }
    mounts.push_back({v2, Unescaped(words[3]), Unescaped(words[4])});
  }
  return mounts;
}

// Returns the number of processors whose time is `quota` in each `period`.
std::optional<size_t> Processors(std::string_view quota,
                                 std::string_view period) {
  const std::optional<int64_t> time = Number(quota);  // or "max", or -1
  const std::optional<int64_t> every = Number(period);
  if (!time.has_value() || !every.has_value()) return std::nullopt;
  if (*time <= 0 || *every <= 0) return std::nullopt;
  return static_cast<size_t>((*time - 1) / *every + 1);
}

// Returns the quota that one directory states.
std::optional<size_t> QuotaOf(const std::string& directory, bool v2) {
  if (v2) {
    const std::vector<std::string> lines = Lines(directory + "/cpu.max");
    if (lines.empty()) return std::nullopt;
    const std::vector<std::string> words = Words(lines[0]);
    if (words.size() != 2) return std::nullopt;
    return Processors(words[0], words[1]);
  }
  const std::vector<std::string> quota = Lines(directory + "/cpu.cfs_quota_us");
  const std::vector<std::string> period =
      Lines(directory + "/cpu.cfs_period_us");
  if (quota.empty() || period.empty()) return std::nullopt;
  return Processors(quota[0], period[0]);
}

// Returns whether `path` has the component "..": the group is then outside the
// process's namespace of groups.
bool LeavesNamespace(std::string_view path) {
  return path.ends_with("/..") || path.find("/../") != std::string_view::npos;
}

// Returns the part of the path of `group` below the group `mounted`, or nothing
// if `group` is not below `mounted`.
std::optional<std::string> Below(std::string_view group,
                                 std::string_view mounted) {
  if (mounted == "/") mounted = "";
  if (LeavesNamespace(group) || !group.starts_with(mounted)) {
    return std::nullopt;
  }
  group.remove_prefix(mounted.size());
  if (!group.empty() && group[0] != '/') return std::nullopt;
  return std::string(group == "/" ? "" : group);
}

// Returns the lesser of the values that exist.
std::optional<size_t> Lesser(std::optional<size_t> a, std::optional<size_t> b) {
  if (a.has_value() && b.has_value()) return std::min(*a, *b);
  return a.has_value() ? a : b;
}

// Returns the least quota of the directory `point` + `below` and of all
// enclosing directories up to `point`.
std::optional<size_t> LeastQuota(const std::string& point, std::string below,
                                 bool v2) {
  std::optional<size_t> least;
  for (;;) {
    least = Lesser(least, QuotaOf(point + below, v2));
    if (below.empty()) return least;
    below.resize(below.rfind('/'));
  }
}

// Returns the least quota of `group` and all enclosing groups. If no mount
// shows the group, as in a container that sees only its own groups, returns the
// least quota of the mount points.
std::optional<size_t> QuotaOfGroup(const std::vector<Mount>& mounts,
                                   const std::string& root,
                                   std::string_view group, bool v2) {
  bool is_shown = false;
  std::optional<size_t> least;
  for (const Mount& mount : mounts) {
    if (mount.v2 != v2) continue;
    const std::optional<std::string> below = Below(group, mount.group);
    if (is_shown && !below.has_value()) continue;
    if (!is_shown && below.has_value()) {
      is_shown = true;
      least.reset();
    }
    least =
        Lesser(least, LeastQuota(root + mount.point, below.value_or(""), v2));
  }
  return least;
}

}  // namespace

std::optional<size_t> CpuQuota(std::string_view root) {
  const std::string prefix(root);
  const std::vector<Mount> mounts = CpuMounts(prefix + "/proc/self/mountinfo");
  std::optional<size_t> least;
  // <number>:<controllers>:<group>, where v2 has no controllers.
  for (const std::string& line : Lines(prefix + "/proc/self/cgroup")) {
    const size_t first = line.find(':');
    if (first == std::string::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const bool v2 = controllers.empty();
    if (!v2 && !Contains(controllers, "cpu")) continue;
    least = Lesser(least,
                   QuotaOfGroup(mounts, prefix,
                                std::string_view(line).substr(second + 1), v2));
  }
  return least;
}

}  // namespace rouse
