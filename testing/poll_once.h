// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: poll_once.h
// -----------------------------------------------------------------------------
//
// Polls a future or a stream once, outside any task, in a test.
//
//   EXPECT_THAT(PollOnce(channel.Receive()), IsPending());

#ifndef ROUSE_TESTING_POLL_ONCE_H_
#define ROUSE_TESTING_POLL_ONCE_H_

#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {

// PollOnce()
//
// Polls `future` once, with `waker` and a fresh budget, and returns the result.
// The default waker does nothing.
template <class F>
auto PollOnce(F&& future, const Waker& waker = Waker()) {
  Context cx(waker);
  return future.Poll(cx);
}

// PollNextOnce()
//
// Polls `stream` once for its next item, with `waker` and a fresh budget, and
// returns the result. The default waker does nothing.
template <class S>
auto PollNextOnce(S&& stream, const Waker& waker = Waker()) {
  Context cx(waker);
  return stream.PollNext(cx);
}

}  // namespace rouse

#endif  // ROUSE_TESTING_POLL_ONCE_H_
