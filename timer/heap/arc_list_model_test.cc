// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <memory>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/heap/arc_list.h"
#include "rouse/timer/heap/ref_counted.h"

namespace rouse::heap {
namespace {

using model::Require;
using model::Thread;

// Has data that is written before a push and read after the pop. The checker
// itself finds nodes that leak or that are used after their destruction.
class Node : public RefCounted<Node>, public ArcListNode {
 public:
  Cell<int> data;
  Atomic<int> version{0};
};

using List = ArcList<Node>;

// Returns how often `node` is in the rest of the batch.
int Count(List::Batch batch, const Ref<Node>& node) {
  int count = 0;
  while (const Ref<Node> popped = batch.Pop()) count += popped == node ? 1 : 0;
  return count;
}

bool IsFree(const Ref<Node>& node) {
  List open;
  return open.Push(node) == PushResult::kPushed;
}

MODEL_TEST(ArcList, TakesEachOfTwoNodesOnceWithItsData) {
  List list;
  const Ref<Node> nodes[2] = {MakeRef<Node>(), MakeRef<Node>()};
  int taken[2] = {};
  const auto push = [&](int which) {
    nodes[which]->data.Write() = 1 + which;
    Require(list.Push(nodes[which]) == PushResult::kPushed);
  };
  const auto take = [&] {
    List::Batch batch = list.TakeAll();
    while (const Ref<Node> node = batch.Pop()) {
      ++taken[node->data.Read() - 1];
    }
  };
  Thread one([&] { push(0); });
  Thread two([&] { push(1); });
  take();
  Require(taken[0] <= 1 && taken[1] <= 1);
  one.Join();
  two.Join();
  take();
  Require(taken[0] == 1 && taken[1] == 1);
}

MODEL_TEST(ArcList, PushesANodeOnceFromTwoThreads) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  PushResult there = PushResult::kSealed;
  Thread other([&] { there = list.Push(node); });
  const PushResult here = list.Push(node);
  other.Join();
  Require((here == PushResult::kPushed) != (there == PushResult::kPushed));
  Require(here == PushResult::kAlreadyEnqueued ||
          there == PushResult::kAlreadyEnqueued);
  Require(Count(list.TakeAll(), node) == 1);
}

MODEL_TEST(ArcList, PopsANodeAsOftenAsItWasPushed) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  int pushed[2] = {};
  const auto push = [&](int which) {
    pushed[which] += list.Push(node) == PushResult::kPushed ? 1 : 0;
  };
  Thread one([&] { push(0); });
  Thread two([&] { push(1); });
  int popped = Count(list.TakeAll(), node);
  one.Join();
  two.Join();
  popped += Count(list.TakeAll(), node);
  Require(popped == pushed[0] + pushed[1]);
}

// The classical lost update: a push finds the node enqueued, and a pop does not
// see what came before that push.
MODEL_TEST(ArcList, LosesNoPublication) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  list.Push(node);
  Thread other([&] {
    node->version.store(1, std::memory_order_relaxed);
    list.Push(node);
  });
  int seen = 0;
  List::Batch batch = list.TakeAll();
  while (const Ref<Node> popped = batch.Pop()) {
    seen = popped->version.load(std::memory_order_relaxed);
  }
  other.Join();
  Require(seen == 1 || Count(list.TakeAll(), node) == 1);
}

// Like LosesNoPublication, but with two pushing threads, the second of which
// finds what the first has left.
MODEL_TEST(ArcList, LosesNoPublicationOfTwoThreads) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  Atomic<int> versions[2] = {0, 0};
  list.Push(node);
  const auto push = [&](int which) {
    versions[which].store(1, std::memory_order_relaxed);
    list.Push(node);
  };
  Thread one([&] { push(0); });
  Thread two([&] { push(1); });
  int seen = 0;
  List::Batch batch = list.TakeAll();
  while (const Ref<Node> popped = batch.Pop()) {
    seen = versions[0].load(std::memory_order_relaxed) +
           versions[1].load(std::memory_order_relaxed);
  }
  one.Join();
  two.Join();
  Require(seen == 2 || Count(list.TakeAll(), node) == 1);
}

// A push that found the node enqueued happens before the pop that ends the
// enqueued state, as if the pop had an acquire of its own.
MODEL_TEST(ArcList, APopSynchronizesWithAPushThatFoundTheNodeEnqueued) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  Atomic<bool> was_enqueued(false);
  list.Push(node);
  Thread other([&] {
    node->data.Write() = 1;
    if (list.Push(node) == PushResult::kAlreadyEnqueued) {
      was_enqueued.store(true, std::memory_order_relaxed);
    }
  });
  List::Batch batch = list.TakeAll();
  const Ref<Node> popped = batch.Pop();
  if (was_enqueued.load(std::memory_order_relaxed)) {
    Require(popped->data.Read() == 1);
  }
}

