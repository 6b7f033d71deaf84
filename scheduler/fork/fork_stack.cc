// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/fork/fork_stack.h"

#include "absl/base/attributes.h"
#include "rouse/future/task_local.h"

namespace rouse::internal {

ABSL_ATTRIBUTE_NOINLINE void ForkStack::ShareNow() {
  while (newest_ != &base_ && OthersNeedMore() && GiveOldest()) {
  }
}

bool ForkStack::GiveOldest() {
  ForkGroup& group = *base_.newer_;
  const ScopedTaskLocals locals(group.locals_);
  if (!group.give_last_(group)) return false;
  if (group.IsEmpty()) {
    if (newest_ == &group) {
      newest_ = &base_;
    } else {
      base_.newer_ = group.newer_;
      base_.newer_->older_ = &base_;
    }
  }
  return true;
}

}  // namespace rouse::internal
