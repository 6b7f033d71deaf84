// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/wheel/handle.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/panic.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/core.h"
#include "rouse/timer/wheel/shard.h"

namespace rouse::wheel {

Handle::Handle(internal::Core& core) : core_(&core) { core.Ref(); }

Handle::Handle(const Handle& other) : Handle(*other.core_) {}

Handle::~Handle() {
  if (core_ != nullptr) core_->Unref();
}

std::string Handle::ToString() const {
  return absl::StrCat("timer 0x", absl::Hex(reinterpret_cast<uintptr_t>(core_)),
                      IsShutDown() ? " (shut down)" : "");
}

Handle Handle::Current() {
  internal::Shard* shard = internal::CurrentShard();
  if (shard == nullptr) {
    Panic(
        "wheel::Handle::Current: this thread has no timer driver; call "
        "Current() inside a Runtime or in the scope of a wheel::ScopedDefault");
  }
  return Handle(shard->core());
}

std::optional<Handle> Handle::TryCurrent() {
  internal::Shard* shard = internal::CurrentShard();
  if (shard == nullptr) return std::nullopt;
  return Handle(shard->core());
}

Clock& Handle::clock() const { return core_->clock(); }

absl::Duration Handle::resolution() const {
  return absl::Nanoseconds(core_->ticks().resolution());
}

bool Handle::IsShutDown() const { return core_->IsShutDown(); }

ScopedDefault::ScopedDefault(Handle handle)
    : handle_(std::move(handle)),
      outer_(internal::ExchangeCurrentShard(&handle_.core().NextShard())) {}

ScopedDefault::ScopedDefault(Handle handle, size_t shard)
    : handle_(std::move(handle)),
      outer_(internal::ExchangeCurrentShard(&handle_.core().shard(shard))) {}

ScopedDefault::~ScopedDefault() {
  internal::Shard* ended = internal::ExchangeCurrentShard(outer_);
  ABSL_ASSERT(
      &ended->core() == &handle_.core() &&
      "wheel::ScopedDefault objects must be destroyed in reverse order");
  static_cast<void>(ended);
}

}  // namespace rouse::wheel
