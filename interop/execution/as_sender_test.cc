// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// `AsSender()` and `Scheduler`, with the small library of mini_library.h.

#include "rouse/interop/execution/as_sender.h"

#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/ready.h"
#include "rouse/interop/execution/library.h"
#include "rouse/interop/execution/mini_library.h"
#include "rouse/interop/execution/scheduler.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/timer/sleep.h"

namespace rouse::interop {
namespace {

using ::absl_testing::StatusIs;
using mini::Library;

static_assert(ExecutionLibrary<Library>);
static_assert(!ExecutionLibrary<int>);

// What a receiver was completed with.
template <class T>
struct Outcome {
  std::optional<T> value;
  std::optional<absl::Status> status;
  std::exception_ptr exception;
  bool stopped = false;
  std::thread::id thread;
  absl::Notification done;
  mini::stop_source stop;
};
struct Nothing {};

// Is completed once, and records how.
template <class T>
class Receiver {
 public:
  using receiver_concept = mini::receiver_tag;

  explicit Receiver(Outcome<T>* outcome) : outcome_(outcome) {}

  void set_value() && noexcept { Complete().value.emplace(), Notify(); }
  void set_value(T value) && noexcept {
    Complete().value = std::move(value);
    Notify();
  }
  void set_error(absl::Status error) && noexcept {
    Complete().status = std::move(error);
    Notify();
  }
  void set_error(std::exception_ptr error) && noexcept {
    Complete().exception = std::move(error);
    Notify();
  }
  void set_stopped() && noexcept {
    Complete().stopped = true;
    Notify();
  }

  struct Env {
    auto query(mini::get_stop_token_t) const noexcept {
      return stop->get_token();
    }
    mini::stop_source* stop;
  };
  Env get_env() const noexcept { return Env{&outcome_->stop}; }

 private:
  Outcome<T>& Complete() {
    EXPECT_FALSE(outcome_->done.HasBeenNotified());
    outcome_->thread = std::this_thread::get_id();
    return *outcome_;
  }
  void Notify() { outcome_->done.Notify(); }

  Outcome<T>* outcome_;
};

// Has no environment, and destroys the operation state when it is completed.
template <class T>
class DestroyingReceiver {
 public:
  using receiver_concept = mini::receiver_tag;

  DestroyingReceiver(std::shared_ptr<void>* operation, absl::Notification* done)
      : operation_(operation), done_(done) {}

  template <class... Args>
  void set_value(Args&&...) && noexcept {
    End();
  }
  template <class E>
  void set_error(E&&) && noexcept {
    End();
  }
  void set_stopped() && noexcept { End(); }

 private:
  void End() {
    absl::Notification* const done = done_;
    operation_->reset();
    done->Notify();
  }

  std::shared_ptr<void>* operation_;
  absl::Notification* done_;
};

Co<int> Double(int value) {
  (void)co_await Sleep(absl::Milliseconds(1));
  co_return 2 * value;
}

// Sets `*gone` when it is destroyed.
class Guard {
 public:
  explicit Guard(bool* gone) : gone_(gone) {}
  Guard(Guard&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)) {}
  Guard& operator=(Guard&&) = delete;
  ~Guard() {
    if (gone_ != nullptr) *gone_ = true;
  }

 private:
  bool* gone_;
};

Co<int> SleepForEver([[maybe_unused]] Guard guard) {
  (void)co_await Sleep(absl::InfiniteDuration());
  co_return 0;
}

class AsSenderTest : public ::testing::Test {
 protected:
  // Runs a sender to its end.
  template <class T, class S>
  void Run(S sender, Outcome<T>& outcome) {
    auto operation =
        mini::connect_t()(std::move(sender), Receiver<T>(&outcome));
    mini::start_t()(operation);
    outcome.done.WaitForNotification();
  }

