#include "rouse/runtime/handle.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"

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
    : outer_(std::exchange(current, &shared)) {}

ScopedRuntime::~ScopedRuntime() { current = outer_; }

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

}  // namespace rouse
