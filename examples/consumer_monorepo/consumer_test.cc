// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs code of Rouse beside code of the monorepo with the same names.

#include "base/panic.h"
#include "rouse/base/panic.h"
#include "rouse/testing/poll_once.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"
#include "testing/poll_once.h"
#include "waker/waker.h"

namespace {

// A future that wakes the task, and that is ready at the first poll.
struct Knock {
  rouse::PollResult<int> Poll(rouse::Context& cx) {
    cx.waker().WakeByRef();
    return monorepo::PollOnce();
  }
};

}  // namespace

int main() {
  monorepo::Waker own;
  const rouse::Waker waker =
      rouse::Waker::FromCallable([&own] { ++own.rings; });
  const rouse::PollResult<int> result = rouse::PollOnce(Knock(), waker);
  if (!result.IsReady() || *result != 4)
    rouse::Panic("the future is not ready");
  return own.rings == 7 && monorepo::Panic().level == 1 ? 0 : 1;
}
