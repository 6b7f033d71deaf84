// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// `FromSender()`, with the small library of mini_library.h and a sender that
// the test completes.

#include "rouse/interop/execution/from_sender.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/interop/execution/mini_library.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/waker/context.h"

namespace rouse::interop {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using mini::Library;
using ::testing::HasSubstr;

// Completes its receiver by `complete(receiver)` in the start.
template <class Complete, class... Signatures>
class InlineSender {
 public:
  using sender_concept = mini::sender_tag;

  explicit InlineSender(Complete complete) : complete_(std::move(complete)) {}

  template <class Self, class... Env>
  static consteval mini::completion_signatures<Signatures...>
  get_completion_signatures() {
    return {};
  }

  template <class R>
  struct Operation {
    using operation_state_concept = mini::operation_state_tag;
    Operation(Complete c, R r)
        : complete(std::move(c)), receiver(std::move(r)) {}
    Operation(Operation&&) = delete;
    void start() & noexcept { complete(std::move(receiver)); }
    Complete complete;
    R receiver;
  };
  template <class R>
  Operation<R> connect(R receiver) && {
    return {std::move(complete_), std::move(receiver)};
  }

 private:
  Complete complete_;
};

template <class... Signatures, class Complete>
auto MakeSender(Complete complete) {
  return InlineSender<Complete, Signatures...>(std::move(complete));
}

// The test's access to the operation of a `ManualSender`.
struct Control {
  std::function<void(int)> set_value;
  std::function<void()> set_stopped;
  // Called by the stop token.
  std::function<void()> on_stop = [] {};
  std::atomic<int> operations = 0;  // that exist
  std::atomic<int> stops = 0;
};

class ManualSender {
 public:
  using sender_concept = mini::sender_tag;

  explicit ManualSender(Control* control) : control_(control) {}

  template <class Self, class... Env>
  static consteval mini::completion_signatures<mini::set_value_t(int),
                                               mini::set_stopped_t()>
  get_completion_signatures() {
    return {};
  }

  template <class R>
  class Operation {
   public:
    using operation_state_concept = mini::operation_state_tag;
    Operation(Control* control, R receiver)
        : control_(control), receiver_(std::move(receiver)) {
      ++control_->operations;
    }
    Operation(Operation&&) = delete;
    ~Operation() { --control_->operations; }
    void start() & noexcept {
      control_->set_value = [this](int value) {
        on_stop_.reset();
        mini::set_value_t()(std::move(receiver_), value);
      };
      control_->set_stopped = [this] {
        on_stop_.reset();
        mini::set_stopped_t()(std::move(receiver_));
      };
      on_stop_.emplace(mini::get_stop_token_t()(mini::get_env_t()(receiver_)),
                       [control = control_] {
                         ++control->stops;
                         control->on_stop();
                       });
    }

   private:
    using Token = decltype(mini::get_stop_token_t()(
        mini::get_env_t()(std::declval<const R&>())));
    Control* control_;
    R receiver_;
    std::optional<mini::stop_callback_for_t<Token, std::function<void()>>>
        on_stop_;
  };
  template <class R>
  Operation<R> connect(R receiver) const {
    return {control_, std::move(receiver)};
  }

