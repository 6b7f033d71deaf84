// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the tasks of a runtime in a loop around epoll_wait(2), which also has a
// timer of its own.
//
//   tools/bazel run //examples/runtime_in_loop:epoll_loop

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "absl/time/time.h"
#include "rouse/examples/runtime_in_loop/service.h"
#include "rouse/rouse.h"

namespace {

// Returns the time limit for epoll_wait(2), in milliseconds, rounded up.
int TimeoutFor(absl::Duration wait) {
  if (wait >= absl::Hours(1))
    return wait == absl::InfiniteDuration() ? -1 : 3600000;
  return static_cast<int>(
      absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1))));
}

void Add(int epoll, int fd) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

int main() {
  rouse::Runtime runtime = example::MakeRuntime();
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  const itimerspec every = {{0, 1000000}, {0, 1000000}};
  if (epoll < 0 || timer < 0 ||
      timerfd_settime(timer, 0, &every, nullptr) != 0) {
    perror("cannot make the loop");
    return 1;
  }
  Add(epoll, timer);
  Add(epoll, runtime.fd());

  int bytes = 0;
  int ticks = 0;
  bool has_ended = false;
  runtime.Spawn(example::Serve(bytes, [&has_ended] { has_ended = true; }))
      .Detach();
  for (;;) {
    const absl::Duration wait = runtime.Turn();
    if (has_ended) break;
    epoll_event events[16];
    const int count = epoll_wait(epoll, events, 16, TimeoutFor(wait));
    for (int i = 0; i < count; ++i) {
      // The next turn serves the runtime's descriptor.
      if (events[i].data.fd != timer) continue;
      uint64_t expirations = 0;
      if (read(timer, &expirations, sizeof expirations) > 0) ++ticks;
    }
  }
  example::Report(bytes, ticks);
  close(timer);
  close(epoll);
}
