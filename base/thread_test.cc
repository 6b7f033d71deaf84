// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/thread.h"

#include <pthread.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(Thread, RunsItsBodyAndIsJoined) {
  bool ran = false;
  {
    absl::StatusOr<Thread> thread =
        Thread::Start("test", [&ran] { ran = true; });
    ASSERT_TRUE(thread.ok()) << thread.status();
  }
  EXPECT_TRUE(ran);
}

TEST(Thread, TakesAMoveOnlyBody) {
  int got = 0;
  auto value = std::make_unique<int>(7);
  absl::StatusOr<Thread> thread =
      Thread::Start("test", [&got, value = std::move(value)] { got = *value; });
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->Join();
  EXPECT_EQ(got, 7);
}

#ifdef __linux__
TEST(Thread, WaitsWithoutSlack) {
  int slack = -1;
  absl::StatusOr<Thread> thread = Thread::Start(
      "test", [&slack] { slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); });
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->Join();
  EXPECT_EQ(slack, 1);
}
#endif

TEST(Thread, HasItsNameCutToFifteenBytes) {
  std::string name;
  absl::StatusOr<Thread> thread =
      Thread::Start("a-name-that-is-too-long", [&name] {
        char buffer[32];
        pthread_getname_np(pthread_self(), buffer, sizeof buffer);
        name = buffer;
      });
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->Join();
  EXPECT_EQ(name, "a-name-that-is-");
}

TEST(Thread, HasTheRequestedStackSize) {
  size_t size = 0;
  absl::StatusOr<Thread> thread = Thread::Start(
      "test",
      [&size] {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
      },
      /*stack_size=*/1 << 20);
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->Join();
  EXPECT_EQ(size, 1u << 20);
}

TEST(Thread, DoesNotStartWithTooLargeAStack) {
  bool ran = false;
  absl::StatusOr<Thread> thread =
      Thread::Start("test", [&ran] { ran = true; }, size_t{1} << 50);
  EXPECT_TRUE(absl::IsUnavailable(thread.status())) << thread.status();
  EXPECT_FALSE(ran);
}

TEST(Thread, ContinuesAfterDetach) {
  absl::Notification ended;
  {
    absl::Notification detached;
    absl::StatusOr<Thread> thread = Thread::Start("test", [&] {
      detached.WaitForNotification();
      ended.Notify();
    });
    ASSERT_TRUE(thread.ok()) << thread.status();
    thread->Detach();
    thread->Join();  // nothing is joined
    detached.Notify();
    ended.WaitForNotification();
  }
}

TEST(Thread, AMovedFromThreadIsNotJoinable) {
  bool ran = false;
  absl::StatusOr<Thread> thread = Thread::Start("test", [&ran] { ran = true; });
  ASSERT_TRUE(thread.ok()) << thread.status();
  Thread moved = *std::move(thread);
  moved.Join();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace rouse
