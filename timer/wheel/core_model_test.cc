// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The owner of a registration against the driver that fires it or is destroyed;
// and insertions against a driver that is about to sleep.

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/wheel/core.h"
#include "rouse/timer/wheel/registration.h"
#include "rouse/timer/wheel/shard.h"
#include "rouse/waker/thread_parker.h"

namespace rouse::wheel::internal {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using State = Registration::State;

// Returns an instant relative to the time at which a model's clock stands.
constexpr Instant AfterTicks(int ticks) {
  return Instant::FromNanoseconds(int64_t{1'000'000} * (1 + ticks));
}

// A driver without a loop, which the model steps.
class TestDriver {
 public:
  explicit TestDriver(int shards = 1)
      : core_(Core::New(
            clock_, absl::Milliseconds(1), shards,
            std::make_shared<absl::AnyInvocable<void() const>>(
                [unparker = parker_.unparker()] { unparker.Unpark(); }))) {}
  TestDriver(const TestDriver&) = delete;
  TestDriver& operator=(const TestDriver&) = delete;
  ~TestDriver() {
    if (core_ != nullptr) End();
  }

  Core& operator*() { return *core_; }
  Core* operator->() { return core_; }

  void PassTick() { clock_->Advance(absl::Milliseconds(1)); }
  void Park() { parker_.Park(); }

  // Does the same as wheel::Driver.
  void End() {
    Core* core = std::exchange(core_, nullptr);
    core->Shutdown();
    core->Unref();
  }

 private:
  const std::shared_ptr<Clock> clock_ = std::make_shared<Clock>();
  ThreadParker parker_;
  Core* core_;
};

// Makes a shard this thread's own for the lifetime of the object.
class InShard {
 public:
  explicit InShard(Shard& shard) : outer_(ExchangeCurrentShard(&shard)) {}
  InShard(const InShard&) = delete;
  InShard& operator=(const InShard&) = delete;
  ~InShard() { ExchangeCurrentShard(outer_); }

