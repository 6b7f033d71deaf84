// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The example of the README: two tasks, a timer, a deadline.

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"

rouse::Co<std::string> Fetch(std::string what, absl::Duration takes) {
  co_await rouse::Sleep(takes);
  co_return "the " + what;
}

rouse::Co<absl::Status> Main() {
  // Tasks of their own, on the runtime's threads.
  rouse::JoinHandle<std::string> slow =
      rouse::Spawn(Fetch("news", absl::Milliseconds(20)));
  rouse::JoinHandle<std::string> fast =
      rouse::Spawn(Fetch("weather", absl::Milliseconds(10)));

  // Each returns the value, or ends this coroutine with the error.
  std::string weather = co_await rouse::OrReturn(fast);
  std::string news = co_await rouse::OrReturn(slow);
  printf("%s, then %s\n", weather.c_str(), news.c_str());

  // A timeout cancels its future by destroying it.
  absl::StatusOr<std::string> never = co_await rouse::Timeout(
      absl::Milliseconds(10), Fetch("rest", absl::Hours(1)));
  printf("and the rest: %s\n", never.status().ToString().c_str());
  co_return absl::OkStatus();
}

int main() { return rouse::RunMain(Main()); }
