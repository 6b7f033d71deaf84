// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/handle.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/atomic.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/core.h"

namespace rouse::reactor {
namespace {

// The thread's innermost scope.
thread_local const ScopedDefault* current_scope = nullptr;

// Null at first. Once set, owns one reference forever.
ABSL_CONST_INIT Atomic<internal::Core*> fallback{nullptr};

// Not inlined: a compiler may keep the address of a thread-local variable
// across the suspension of a coroutine, which may resume on another thread.
ABSL_ATTRIBUTE_NOINLINE const ScopedDefault* GetCurrent() {
  return current_scope;
}

ABSL_ATTRIBUTE_NOINLINE const ScopedDefault* SetCurrent(
    const ScopedDefault* scope) {
  return std::exchange(current_scope, scope);
}

}  // namespace

Handle::Handle(const Handle& other) : core_(other.core_) {
  if (core_ != nullptr) core_->Ref();
}

Handle::~Handle() {
  if (core_ != nullptr) core_->Unref();
}

std::string Handle::ToString() const {
  if (core_ == nullptr) return "no reactor";
  return absl::StrCat("reactor 0x",
                      absl::Hex(reinterpret_cast<uintptr_t>(core_)),
                      core_->IsShutDown() ? " (shut down)" : "");
}

std::string Metrics::ToString() const {
  return absl::StrCat(sources, " sources, ", registrations, " registrations, ",
                      ready_events, " events");
}

Handle Handle::Current() {
  std::optional<Handle> current = TryCurrent();
  if (!current.has_value()) {
    Panic(
        "this thread has no current reactor; open sockets in a task of a "
        "Runtime, or set a reactor::ScopedDefault");
  }
  return *std::move(current);
}

std::optional<Handle> Handle::TryCurrent() {
  const ScopedDefault* scope = GetCurrent();
  if (scope == nullptr || !scope->handle_.IsBound()) return std::nullopt;
  return scope->handle_;
}

absl::Status Handle::SetFallback() const {
  if (!IsBound()) {
    return absl::FailedPreconditionError(
        "reactor::Handle::SetFallback() was called on an unbound handle; use "
        "the handle of a Reactor");
  }
  core_->Ref();
  internal::Core* expected = nullptr;
  // Release pairs with the acquire of `TryFallback()`, which uses the core.
  // Relaxed on failure: the other core is not accessed.
  if (!fallback.compare_exchange_strong(expected, core_,
                                        std::memory_order_release,
                                        std::memory_order_relaxed)) {
    core_->Unref();
    return absl::AlreadyExistsError(
        "a fallback reactor already exists; set the fallback before the first "
        "socket is opened without a reactor");
  }
  return absl::OkStatus();
}

std::optional<Handle> Handle::TryFallback() {
  // Acquire pairs with the release of `SetFallback()`.
  internal::Core* core = fallback.load(std::memory_order_acquire);
  if (core == nullptr) return std::nullopt;
  return core->NewHandle();
}

Metrics Handle::metrics() const {
  return core_ != nullptr ? core_->metrics() : Metrics();
}

bool Handle::IsShutDown() const {
  return core_ != nullptr && core_->IsShutDown();
}

ScopedDefault::ScopedDefault(Handle handle)
    : handle_(std::move(handle)), outer_(SetCurrent(this)) {}

ScopedDefault::~ScopedDefault() { SetCurrent(outer_); }

bool ScopedDefault::IsActive() { return GetCurrent() != nullptr; }

}  // namespace rouse::reactor
