// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stack_of_thread.h
// -----------------------------------------------------------------------------
//
// Shows where another thread is, such as a thread whose poll has lasted too
// long.
//
//   builder.OnLongPoll([](const rouse::LongPoll& poll) {
//     LOG(WARNING) << poll;
//     if (poll.ended) return;
//     absl::StatusOr<std::string> stack = rouse::StackOfThread(poll.thread);
//     if (stack.ok()) LOG(WARNING) << *stack;
//   });

#ifndef ROUSE_RUNTIME_STACK_OF_THREAD_H_
#define ROUSE_RUNTIME_STACK_OF_THREAD_H_

#include "rouse/base/cxx20.h"

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rouse {

// StackOfThread()
//
// Returns the stack of `thread`, a thread id of the calling process as returned
// by gettid(2). The result has a line for each function, the innermost first.
// Functions compiled without frame pointers, and their neighbours, may be
// missing.
//
// The thread is sent a single signal, whose handler writes the stack down. The
// signal is `signal` or, if `signal` is 0, SIGURG. The system ignores SIGURG by
// default, so SIGURG never ends a process. System calls interrupted by the
// signal are restarted, or fail with EINTR if the system does not restart them.
// Takes some microseconds of the thread's time, and about a millisecond of the
// caller's. The caller waits for no longer than `limit`.
//
//   FailedPrecondition  The program has a handler of its own for the signal, or
//                       `thread` is the caller.
//   NotFound            The thread does not exist.
//   DeadlineExceeded    The thread has not answered in time: it blocks the
//                       signal, or sleeps where it cannot be interrupted.
//   ResourceExhausted   The last call was less than 10 ms ago; the limit keeps
//                       calls from becoming a load.
//
// Thread-safe; takes a single stack at a time.
absl::StatusOr<std::string> StackOfThread(
    pid_t thread, int signal = 0,
    absl::Duration limit = absl::Milliseconds(100));

}  // namespace rouse

#endif  // ROUSE_RUNTIME_STACK_OF_THREAD_H_
