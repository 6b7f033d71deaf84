// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/signal/ctrl_c.h"

#include <signal.h>

#include "absl/status/status.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/handle.h"
#include "rouse/signal/signal.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

CtrlCFuture CtrlC(const reactor::Handle& handle) {
  return CtrlCFuture(Signal::Create(SIGINT, handle));
}

PollResult<absl::Status> CtrlCFuture::Poll(Context& cx) {
  if (finished_) {
    Panic("CtrlC() was polled after it completed; call CtrlC() again");
  }
  if (!interrupt_.ok()) {
    finished_ = true;
    return interrupt_.status();
  }
  PollResult<absl::Status> result = interrupt_->PollRecv(cx, &waiter_);
  finished_ = result.IsReady();
  return result;
}

}  // namespace rouse
