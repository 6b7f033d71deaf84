// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of testing.md, word for word (testing_quotes_test compares
// them), and the code that the examples test.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/try_join.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read_line.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/oneshot.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/failing_allocations.h"
#include "rouse/testing/paused_time.h"
#include "rouse/testing/poll_matchers.h"
#include "rouse/testing/poll_once.h"
#include "rouse/testing/scripted_io.h"
#include "rouse/testing/test_task.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::rouse::IsPending;
using ::rouse::IsReady;
using ::rouse::IsReadyAndHolds;

rouse::Co<absl::StatusOr<int>> Double(rouse::oneshot::Receiver<int> number) {
  const int value = co_await rouse::OrReturn(std::move(number));
  co_return 2 * value;
}

TEST(Double, WaitsForTheNumber) {
  auto [sender, receiver] = rouse::oneshot::Channel<int>();
  rouse::TestTask task(Double(std::move(receiver)));
  EXPECT_THAT(task.Poll(), IsPending());
  EXPECT_FALSE(task.is_woken());
  EXPECT_TRUE(sender.Send(21));
  EXPECT_TRUE(task.is_woken());
  EXPECT_THAT(task.Poll(), IsReadyAndHolds(IsOkAndHolds(42)));
}

TEST(Double, LeavesNothingBehindWhenItIsCancelled) {
  auto [sender, receiver] = rouse::oneshot::Channel<int>();
  rouse::TestTask task(Double(std::move(receiver)));
  EXPECT_THAT(task.Poll(), IsPending());
  task.Cancel();
  EXPECT_EQ(task.wakers(), 0);
  EXPECT_FALSE(sender.Send(21));  // the receiver is destroyed
}

// Answers each line "PING" with a line "PONG".
template <class S>
rouse::Co<absl::Status> AnswerPings(S& connection) {
  rouse::BufReader reader(connection);
  std::string line;
  for (;;) {
    line.clear();
    const bool is_line =
        co_await rouse::OrReturn(rouse::ReadLine(reader, line, 80));
    if (!is_line) co_return absl::OkStatus();
    if (line != "PING") co_return absl::InvalidArgumentError("no PING");
    co_await rouse::OrReturn(rouse::WriteAll(connection, "PONG\n"));
  }
}

TEST(AnswerPings, AnswersEachLine) {
  rouse::ScriptedIo io;
  io.Read("PING\n").Write("PONG\n");
  io.Read("PI").Read("NG\n").Write("PONG\n");
  rouse::TestTask task(AnswerPings(io));
  EXPECT_THAT(task.Poll(), IsReadyAndHolds(IsOk()));
}

TEST(AnswerPings, ReturnsTheErrorOfTheConnection) {
  rouse::ScriptedIo io;
  io.Read("PI").ReadError(absl::UnavailableError("reset by the peer"));
  rouse::TestTask task(AnswerPings(io));
  EXPECT_THAT(task.Poll(),
              IsReadyAndHolds(StatusIs(absl::StatusCode::kUnavailable)));
}

template <class S>
rouse::Co<absl::Status> PingTwice(S& connection) {
  rouse::BufReader reader(connection);
  std::string line;
  for (int i = 0; i < 2; ++i) {
    line.clear();
    co_await rouse::OrReturn(rouse::WriteAll(connection, "PING\n"));
    (void)co_await rouse::OrReturn(rouse::ReadLine(reader, line, 80));
    if (line != "PONG") co_return absl::DataLossError("no PONG");
  }
  co_return co_await rouse::Shutdown(connection);
}

TEST(AnswerPings, WorksWithItsClient) {
  auto [client, server] = rouse::Duplex(2);  // so small that each side waits
  rouse::TestTask both(rouse::TryJoin(PingTwice(client), AnswerPings(server)));
  auto end = both.Poll();
  while (end.IsPending()) {
    ASSERT_TRUE(both.is_woken()) << "both sides wait for each other";
    end = both.Poll();
  }
  EXPECT_THAT(end, IsReadyAndHolds(IsOk()));
}

rouse::Co<absl::Status> ReceiveWithin10s(rouse::oneshot::Receiver<int> number) {
  const auto result =
      co_await rouse::Timeout(absl::Seconds(10), std::move(number));
  co_return result.status();
}

TEST(ReceiveWithin10s, EndsAfter10s) {
  rouse::Runtime runtime = rouse::PausedRuntime();
  auto test = []() -> rouse::Co<> {
    auto [sender, receiver] = rouse::oneshot::Channel<int>();
    auto task = rouse::Spawn(ReceiveWithin10s(std::move(receiver)));
    co_await rouse::Advance(absl::Milliseconds(9'999));
    EXPECT_FALSE(task.IsFinished());
    co_await rouse::Advance(absl::Milliseconds(1));
    EXPECT_TRUE(task.IsFinished());
    const absl::Status end = co_await task;
    EXPECT_THAT(end, StatusIs(absl::StatusCode::kDeadlineExceeded));
  };
  runtime.BlockOn(test);
}

class Door {
 public:
  void Open() {
    if (is_open_) rouse::Panic("a Door was opened twice; close it first");
    is_open_ = true;
  }

 private:
  bool is_open_ = false;
};

TEST(Door, OpeningTwicePanics) {
  Door door;
  door.Open();
  EXPECT_PANIC(door.Open(), "opened twice");
}

// A future that is ready after `Open()`.
class Gate {
 public:
  void Open() {
    is_open_ = true;
    std::move(waker_).Wake();
  }
  rouse::PollResult<void> Poll(rouse::Context& cx) {
    if (is_open_) return {};
    // No clone if the task has not changed since the last poll.
    if (!waker_.WillWake(cx.waker())) waker_ = cx.waker().Clone();
    return rouse::kPending;
  }

 private:
  bool is_open_ = false;
  rouse::Waker waker_;
};

TEST(Gate, KeepsTheWakerOfTheLastPoll) {
  rouse::CountingWaker first;
  rouse::CountingWaker second;
  Gate gate;
  EXPECT_THAT(first.Poll(gate), IsPending());
  EXPECT_THAT(second.Poll(gate), IsPending());
  EXPECT_THAT(second.Poll(gate), IsPending());
  EXPECT_EQ(first.live(), 0);
  EXPECT_EQ(second.clones(), 1);
  gate.Open();
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 1);
  EXPECT_THAT(rouse::PollOnce(gate), IsReady());
}

class Names {
 public:
  // Adds the name to both lists, or to neither if memory runs out.
  void Add(const std::string& name) {
    std::string newest = name;
    by_age_.push_back(name);
    newest_ = std::move(newest);  // cannot fail
  }
  size_t size() const { return by_age_.size(); }

 private:
  std::vector<std::string> by_age_;
  std::string newest_;
};

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS
TEST(Names, AddDoesAllOrNothingIfMemoryRunsOut) {
  const std::string name(100, 'x');  // too long for a string without allocation
  std::optional<Names> names(std::in_place);
  auto call = [&] {
    names->Add(name);
    return true;
  };
  auto check = [&](std::optional<bool> added) {
    EXPECT_EQ(names->size(), added.has_value() ? 1u : 0u);
    names.emplace();  // for the next try
  };
  EXPECT_GT(rouse::FailEachAllocation(call, check), 0);
}
#endif

}  // namespace