  Runtime runtime_ = Builder::MultiThread().WorkerThreads(1).Build().value();
  const Handle handle_ = runtime_.handle();
};

TEST_F(AsSenderTest, TheOutputIsTheValue) {
  Outcome<int> outcome;
  Run(AsSender<Library>(handle_, Double(21)), outcome);
  EXPECT_EQ(outcome.value, 42);
  EXPECT_NE(outcome.thread, std::this_thread::get_id());
}

TEST_F(AsSenderTest, SaysHowItCompletes) {
  auto value = AsSender<Library>(handle_, Double(1));
  static_assert(mini::sender<decltype(value)>);
  static_assert(
      std::is_same_v<
          mini::completion_signatures_of_t<decltype(value), mini::empty_env>,
          mini::completion_signatures<mini::set_value_t(int),
                                      mini::set_error_t(std::exception_ptr),
                                      mini::set_stopped_t()>>);
  auto status = AsSender<Library>(handle_, Ready(absl::OkStatus()));
  static_assert(
      std::is_same_v<
          decltype(status)::completion_signatures,
          mini::completion_signatures<
              mini::set_value_t(), mini::set_error_t(absl::Status),
              mini::set_error_t(std::exception_ptr), mini::set_stopped_t()>>);
}

TEST_F(AsSenderTest, VoidHasNoValue) {
  Outcome<Nothing> outcome;
  Run(AsSender<Library>(handle_, Ready()), outcome);
  EXPECT_TRUE(outcome.value.has_value());
}

TEST_F(AsSenderTest, AStatusIsAnError) {
  Outcome<Nothing> ok;
  Run(AsSender<Library>(handle_, Ready(absl::OkStatus())), ok);
  EXPECT_TRUE(ok.value.has_value());
  Outcome<Nothing> error;
  Run(AsSender<Library>(handle_, Ready(absl::NotFoundError("no"))), error);
  EXPECT_THAT(error.status.value(),
              StatusIs(absl::StatusCode::kNotFound, "no"));
}

TEST_F(AsSenderTest, AStatusOrIsAValueOrAnError) {
  Outcome<std::string> ok;
  Run(AsSender<Library>(handle_, Ready(absl::StatusOr<std::string>("text"))),
      ok);
  EXPECT_EQ(ok.value, "text");
  Outcome<std::string> error;
  Run(AsSender<Library>(
          handle_, Ready(absl::StatusOr<std::string>(absl::AbortedError("")))),
      error);
  EXPECT_EQ(error.status.value().code(), absl::StatusCode::kAborted);
}

TEST_F(AsSenderTest, TheOutputCanBeMoveOnly) {
  Outcome<std::unique_ptr<int>> outcome;
  auto make = []() -> Co<std::unique_ptr<int>> {
    co_return std::make_unique<int>(7);
  };
  Run(AsSender<Library>(handle_, make()), outcome);
  EXPECT_EQ(**outcome.value, 7);
}

TEST_F(AsSenderTest, AStopDestroysTheFuture) {
  bool gone = false;
  Outcome<int> outcome;
  auto operation =
      mini::connect_t()(AsSender<Library>(handle_, SleepForEver(Guard(&gone))),
                        Receiver<int>(&outcome));
  mini::start_t()(operation);
  EXPECT_FALSE(outcome.done.HasBeenNotified());
  outcome.stop.request_stop();
  outcome.done.WaitForNotification();
  EXPECT_TRUE(outcome.stopped);
  EXPECT_TRUE(gone);
}

TEST_F(AsSenderTest, AStopBeforeTheStartDestroysTheFuture) {
  bool gone = false;
  Outcome<int> outcome;
  outcome.stop.request_stop();
  Run(AsSender<Library>(handle_, SleepForEver(Guard(&gone))), outcome);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_TRUE(gone);
}

// Under ThreadSanitizer, this checks the end of the callback.
TEST_F(AsSenderTest, AStopRacesWithTheEnd) {
  for (int i = 0; i < 300; ++i) {
    Outcome<int> outcome;
    auto operation = mini::connect_t()(AsSender<Library>(handle_, Ready(i)),
                                       Receiver<int>(&outcome));
    mini::start_t()(operation);
    outcome.stop.request_stop();
    outcome.done.WaitForNotification();
    EXPECT_NE(outcome.stopped, outcome.value.has_value());
  }
}

TEST_F(AsSenderTest, AnOperationThatIsNotStartedDoesNothing) {
  bool gone = false;
  Outcome<int> outcome;
  {
    const auto operation = mini::connect_t()(
        AsSender<Library>(handle_, SleepForEver(Guard(&gone))),
        Receiver<int>(&outcome));
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(gone);
  EXPECT_FALSE(outcome.done.HasBeenNotified());
}

TEST_F(AsSenderTest, TheReceiverCanDestroyTheOperation) {
  for (int i = 0; i < 100; ++i) {
    using Operation =
        internal::FutureOperation<Library, Co<int>, DestroyingReceiver<int>>;
    std::shared_ptr<void> owner;
    absl::Notification done;
    auto operation = std::shared_ptr<Operation>(new Operation(
        handle_, Double(i), DestroyingReceiver<int>(&owner, &done),
        std::source_location::current()));
    Operation* const raw = operation.get();
    owner = std::move(operation);
    mini::start_t()(*raw);
    done.WaitForNotification();
  }
}

TEST_F(AsSenderTest, ARuntimeThatShutsDownStopsTheSender) {
  bool gone = false;
  Outcome<int> outcome;
  auto operation =
      mini::connect_t()(AsSender<Library>(handle_, SleepForEver(Guard(&gone))),
                        Receiver<int>(&outcome));
  mini::start_t()(operation);
  std::move(runtime_).ShutdownTimeout(absl::InfiniteDuration());
  outcome.done.WaitForNotification();
  EXPECT_TRUE(outcome.stopped);
  EXPECT_TRUE(gone);
  Outcome<int> later;
  Run(AsSender<Library>(handle_, Double(1)), later);
  EXPECT_TRUE(later.stopped);
}

// Records whether `*gone` was true when it was completed.
class GoneReceiver {
 public:
  using receiver_concept = mini::receiver_tag;

  GoneReceiver(const bool* gone, std::optional<bool>* gone_at_stop)
      : gone_(gone), gone_at_stop_(gone_at_stop) {}

  void set_value(int) && noexcept { ADD_FAILURE() << "ran"; }
  void set_error(std::exception_ptr) && noexcept { ADD_FAILURE() << "failed"; }
  void set_stopped() && noexcept { *gone_at_stop_ = *gone_; }

 private:
  const bool* gone_;
  std::optional<bool>* gone_at_stop_;
};

// Whoever waits for the receiver may free what the future refers to.
TEST(AsSender, AFutureThatNeverRanIsDestroyedBeforeTheReceiverIsStopped) {
  bool gone = false;
  std::optional<bool> gone_at_stop;
  std::optional<Runtime> runtime(Builder::CurrentThread().Build().value());
  auto operation = mini::connect_t()(
      AsSender<Library>(runtime->handle(), SleepForEver(Guard(&gone))),
      GoneReceiver(&gone, &gone_at_stop));
  mini::start_t()(operation);
  EXPECT_EQ(gone_at_stop, std::nullopt);
  runtime.reset();
  EXPECT_EQ(gone_at_stop, true);
}

TEST_F(AsSenderTest, ACopyableFutureCanBeConnectedAgain) {
  const auto sender = AsSender<Library>(handle_, Ready(7));
  for (int i = 0; i < 2; ++i) {
    Outcome<int> outcome;
    auto operation = mini::connect_t()(sender, Receiver<int>(&outcome));
    mini::start_t()(operation);
    outcome.done.WaitForNotification();
    EXPECT_EQ(outcome.value, 7);
  }
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(AsSenderTest, AnExceptionIsAnError) {
  Outcome<int> outcome;
  auto throws = []() -> Co<int> {
    throw std::runtime_error("thrown");
    co_return 0;
  };
  Run(AsSender<Library>(handle_, throws()), outcome);
  EXPECT_THAT([&] { std::rethrow_exception(outcome.exception); },
              ::testing::ThrowsMessage<std::runtime_error>("thrown"));
}
#endif

static_assert(mini::scheduler<Scheduler<Library>>);

TEST_F(AsSenderTest, ASchedulerBeginsWorkInItsRuntime) {
  const Scheduler<Library> scheduler(handle_);
  Outcome<Nothing> outcome;
  Run(scheduler.schedule(), outcome);
  EXPECT_TRUE(outcome.value.has_value());
  EXPECT_NE(outcome.thread, std::this_thread::get_id());
}

TEST_F(AsSenderTest, ASchedulerIsStopped) {
  Outcome<Nothing> outcome;
  outcome.stop.request_stop();
  Run(Scheduler<Library>(handle_).schedule(), outcome);
  EXPECT_TRUE(outcome.stopped);
}

TEST_F(AsSenderTest, SchedulersOfOneRuntimeAreEqual) {
  const Runtime other = Builder::CurrentThread().Build().value();
  const Scheduler<Library> scheduler(handle_);
  EXPECT_EQ(scheduler, Scheduler<Library>(handle_));
  EXPECT_NE(scheduler, Scheduler<Library>(other.handle()));
  EXPECT_EQ(mini::get_completion_scheduler_t<mini::set_value_t>()(
                mini::get_env_t()(scheduler.schedule())),
            scheduler);
}

}  // namespace
}  // namespace rouse::interop
