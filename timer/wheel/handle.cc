#include "rouse/timer/wheel/handle.h"

#include <optional>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/time.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/core.h"

namespace rouse::wheel {

Handle::Handle(internal::Core& core) : core_(&core) { core.Ref(); }

Handle::Handle(const Handle& other) : Handle(*other.core_) {}

Handle::~Handle() {
  if (core_ != nullptr) core_->Unref();
}

Handle Handle::Current() {
  internal::Core* core = internal::CurrentCore();
  if (core == nullptr) {
    Panic(
        "wheel::Handle::Current: this thread has no timer driver; call it "
        "inside a Runtime or within the scope of a wheel::ScopedDefault");
  }
  return Handle(*core);
}

std::optional<Handle> Handle::TryCurrent() {
  internal::Core* core = internal::CurrentCore();
  if (core == nullptr) return std::nullopt;
  return Handle(*core);
}

Clock& Handle::clock() const { return core_->clock(); }

absl::Duration Handle::resolution() const { return core_->resolution(); }

bool Handle::IsShutDown() const { return core_->IsShutDown(); }

ScopedDefault::ScopedDefault(Handle handle)
    : handle_(std::move(handle)),
      outer_(internal::ExchangeCurrentCore(&handle_.core())) {}

ScopedDefault::~ScopedDefault() {
  internal::Core* ended = internal::ExchangeCurrentCore(outer_);
  ABSL_ASSERT(ended == &handle_.core() && "scopes end innermost first");
  static_cast<void>(ended);
}

}  // namespace rouse::wheel