// The taker pops the node and pushes it again while another thread pushes: the
// link passes from one holder to the next.
MODEL_TEST(ArcList, PopsAndPushesAgain) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  list.Push(node);
  int pushed = 1;
  int pushed_there = 0;
  Thread other(
      [&] { pushed_there = list.Push(node) == PushResult::kPushed ? 1 : 0; });
  int popped = 0;
  for (int i = 0; i < 2; ++i) {
    List::Batch batch = list.TakeAll();
    while (const Ref<Node> again = batch.Pop()) {
      if (++popped > 1) continue;
      pushed += list.Push(again) == PushResult::kPushed ? 1 : 0;
    }
  }
  other.Join();
  popped += Count(list.TakeAll(), node);
  Require(popped == pushed + pushed_there);
}

// The head leaves and comes back between the load and the linking of another
// push.
MODEL_TEST(ArcList, TheHeadCanLeaveAndReturn) {
  List list;
  const Ref<Node> bottom = MakeRef<Node>();
  const Ref<Node> head = MakeRef<Node>();
  const Ref<Node> pushed = MakeRef<Node>();
  list.Push(bottom);
  list.Push(head);
  Thread other([&] { list.Push(pushed); });
  int bottoms = 0;
  int heads = 0;
  int others = 0;
  const auto take = [&](bool again) {
    List::Batch batch = list.TakeAll();
    while (const Ref<Node> node = batch.Pop()) {
      bottoms += node == bottom ? 1 : 0;
      heads += node == head ? 1 : 0;
      others += node == pushed ? 1 : 0;
      if (node == head && again) list.Push(head);
    }
  };
  take(true);
  Require(heads == 1 && bottoms == 1);
  other.Join();
  take(false);
  Require(heads == 2 && bottoms == 1 && others == 1);
}

MODEL_TEST(ArcList, TwoTakersShareTheNodes) {
  List list;
  const Ref<Node> first = MakeRef<Node>();
  const Ref<Node> second = MakeRef<Node>();
  list.Push(first);
  int firsts = 0;
  int seconds = 0;
  const auto take = [&] {
    List::Batch batch = list.TakeAll();
    while (const Ref<Node> node = batch.Pop()) {
      ++(node == first ? firsts : seconds);
    }
  };
  Thread pushing([&] { list.Push(second); });
  Thread taking([&] { take(); });
  take();
  pushing.Join();
  taking.Join();
  take();
  Require(firsts == 1 && seconds == 1);
}

// The node is taken or refused, and never stranded. A refused node is in no
// list, and has no reference except this one.
MODEL_TEST(ArcList, APushRacesWithASeal) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  PushResult result = PushResult::kAlreadyEnqueued;
  Thread pushing([&] {
    node->data.Write() = 1;
    result = list.Push(node);
    // The node is free, and the list stays sealed.
    if (result == PushResult::kSealed) {
      Require(list.Push(node) == PushResult::kSealed);
      Require(IsFree(node));
    }
  });
  int taken = 0;
  List::Batch batch = list.TakeAndSeal();
  while (const Ref<Node> popped = batch.Pop()) {
    Require(popped->data.Read() == 1);
    ++taken;
  }
  pushing.Join();
  Require(result == (taken == 1 ? PushResult::kPushed : PushResult::kSealed));
  Require(list.Push(node) == PushResult::kSealed);
}

MODEL_TEST(ArcList, ARefusedPushSeesWhatTheSealerDid) {
  List list;
  Cell<int> reason(0);
  Thread pushing([&] {
    const Ref<Node> node = MakeRef<Node>();
    if (list.Push(node) == PushResult::kSealed) Require(reason.Read() == 1);
  });
  reason.Write() = 1;
  static_cast<void>(list.TakeAndSeal());
}

MODEL_TEST(ArcList, TwoPushesRaceWithASeal) {
  List list;
  const Ref<Node> nodes[2] = {MakeRef<Node>(), MakeRef<Node>()};
  PushResult results[2] = {};
  const auto push = [&](int which) {
    results[which] = list.Push(nodes[which]);
  };
  Thread one([&] { push(0); });
  Thread two([&] { push(1); });
  int taken[2] = {};
  List::Batch batch = list.TakeAndSeal();
  while (const Ref<Node> node = batch.Pop()) ++taken[node == nodes[0] ? 0 : 1];
  one.Join();
  two.Join();
  for (int i = 0; i < 2; ++i) {
    Require(results[i] ==
            (taken[i] == 1 ? PushResult::kPushed : PushResult::kSealed));
    Require(list.Push(nodes[i]) == PushResult::kSealed);
  }
}

