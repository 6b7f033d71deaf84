// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "benchmark/benchmark.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// A task that counts its references, like a scheduler's task.
class Task {
 public:
  Waker NewWaker() { return Waker(RawWaker{this, &kVTable}); }

 private:
  static Task& From(void* data) { return *static_cast<Task*>(data); }

  static RawWaker Clone(void* data) {
    ++From(data).references_;
    return {data, &kVTable};
  }
  static void Wake(void* data) {
    WakeByRef(data);
    Drop(data);
  }
  static void WakeByRef(void* data) { ++From(data).wakes_; }
  static void Drop(void* data) { --From(data).references_; }

  static constexpr RawWakerVTable kVTable = {&Clone, &Wake, &WakeByRef, &Drop};

  // Not atomic, because only the cell is measured.
  int64_t references_ = 0;
  int64_t wakes_ = 0;
};

// Measures a task that is polled again and again before it is woken.
void BM_RegisterSameTask(benchmark::State& state) {
  Task task;
  const Waker waker = task.NewWaker();
  AtomicWaker cell;
  cell.Register(waker);
  for (auto _ : state) cell.Register(waker);
}
BENCHMARK(BM_RegisterSameTask);

void BM_RegisterAnotherTask(benchmark::State& state) {
  Task first, second;
  const Waker wakers[] = {first.NewWaker(), second.NewWaker()};
  AtomicWaker cell;
  size_t i = 0;
  for (auto _ : state) cell.Register(wakers[++i % 2]);
}
BENCHMARK(BM_RegisterAnotherTask);

// Measures the usual cycle: every wake takes the waker, so every register
// clones it.
void BM_RegisterAndWake(benchmark::State& state) {
  Task task;
  const Waker waker = task.NewWaker();
  AtomicWaker cell;
  for (auto _ : state) {
    cell.Register(waker);
    cell.Wake();
  }
}
BENCHMARK(BM_RegisterAndWake);

void BM_WakeEmpty(benchmark::State& state) {
  AtomicWaker cell;
  for (auto _ : state) cell.Wake();
}
BENCHMARK(BM_WakeEmpty);

}  // namespace
}  // namespace rouse
