// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task/state.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace rouse::task {
namespace {

// Completes without the words of a waker, which are not a part of the state.
State::Complete Complete(State& state, uint64_t references,
                         bool output_dropped) {
  return state.CompleteRunning(references, output_dropped, [] {});
}

// A new state has three references: those of the list, the queue and the
// handle.

TEST(State, RunsOnceForANotification) {
  State state;
  EXPECT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_EQ(state.StartRunning(), State::Start::kSkip);
}

TEST(State, AnIdleTaskIsSubmittedOnceForAllWakes) {
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

TEST(State, AConsumedWakerGivesItsReferenceToTheQueue) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  state.Ref();  // the waker's reference
  ASSERT_EQ(state.SuspendRunning(), State::Suspend::kIdle);
  EXPECT_EQ(state.WakeAndDrop(), State::WakeByValue::kSubmit);
  // The list, the handle and the queue are left.
  EXPECT_TRUE(state.Unref(3));
}

TEST(State, AWakerConsumedWhileTheTaskRunsDropsItsReference) {
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
  ASSERT_EQ(Complete(state, 2, false), State::Complete::kDone);
  EXPECT_FALSE(state.IsOnlyReference());
  EXPECT_FALSE(state.Unref());
  EXPECT_TRUE(state.IsOnlyReference());
  EXPECT_EQ(state.WakeAndDrop(), State::WakeByValue::kLast);
}

TEST(State, CompletionLeavesTheOutputToAHandle) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_FALSE(state.IsComplete());
  EXPECT_EQ(state.JoinState(), State::Join::kWakerNotSet);
  EXPECT_TRUE(state.HasJoinInterest());
  EXPECT_EQ(Complete(state, 2, false), State::Complete::kDone);
  EXPECT_TRUE(state.IsComplete());
  EXPECT_EQ(state.JoinState(), State::Join::kComplete);
  EXPECT_EQ(state.DropHandle(), State::Drop::kComplete);
  EXPECT_TRUE(state.IsOnlyReference());
}

TEST(State, CompletionWithoutAHandleLeavesTheOutputToTheRunner) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_EQ(state.DropHandle(), State::Drop::kDone);
  EXPECT_FALSE(state.HasJoinInterest());
  EXPECT_EQ(Complete(state, 2, false), State::Complete::kDropOutput);
  EXPECT_TRUE(state.Unref(2));
}

TEST(State, CompletionWithoutAHandleOrOutputFreesTheTask) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_EQ(state.DropHandle(), State::Drop::kDone);
  EXPECT_EQ(Complete(state, 2, true), State::Complete::kLast);
}

TEST(State, ADetachedTaskCanCompleteBeforeItsWakersAreDropped) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  state.Ref();
  ASSERT_EQ(state.DropHandle(), State::Drop::kDone);
  EXPECT_EQ(Complete(state, 2, true), State::Complete::kDone);
  EXPECT_TRUE(state.Unref());
}

TEST(State, CompletionGivesTheJoinWakerToTheRunner) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_TRUE(state.SetJoinWaker());
  EXPECT_EQ(state.JoinState(), State::Join::kWakerSet);
  EXPECT_EQ(Complete(state, 2, false), State::Complete::kWakeJoiner);
  // The handle no longer owns the waker, and the task is complete.
  EXPECT_FALSE(state.TakeJoinWaker());
  EXPECT_EQ(state.DropHandle(), State::Drop::kComplete);
  EXPECT_TRUE(state.IsOnlyReference());
}

TEST(State, CompletionReadsTheJoinWakerIfSet) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  int reads = 0;
  ASSERT_TRUE(state.SetJoinWaker());
  state.CompleteRunning(2, false, [&reads] { ++reads; });
  EXPECT_EQ(reads, 1);
}

TEST(State, CompletionKeepsTheTaskForAReplacedJoinWaker) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_TRUE(state.SetJoinWaker());
  ASSERT_TRUE(state.TakeJoinWaker());
  ASSERT_TRUE(state.SetJoinWaker());
  EXPECT_EQ(Complete(state, 2, false), State::Complete::kWakeRejoined);
  EXPECT_EQ(state.DropHandle(), State::Drop::kComplete);
  EXPECT_FALSE(state.Unref());
  EXPECT_TRUE(state.Unref(2));
}

