// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stack_of_thread.h
// -----------------------------------------------------------------------------
//
// Where another thread is: for a poll that has lasted for too long.
//
//   builder.OnLongPoll([](const rouse::LongPoll& poll) {
//     LOG(WARNING) << poll;
//     if (poll.ended) return;
//     absl::StatusOr<std::string> stack = rouse::StackOfThread(poll.thread);
//     if (stack.ok()) LOG(WARNING) << *stack;
//   });

#ifndef ROUSE_RUNTIME_STACK_OF_THREAD_H_
#define ROUSE_RUNTIME_STACK_OF_THREAD_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rouse {

// StackOfThread()
//
// The stack of `thread`, as gettid(2) names it, of this process: a line for
// each function, the innermost first. Functions that were compiled without
// frame pointers, and those around them, may be missing.
//
// The thread is sent a signal, once, and its handler writes the stack down:
// `signal`, or SIGURG without one, which is ignored by default, so that no
// process ends by it. System calls that the signal interrupts are restarted, or
// fail with EINTR where the system does not do that. Takes some microseconds of
// the thread, and about a millisecond of the caller, who waits for no longer
// than `limit`.
//
//   FailedPrecondition  the program has a handler of its own for the signal, or
//                       `thread` is the caller
//   NotFound            there is no such thread
//   DeadlineExceeded    the thread has not answered in time: it blocks the
//                       signal, or sleeps where it cannot be interrupted
//   ResourceExhausted   called again within 10 ms: it is not to be a load
//
// Thread-safe; one stack at a time.
absl::StatusOr<std::string> StackOfThread(
    pid_t thread, int signal = 0,
    absl::Duration limit = absl::Milliseconds(100));

}  // namespace rouse

#endif  // ROUSE_RUNTIME_STACK_OF_THREAD_H_
