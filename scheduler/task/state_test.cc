#include "rouse/scheduler/task/state.h"

#include "gtest/gtest.h"

namespace rouse::task {
namespace {

// A new state has three references: of the list, the queue and the handle.

TEST(State, RunsOnceForANotification) {
  State state;
  EXPECT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_EQ(state.StartRunning(), State::Start::kSkip);
}

TEST(State, AnIdleTaskIsSubmittedOnceHoweverOftenItIsWoken) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_EQ(state.SuspendRunning(), State::Suspend::kIdle);
  EXPECT_TRUE(state.Wake());
  EXPECT_FALSE(state.Wake());
  EXPECT_EQ(state.StartRunning(), State::Start::kPoll);
}

TEST(State, ATaskWokenWhileItRunsIsRescheduledByItsRunner) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_FALSE(state.Wake());
  EXPECT_EQ(state.SuspendRunning(), State::Suspend::kReschedule);
  EXPECT_EQ(state.StartRunning(), State::Start::kPoll);
}

TEST(State, AWakerThatIsUsedUpGivesItsReferenceToTheQueue) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  state.Ref();  // the waker
  ASSERT_EQ(state.SuspendRunning(), State::Suspend::kIdle);
  EXPECT_EQ(state.WakeAndDrop(), State::WakeByValue::kSubmit);
  // List, handle and queue are left.
  EXPECT_TRUE(state.Unref(3));
}

TEST(State, AWakerThatIsUsedUpWhileTheTaskRunsDropsItsReference) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  state.Ref();
  EXPECT_EQ(state.WakeAndDrop(), State::WakeByValue::kDone);
  EXPECT_EQ(state.SuspendRunning(), State::Suspend::kReschedule);
  EXPECT_TRUE(state.Unref(3));
}

TEST(State, TheLastWakerOfACompleteTaskFreesIt) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  state.Ref();
  state.CompleteRunning();
  EXPECT_FALSE(state.Unref(3));
  EXPECT_EQ(state.WakeAndDrop(), State::WakeByValue::kLast);
}

TEST(State, CompletionLeavesTheOutputToAJoiner) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_FALSE(state.IsComplete());
  EXPECT_TRUE(state.CompleteRunning());
  EXPECT_TRUE(state.IsComplete());
  EXPECT_TRUE(state.DropJoinInterest());
}

TEST(State, CompletionWithoutAJoinerLeavesItToTheRunner) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_FALSE(state.DropJoinInterest());
  EXPECT_FALSE(state.CompleteRunning());
}

TEST(State, ACompleteTaskIsNotWokenOrAborted) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  state.CompleteRunning();
  EXPECT_FALSE(state.Wake());
  EXPECT_FALSE(state.Abort());
  EXPECT_FALSE(state.TakeOverToCancel());
}

TEST(State, AbortSubmitsAnIdleTaskToBeCancelled) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_EQ(state.SuspendRunning(), State::Suspend::kIdle);
  EXPECT_TRUE(state.Abort());
  EXPECT_FALSE(state.Abort());
  EXPECT_EQ(state.StartRunning(), State::Start::kCancel);
}

TEST(State, AbortOfAQueuedTaskCancelsItThere) {
  State state;
  EXPECT_FALSE(state.Abort());
  EXPECT_EQ(state.StartRunning(), State::Start::kCancel);
}

TEST(State, AbortOfARunningTaskIsLeftToItsRunner) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_FALSE(state.Abort());
  EXPECT_EQ(state.SuspendRunning(), State::Suspend::kCancel);
  state.CompleteRunning();
}

TEST(State, ShutdownTakesAQueuedTaskOver) {
  State state;
  EXPECT_TRUE(state.TakeOverToCancel());
  EXPECT_EQ(state.StartRunning(), State::Start::kSkip);
}

TEST(State, ShutdownLeavesARunningTaskToItsRunner) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_FALSE(state.TakeOverToCancel());
  EXPECT_EQ(state.SuspendRunning(), State::Suspend::kCancel);
}

}  // namespace
}  // namespace rouse::task
