// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/static_storage.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace rouse::model {
namespace {

struct Range {
  uintptr_t begin;
  uintptr_t end;
};

// Returns the loaded, writable segments in the order of their addresses.
std::vector<Range> Ranges() {
  std::vector<Range> ranges;
  dl_iterate_phdr(
      [](dl_phdr_info* module, size_t, void* out) {
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const auto& segment = module->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
            continue;
          }
          const uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
          static_cast<std::vector<Range>*>(out)->push_back(
              {begin, begin + segment.p_memsz});
        }
        return 0;
      },
      &ranges);
  std::ranges::sort(ranges, {}, &Range::begin);
  return ranges;
}

}  // namespace

bool InStaticStorage(const void* address) {
  static const auto& ranges = *new std::vector<Range>(Ranges());
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  const auto after = std::ranges::upper_bound(ranges, at, {}, &Range::begin);
  return after != ranges.begin() && at < std::prev(after)->end;
}

}  // namespace rouse::model