 private:
  Control* control_;
};

TEST(FromSenderTest, TheOutputFollowsTheSignatures) {
  using mini::set_error_t;
  using mini::set_stopped_t;
  using mini::set_value_t;
  const auto output =
      []<class... Signatures>(mini::completion_signatures<Signatures...>) {
        auto sender = MakeSender<Signatures...>([](auto&&) {});
        return std::type_identity<SenderOutput<Library, decltype(sender)>>();
      };
  const auto is = []<class T>(std::type_identity<T>, auto other) {
    return std::is_same_v<std::type_identity<T>, decltype(other)>;
  };
  using mini::completion_signatures;
  EXPECT_TRUE(is(std::type_identity<int>(),
                 output(completion_signatures<set_value_t(int)>())));
  EXPECT_TRUE(is(std::type_identity<void>(),
                 output(completion_signatures<set_value_t()>())));
  EXPECT_TRUE(is(std::type_identity<int>(),
                 output(completion_signatures<set_error_t(std::exception_ptr),
                                              set_value_t(const int&)>())));
  EXPECT_TRUE(
      is(std::type_identity<std::tuple<int, std::string>>(),
         output(completion_signatures<set_value_t(int, std::string&&)>())));
  EXPECT_TRUE(
      is(std::type_identity<absl::StatusOr<int>>(),
         output(completion_signatures<set_value_t(int), set_stopped_t()>())));
  EXPECT_TRUE(is(
      std::type_identity<absl::Status>(),
      output(
          completion_signatures<set_value_t(), set_error_t(absl::Status)>())));
  EXPECT_TRUE(is(std::type_identity<absl::StatusOr<int>>(),
                 output(completion_signatures<set_value_t(absl::StatusOr<int>),
                                              set_stopped_t()>())));
  EXPECT_TRUE(is(std::type_identity<absl::Status>(),
                 output(completion_signatures<set_stopped_t()>())));
}

TEST(FromSenderTest, GivesAValueThatIsThereAtOnce) {
  auto sender = MakeSender<mini::set_value_t(int)>(
      [](auto receiver) { mini::set_value_t()(std::move(receiver), 7); });
  static_assert(Future<decltype(FromSender<Library>(std::move(sender)))>);
  EXPECT_EQ(BlockOn(FromSender<Library>(std::move(sender))), 7);
}

TEST(FromSenderTest, GivesSeveralValuesAndNone) {
  auto two = MakeSender<mini::set_value_t(std::unique_ptr<int>, int)>(
      [](auto receiver) {
        mini::set_value_t()(std::move(receiver), std::make_unique<int>(1), 2);
      });
  const auto [first, second] = BlockOn(FromSender<Library>(std::move(two)));
  EXPECT_EQ(*first, 1);
  EXPECT_EQ(second, 2);
  auto none = MakeSender<mini::set_value_t()>(
      [](auto receiver) { mini::set_value_t()(std::move(receiver)); });
  BlockOn(FromSender<Library>(std::move(none)));
  auto status = MakeSender<mini::set_value_t(), mini::set_stopped_t()>(
      [](auto receiver) { mini::set_value_t()(std::move(receiver)); });
  EXPECT_THAT(BlockOn(FromSender<Library>(std::move(status))), IsOk());
}

TEST(FromSenderTest, StoppedIsCancelled) {
  auto sender = MakeSender<mini::set_value_t(int), mini::set_stopped_t()>(
      [](auto receiver) { mini::set_stopped_t()(std::move(receiver)); });
  EXPECT_THAT(BlockOn(FromSender<Library>(std::move(sender))),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
}

TEST(FromSenderTest, ErrorsAreStatuses) {
  auto status =
      MakeSender<mini::set_value_t(int), mini::set_error_t(absl::Status)>(
          [](auto receiver) {
            mini::set_error_t()(std::move(receiver), absl::NotFoundError("no"));
          });
  EXPECT_THAT(BlockOn(FromSender<Library>(std::move(status))),
              StatusIs(absl::StatusCode::kNotFound, "no"));
  auto ok = MakeSender<mini::set_value_t(), mini::set_error_t(absl::Status)>(
      [](auto receiver) {
        mini::set_error_t()(std::move(receiver), absl::OkStatus());
      });
  EXPECT_THAT(BlockOn(FromSender<Library>(std::move(ok))),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("OK status")));
  auto code =
      MakeSender<mini::set_value_t(), mini::set_error_t(std::error_code)>(
          [](auto receiver) {
            mini::set_error_t()(
                std::move(receiver),
                std::make_error_code(std::errc::connection_refused));
          });
  EXPECT_THAT(BlockOn(FromSender<Library>(std::move(code))),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("refused")));
}

// A task that awaits senders that are always ready lets others run.
TEST(FromSenderTest, AResultTakesAUnitOfTheBudget) {
  CountingWaker waker;
  Context cx(waker.waker());
  uint32_t ready = 0;
  for (;;) {
    auto sender = MakeSender<mini::set_value_t()>(
        [](auto receiver) { mini::set_value_t()(std::move(receiver)); });
    auto future = FromSender<Library>(std::move(sender));
    if (future.Poll(cx).IsPending()) break;
    ++ready;
  }
  EXPECT_EQ(ready, kBudgetPerPoll);
}

TEST(FromSenderTest, NothingBeginsBeforeTheFirstPoll) {
  Control control;
  {
    auto future = FromSender<Library>(ManualSender(&control));
    auto moved = std::move(future);
    EXPECT_EQ(control.operations, 0);
  }
  EXPECT_EQ(control.stops, 0);
}

TEST(FromSenderTest, TheOperationIsDestroyedBeforeTheTaskContinues) {
  Control control;
  auto task = [&control]() -> Co<int> {
    auto future = FromSender<Library>(ManualSender(&control));
    const absl::StatusOr<int> value = co_await std::move(future);
    EXPECT_EQ(control.operations, 0);
    EXPECT_EQ(control.stops, 0);
    co_return value.value();
  };
  Co<int> run = task();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(run.Poll(cx).IsPending());
  EXPECT_EQ(control.operations, 1);
  control.set_value(7);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(run.Poll(cx).value(), 7);
}

TEST(FromSenderTest, AFutureDroppedEarlyRequestsAStop) {
  Control control;
  CountingWaker waker;
  Context cx(waker.waker());
  std::optional future(FromSender<Library>(ManualSender(&control)));
  EXPECT_TRUE(future->Poll(cx).IsPending());
  future.reset();
  EXPECT_EQ(control.stops, 1);
  // The operation runs, and its state exists.
  EXPECT_EQ(control.operations, 1);
  control.set_stopped();
  EXPECT_EQ(control.operations, 0);
  EXPECT_EQ(waker.wakes(), 0);
}

