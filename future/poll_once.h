// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_once.h
// -----------------------------------------------------------------------------
//
// Polls a future once, outside any task. For tests.

#ifndef ROUSE_FUTURE_POLL_ONCE_H_
#define ROUSE_FUTURE_POLL_ONCE_H_

#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {

// PollOnce()
//
// Polls `future` once with `waker` and returns the result. The default waker
// does nothing.
//
//   EXPECT_TRUE(PollOnce(future).IsPending());
template <class F>
auto PollOnce(F&& future, const Waker& waker = Waker()) {
  Context cx(waker);
  return future.Poll(cx);
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_POLL_ONCE_H_
