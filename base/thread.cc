// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/thread.h"

#ifndef ROUSE_TWIN

#include <limits.h>
#include <pthread.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"

namespace rouse {
namespace {

struct Start {
  std::string name;
  absl::AnyInvocable<void() &&> body;
};

void* RunThread(void* data) {
  const std::unique_ptr<Start> start(static_cast<Start*>(data));
  pthread_setname_np(pthread_self(), start->name.c_str());
#ifdef __linux__
  // Otherwise a timed wait may take 50 us longer than requested, and these
  // threads wait for timers.
  prctl(PR_SET_TIMERSLACK, 1UL);
#endif
  std::move(start->body)();
  return nullptr;
}

}  // namespace

absl::StatusOr<Thread> Thread::Start(std::string_view name,
                                     absl::AnyInvocable<void() &&> body,
                                     size_t stack_size) {
  auto start = std::make_unique<struct Start>();
  // The system refuses a longer name.
  start->name = std::string(name.substr(0, 15));
  start->body = std::move(body);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const absl::Cleanup done = [&] { pthread_attr_destroy(&attributes); };
  if (stack_size != 0) {
    pthread_attr_setstacksize(
        &attributes,
        std::max(stack_size, static_cast<size_t>(PTHREAD_STACK_MIN)));
  }
  pthread_t handle;
  if (const int error =
          pthread_create(&handle, &attributes, &RunThread, start.get());
      error != 0) {
    return absl::ErrnoToStatus(
        error, absl::StrCat("pthread_create for thread ", name));
  }
  (void)start.release();
  return Thread(handle);
}

void Thread::Join() {
  if (!handle_.has_value()) return;
  const int error =
      pthread_join(*std::exchange(handle_, std::nullopt), nullptr);
  if (error != 0) {
    Panic(
        "Thread::Join: the thread was joined by itself, or by a thread that it "
        "joins; call Detach() instead");
  }
}

void Thread::Detach() {
  if (handle_.has_value()) {
    pthread_detach(*std::exchange(handle_, std::nullopt));
  }
}

}  // namespace rouse

#endif  // ROUSE_TWIN
