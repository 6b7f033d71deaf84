// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The owner of a slot beside the watchdog, who takes a task out.

#include "rouse/scheduler/lifo_slot.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::scheduler {
namespace {

using model::Require;
using model::Thread;

// Plain: who runs it sees what it was told, and nobody else runs it.
using Task = model::Cell<int>;

void Run(Task* task) {
  if (task != nullptr) ++task->Write();
}

MODEL_TEST(LifoSlot, GivesATaskToOneOfTwo) {
  LifoSlot<Task> slot;
  Task task(0);
  ++task.Write();
  slot.Put(&task);
  Thread other([&] { Run(slot.Take()); });
  Run(slot.Take());
  other.Join();
  Require(task.Read() == 2);
  Require(slot.IsEmpty());
}

MODEL_TEST(LifoSlot, IsFilledBesideOneWhoTakes) {
  LifoSlot<Task> slot;
  Task tasks[2] = {Task(0), Task(0)};
  Thread other([&] { Run(slot.Take()); });
  for (Task& task : tasks) {
    ++task.Write();
    Run(slot.Put(&task));
  }
  Run(slot.Take());
  other.Join();
  for (Task& task : tasks) Require(task.Read() == 2);
}

MODEL_MUTANTS(LifoSlot, "scheduler/lifo_slot.h");

}  // namespace
}  // namespace rouse::scheduler
