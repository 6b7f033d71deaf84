// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/internal/failing_calls.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/notification.h"

namespace rouse::reactor {
namespace {

// Calls `with` with a filter program that returns `action` for calls of
// `numbers`.
template <class With>
void WithFilter(std::initializer_list<int> numbers, uint32_t action,
                With with) {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                              static_cast<uint32_t>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, action));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()),
                              filter.data()};
  with(&program);
}

// Returns whether a waiting call can be allowed to continue, which requires
// Linux 5.5. On older kernels the response fails, and the call waits forever.
bool MayContinueCalls() {
  utsname name;
  int major = 0;
  int minor = 0;
  if (uname(&name) != 0) return false;
  const std::vector<std::string_view> parts =
      absl::StrSplit(name.release, absl::MaxSplits('.', 2));
  return parts.size() >= 2 && absl::SimpleAtoi(parts[0], &major) &&
         absl::SimpleAtoi(parts[1], &minor) &&
         std::pair(major, minor) >= std::pair(5, 5);
}

// Responds to the call that waits at `listener`, if it still waits.
void Answer(int listener, int error, absl::FunctionRef<bool()> fails) {
  seccomp_notif call = {};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
  seccomp_notif_resp answer = {};
  answer.id = call.id;
  if (fails()) {
    answer.error = -error;
  } else {
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  }
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace

bool WithFailingCalls(std::initializer_list<int> numbers, int error,
                      absl::FunctionRef<void()> body) {
  bool allowed = false;
  WithFilter(numbers, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error),
             [&](const sock_fprog* program) {
               std::thread thread([&] {
                 allowed =
                     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == 0;
                 if (allowed) body();
               });
               thread.join();
             });
  return allowed;
}

bool WithCallsThatMayFail(std::initializer_list<int> numbers, int error,
                          absl::FunctionRef<bool()> fails,
                          absl::FunctionRef<void()> body) {
  if (!MayContinueCalls()) return false;
  const int ended = eventfd(0, EFD_CLOEXEC);
  if (ended < 0) return false;
  int listener = -1;
  WithFilter(numbers, SECCOMP_RET_USER_NOTIF, [&](const sock_fprog* program) {
    absl::Notification installed;
    std::thread thread([&] {
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        listener = static_cast<int>(
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                    SECCOMP_FILTER_FLAG_NEW_LISTENER, program));
      }
      installed.Notify();
      if (listener < 0) return;
      body();
      eventfd_write(ended, 1);
    });
    installed.WaitForNotification();
    pollfd ready[] = {{ended, POLLIN, 0}, {listener, POLLIN, 0}};
    while (listener >= 0 && ready[0].revents == 0) {
      if (poll(ready, 2, -1) < 0) continue;
      if ((ready[1].revents & POLLIN) != 0) Answer(listener, error, fails);
    }
    thread.join();
  });
  close(ended);
  if (listener < 0) return false;
  close(listener);
  return true;
}

}  // namespace rouse::reactor
