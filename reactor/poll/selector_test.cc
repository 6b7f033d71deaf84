// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/selector.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/reactor/poll/events.h"

namespace rouse::reactor::internal {
namespace {

TEST(TimeoutMillis, RoundsUp) {
  EXPECT_EQ(TimeoutMillis(absl::Nanoseconds(1)), 1);
  EXPECT_EQ(TimeoutMillis(absl::Microseconds(999)), 1);
  EXPECT_EQ(TimeoutMillis(absl::Milliseconds(1)), 1);
  EXPECT_EQ(TimeoutMillis(absl::Milliseconds(1) + absl::Nanoseconds(1)), 2);
}

TEST(TimeoutMillis, ZeroAndNegativeTimeoutsDoNotWait) {
  EXPECT_EQ(TimeoutMillis(absl::ZeroDuration()), 0);
  EXPECT_EQ(TimeoutMillis(-absl::Nanoseconds(1)), 0);
  EXPECT_EQ(TimeoutMillis(-absl::InfiniteDuration()), 0);
}

TEST(TimeoutMillis, AnInfiniteTimeoutWaitsForever) {
  EXPECT_EQ(TimeoutMillis(absl::InfiniteDuration()), -1);
}

TEST(TimeoutMillis, IsClampedToTheRange) {
  EXPECT_EQ(TimeoutMillis(absl::Hours(24) * 365 * 1000), INT_MAX);
  EXPECT_EQ(TimeoutMillis(absl::Seconds(std::numeric_limits<int64_t>::max())),
            INT_MAX);
}

#if defined(__x86_64__) && defined(SYS_epoll_pwait2)

// Makes epoll_pwait2 fail with ENOSYS on this thread from now on, as on kernels
// without the call. Returns false if filters are not allowed.
bool ForbidPwait2() {
  const sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof filter / sizeof filter[0],
                              const_cast<sock_filter*>(filter)};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Must be the last test, because its finding about the kernel is remembered.
TEST(SelectorLast, WaitsInMillisecondsOnOldKernels) {
  bool forbidden = false;
  absl::Status status = absl::UnknownError("did not run");
  // The filter ends with the thread.
  std::thread thread([&] {
    forbidden = ForbidPwait2();
    std::shared_ptr<Selector> selector = *Selector::Open();
    Events events(1);
    status = selector->Select(events, absl::Microseconds(10));
    if (status.ok()) status = selector->Select(events, absl::Milliseconds(2));
  });
  thread.join();
  if (!forbidden) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_TRUE(status.ok()) << status;
}

#endif

}  // namespace
}  // namespace rouse::reactor::internal
