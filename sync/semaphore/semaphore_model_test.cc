// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Permits are acquired, given back, waited for, given up and closed
// concurrently. A holder works on plain data: two holders at once, or a holder
// that does not see the work of the holder before it, are a race.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/sync/semaphore/semaphore.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using model::Require;
using model::Thread;
using Permit = Semaphore::Permit;
using PlainInt = Cell<int>;

// An acquire by a task of its own.
class Acquiring {
 public:
  explicit Acquiring(Semaphore& semaphore, size_t n = 1)
      : future_(semaphore.Acquire(n)) {}

  // Returns whether the acquire is ready now.
  bool Poll() {
    PollResult<absl::StatusOr<Permit>> result = task_.Poll(*future_);
    if (result.IsPending()) return false;
    closed_ = !result->ok();
    if (!closed_) permit_ = **std::move(result);
    return true;
  }

  // Called when all other threads have finished.
  void RequireEnd() {
    Require(task_.woken(), "the wake was lost");
    Require(Poll());
  }

  void Cancel() { future_.reset(); }

  bool closed() const { return closed_; }
  std::optional<Permit>& permit() { return permit_; }

 private:
  model::Task task_;
  std::optional<Semaphore::AcquireFuture> future_;
  bool closed_ = false;
  std::optional<Permit> permit_;
};

// Does the work of a holder.
void Use(PlainInt& data) { data.Write() = data.Read() + 1; }

void AcquireAndUse(Semaphore& semaphore, PlainInt& data, size_t n = 1) {
  const absl::StatusOr<Permit> permit = semaphore.BlockingAcquire(n);
  Require(permit.ok());
  Use(data);
}

MODEL_TEST(Semaphore, BasicUsage, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Semaphore semaphore(1);
  PlainInt data(0);
  Thread other([&] { AcquireAndUse(semaphore, data); });
  AcquireAndUse(semaphore, data);
  other.Join();
  Require(data.Read() == 2);
  Require(semaphore.available_permits() == 1);
}

MODEL_TEST(Semaphore, ConcurrentTryAcquiresExcludeEachOther) {
  Semaphore semaphore(1);
  PlainInt data(0);
  const auto attempt = [&] {
    const std::optional<Permit> permit = semaphore.TryAcquire();
    if (permit.has_value()) Use(data);
    return permit.has_value();
  };
  Thread other([&] { attempt(); });
  attempt();
  other.Join();
  Require(data.Read() >= 1);
  Require(attempt());
}

// A task that has acquired all permits may destroy the semaphore.
MODEL_TEST(Semaphore, Release, .mode = model::Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  auto semaphore = std::make_unique<Semaphore>(0);
  PlainInt data(0);
  Thread other([&data, semaphore = semaphore.get()] {
    Use(data);
    semaphore->AddPermits(1);
  });
  semaphore->BlockingAcquire()->Forget();
  Require(data.Read() == 1);
  semaphore.reset();
}

// A task that has acquired all permits may destroy the semaphore even if the
// release had found a waiter, which has left since.
MODEL_TEST(Semaphore, AReleaseFindsACancelledWaiter) {
  auto semaphore = std::make_unique<Semaphore>(0);
  Acquiring acquiring(*semaphore);
  Require(!acquiring.Poll());
  Thread other([semaphore = semaphore.get()] { semaphore->AddPermits(1); });
  acquiring.Cancel();
  if (std::optional<Permit> permit = semaphore->TryAcquire()) {
    permit->Forget();
    semaphore.reset();
  }
  other.Join();
}

MODEL_TEST(Semaphore, AReleaseIsSeenOrWakes) {
  Semaphore semaphore(0);
  PlainInt data(0);
  Thread other([&] {
    Use(data);
    semaphore.AddPermits(1);
  });
  Acquiring acquiring(semaphore);
  if (!acquiring.Poll()) {
    other.Join();
    acquiring.RequireEnd();
  }
  Require(data.Read() == 1);
}

// The first permit may be taken from the word, and the second be assigned.
MODEL_TEST(Semaphore, AWaiterSeesWhatAllReleasersDid,
           .mode = model::Mode::kBounded, .preemption_bound = 3,
           .spurious_failures = 0) {
  Semaphore semaphore(0);
  PlainInt first(0);
  PlainInt second(0);
  Acquiring acquiring(semaphore, 2);
  Thread a([&] {
    Use(first);
    semaphore.AddPermits(1);
  });
  Thread b([&] {
    Use(second);
    semaphore.AddPermits(1);
  });
  // Runs before anything else orders the threads.
  const bool ready = acquiring.Poll() || acquiring.Poll();
  if (ready) Require(first.Read() + second.Read() == 2);
  a.Join();
  b.Join();
  if (!ready) acquiring.RequireEnd();
}