 private:
  Shard* const outer_;
};

// Requires that `registration` waits, and elapses at the next tick.
void RequireElapsesNext(TestDriver& driver, Task& task,
                        Registration& registration) {
  Require(registration.Wait(task.waker()) == State::kWaiting);
  const int wakes = task.wakes();
  driver.PassTick();
  driver->EndPark();
  Require(task.wakes() == wakes + 1);
  Require(registration.IsElapsed());
}

MODEL_TEST(WheelCore, ACancelledRegistrationCanBeFreed) {
  TestDriver driver;
  Task task;
  const InShard here(driver->shard(0));
  auto registration = std::make_unique<Registration>(AfterTicks(1));
  Require(registration->Wait(task.waker()) == State::kWaiting);
  driver.PassTick();
  Thread turn([&] { driver->EndPark(); });
  registration.reset();
  turn.Join();
  Require(task.wakes() <= 1);
}

MODEL_TEST(WheelCore, AnElapsedRegistrationCanBeFreedOrRearmed) {
  TestDriver driver;
  Task task;
  const InShard here(driver->shard(0));
  auto registration = std::make_unique<Registration>(AfterTicks(1));
  Require(registration->Wait(task.waker()) == State::kWaiting);
  driver.PassTick();
  Thread turn([&] { driver->EndPark(); });
  if (registration->state() == State::kElapsed) {
    registration->Reset(AfterTicks(2));
    Require(registration->Wait(task.waker()) == State::kWaiting);
  }
  registration.reset();
}

MODEL_TEST(WheelCore, OneThatIsDueWhenItIsArmedHasElapsed) {
  Task task;
  TestDriver driver;
  const InShard here(driver->shard(0));
  driver.PassTick();
  Thread turn([&] { driver->EndPark(); });
  Registration registration(AfterTicks(1));
  Require(registration.Wait(task.waker()) == State::kElapsed);
  Require(registration.IsElapsed());
  turn.Join();
  Require(!task.woken());
}

// `end` ends the wait of a registration, whose state is then `last`.
void AWakerIsReplacedWhile(absl::FunctionRef<void(TestDriver& driver)> end,
                           State last) {
  TestDriver driver;
  Task first;
  Task second;
  Registration registration(AfterTicks(1));
  {
    const InShard here(driver->shard(0));
    Require(registration.Wait(first.waker()) == State::kWaiting);
  }
  driver.PassTick();
  Thread ending([&] { end(driver); });
  const State state = registration.Wait(second.waker());
  ending.Join();
  Require(first.wakes() + second.wakes() == 1);
  Require((state == State::kWaiting) == (second.wakes() == 1));
  Require(registration.state() == last);
}

MODEL_TEST(WheelCore, AReplacementWakerIsCalled) {
  AWakerIsReplacedWhile([](TestDriver& driver) { driver->EndPark(); },
                        State::kElapsed);
}

MODEL_TEST(WheelCore, AWakerIsReplacedWhileTheDriverIsDestroyed) {
  AWakerIsReplacedWhile([](TestDriver& driver) { driver.End(); },
                        State::kShutDown);
}

MODEL_TEST(WheelCore, APostponedRegistrationDoesNotElapseEarly) {
  TestDriver driver;
  Task task;
  const InShard here(driver->shard(0));
  Registration registration(AfterTicks(1));
  Require(registration.Wait(task.waker()) == State::kWaiting);
  driver.PassTick();
  Thread turn([&] { driver->EndPark(); });
  registration.Reset(AfterTicks(2));
  Require(!registration.IsElapsed());
  Require(registration.Wait(task.waker()) == State::kWaiting);
  turn.Join();
  // This holds whether or not the turn called the waker for nothing.
  Require(!registration.IsElapsed());
  RequireElapsesNext(driver, task, registration);
}

MODEL_TEST(WheelCore, AnEarlierDeadlineWakesTheTask) {
  TestDriver driver;
  Task task;
  const InShard here(driver->shard(0));
  Registration registration(AfterTicks(2));
  Require(registration.Wait(task.waker()) == State::kWaiting);
  driver.PassTick();
  Thread turn([&] { driver->EndPark(); });
  registration.Reset(AfterTicks(1));
  turn.Join();
  driver->EndPark();
  Require(task.wakes() == 1);
  Require(registration.IsElapsed());
}

MODEL_TEST(WheelCore, ARegistrationOutlivesItsDriver) {
  TestDriver driver;
  Task task;
  auto registration = std::make_unique<Registration>(AfterTicks(1));
  {
    const InShard here(driver->shard(0));
    Require(registration->Wait(task.waker()) == State::kWaiting);
  }
  Thread end([&] { driver.End(); });
  registration.reset();
}

MODEL_TEST(WheelCore, AResetRacesWithTheDriversDestruction) {
  TestDriver driver;
  Task task;
  Registration registration(AfterTicks(2));
  {
    const InShard here(driver->shard(0));
    Require(registration.Wait(task.waker()) == State::kWaiting);
  }
  Thread end([&] { driver.End(); });
  registration.Reset(AfterTicks(1));
  end.Join();
  Require(registration.Wait(task.waker()) == State::kShutDown);
}

MODEL_TEST(WheelCore, TwoRegistrationsBindAndUnbindAtOnce) {
  TestDriver driver;
  Thread other([&] { Registration registration(*driver, AfterTicks(1)); });
  {
    Registration registration(*driver, AfterTicks(1));
  }
  other.Join();
}

MODEL_TEST(WheelCore, APostponedRegistrationIsBroughtForward) {
  TestDriver driver;
  Task task;
  const InShard here(driver->shard(0));
  Registration registration(AfterTicks(1));
  Require(registration.Wait(task.waker()) == State::kWaiting);
  driver.PassTick();
  Thread turn([&] { driver->EndPark(); });
  registration.Reset(AfterTicks(3));
  registration.Reset(AfterTicks(2));
  turn.Join();
  Require(!registration.IsElapsed());
  RequireElapsesNext(driver, task, registration);
}

MODEL_TEST(WheelCore,
           ARegistrationIsPostponedAndFreedWhileItsDriverIsDestroyed) {
  TestDriver driver;
  Task task;
  auto registration = std::make_unique<Registration>(AfterTicks(1));
  {
    const InShard here(driver->shard(0));
    Require(registration->Wait(task.waker()) == State::kWaiting);
  }
  Thread end([&] { driver.End(); });
  registration->Reset(AfterTicks(3));
  registration->Reset(AfterTicks(2));
  registration.reset();
}

MODEL_TEST(WheelCore, ARegistrationIsPostponedAgainWhileItsDriverIsDestroyed) {
  TestDriver driver;
  Task task;
  auto registration = std::make_unique<Registration>(AfterTicks(1));
  {
    const InShard here(driver->shard(0));
    Require(registration->Wait(task.waker()) == State::kWaiting);
  }
  driver.PassTick();
  registration->Reset(AfterTicks(2));
  Thread turn([&] { driver->EndPark(); });
  driver->Shutdown();
  turn.Join();
  Require(task.wakes() == 1);
  Require(registration->state() == State::kShutDown);
}

MODEL_TEST(WheelCore, AHeldClockDoesNotAdvance) {
  const auto clock = std::make_shared<Clock>();
  clock->Pause();
  clock->SetAutoAdvance(true);
  Thread driver([&] { (void)clock->AutoAdvanceTo(AfterTicks(1)); });
  const Clock::AutoAdvanceHold hold(*clock);
  const Instant now = clock->Now();
  driver.Join();
  Require(clock->Now() == now);
}

// A driver that sleeps until a tick is not woken by the clock here: without an
// unpark it sleeps forever, which is a deadlock.
void SleepThroughNothing(TestDriver& driver) {
  while (driver->BeginPark(absl::InfiniteDuration()) > absl::Milliseconds(1)) {
    driver.Park();
    driver->EndPark();
  }
}

MODEL_TEST(WheelCore, NoInsertionIsMissedByASleepingDriver) {
  TestDriver driver(2);
  Task task;
  Registration late(AfterTicks(10));
  {
    const InShard here(driver->shard(0));
    Require(late.Wait(task.waker()) == State::kWaiting);
  }
  Thread sleeping([&] { SleepThroughNothing(driver); });
  Registration soon(AfterTicks(1));
  const InShard here(driver->shard(1));
  Require(soon.Wait(task.waker()) == State::kWaiting);
  sleeping.Join();
}

MODEL_TEST(WheelCore, NoEarlierDeadlineIsMissedByASleepingDriver) {
  TestDriver driver;
  Task task;
  const InShard here(driver->shard(0));
  Registration registration(AfterTicks(10));
  Require(registration.Wait(task.waker()) == State::kWaiting);
  Thread sleeping([&] { SleepThroughNothing(driver); });
  registration.Reset(AfterTicks(1));
  sleeping.Join();
}

MODEL_MUTANTS(WheelCore, "timer/wheel/",
              "NextWake::: killed by next_wake_model_test");

}  // namespace
}  // namespace rouse::wheel::internal
