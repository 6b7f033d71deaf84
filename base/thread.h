// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread.h
// -----------------------------------------------------------------------------
//
// `Thread` is a thread with a name, whose creation can fail:
//
//   absl::StatusOr<Thread> thread =
//       Thread::Start("rouse-worker-0", [&worker] { worker.Run(); });
//   if (!thread.ok()) return thread.status();

#ifndef ROUSE_BASE_THREAD_H_
#define ROUSE_BASE_THREAD_H_

#include "rouse/base/cxx20.h"

#include <pthread.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

#if defined(ROUSE_MODEL)
#include "rouse/testing/model/thread.h"
#elif defined(ROUSE_SCALING)
#include "rouse/testing/scaling/thread.h"
#endif

namespace rouse {

#if defined(ROUSE_MODEL)

class Thread {
 public:
  static absl::StatusOr<Thread> Start(
      std::string_view /*name*/, absl::AnyInvocable<void() &&> body,
      size_t /*stack_size*/ = 0, model::Site site = model::Site::current()) {
    return Thread(model::Thread(std::move(body), site));
  }

  void Join() { thread_.Join(); }
  void Detach() { thread_.Detach(); }

 private:
  explicit Thread(model::Thread thread) : thread_(std::move(thread)) {}

  model::Thread thread_;
};

#elif defined(ROUSE_SCALING)

class Thread {
 public:
  static absl::StatusOr<Thread> Start(std::string_view /*name*/,
                                      absl::AnyInvocable<void() &&> body,
                                      size_t /*stack_size*/ = 0) {
    return Thread(scaling::Thread(std::move(body)));
  }

  void Join() { thread_.Join(); }
  void Detach() { thread_.Detach(); }
  bool IsThisThread() const { return thread_.IsThisThread(); }

 private:
  explicit Thread(scaling::Thread thread) : thread_(std::move(thread)) {}

  scaling::Thread thread_;
};

#else

// Thread
//
// Owns a thread, and joins it on destruction. Move-only. Timed waits of the
// thread are as exact as the system can make them (on Linux, a timer slack of 1
// ns).
class Thread {
 public:
  // Runs `body` on a new thread. The system shows the first 15 bytes of `name`.
  // `stack_size` is in bytes, and is raised to the system's minimum; 0 is the
  // system's default. Fails as `pthread_create` does: kUnavailable if no more
  // threads can exist. `body` is then destroyed without having run.
  static absl::StatusOr<Thread> Start(std::string_view name,
                                      absl::AnyInvocable<void() &&> body,
                                      size_t stack_size = 0);

  Thread(Thread&& other) noexcept
      : handle_(std::exchange(other.handle_, std::nullopt)) {}
  Thread& operator=(Thread&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Thread() { Join(); }

  // Waits for the thread to end. Does nothing the second time. A thread that
  // joins itself is a `Panic()`.
  void Join();

  // Lets the thread continue independently, so that no join is needed or
  // possible.
  void Detach();

  // Returns whether this is the calling thread.
  // REQUIRES: neither `Join()` nor `Detach()` was called.
  bool IsThisThread() const {
    return pthread_equal(*handle_, pthread_self()) != 0;
  }

 private:
  explicit Thread(pthread_t handle) : handle_(handle) {}

  std::optional<pthread_t> handle_;
};

#endif  // ROUSE_MODEL

}  // namespace rouse

#endif  // ROUSE_BASE_THREAD_H_
