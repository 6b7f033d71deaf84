// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: test_util.h
// -----------------------------------------------------------------------------
//
// Helpers shared by the tests of reactor/ and net/.

#ifndef ROUSE_REACTOR_TEST_UTIL_H_
#define ROUSE_REACTOR_TEST_UTIL_H_

#include <atomic>
#include <cstddef>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/base/atomic.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::reactor {

// Returns the number of descriptors that this process has open.
size_t CountOpenFds();

// A fixture that requires each test to leave the number of open descriptors
// unchanged.
class FdTest : public ::testing::Test {
 protected:
  FdTest() : fds_before_(CountOpenFds()) {}
  ~FdTest() override { EXPECT_EQ(CountOpenFds(), fds_before_); }

 private:
  const size_t fds_before_;
};

// Makes a connected pair of non-blocking Unix stream sockets.
std::pair<OwnedFd, OwnedFd> MakeSocketPair();

// Writes all of `data`. REQUIRES: the other end has room for `data`.
void WriteTo(int fd, std::string_view data);

// A task that only counts its wakes. Any thread can wake the task. All its
// wakers must be destroyed before the task.
class TestTask {
 public:
  TestTask() : waker_(RawWaker{this, &kVTable}) {}
  TestTask(const TestTask&) = delete;
  TestTask& operator=(const TestTask&) = delete;
  ~TestTask() { EXPECT_EQ(clones(), 0); }

  const Waker& waker() const { return waker_.get(); }

  int wakes() const { return wakes_.load(std::memory_order_acquire); }

  // Returns the number of wakers, not counting the task's own.
  int clones() const { return clones_.load(std::memory_order_acquire); }

  // Polls `future` with a fresh budget.
  template <class F>
  auto Poll(F& future) {
    Context cx(waker());
    return future.Poll(cx);
  }

 private:
  static const RawWakerVTable kVTable;

  Atomic<int> wakes_{0};
  Atomic<int> clones_{0};
  BorrowedWaker waker_;
};

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_TEST_UTIL_H_
