// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread pushes and then checks for sleeping workers. Another goes to sleep
// and then checks the queue.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rouse/base/atomic.h"
#include "rouse/scheduler/queue/global_queue.h"
#include "rouse/scheduler/queue/run_queue.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

struct Element {
  Element* next_in_queue = nullptr;
  Element* previous_in_queue = nullptr;
};

size_t PopAll(GlobalQueue<Element>& queue, RunQueue<Element>& batch) {
  return queue.PopBatch(SIZE_MAX, batch, [](Element*) {});
}

MODEL_TEST(GlobalQueue, HidesNoPushedElement) {
  GlobalQueue<Element> queue;
  Element element;
  Atomic<bool> asleep(false);
  bool found_asleep = false;
  Thread other([&] {
    Require(queue.Push(&element));
    found_asleep = asleep.load(std::memory_order_seq_cst);
  });
  asleep.exchange(true, std::memory_order_seq_cst);
  const bool found_task = !queue.IsEmpty();
  other.Join();
  Require(found_asleep || found_task);
}

MODEL_TEST(GlobalQueue, HidesNoElementOfABatch) {
  GlobalQueue<Element> queue;
  Element elements[2];
  RunQueue<Element> batch;
  for (Element& element : elements) batch.Push(&element);
  Atomic<bool> asleep(false);
  bool found_asleep = false;
  Thread other([&] {
    queue.PushBatch(batch);
    found_asleep = asleep.load(std::memory_order_seq_cst);
  });
  asleep.exchange(true, std::memory_order_seq_cst);
  const size_t found = queue.Size();
  other.Join();
  Require(found_asleep || found == 2);
}

// Each element is either refused or popped once. A thread that takes all
// elements after the close leaves nothing behind. (Checked by hand: if Close()
// does not close, an element is left.)
MODEL_TEST(GlobalQueue, IsClosedDuringAPushAndAPop) {
  GlobalQueue<Element> queue;
  Element element;
  bool taken = false;
  size_t popped = 0;
  Thread pusher([&] { taken = queue.Push(&element); });
  Thread popper([&] {
    RunQueue<Element> batch;
    popped = PopAll(queue, batch);
  });
  queue.Close();
  RunQueue<Element> rest;
  const size_t left = PopAll(queue, rest);
  pusher.Join();
  popper.Join();
  Require(popped + left == (taken ? 1 : 0));
  Require(queue.IsEmpty());
}

// Elements across two segments, while more are pushed and two threads pop.
MODEL_TEST(GlobalQueue, GivesEachElementOnce, .mode = model::Mode::kBounded,
           .preemption_bound = 2) {
  struct Counted : Element {
    int taken = 0;
  };
  GlobalQueue<Element> queue;
  Counted elements[4];
  const auto pop = [&queue] {
    RunQueue<Element> batch;
    queue.PopBatch(1, batch, [](Element*) {});
    while (Element* const element = batch.Pop()) {
      ++static_cast<Counted*>(element)->taken;
    }
  };
  for (int i = 0; i < 3; ++i) Require(queue.Push(&elements[i]));
  Thread pusher([&] { Require(queue.Push(&elements[3])); });
  Thread popper(pop);
  pop();
  pusher.Join();
  popper.Join();
  while (!queue.IsEmpty()) pop();
  for (const Counted& element : elements) Require(element.taken == 1);
}

MODEL_MUTANTS(GlobalQueue, "scheduler/queue/global_queue.h");

}  // namespace
}  // namespace rouse::scheduler
