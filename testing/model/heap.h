// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: heap.h
// -----------------------------------------------------------------------------
//
// Tracks the blocks that a model allocates and frees. Internal to the model
// checker.

#ifndef ROUSE_TESTING_MODEL_HEAP_H_
#define ROUSE_TESTING_MODEL_HEAP_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace rouse::model {

// Heap
//
// The blocks of an execution. The heap keeps freed blocks until `Clear()`, so
// that no address is reused, and a use after the free is noticed.
class Heap {
 public:
  struct Block {
    size_t size = 0;
    bool freed = false;
  };
  using Blocks = absl::flat_hash_map<void*, Block>;

  void Allocated(void* block, size_t size) {
    blocks_[block] = {.size = size, .freed = false};
  }

  // Returns what is known of a block; null if the block is not of this
  // execution.
  Block* Find(void* block) {
    const auto found = blocks_.find(block);
    return found == blocks_.end() ? nullptr : &found->second;
  }

  // Makes `Clear()` free a block that the execution has allocated.
  void Keep(void* block) { kept_.push_back(block); }

  // Returns whether the address is in a block that is kept.
  bool InKeptBlock(const void* address) const;

  // Returns the block with the address that was never freed; null if no such
  // block exists.
  const Blocks::value_type* FindUnfreed(const void* address) const;

  // Forgets all blocks, for a new execution, and frees the kept blocks.
  void Clear();

 private:
  Blocks blocks_;
  std::vector<void*> kept_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_HEAP_H_