// The refused push answers for the push that found the node enqueued because of
// it.
MODEL_TEST(ArcList, TwoPushesOfOneNodeRaceWithASeal) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  PushResult results[2] = {};
  Cell<int> data[2];
  Atomic<bool> was_enqueued[2] = {false, false};
  const auto push = [&](int which) {
    data[which].Write() = 1;
    results[which] = list.Push(node);
    if (results[which] == PushResult::kAlreadyEnqueued) {
      was_enqueued[which].store(true, std::memory_order_relaxed);
    }
    if (results[which] == PushResult::kSealed &&
        was_enqueued[1 - which].load(std::memory_order_relaxed)) {
      Require(data[1 - which].Read() == 1);
    }
  };
  Thread one([&] { push(0); });
  Thread two([&] { push(1); });
  const int taken = Count(list.TakeAndSeal(), node);
  one.Join();
  two.Join();
  const auto answered = [&](PushResult result) {
    return (results[0] == result ? 1 : 0) + (results[1] == result ? 1 : 0);
  };
  Require(answered(PushResult::kPushed) == taken);
  // One of the pushes answers for the node.
  Require(answered(PushResult::kAlreadyEnqueued) < 2);
  Require(list.Push(node) == PushResult::kSealed);
  Require(IsFree(node));
}

// In a sealed list, a push that found the node enqueued makes its changes
// visible to the push that was refused.
MODEL_TEST(ArcList, ARefusedPushLosesNoPublication) {
  List list;
  Require(list.TakeAndSeal().IsEmpty());
  const Ref<Node> node = MakeRef<Node>();
  int seen[2] = {};
  Atomic<int> versions[2] = {0, 0};
  const auto push = [&](int which) {
    versions[which].store(1, std::memory_order_relaxed);
    if (list.Push(node) == PushResult::kSealed) {
      seen[which] = 1 + versions[1 - which].load(std::memory_order_relaxed);
    }
  };
  Thread one([&] { push(0); });
  push(1);
  one.Join();
  // Both pushes were refused, or one was and saw the other's version.
  Require(seen[0] == 2 || seen[1] == 2 || (seen[0] == 1 && seen[1] == 1));
}

MODEL_TEST(ArcList, ATakeLeavesTheListSealed) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  list.Push(node);
  int taken_there = 0;
  Thread taking([&] { taken_there = Count(list.TakeAll(), node); });
  const int taken_here = Count(list.TakeAndSeal(), node);
  taking.Join();
  Require(taken_here + taken_there == 1);
  Require(list.Push(node) == PushResult::kSealed);
}

MODEL_TEST(ArcList, TwoSealsShareTheNodes) {
  List list;
  const Ref<Node> node = MakeRef<Node>();
  list.Push(node);
  int taken_there = 0;
  Thread sealing([&] { taken_there = Count(list.TakeAndSeal(), node); });
  const int taken_here = Count(list.TakeAndSeal(), node);
  sealing.Join();
  Require(taken_here + taken_there == 1);
  Require(list.Push(node) == PushResult::kSealed);
}

MODEL_TEST(ArcList, AListIsDestroyedWithNodesInIt) {
  auto list = std::make_unique<List>();
  const Ref<Node> kept = MakeRef<Node>();
  Thread one([&] { list->Push(kept); });
  Thread two([&] { list->Push(MakeRef<Node>()); });
  one.Join();
  two.Join();
  list.reset();
  Require(IsFree(kept));
}

// The batch is destroyed while its node is pushed.
MODEL_TEST(ArcList, ABatchIsDestroyedWithNodesInIt) {
  List list;
  Ref<Node> node = MakeRef<Node>();
  list.Push(node);
  Thread pushing([&list, node] { list.Push(node); });
  {
    const List::Batch batch = list.TakeAll();
  }
  pushing.Join();
  Require(Count(list.TakeAll(), node) <= 1);
  Require(IsFree(node));
}

// The last reference is the list's, the taker's or the owner's.
MODEL_TEST(ArcList, AnOwnerDropsAnEnqueuedNode) {
  List list;
  Thread owning([&] {
    Ref<Node> node = MakeRef<Node>();
    node->data.Write() = 1;
    list.Push(node);
    node.Reset();
  });
  List::Batch batch = list.TakeAll();
  while (Ref<Node> popped = batch.Pop()) {
    Require(popped->data.Read() == 1);
    popped.Reset();
  }
}

// Two lists in turn: a node that one list frees is linked into the other.
MODEL_TEST(ArcList, ANodeMovesBetweenLists) {
  List from;
  List to;
  const Ref<Node> node = MakeRef<Node>();
  from.Push(node);
  PushResult result = PushResult::kSealed;
  Thread pushing([&] { result = to.Push(node); });
  const int taken = Count(from.TakeAll(), node);
  pushing.Join();
  Require(taken == 1);
  Require(Count(to.TakeAll(), node) == (result == PushResult::kPushed ? 1 : 0));
}

MODEL_MUTANTS(ArcList, "timer/heap/arc_list.");

}  // namespace
}  // namespace rouse::heap
