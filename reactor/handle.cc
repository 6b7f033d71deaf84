#include "rouse/reactor/handle.h"

#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/core.h"

namespace rouse::reactor {
namespace {

// Kept alive by the innermost `ScopedDefault` of the thread.
thread_local internal::Core* current_core = nullptr;

// Not inlined: a compiler may keep the address of a thread-local variable
// across a suspension of a coroutine, which may go on elsewhere.
ABSL_ATTRIBUTE_NOINLINE internal::Core* GetCurrent() { return current_core; }

ABSL_ATTRIBUTE_NOINLINE internal::Core* SetCurrent(internal::Core* core) {
  return std::exchange(current_core, core);
}

}  // namespace

Handle::Handle(const Handle& other) : core_(other.core_) {
  if (core_ != nullptr) core_->Ref();
}

Handle::~Handle() {
  if (core_ != nullptr) core_->Unref();
}

Handle Handle::Current() {
  std::optional<Handle> current = TryCurrent();
  if (!current.has_value()) {
    Panic(
        "there is no current reactor on this thread; open sockets from a task "
        "of a Runtime, or set a reactor::ScopedDefault");
  }
  return *std::move(current);
}

std::optional<Handle> Handle::TryCurrent() {
  internal::Core* core = GetCurrent();
  if (core == nullptr) return std::nullopt;
  return core->NewHandle();
}

bool Handle::IsShutDown() const {
  return core_ != nullptr && core_->IsShutDown();
}

ScopedDefault::ScopedDefault(Handle handle)
    : handle_(std::move(handle)), outer_(SetCurrent(handle_.core())) {}

ScopedDefault::~ScopedDefault() { SetCurrent(outer_); }

}  // namespace rouse::reactor
