#include "rouse/runtime/handle.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/functional/function_ref.h"
#include "rouse/base/panic.h"
#include "rouse/scheduler/running_here.h"
#include "rouse/waker/context.h"

namespace rouse {

using internal::RuntimeShared;
using internal::ScopedRuntime;

namespace {

ABSL_CONST_INIT thread_local const std::shared_ptr<const RuntimeShared>*
    current = nullptr;

// Not inlined: a coroutine might keep the variable's address while it moves to
// another thread.
ABSL_ATTRIBUTE_NOINLINE const std::shared_ptr<const RuntimeShared>*
CurrentRuntime() {
  return current;
}

}  // namespace

ScopedRuntime::ScopedRuntime(const std::shared_ptr<const RuntimeShared>& shared)
    : shared_(shared), outer_(std::exchange(current, &shared)) {}

ScopedRuntime::~ScopedRuntime() { current = outer_; }

void ScopedRuntime::CheckEndsNow() const {
  if (CurrentRuntime() != &shared_) {
    Panic(
        "EnterGuard: destroyed before one that was made after it, or on "
        "another thread; destroy guards where they were made, the last one "
        "first");
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
        "Handle::Current: there is no runtime on this thread; call it in a "
        "task or inside Runtime::BlockOn, or hold a Runtime::Enter() guard");
  }
  return *std::move(handle);
}

void Handle::CheckMayBlock() const {
  if (scheduler::RunningHere::MustNotBlock()) {
    Panic(
        "BlockOn: called inside a task or another BlockOn, where it would "
        "block the thread that has to make progress; use co_await, "
        "BlockInPlace, or a thread of your own");
  }
}

void Handle::PanicInBlockOn() const {
  Panic(shared_->scheduler->IsClosedByException()
            ? "BlockOn: a task ended with an exception, and the runtime was "
              "built to shut down then: see its JoinHandle, or "
              "Builder::OnUnhandledException"
            : "BlockOn: the runtime was destroyed meanwhile; keep it until "
              "then");
}

void Handle::BlockOnPoll(absl::FunctionRef<bool(Context&)> poll) const {
  CheckMayBlock();
  const scheduler::RunningHere here(shared_.get());
  if (!shared_->main_futures->Wait(shared_, clock(), poll)) PanicInBlockOn();
}

}  // namespace rouse
