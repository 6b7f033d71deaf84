// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/streams/forward.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/co.h"
#include "rouse/future/iter.h"
#include "rouse/future/stream.h"
#include "rouse/future/streams/sink.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/feed.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A sink that needs no time, and refuses a value.
class Refusing {
 public:
  explicit Refusing(int refused) : refused_(refused) {}

  absl::Status Send(std::unique_ptr<int>&& item) {
    if (*item == refused_) return absl::CancelledError("refused");
    sent.push_back(*std::move(item));
    return absl::OkStatus();
  }

  std::vector<int> sent;

 private:
  int refused_;
};

// A sink whose futures wait, and give items back.
class Waiting {
 public:
  class SendFuture {
   public:
    SendFuture(Waiting& sink, std::string item)
        : gate_(sink.gate.future()), item_(std::move(item)), sink_(&sink) {}
    SendFuture(SendFuture&&) = default;

    PollResult<absl::StatusOr<size_t>> Poll(Context& cx) {
      PollResult<bool> open = gate_.Poll(cx);
      if (open.IsPending()) return kPending;
      if (!*open) return absl::StatusOr<size_t>(absl::CancelledError("shut"));
      sink_->sent.push_back(std::move(item_));
      return absl::StatusOr<size_t>(sink_->sent.size());
    }

    std::string TakeValue() { return std::move(item_); }

   private:
    Switch<bool>::Leaf gate_;
    std::string item_;
    Waiting* sink_;
  };

  SendFuture Send(std::string item) {
    return SendFuture(*this, std::move(item));
  }

  Switch<bool> gate;
  std::vector<std::string> sent;
};

class Coroutines {
 public:
  Co<absl::Status> Send(int item) {
    sum_ += item;
    co_return absl::OkStatus();
  }

  int sum() const { return sum_; }

 private:
  int sum_ = 0;
};

static_assert(Sink<Refusing, std::unique_ptr<int>>);
static_assert(Sink<Refusing&, std::unique_ptr<int>>);
static_assert(!Sink<Refusing, int>);
static_assert(Sink<Waiting, std::string>);
static_assert(Sink<Coroutines, int>);
static_assert(!Sink<std::string, int>);

std::vector<std::unique_ptr<int>> Pointers(std::vector<int> values) {
  std::vector<std::unique_ptr<int>> pointers;
  for (const int value : values) {
    pointers.push_back(std::make_unique<int>(value));
  }
  return pointers;
}

TEST(Forward, SendsAllItems) {
  Refusing sink(0);
  auto all = Iter(Pointers({1, 2, 3})) | Forward(sink);
  EXPECT_EQ(PollOnce(all).value(), absl::OkStatus());
  EXPECT_THAT(sink.sent, ElementsAre(1, 2, 3));
  EXPECT_PANIC(static_cast<void>(PollOnce(all)),
               "Forward was polled after it completed; call Forward() again");
}

TEST(Forward, SendsToCoroutines) {
  Coroutines sink;
  auto all = Forward(Iter(std::vector{1, 2}), sink);
  EXPECT_EQ(PollOnce(all).value(), absl::OkStatus());
  EXPECT_EQ(sink.sum(), 3);
}

TEST(Forward, EndsWithAnErrorAndLosesNothing) {
  Refusing sink(2);
  auto items = Iter(Pointers({1, 2, 3}));
  auto all = items | Forward(sink);
  EXPECT_EQ(PollOnce(all).value(), absl::CancelledError("refused"));
  EXPECT_THAT(sink.sent, ElementsAre(1));
  EXPECT_EQ(**all.TakeUnsent(), 2);
  EXPECT_EQ(all.TakeUnsent(), std::nullopt);
  EXPECT_EQ(**PollNextOnce(items).value(), 3);
}

TEST(Forward, WaitsForTheSink) {
  CountingWaker task;
  Waiting sink;
  Feed<std::string> feed;
  auto all = feed.stream() | Forward(sink);
  EXPECT_TRUE(task.Poll(all).IsPending());
  feed.Push("a");
  feed.Push("b");
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_TRUE(task.Poll(all).IsPending());
  // An item is not taken before the item before is sent.
  EXPECT_EQ(feed.left(), 1);
  AwaitTrace trace;
  trace.Add(all);
  EXPECT_THAT(trace.ToString(), HasSubstr("SendFuture"));
  sink.gate.Set(true);
  EXPECT_EQ(task.wakes(), 2);
  EXPECT_TRUE(task.Poll(all).IsPending());
  EXPECT_THAT(sink.sent, ElementsAre("a"));
  sink.gate.Set(false);
  EXPECT_EQ(task.Poll(all).value(), absl::CancelledError("shut"));
  EXPECT_FALSE(feed.alive());
  EXPECT_EQ(all.TakeUnsent(), "b");
}

TEST(Forward, GivesBackTheItemThatWaits) {
  Waiting sink;
  Feed<std::string> feed;
  auto all = feed.stream() | Forward(sink);
  feed.Push("a");
  EXPECT_TRUE(PollOnce(all).IsPending());
  EXPECT_TRUE(sink.gate.alive());
  EXPECT_EQ(all.TakeUnsent(), "a");
  EXPECT_FALSE(sink.gate.alive());
}

TEST(Forward, CancelsTheSend) {
  Waiting sink;
  {
    std::vector<std::string> items = {"a"};
    auto all = Iter(std::move(items)) | Forward(sink);
    EXPECT_TRUE(PollOnce(all).IsPending());
    EXPECT_TRUE(sink.gate.alive());
  }
  EXPECT_FALSE(sink.gate.alive());
}

TEST(Forward, DestroysAMovedInSinkAtTheEnd) {
  auto state = std::make_shared<int>(0);
  class Counting {
   public:
    explicit Counting(std::shared_ptr<int> count) : count_(std::move(count)) {}
    absl::Status Send(int item) {
      *count_ += item;
      return absl::OkStatus();
    }

   private:
    std::shared_ptr<int> count_;
  };
  auto all = Iter(std::vector{1, 2}) | Forward(Counting(state));
  EXPECT_EQ(state.use_count(), 2);
  EXPECT_EQ(PollOnce(all).value(), absl::OkStatus());
  EXPECT_EQ(*state, 3);
  EXPECT_EQ(state.use_count(), 1);
}

TEST(Forward, TakesAUnitForEachItem) {
  CountingWaker task;
  Refusing sink(0);
  auto all =
      Iter(Pointers(std::vector<int>(kBudgetPerPoll + 2, 1))) | Forward(sink);
  EXPECT_TRUE(task.Poll(all).IsPending());
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.Poll(all).value(), absl::OkStatus());
  EXPECT_EQ(sink.sent.size(), kBudgetPerPoll + 2);
}

#ifdef ABSL_HAVE_EXCEPTIONS
class Throwing {
 public:
  Co<absl::Status> Send(int item) {
    if (item == 1) throw std::runtime_error("one");
    sent.push_back(item);
    co_return absl::OkStatus();
  }

  std::vector<int> sent;
};

TEST(Forward, ContinuesAfterAnException) {
  Throwing sink;
  auto all = Iter(std::vector{1, 2}) | Forward(sink);
  EXPECT_THROW((void)PollOnce(all), std::runtime_error);
  EXPECT_EQ(PollOnce(all).value(), absl::OkStatus());
  EXPECT_THAT(sink.sent, ElementsAre(2));
}
#endif

}  // namespace
}  // namespace rouse
