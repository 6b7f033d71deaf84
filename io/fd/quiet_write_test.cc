// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/fd/quiet_write.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <thread>

#include "absl/types/span.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

using internal::QuietWrite;
using internal::QuietWriteWithMask;

sigset_t SigPipe() {
  sigset_t sigpipe;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  return sigpipe;
}

bool IsBlocked() {
  sigset_t blocked;
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
  return sigismember(&blocked, SIGPIPE) == 1;
}

bool IsPending() {
  sigset_t pending;
  EXPECT_EQ(sigpending(&pending), 0);
  return sigismember(&pending, SIGPIPE) == 1;
}

// A fixture with a pipe. Counts the signals that arrive. The parameter is one
// of the two functions.
class QuietWriteTest : public ::testing::TestWithParam<decltype(&QuietWrite)> {
 protected:
  QuietWriteTest() {
    EXPECT_EQ(pipe2(fds_, O_CLOEXEC), 0);
    signals_ = 0;
    struct sigaction count = {};
    count.sa_handler = [](int) { signals_ = signals_ + 1; };
    EXPECT_EQ(sigaction(SIGPIPE, &count, &before_), 0);
  }
  ~QuietWriteTest() override {
    CloseReader();
    close(fds_[1]);
    EXPECT_EQ(sigaction(SIGPIPE, &before_, nullptr), 0);
  }

  void CloseReader() {
    if (fds_[0] >= 0) close(fds_[0]);
    fds_[0] = -1;
  }

  ssize_t Write(std::string_view data) {
    return GetParam()(fds_[1], absl::MakeConstSpan(&data, 1));
  }

  // Writes after the reader has closed its end.
  void WriteInVain() {
    CloseReader();
    errno = 0;
    EXPECT_EQ(Write("x"), -1);
    EXPECT_EQ(errno, EPIPE);
  }

  static inline volatile sig_atomic_t signals_ = 0;
  int fds_[2] = {-1, -1};
  struct sigaction before_;
};

TEST_P(QuietWriteTest, WritesThePartsInOneCall) {
  const std::string_view parts[] = {"he", "", "llo"};
  EXPECT_EQ(GetParam()(fds_[1], absl::MakeConstSpan(parts)), 5);
  char buffer[8];
  ASSERT_EQ(read(fds_[0], buffer, sizeof buffer), 5);
  EXPECT_EQ(std::string_view(buffer, 5), "hello");
  EXPECT_FALSE(IsBlocked());
}

TEST_P(QuietWriteTest, RaisesNoSignal) {
  WriteInVain();
  EXPECT_EQ(signals_, 0);
  EXPECT_FALSE(IsBlocked());
  EXPECT_FALSE(IsPending());
}

INSTANTIATE_TEST_SUITE_P(All, QuietWriteTest,
                         ::testing::Values(&QuietWrite, &QuietWriteWithMask),
                         [](const auto& instance) {
                           return instance.param == &QuietWrite ? "WithFlag"
                                                                : "WithMask";
                         });

// If the write blocks, the reader may close its end after a part has been
// written.
TEST_P(QuietWriteTest, RaisesNoSignalAfterAPartialWrite) {
  const std::string data(size_t{1} << 20, 'x');
  std::thread reading([this] {
    char byte;
    EXPECT_EQ(read(fds_[0], &byte, 1), 1);
    // The write has begun, and has no room to end.
    CloseReader();
  });
  const ssize_t written = Write(data);
  reading.join();
  EXPECT_GT(written, 0);
  EXPECT_LT(written, static_cast<ssize_t>(data.size()));
  EXPECT_EQ(signals_, 0);
  EXPECT_FALSE(IsPending());
}

TEST_P(QuietWriteTest, AnotherErrorIsPassedOn) {
  errno = 0;
  const std::string_view data = "x";
  EXPECT_EQ(GetParam()(fds_[0], absl::MakeConstSpan(&data, 1)), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_FALSE(IsBlocked());
}

TEST_P(QuietWriteTest, LeavesNoPendingSignalIfBlocked) {
  const sigset_t sigpipe = SigPipe();
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &sigpipe, &before), 0);
  WriteInVain();
  EXPECT_TRUE(IsBlocked());
  EXPECT_FALSE(IsPending());
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  EXPECT_EQ(signals_, 0);
}

TEST_P(QuietWriteTest, AnEarlierPendingSignalStays) {
  const sigset_t sigpipe = SigPipe();
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &sigpipe, &before), 0);
  ASSERT_EQ(raise(SIGPIPE), 0);
  WriteInVain();
  EXPECT_TRUE(IsPending());
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  EXPECT_EQ(signals_, 1);
}

TEST_P(QuietWriteTest, AnIgnoredSignalStaysIgnored) {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(sigaction(SIGPIPE, &ignore, nullptr), 0);
  WriteInVain();
  struct sigaction now;
  ASSERT_EQ(sigaction(SIGPIPE, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
  EXPECT_FALSE(IsPending());
}

}  // namespace
}  // namespace rouse