TEST(State, ARemovedJoinWakerIsNotCalled) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_TRUE(state.SetJoinWaker());
  EXPECT_TRUE(state.TakeJoinWaker());
  EXPECT_EQ(state.JoinState(), State::Join::kWakerNotSet);
  EXPECT_EQ(Complete(state, 2, false), State::Complete::kDone);
}

TEST(State, ALateJoinWakerIsRefused) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_EQ(Complete(state, 2, false), State::Complete::kDone);
  EXPECT_FALSE(state.SetJoinWaker());
}

// tokio #6986
TEST(State, AHandleDroppedBeforeCompletionTakesItsWaker) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_TRUE(state.SetJoinWaker());
  EXPECT_EQ(state.DropHandle(), State::Drop::kDropWaker);
  EXPECT_EQ(Complete(state, 2, true), State::Complete::kLast);
}

TEST(State, ACompleteTaskIsNotWokenOrAborted) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  Complete(state, 2, false);
  EXPECT_FALSE(state.Wake());
  EXPECT_FALSE(state.Abort());
  EXPECT_EQ(state.TakeOverToCancel(), State::TakeOver::kLeave);
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
}

TEST(State, ShutdownTakesAQueuedTaskOver) {
  State state;
  EXPECT_EQ(state.TakeOverToCancel(), State::TakeOver::kCancel);
  EXPECT_EQ(state.StartRunning(), State::Start::kSkip);
}

TEST(State, ShutdownLeavesARunningTaskToItsRunner) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_EQ(state.TakeOverToCancel(), State::TakeOver::kLeave);
  EXPECT_EQ(state.SuspendRunning(), State::Suspend::kCancel);
}

TEST(State, CannotTraceARunningOrCompleteTask) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_FALSE(state.BeginTrace());
  ASSERT_EQ(Complete(state, 2, false), State::Complete::kDone);
  EXPECT_FALSE(state.BeginTrace());
}

TEST(State, ATracedIdleTaskIsIdleAgain) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_EQ(state.SuspendRunning(), State::Suspend::kIdle);
  ASSERT_TRUE(state.BeginTrace());
  EXPECT_FALSE(state.BeginTrace());
  EXPECT_FALSE(state.EndTrace());
  EXPECT_TRUE(state.Wake());
  // The list, the handle and the queue.
  EXPECT_TRUE(state.Unref(3));
}

TEST(State, AWakeDuringATraceIsLeftToTheTracer) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_EQ(state.SuspendRunning(), State::Suspend::kIdle);
  ASSERT_TRUE(state.BeginTrace());
  EXPECT_FALSE(state.Wake());
  EXPECT_TRUE(state.EndTrace());
  EXPECT_EQ(state.StartRunning(), State::Start::kPoll);
  // The list, the handle, and the hold that the tracer has submitted.
  EXPECT_TRUE(state.Unref(3));
}

TEST(State, AnAbortDuringATraceIsLeftToTheTracer) {
  State state;
  ASSERT_EQ(state.StartRunning(), State::Start::kPoll);
  ASSERT_EQ(state.SuspendRunning(), State::Suspend::kIdle);
  ASSERT_TRUE(state.BeginTrace());
  EXPECT_FALSE(state.Abort());
  EXPECT_TRUE(state.EndTrace());
  EXPECT_EQ(state.StartRunning(), State::Start::kCancel);
}

TEST(State, ATracedQueuedTaskIsStillQueued) {
  State state;
  ASSERT_TRUE(state.BeginTrace());
  EXPECT_FALSE(state.Wake());
  EXPECT_FALSE(state.EndTrace());
  EXPECT_FALSE(state.Wake());
  EXPECT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_TRUE(state.Unref(3));
}

TEST(State, ARunnerOfATracedTaskLeavesItToTheTracer) {
  State state;
  ASSERT_TRUE(state.BeginTrace());
  EXPECT_EQ(state.StartRunning(), State::Start::kTraced);
  EXPECT_TRUE(state.EndTrace());
  EXPECT_EQ(state.StartRunning(), State::Start::kPoll);
  EXPECT_TRUE(state.Unref(3));
}

TEST(State, ShutdownLeavesATracedTaskUnchanged) {
  State state;
  ASSERT_TRUE(state.BeginTrace());
  EXPECT_EQ(state.TakeOverToCancel(), State::TakeOver::kTraced);
  EXPECT_FALSE(state.EndTrace());
  EXPECT_EQ(state.TakeOverToCancel(), State::TakeOver::kCancel);
}

}  // namespace
}  // namespace rouse::task
