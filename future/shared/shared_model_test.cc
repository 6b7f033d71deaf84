// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of a `Shared` are polled, woken and destroyed on several threads. A
// lost wake is a deadlock. The checker itself finds a future that two threads
// poll at once, and a core that is freed too early or never.

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "rouse/base/atomic.h"
#include "rouse/future/shared/shared.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using PlainInt = model::Cell<int>;

// An event for which a future waits. The future must be polled before `Set()`.
class Event {
 public:
  void Set() {
    // Relaxed: the core orders the poll after the wake.
    is_set_.store(true, std::memory_order_relaxed);
    std::move(waker_).Wake();
  }

  bool Poll(Context& cx) {
    ++polls_.Write();
    if (is_set_.load(std::memory_order_relaxed)) return true;
    if (waker_.IsNoop()) waker_ = cx.waker().Clone();
    return false;
  }

  int polls() const { return polls_.Read(); }

 private:
  Atomic<bool> is_set_{false};
  Waker waker_;
  // Two polls at once are a race.
  PlainInt polls_{0};
};

// A future of a value that can only be moved.
class EventFuture {
 public:
  explicit EventFuture(Event& event) : event_(&event) {}

  PollResult<std::unique_ptr<PlainInt>> Poll(Context& cx) {
    if (!event_->Poll(cx)) return kPending;
    return std::make_unique<PlainInt>(7);
  }

 private:
  Event* event_;
};

// A future that is ready in the second poll, and wakes itself in the first.
class Twice {
 public:
  explicit Twice(PlainInt& polls) : polls_(&polls) {}

  PollResult<int> Poll(Context& cx) {
    if (++polls_->Write() == 2) return 7;
    cx.waker().WakeByRef();
    // A poll by another thread, from the wake on, would be a race.
    Require(polls_->Read() == 1);
    return kPending;
  }

 private:
  PlainInt* polls_;
};

using SharedEvent = Shared<EventFuture>;

void RequireOutput(PollResult<const std::unique_ptr<PlainInt>&> output) {
  Require(output.IsReady());
  Require((*output)->Read() == 7);
}

MODEL_TEST(Shared, TwoCopiesGetTheOutput) {
  PlainInt polls(0);
  Shared<Twice> first((Twice(polls)));
  Task first_task, second_task;
  Thread other([&second_task, second = first]() mutable {
    Require(second_task.Await(second) == 7);
  });
  Require(first_task.Await(first) == 7);
  other.Join();
  Require(polls.Read() == 2);
}

MODEL_TEST(Shared, AWakeOfTheFutureWakesTheCopyThatIsPolled) {
  Event event;
  SharedEvent first((EventFuture(event)));
  SharedEvent second(first);
  Task first_task, second_task;
  Require(first_task.Poll(first).IsPending());
  Require(second_task.Poll(second).IsPending());
  Require(event.polls() == 1);
  Require(!first_task.woken() && !second_task.woken());
  Thread setting([&event] { event.Set(); });
  // Only the second copy is polled again.
  RequireOutput(
      PollResult<const std::unique_ptr<PlainInt>&>(second_task.Await(second)));
  setting.Join();
  Require(first_task.woken());
  RequireOutput(first_task.Poll(first));
}

MODEL_TEST(Shared, ACopyIsDestroyedDuringTheWake) {
  Event event;
  std::optional<SharedEvent> first((EventFuture(event)));
  SharedEvent second(*first);
  Task first_task, second_task;
  Require(first_task.Poll(*first).IsPending());
  Thread setting([&event] { event.Set(); });
  const bool ready = second_task.Poll(second).IsReady();
  first.reset();
  setting.Join();
  Require(ready || second_task.woken());
  RequireOutput(second_task.Poll(second));
}

// The first copy polls while the second registers, and is then destroyed.
MODEL_TEST(Shared, ACopyThatPolledIsDestroyedBesideAWaitingCopy) {
  PlainInt polls(0);
  std::optional<Shared<Twice>> first((Twice(polls)));
  Shared<Twice> second(*first);
  Task first_task, second_task;
  Thread other([&first_task, &first] {
    static_cast<void>(first_task.Poll(*first));
    first.reset();
  });
  Require(second_task.Await(second) == 7);
  other.Join();
  Require(polls.Read() == 2);
}

