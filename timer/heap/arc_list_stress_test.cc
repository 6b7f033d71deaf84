// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads change and push nodes while one or two threads take them. No change
// is lost, no node is in two places, and every node is destroyed in the end.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/timer/heap/arc_list.h"
#include "rouse/timer/heap/ref_counted.h"

namespace rouse::heap {
namespace {

constexpr int kPushers = 3;
constexpr int kNodes = 4;
constexpr int kPushes = 30'000;
constexpr int kRounds = 300;
constexpr int kPushesBeforeSeal = 100;

class Node : public RefCounted<Node>, public ArcListNode {
 public:
  explicit Node(std::atomic<int>& live) : live_(live) { ++live_; }
  ~Node() { --live_; }

  // For each pusher, how often it has pushed.
  std::atomic<uint32_t> versions[kPushers] = {};
  // For each pusher, what the takers have seen.
  std::atomic<uint32_t> seen[kPushers] = {};

 private:
  std::atomic<int>& live_;
};

// All relaxed: the list orders these accesses.
void Look(Node& node) {
  for (int i = 0; i < kPushers; ++i) {
    const uint32_t version = node.versions[i].load(std::memory_order_relaxed);
    uint32_t seen = node.seen[i].load(std::memory_order_relaxed);
    while (seen < version && !node.seen[i].compare_exchange_weak(
                                 seen, version, std::memory_order_relaxed)) {
    }
  }
}

bool TakeAndCheck(ArcList<Node>& list) {
  ArcList<Node>::Batch batch = list.TakeAll();
  if (batch.IsEmpty()) return false;
  while (const Ref<Node> node = batch.Pop()) Look(*node);
  return true;
}

class ArcListStress : public ::testing::TestWithParam<int> {};

TEST_P(ArcListStress, NoChangeIsLost) {
  const int takers = GetParam();
  std::atomic<int> live = 0;
  {
    ArcList<Node> list;
    std::vector<Ref<Node>> nodes;
    for (int i = 0; i < kNodes; ++i) nodes.push_back(MakeRef<Node>(live));
    std::atomic<int> pushing = kPushers;
    std::vector<std::thread> threads;
    for (int pusher = 0; pusher < kPushers; ++pusher) {
      threads.emplace_back([&, pusher] {
        FastRand rand(pusher);
        for (int i = 0; i < kPushes; ++i) {
          const Ref<Node>& node = nodes[rand.Below(kNodes)];
          node->versions[pusher].fetch_add(1, std::memory_order_relaxed);
          EXPECT_NE(list.Push(node), PushResult::kSealed);
        }
        pushing.fetch_sub(1, std::memory_order_release);
      });
    }
    for (int taker = 0; taker < takers; ++taker) {
      threads.emplace_back([&] {
        while (pushing.load(std::memory_order_acquire) > 0) {
          if (!TakeAndCheck(list)) std::this_thread::yield();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    TakeAndCheck(list);
    for (const Ref<Node>& node : nodes) {
      for (int i = 0; i < kPushers; ++i) {
        EXPECT_EQ(node->seen[i], node->versions[i]);
      }
    }
  }
  EXPECT_EQ(live, 0);
}

INSTANTIATE_TEST_SUITE_P(Takers, ArcListStress, ::testing::Values(1, 2));

// Each push is popped or refused, and every node is destroyed in the end.
TEST(ArcListStress, ASealStrandsNoNode) {
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> live = 0;
    std::atomic<int> pushed = 0;
    int popped = 0;
    {
      ArcList<Node> list;
      const Ref<Node> shared = MakeRef<Node>(live);
      std::vector<std::thread> threads;
      for (int pusher = 0; pusher < kPushers; ++pusher) {
        threads.emplace_back([&] {
          for (int i = 0; i < kPushesBeforeSeal; ++i) {
            const Ref<Node> own = MakeRef<Node>(live);
            const PushResult own_result = list.Push(own);
            const PushResult shared_result = list.Push(shared);
            pushed.fetch_add((own_result == PushResult::kPushed ? 1 : 0) +
                                 (shared_result == PushResult::kPushed ? 1 : 0),
                             std::memory_order_relaxed);
            EXPECT_NE(own_result, PushResult::kAlreadyEnqueued);
            if (own_result != PushResult::kSealed) continue;
            EXPECT_EQ(list.Push(own), PushResult::kSealed);
            return;
          }
        });
      }
      const auto pop = [&popped](ArcList<Node>::Batch batch) {
        while (batch.Pop()) ++popped;
      };
      for (uint32_t i = FastRand(round).Below(100); i > 0; --i) {
        pop(list.TakeAll());
      }
      pop(list.TakeAndSeal());
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(list.Push(shared), PushResult::kSealed);
    }
    EXPECT_EQ(popped, pushed);
    EXPECT_EQ(live, 0);
  }
}

}  // namespace
}  // namespace rouse::heap
