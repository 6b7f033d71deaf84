// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef STACK_STACK_H_
#define STACK_STACK_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "stack/sync.h"

namespace consumer {

// A lock-free stack of at most `kCapacity` values (Treiber, "Systems
// Programming: Coping with Parallelism", 1986). Every node is on the list of
// used nodes or on the list of free nodes. A head counts how often a node was
// taken from the list. A thread that has read a node's successor therefore
// notices if the node was taken and put back meanwhile.
template <class T, uint32_t kCapacity>
class Stack {
 public:
  Stack() {
    for (uint32_t i = 0; i < kCapacity; ++i) Put(free_, i);
  }

  // Returns whether there was room.
  bool Push(T value) {
    const uint32_t node = Take(free_);
    if (node == kNone) return false;
    nodes_[node].value.Write() = std::move(value);
    Put(used_, node);
    return true;
  }

  std::optional<T> Pop() {
    const uint32_t node = Take(used_);
    if (node == kNone) return std::nullopt;
    std::optional<T> value = std::move(nodes_[node].value.Write());
    Put(free_, node);
    return value;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Head {
    uint32_t node = kNone;
    uint32_t taken = 0;
  };
  struct Node {
    Atomic<uint32_t> next{kNone};
    Cell<T> value;
  };

  void Put(Atomic<Head>& list, uint32_t node) {
    Head head = list.load(std::memory_order_relaxed);
    do {
      nodes_[node].next.store(head.node, std::memory_order_relaxed);
    } while (!list.compare_exchange_weak(head, Head{node, head.taken},
                                         std::memory_order_release,
                                         std::memory_order_relaxed));
  }

  uint32_t Take(Atomic<Head>& list) {
    Head head = list.load(std::memory_order_acquire);
    while (head.node != kNone) {
      const uint32_t next =
          nodes_[head.node].next.load(std::memory_order_relaxed);
      // Relaxed on success: the load of the head has acquired the nodes.
      if (list.compare_exchange_weak(head, Head{next, head.taken + 1},
                                     std::memory_order_relaxed,
                                     std::memory_order_acquire)) {
        break;
      }
    }
    return head.node;
  }

  std::array<Node, kCapacity> nodes_;
  Atomic<Head> used_{Head{}};
  Atomic<Head> free_{Head{}};
};

}  // namespace consumer

#endif  // STACK_STACK_H_
