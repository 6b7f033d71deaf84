// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/caller.h"

#include <cstring>
#include <source_location>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/debugging/stacktrace.h"
#include "absl/debugging/symbolize.h"
#include "absl/strings/match.h"

namespace rouse::scaling {
namespace {

// Returns the name of the function at `pc`; empty if the function is a lock's
// or the simulator's.
const std::string& NameAt(void* pc) {
  static auto& names = *new absl::node_hash_map<void*, std::string>();
  const auto [it, is_new] = names.try_emplace(pc);
  if (!is_new) return it->second;
  char name[1024];
  if (!absl::Symbolize(pc, name, sizeof name)) return it->second;
  const std::string_view view(name);
  for (const std::string_view part :
       {"Lock::", "LockHolder", "LockBase", "Holder::", "scaling::Machine",
        "scaling::LineModel", "scaling::Atomic", "scaling::Pay",
        "scaling::Mutex", "CallerOfLock"}) {
    if (absl::StrContains(view, part)) return it->second;
  }
  it->second = view.substr(0, view.find("()"));
  return it->second;
}

}  // namespace

bool IsInLock(const std::source_location& site) {
  static auto& known = *new absl::flat_hash_map<const char*, bool>();
  const auto [it, is_new] = known.try_emplace(site.file_name());
  if (is_new) {
    it->second = std::strstr(site.file_name(), "base/lock/") != nullptr;
  }
  return it->second;
}

const char* CallerOfLock() {
  void* frames[16];
  const int count = absl::GetStackTrace(frames, 16, 1);
  for (int i = 0; i < count; ++i) {
    const std::string& name = NameAt(frames[i]);
    if (!name.empty()) return name.c_str();
  }
  return "a lock";
}

}  // namespace rouse::scaling