// Between the load of the word and its change, somebody else may have held the
// permit.
MODEL_TEST(Semaphore, AWaiterSeesWhatAnEarlierHolderDid) {
  Semaphore semaphore(1);
  PlainInt data(0);
  Thread other([&] {
    if (const auto permit = semaphore.TryAcquire()) Use(data);
  });
  Acquiring acquiring(semaphore, 2);
  Require(!acquiring.Poll());
  semaphore.AddPermits(1);
  const bool ready = acquiring.Poll();
  if (ready) Require(data.Read() <= 1);
  other.Join();
  if (!ready) acquiring.RequireEnd();
}

// The rest of a release that has served a waiter is for all.
MODEL_TEST(Semaphore, TheRestOfAReleaseShowsWhatTheReleaserDid) {
  Semaphore semaphore(0);
  PlainInt data(0);
  Acquiring acquiring(semaphore);
  Require(!acquiring.Poll());
  Thread other([&] {
    Use(data);
    semaphore.AddPermits(2);
  });
  if (const auto permit = semaphore.TryAcquire()) Require(data.Read() == 1);
  other.Join();
  acquiring.RequireEnd();
  acquiring.permit()->Forget();
  Require(semaphore.available_permits() == 1);
}

// A waiter that gives up passes on the permits assigned to it.
MODEL_TEST(Semaphore, PermitsOfACancelledWaiterShowWhatTheReleaserDid) {
  Semaphore semaphore(0);
  PlainInt data(0);
  std::optional<Acquiring> acquiring(std::in_place, semaphore, 2);
  Require(!acquiring->Poll());
  Thread releasing([&] {
    Use(data);
    semaphore.AddPermits(1);
  });
  Thread cancelling([&] { acquiring->Cancel(); });
  if (const auto permit = semaphore.TryAcquire()) Require(data.Read() == 1);
  releasing.Join();
  cancelling.Join();
  Require(semaphore.available_permits() == 1);
}

// The task that acquires the permit may hold all permits, and destroy the
// semaphore.
MODEL_TEST(Semaphore, PassingPermitsOnIsTheLastAccess) {
  auto semaphore = std::make_unique<Semaphore>(1);
  std::optional<Acquiring> acquiring(std::in_place, *semaphore, 2);
  Require(!acquiring->Poll());
  Thread cancelling([&] { acquiring->Cancel(); });
  if (std::optional<Permit> permit = semaphore->TryAcquire()) {
    permit->Forget();
    semaphore.reset();
  }
  cancelling.Join();
}

MODEL_TEST(Semaphore, BasicClosing, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Semaphore semaphore(1);
  PlainInt data(0);
  PlainInt closing(0);
  const auto work = [&] {
    for (int i = 0; i < 2; ++i) {
      const absl::StatusOr<Permit> permit = semaphore.BlockingAcquire();
      if (!permit.ok()) {
        Require(closing.Read() == 1);
        return;
      }
      Use(data);
    }
  };
  Thread other(work);
  closing.Write() = 1;
  semaphore.Close();
  work();
  other.Join();
  Require(semaphore.available_permits() == 1);
}

MODEL_TEST(Semaphore, ACloseIsSeenOrWakes) {
  Semaphore semaphore(1);
  PlainInt closing(0);
  Acquiring acquiring(semaphore, 2);
  Thread other([&] {
    closing.Write() = 1;
    semaphore.Close();
  });
  if (!acquiring.Poll()) {
    if (semaphore.IsClosed()) Require(closing.Read() == 1);
    other.Join();
    acquiring.RequireEnd();
  }
  Require(acquiring.closed());
  Require(closing.Read() == 1);
  Require(semaphore.available_permits() == 1);
}

// The close passes the permit assigned to the waiter on to others.
MODEL_TEST(Semaphore, ACloseFreesAssignedPermits) {
  Semaphore semaphore(0);
  PlainInt data(0);
  Acquiring acquiring(semaphore, 2);
  Require(!acquiring.Poll());
  Thread releasing([&] {
    Use(data);
    semaphore.AddPermits(1);
  });
  Thread closing([&] { semaphore.Close(); });
  if (semaphore.ForgetPermits(1) == 1) {
    Require(data.Read() == 1);
    semaphore.AddPermits(1);
  }
  releasing.Join();
  closing.Join();
  acquiring.RequireEnd();
  Require(acquiring.closed());
  Require(semaphore.available_permits() == 1);
}

MODEL_TEST(Semaphore, AWaiterIsCancelledDuringAClose) {
  Semaphore semaphore(1);
  Acquiring acquiring(semaphore, 2);
  Require(!acquiring.Poll());
  Thread closing([&] { semaphore.Close(); });
  acquiring.Cancel();
  closing.Join();
  Require(semaphore.IsClosed());
  Require(semaphore.available_permits() == 1);
}