TEST(FromSenderTest, ALateResultIsDiscarded) {
  Control control;
  CountingWaker waker;
  Context cx(waker.waker());
  std::optional future(FromSender<Library>(ManualSender(&control)));
  EXPECT_TRUE(future->Poll(cx).IsPending());
  future.reset();
  control.set_value(7);
  EXPECT_EQ(control.operations, 0);
}

TEST(FromSenderTest, AStopCanCompleteTheOperationAtOnce) {
  Control control;
  control.on_stop = [&control] { control.set_stopped(); };
  CountingWaker waker;
  Context cx(waker.waker());
  std::optional future(FromSender<Library>(ManualSender(&control)));
  EXPECT_TRUE(future->Poll(cx).IsPending());
  future.reset();
  EXPECT_EQ(control.stops, 1);
  EXPECT_EQ(control.operations, 0);
}

TEST(FromSenderTest, AFutureDroppedAfterTheCompletionDestroysTheOperation) {
  Control control;
  CountingWaker waker;
  Context cx(waker.waker());
  std::optional future(FromSender<Library>(ManualSender(&control)));
  EXPECT_TRUE(future->Poll(cx).IsPending());
  control.set_value(7);
  EXPECT_EQ(control.operations, 1);
  future.reset();
  EXPECT_EQ(control.operations, 0);
  EXPECT_EQ(control.stops, 0);
}

TEST(FromSenderTest, AnotherThreadCompletesTheOperation) {
  for (int i = 0; i < 300; ++i) {
    Control control;
    CountingWaker waker;
    Context cx(waker.waker());
    auto future = FromSender<Library>(ManualSender(&control));
    EXPECT_TRUE(future.Poll(cx).IsPending());
    std::thread other([&] { control.set_value(i); });
    EXPECT_THAT(BlockOn(std::move(future)), IsOkAndHolds(i));
    EXPECT_EQ(control.operations, 0);
    other.join();
  }
}

// Under AddressSanitizer and ThreadSanitizer: whichever is last frees the
// operation.
TEST(FromSenderTest, TheDropRacesWithTheCompletion) {
  for (int i = 0; i < 300; ++i) {
    Control control;
    CountingWaker waker;
    Context cx(waker.waker());
    std::optional future(FromSender<Library>(ManualSender(&control)));
    EXPECT_TRUE(future->Poll(cx).IsPending());
    // A copy, because the operation may be destroyed in the call.
    std::thread other([set_value = control.set_value] { set_value(7); });
    future.reset();
    other.join();
    EXPECT_EQ(control.operations, 0);
  }
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST(FromSenderTest, AnExceptionIsThrownByTheAwait) {
  auto sender =
      MakeSender<mini::set_value_t(int), mini::set_error_t(std::exception_ptr)>(
          [](auto receiver) {
            mini::set_error_t()(
                std::move(receiver),
                std::make_exception_ptr(std::runtime_error("thrown")));
          });
  EXPECT_THAT([&] { BlockOn(FromSender<Library>(std::move(sender))); },
              ::testing::ThrowsMessage<std::runtime_error>("thrown"));
}

struct ThrowsWhenCopied {
  ThrowsWhenCopied() = default;
  ThrowsWhenCopied(const ThrowsWhenCopied&) {
    throw std::runtime_error("copied");
  }
  ThrowsWhenCopied(ThrowsWhenCopied&&) noexcept {}
};

TEST(FromSenderTest, AValueThatCannotBeCopiedIsAnException) {
  auto sender =
      MakeSender<mini::set_value_t(const ThrowsWhenCopied&)>([](auto receiver) {
        const ThrowsWhenCopied value;
        mini::set_value_t()(std::move(receiver), value);
      });
  EXPECT_THAT([&] { (void)BlockOn(FromSender<Library>(std::move(sender))); },
              ::testing::ThrowsMessage<std::runtime_error>("copied"));
}

// Cannot be connected.
class RefusingSender {
 public:
  using sender_concept = mini::sender_tag;
  template <class Self, class... Env>
  static consteval mini::completion_signatures<mini::set_value_t(int)>
  get_completion_signatures() {
    return {};
  }
  struct Operation {
    using operation_state_concept = mini::operation_state_tag;
    void start() & noexcept {}
  };
  template <class R>
  Operation connect(R) && {
    throw std::runtime_error("refused");
  }
};

TEST(FromSenderTest, AnExceptionFromTheConnectIsThrownByThePoll) {
  EXPECT_THAT([] { BlockOn(FromSender<Library>(RefusingSender())); },
              ::testing::ThrowsMessage<std::runtime_error>("refused"));
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse::interop
