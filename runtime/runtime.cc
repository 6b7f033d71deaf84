// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/runtime.h"

#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/inner.h"
#include "rouse/waker/context.h"

namespace rouse {

Runtime::Runtime(std::shared_ptr<internal::RuntimeInner> inner)
    : inner_(std::move(inner)) {}
Runtime::Runtime(Runtime&& other) noexcept = default;
Runtime& Runtime::operator=(Runtime&& other) noexcept {
  std::swap(inner_, other.inner_);
  return *this;
}
Runtime::~Runtime() {
  if (inner_ != nullptr) inner_->Shutdown(absl::InfiniteDuration());
}

bool Runtime::ShutdownTimeout(AnyDuration limit) && {
  if (inner_ == nullptr) {
    Panic(
        "Runtime was shut down twice, or after it was moved from; shut a "
        "Runtime down once");
  }
  inner_->CheckMayShutDown(limit);
  const std::shared_ptr<internal::RuntimeInner> inner = std::move(inner_);
  return inner->Shutdown(limit);
}

const Handle& Runtime::handle() const { return inner_->handle(); }

void Runtime::BlockOnPoll(absl::FunctionRef<bool(Context&)> poll) {
  inner_->BlockOn(poll);
}

absl::Duration Runtime::Turn() { return inner_->Turn(); }

int Runtime::fd() const { return inner_->fd(); }

}  // namespace rouse
