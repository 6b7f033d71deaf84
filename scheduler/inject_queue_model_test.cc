// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who pushes and then looks for sleepers, and who goes to sleep and then looks
// at the queue.

#include <atomic>
#include <cstddef>

#include "rouse/base/atomic.h"
#include "rouse/scheduler/inject_queue.h"
#include "rouse/scheduler/run_queue.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

struct Element {
  Element* next_in_queue = nullptr;
};

MODEL_TEST(InjectQueue, HidesNothingThatIsPushed) {
  InjectQueue<Element> queue;
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

MODEL_TEST(InjectQueue, HidesNothingOfABatch) {
  InjectQueue<Element> queue;
  Element elements[2];
  RunQueue<Element> batch;
  for (Element& element : elements) batch.Push(&element);
  Atomic<bool> asleep(false);
  bool found_asleep = false;
  Thread other([&] {
    queue.PushBatch(batch, 2);
    found_asleep = asleep.load(std::memory_order_seq_cst);
  });
  asleep.exchange(true, std::memory_order_seq_cst);
  const size_t found = queue.Size();
  other.Join();
  Require(found_asleep || found == 2);
}

// Each element is refused, or popped once.
MODEL_TEST(InjectQueue, IsClosedBesideAPushAndAPop) {
  InjectQueue<Element> queue;
  Element element;
  bool taken = false;
  size_t popped = 0;
  Thread pusher([&] { taken = queue.Push(&element); });
  Thread popper([&] {
    RunQueue<Element> batch;
    popped = queue.PopBatch(1, batch);
  });
  queue.Close();
  pusher.Join();
  popper.Join();
  RunQueue<Element> rest;
  Require(popped + queue.PopAll(rest) == (taken ? 1 : 0));
}

MODEL_MUTANTS(InjectQueue, "scheduler/inject_queue.h");

}  // namespace
}  // namespace rouse::scheduler