MODEL_TEST(Semaphore, ConcurrentClose, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Semaphore semaphore(1);
  PlainInt data(0);
  const auto work = [&] {
    const absl::StatusOr<Permit> permit = semaphore.BlockingAcquire();
    if (permit.ok()) Use(data);
    semaphore.Close();
  };
  Thread first(work);
  Thread second(work);
  first.Join();
  second.Join();
  Require(data.Read() >= 1);
  Require(semaphore.available_permits() == 1);
}

MODEL_TEST(Semaphore, AReleaseAndACloseLoseNoPermit) {
  Semaphore semaphore(0);
  Acquiring acquiring(semaphore);
  Require(!acquiring.Poll());
  Thread closing([&] { semaphore.Close(); });
  semaphore.AddPermits(1);
  closing.Join();
  acquiring.RequireEnd();
  Require(semaphore.available_permits() == (acquiring.closed() ? 1 : 0));
}

// Trap C8 (tokio #1902): of two waiters one gives up, notified or not.
MODEL_TEST(Semaphore, ConcurrentCancel) {
  Semaphore semaphore(0);
  PlainInt data(0);
  Acquiring first(semaphore);
  Acquiring second(semaphore);
  Require(!first.Poll());
  Require(!second.Poll());
  Thread releasing([&] {
    Use(data);
    semaphore.AddPermits(1);
  });
  first.Cancel();
  if (!second.Poll()) {
    releasing.Join();
    second.RequireEnd();
  }
  Require(data.Read() == 1);
}

// Both waiters give up, while permits arrive that are enough for one.
MODEL_TEST(Semaphore, AllWaitersAreCancelledDuringARelease) {
  Semaphore semaphore(0);
  Acquiring first(semaphore, 2);
  Acquiring second(semaphore, 1);
  Require(!first.Poll());
  Require(!second.Poll());
  Thread releasing([&] { semaphore.AddPermits(2); });
  Thread cancelling([&] { second.Cancel(); });
  first.Cancel();
  releasing.Join();
  cancelling.Join();
  Require(semaphore.available_permits() == 2);
  Require(semaphore.TryAcquire().has_value());
}

MODEL_TEST(Semaphore, Batch, .mode = model::Mode::kBounded,
           .preemption_bound = 1, .spurious_failures = 0) {
  Semaphore semaphore(10);
  Atomic<int> active(0);
  const auto work = [&](size_t n) {
    const absl::StatusOr<Permit> permit = semaphore.BlockingAcquire(n);
    const int used = static_cast<int>(n);
    Require(active.fetch_add(used, std::memory_order_relaxed) + used <= 10);
    active.fetch_sub(used, std::memory_order_relaxed);
  };
  Thread first([&] { work(4); });
  Thread second([&] { work(10); });
  work(8);
  first.Join();
  second.Join();
  Require(semaphore.available_permits() == 10);
}

MODEL_TEST(Semaphore, ReleaseDuringAcquire, .mode = model::Mode::kBounded,
           .preemption_bound = 3, .spurious_failures = 0) {
  Semaphore semaphore(10);
  std::optional<Permit> permit = semaphore.TryAcquire(8);
  Thread other([&] { semaphore.BlockingAcquire(4)->Forget(); });
  permit.reset();
  other.Join();
  Require(semaphore.BlockingAcquire(6).ok());
  Require(semaphore.available_permits() == 6);
}

MODEL_TEST(Semaphore, ConcurrentPermitUpdates) {
  Semaphore semaphore(5);
  size_t forgotten = 0;
  Thread forgetting([&] { forgotten = semaphore.ForgetPermits(3); });
  Thread adding([&] { semaphore.AddPermits(4); });
  std::optional<Permit> permit = semaphore.TryAcquire(6);
  const size_t acquired = permit.has_value() ? 6 : 0;
  forgetting.Join();
  adding.Join();
  Require(semaphore.available_permits() == 9 - forgotten - acquired);
  permit.reset();
  Require(semaphore.available_permits() == 9 - forgotten);
}

MODEL_TEST(Semaphore, ForgettingSeesWhatTheReleaserDid) {
  Semaphore semaphore(0);
  PlainInt data(0);
  Thread other([&] {
    Use(data);
    semaphore.AddPermits(1);
  });
  if (semaphore.ForgetPermits(1) == 1) Require(data.Read() == 1);
}

// Taken permits are given back while another task begins to wait.
MODEL_TEST(Semaphore, TwoBeginToWaitDuringARelease) {
  Semaphore semaphore(1);
  std::optional<Permit> permit = semaphore.TryAcquire();
  Acquiring first(semaphore);
  Acquiring second(semaphore);
  bool first_ready = false;
  Thread other([&] { first_ready = first.Poll(); });
  Thread releasing([&] { permit.reset(); });
  const bool second_ready = second.Poll();
  other.Join();
  releasing.Join();
  Require(!first_ready || !second_ready);
  if (first_ready || second_ready) return;
  if (!first.Poll()) second.RequireEnd();
}

MODEL_MUTANTS(Semaphore, "sync/semaphore/core.");

}  // namespace
}  // namespace rouse