MODEL_TEST(Shared, TheLastCopyIsDestroyedDuringTheWake) {
  Event event;
  std::optional<SharedEvent> copy((EventFuture(event)));
  {
    Task task;
    Require(task.Poll(*copy).IsPending());
    Thread setting([&event] { event.Set(); });
    copy.reset();
    setting.Join();
  }
}

MODEL_TEST(Shared, TheOutputIsDestroyedWithTheLastCopy) {
  PlainInt ends(0);
  class Counted {
   public:
    explicit Counted(PlainInt& ends) : ends_(&ends) {}
    Counted(Counted&& other) noexcept
        : ends_(std::exchange(other.ends_, nullptr)) {}
    Counted& operator=(Counted&&) = delete;
    ~Counted() {
      if (ends_ != nullptr) ++ends_->Write();
    }
    // Reads, so that a destruction too early is a race.
    bool is_there() const { return ends_->Read() == 0; }

   private:
    PlainInt* ends_;
  };
  class Make {
   public:
    explicit Make(PlainInt& ends) : ends_(&ends) {}
    PollResult<Counted> Poll(Context&) { return Counted(*ends_); }

   private:
    PlainInt* ends_;
  };
  {
    std::optional<Shared<Make>> first((Make(ends)));
    Task first_task, second_task;
    Thread other([&second_task, second = *first]() mutable {
      Require(second_task.Await(second).is_there());
    });
    Require(first_task.Await(*first).is_there());
    first.reset();
    other.Join();
  }
  Require(ends.Read() == 1);
}

MODEL_TEST(Shared, AMovedCopyIsWoken) {
  Event event;
  SharedEvent from((EventFuture(event)));
  Task task;
  Require(task.Poll(from).IsPending());
  Thread setting([&event] { event.Set(); });
  SharedEvent to(std::move(from));
  setting.Join();
  Require(task.woken());
  RequireOutput(task.Poll(to));
}

MODEL_TEST(Shared, TwoThreadsMakeCopies) {
  Event event;
  std::optional<SharedEvent> first((EventFuture(event)));
  std::optional<SharedEvent> second(*first);
  Thread other([&second] {
    const SharedEvent third(*second);
    second.reset();
  });
  const SharedEvent fourth(*first);
  first.reset();
  other.Join();
  Require(!fourth.IsReady());
}

// Keeps two wakers, and is never ready.
class Keeps {
 public:
  explicit Keeps(Waker (&wakers)[2]) : wakers_(&wakers) {}

  PollResult<int> Poll(Context& cx) {
    for (Waker& waker : *wakers_) waker = cx.waker().Clone();
    return kPending;
  }

 private:
  Waker (*wakers_)[2];
};

MODEL_TEST(Shared, TwoThreadsCloneWakersOfTheFuture) {
  Waker wakers[2];
  Task task;
  {
    Shared<Keeps> copy((Keeps(wakers)));
    Require(task.Poll(copy).IsPending());
  }
  Thread other([&wakers] {
    const Waker clone = wakers[0].Clone();
    wakers[0].Reset();
  });
  const Waker clone = wakers[1].Clone();
  wakers[1].Reset();
  other.Join();
  clone.WakeByRef();
}

// The output is read without the lock.
MODEL_TEST(Shared, APeekSeesTheWholeOutput) {
  Event event;
  SharedEvent first((EventFuture(event)));
  Task task;
  Require(task.Poll(first).IsPending());
  event.Set();
  Thread other([second = first] {
    if (const std::unique_ptr<PlainInt>* value = second.Peek()) {
      Require((*value)->Read() == 7);
    }
  });
  RequireOutput(task.Poll(first));
  other.Join();
}

MODEL_MUTANTS(Shared, "future/shared/");

}  // namespace
}  // namespace rouse
