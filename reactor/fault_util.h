// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fault_util.h
// -----------------------------------------------------------------------------
//
// For tests of what the operating system refuses:
//
//   if (!WithFailingCalls({SYS_epoll_ctl}, ENOSPC, [&] { ... })) {
//     GTEST_SKIP() << "no filters of system calls here";
//   }

#ifndef ROUSE_REACTOR_FAULT_UTIL_H_
#define ROUSE_REACTOR_FAULT_UTIL_H_

#include <initializer_list>

#include "absl/functional/function_ref.h"

namespace rouse::reactor {

// WithFailingCalls()
//
// Runs `body` on a thread whose calls of `numbers` (SYS_...) all fail with
// `error`, and waits for it. False, and `body` has not run, where the system
// does not allow that.
bool WithFailingCalls(std::initializer_list<int> numbers, int error,
                      absl::FunctionRef<void()> body);

// WithCallsThatMayFail()
//
// The same where `fails()` says of each call whether it is to fail: it is asked
// on the thread that called this, while the call waits. Calls of threads that
// `body` starts count, too; they must have ended when it returns.
bool WithCallsThatMayFail(std::initializer_list<int> numbers, int error,
                          absl::FunctionRef<bool()> fails,
                          absl::FunctionRef<void()> body);

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_FAULT_UTIL_H_
