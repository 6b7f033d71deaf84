// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: failing_calls.h
// -----------------------------------------------------------------------------
//
// Helpers for tests of system calls that fail:
//
//   if (!WithFailingCalls({SYS_epoll_ctl}, ENOSPC, [&] { ... })) {
//     GTEST_SKIP() << "no filters of system calls here";
//   }

#ifndef ROUSE_TESTING_INTERNAL_FAILING_CALLS_H_
#define ROUSE_TESTING_INTERNAL_FAILING_CALLS_H_

#include "rouse/base/cxx20.h"

#include <initializer_list>

#include "absl/functional/function_ref.h"

namespace rouse::reactor {

// WithFailingCalls()
//
// Runs `body` on a thread on which all calls of `numbers` (SYS_...) fail with
// `error`, and waits for the thread. Returns false, without running `body`, if
// the system does not support such a filter.
bool WithFailingCalls(std::initializer_list<int> numbers, int error,
                      absl::FunctionRef<void()> body);

// WithCallsThatMayFail()
//
// Like `WithFailingCalls()`, but `fails()` decides for each call whether the
// call fails. `fails()` runs on the thread that called
// `WithCallsThatMayFail()`, while the system call waits. The filter includes
// calls of threads that `body` starts; those threads must end before `body`
// returns.
bool WithCallsThatMayFail(std::initializer_list<int> numbers, int error,
                          absl::FunctionRef<bool()> fails,
                          absl::FunctionRef<void()> body);

}  // namespace rouse::reactor

#endif  // ROUSE_TESTING_INTERNAL_FAILING_CALLS_H_
