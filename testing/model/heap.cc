// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/heap.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace rouse::model {
namespace {

bool Contains(const void* block, size_t size, const void* address) {
  const char* begin = static_cast<const char*>(block);
  return address >= begin && address < begin + size;
}

}  // namespace

bool Heap::InKeptBlock(const void* address) const {
  return std::ranges::any_of(kept_, [&](void* block) {
    return Contains(block, blocks_.find(block)->second.size, address);
  });
}

const Heap::Blocks::value_type* Heap::FindUnfreed(const void* address) const {
  for (const Blocks::value_type& entry : blocks_) {
    const auto& [block, state] = entry;
    if (!state.freed && Contains(block, state.size, address)) return &entry;
  }
  return nullptr;
}

void Heap::Clear() {
  blocks_.clear();
  for (void* block : kept_) std::free(block);
  kept_.clear();
}

}  // namespace rouse::model
