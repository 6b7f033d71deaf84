// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/stack_of_thread.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/debugging/stacktrace.h"
#include "absl/debugging/symbolize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace rouse {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kMaxDepth = 64;
constexpr absl::Duration kMinInterval = absl::Milliseconds(10);
constexpr absl::Duration kCheckAgain = absl::Microseconds(100);

// The request that a handler serves; at most one request exists at once. The
// word holds the number of the request, the thread that is asked, and the step.
// All three are in one word, so that a late handler answers only the request
// that it has seen.
//
//   0 -> kAsked        by the caller
//   kAsked -> kWriting by the handler, on the thread; it now owns the frames
//   kWriting -> kDone  by the handler; the caller now owns the frames
//   kAsked -> 0        by the caller, when its time is up
//   kDone -> 0         by the caller
enum Step : uint64_t { kAsked = 1, kWriting = 2, kDone = 3 };
ABSL_CONST_INIT std::atomic<uint64_t> request{0};
ABSL_CONST_INIT int depth = 0;
void* frames[kMaxDepth];

// `number` is the number of the request; 2^30 numbers are distinct.
uint64_t Request(uint32_t number, pid_t thread) {
  return uint64_t{number} << 34 | uint64_t{static_cast<uint32_t>(thread)} << 2 |
         kAsked;
}
Step StepOf(uint64_t request) { return static_cast<Step>(request & 3); }
pid_t ThreadOf(uint64_t request) {
  return static_cast<pid_t>(static_cast<uint32_t>(request >> 2));
}

// Returns the address of the instruction at which a signal has interrupted the
// thread.
void* InterruptedAt(const void* context) {
  const mcontext_t& registers =
      static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(registers.gregs[REG_RIP]);
#else
  return reinterpret_cast<void*>(registers.pc);
#endif
}

// Async-signal-safe.
void WriteStackDown(int, siginfo_t*, void* context) {
  const int error = errno;
  // Relaxed: the exchange orders.
  uint64_t asked = request.load(std::memory_order_relaxed);
  // Acquire pairs with the release of the caller. A signal that arrives too
  // late finds nothing to do.
  if (StepOf(asked) == kAsked && ThreadOf(asked) == gettid() &&
      request.compare_exchange_strong(asked, asked - kAsked + kWriting,
                                      std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
    // The first two frames are this handler's, and the system's return from
    // it. The function that was interrupted is not among the frames.
    constexpr int kOfHandler = 2;
    void* all[kMaxDepth - 1 + kOfHandler];
    const int count = absl::GetStackTraceWithContext(
        all, std::size(all), /*skip_count=*/0, context, nullptr);
    frames[0] = InterruptedAt(context);
    depth = 1;
    for (int i = kOfHandler; i < count; ++i) frames[depth++] = all[i];
    // Release pairs with the acquire of the waiting caller, and publishes the
    // frames.
    request.store(asked - kAsked + kDone, std::memory_order_release);
  }
  errno = error;
}

// Takes the request back. Returns false if the handler is working on the
// request, or is done.
bool TakeBack(uint64_t asked) {
  // Relaxed: nothing has been written.
  return request.compare_exchange_strong(asked, 0, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
}

absl::Status Install(int signal) {
  struct sigaction before = {};
  if (sigaction(signal, nullptr, &before) != 0) {
    return absl::ErrnoToStatus(errno, "StackOfThread");
  }
  const bool is_ours = (before.sa_flags & SA_SIGINFO) != 0 &&
                       before.sa_sigaction == &WriteStackDown;
  if (is_ours) return absl::OkStatus();
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) {
    return absl::FailedPreconditionError(
        absl::StrCat("StackOfThread: the program handles signal ", signal,
                     " itself; choose another signal"));
  }
  struct sigaction action = {};
  action.sa_sigaction = &WriteStackDown;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, nullptr) != 0) {
    return absl::ErrnoToStatus(errno, "StackOfThread");
  }
  return absl::OkStatus();
}

// Returns whether the frames are available in time.
bool Await(uint64_t asked, absl::Duration limit) {
  const SteadyClock::time_point start = SteadyClock::now();
  // Acquire pairs with the release of the handler.
  while (StepOf(request.load(std::memory_order_acquire)) != kDone) {
    // If TakeBack() fails, the handler is working, and is done in a moment.
    if (absl::FromChrono(SteadyClock::now() - start) >= limit &&
        TakeBack(asked)) {
      return false;
    }
    absl::SleepFor(kCheckAgain);
  }
  return true;
}

std::string Symbolized() {
  std::string text;
  for (int i = 0; i < depth; ++i) {
    char name[1024];
    // A return address is behind its call, which may be the last instruction of
    // a function.
    const char* const address = static_cast<const char*>(frames[i]);
    const bool known = absl::Symbolize(i == 0 ? address : address - 1, name,
                                       static_cast<int>(sizeof(name)));
    absl::StrAppendFormat(&text, "  %p %s\n", frames[i],
                          known ? name : "(unknown)");
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> StackOfThread(pid_t thread, int signal,
                                          absl::Duration limit) {
  ABSL_CONST_INIT static absl::Mutex mu(absl::kConstInit);
  static std::optional<SteadyClock::time_point> latest ABSL_GUARDED_BY(mu);
  if (thread == gettid()) {
    return absl::FailedPreconditionError(
        "StackOfThread was called for the calling thread; use "
        "absl::GetStackTrace()");
  }
  if (signal == 0) signal = SIGURG;
  const absl::MutexLock lock(&mu);
  const SteadyClock::time_point now = SteadyClock::now();
  if (latest.has_value() && absl::FromChrono(now - *latest) < kMinInterval) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "StackOfThread was called more often than every ",
        absl::FormatDuration(kMinInterval), "; skip some long polls"));
  }
  latest = now;
  absl::Status installed = Install(signal);
  if (!installed.ok()) return installed;
  static uint32_t number ABSL_GUARDED_BY(mu) = 0;
  const uint64_t asked = Request(++number, thread);
  // Release pairs with the acquire of the handler.
  request.store(asked, std::memory_order_release);
  if (syscall(SYS_tgkill, getpid(), thread, signal) != 0) {
    const int error = errno;
    // The handler may have taken an earlier, late signal for the signal of this
    // request.
    if (TakeBack(asked)) {
      if (error == ESRCH) {
        return absl::NotFoundError(
            absl::StrCat("StackOfThread: no such thread: ", thread));
      }
      return absl::ErrnoToStatus(error, "StackOfThread");
    }
  }
  if (!Await(asked, limit)) {
    return absl::DeadlineExceededError(absl::StrCat(
        "StackOfThread: thread ", thread, " did not answer signal ", signal,
        " within ", absl::FormatDuration(limit)));
  }
  std::string text = Symbolized();
  // Relaxed: the next caller has the lock.
  request.store(0, std::memory_order_relaxed);
  return text;
}

}  // namespace rouse
