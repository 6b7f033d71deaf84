// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/handle.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/waker/context.h"
#include "rouse/waker/runtime_scope.h"

namespace rouse {

using internal::RuntimeShared;
using internal::ScopedRuntime;

namespace {

ABSL_CONST_INIT thread_local const std::shared_ptr<const RuntimeShared>*
    current = nullptr;

// Not inlined: a coroutine might keep the variable's address while the
// coroutine moves to another thread.
ABSL_ATTRIBUTE_NOINLINE const std::shared_ptr<const RuntimeShared>*
CurrentRuntime() {
  return current;
}

}  // namespace

RuntimeId internal::NextRuntimeId() {
  // Relaxed: an id orders nothing.
  ABSL_CONST_INIT static std::atomic<RuntimeId> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

ScopedRuntime::ScopedRuntime(const std::shared_ptr<const RuntimeShared>& shared)
    : shared_(shared), outer_(std::exchange(current, &shared)) {}

ScopedRuntime::~ScopedRuntime() { current = outer_; }

void ScopedRuntime::CheckEndsNow() const {
  if (CurrentRuntime() != &shared_) {
    Panic(
        "EnterGuard was destroyed before a later guard, or on another thread; "
        "destroy guards on the thread that created them, in reverse order");
  }
}

std::optional<Handle> Handle::TryCurrent() {
  const auto* shared = CurrentRuntime();
  if (shared == nullptr) return std::nullopt;
  return Handle(*shared);
}

Handle Handle::Current() {
  std::optional<Handle> handle = TryCurrent();
  if (!handle.has_value()) {
    Panic(
        "Handle::Current: this thread has no runtime; call Current() in a task "
        "or inside Runtime::BlockOn, or hold a Runtime::Enter() guard");
  }
  return *std::move(handle);
}

std::string Handle::ToString() const {
  return absl::StrCat("runtime ", id(), " \"", name(), "\" (", flavor(), ")");
}

void Handle::CheckMayBlock() const {
  internal::CheckMayBlock("BlockOn", "co_await");
}

void Handle::PanicInBlockOn(std::string_view call) const {
  if (!shared_->scheduler->IsClosedByException()) {
    Panic(absl::StrCat(
        call,
        ": the runtime was destroyed before the future completed; keep the "
        "Runtime until ",
        call, " returns"));
  }
  std::string which = shared_->scheduler->ClosedByException();
  if (which.empty()) which = "a task ended with an exception";
  Panic(absl::StrCat(
      call, ": ", which,
      "; the runtime has shut down, as set by Builder::OnUnhandledException"));
}

void Handle::BlockOnPoll(absl::FunctionRef<bool(Context&)> poll) const {
  CheckMayBlock();
  const internal::RuntimeScope here(shared_.get());
  if (!shared_->main_futures->Wait(shared_, clock(), poll)) PanicInBlockOn();
}

}  // namespace rouse
