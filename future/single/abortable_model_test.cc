// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A future is aborted while it is polled or destroyed. A lost wake is a
// deadlock. The checker itself finds a state that is freed too early or never.

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "rouse/future/ready.h"
#include "rouse/future/single/abortable.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using PlainInt = model::Cell<int>;

MODEL_TEST(Abortable, AnAbortWakesTheTask) {
  Task task;
  PlainInt reason(0);
  auto [future, aborter] = Abortable(Pending());
  Thread other([&reason, aborter = std::move(aborter)] {
    reason.Write() = 7;
    aborter.Abort();
  });
  Require(absl::IsCancelled(task.Await(future)));
  // What was done before the abort is visible.
  Require(reason.Read() == 7);
  other.Join();
}

MODEL_TEST(Abortable, APollWithoutAnAbortIsPending) {
  Task task;
  auto [future, aborter] = Abortable(Pending());
  Require(task.Poll(future).IsPending());
  Require(!task.woken());
  aborter.Abort();
  Require(task.woken());
}

MODEL_TEST(Abortable, TheFutureIsDestroyedDuringTheAbort) {
  Task task;
  auto pair = Abortable(Pending());
  Aborter aborter = pair.second;
  std::optional<AbortableFuture<PendingFuture<void>>> future(
      std::move(pair.first));
  Require(task.Poll(*future).IsPending());
  Thread other([moved = std::move(aborter)]() mutable {
    moved.Abort();
    const Aborter last = std::move(moved);
  });
  {
    const Aborter dropped = std::move(pair.second);
  }
  future.reset();
  other.Join();
}

MODEL_TEST(Abortable, TwoThreadsCopyTheAborter) {
  auto pair = Abortable(Ready());
  Thread other([aborter = pair.second]() mutable {
    const Aborter copy = aborter;
    const Aborter last = std::move(aborter);
  });
  {
    const Aborter copy = pair.second;
    const Aborter last = std::move(pair.second);
  }
  other.Join();
  Require(!pair.first.aborter().IsAborted());
}

MODEL_MUTANTS(Abortable, "future/single/abortable.");

}  // namespace
}  // namespace rouse
