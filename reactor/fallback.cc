// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/fallback.h"

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/atomic.h"
#include "rouse/base/process_id.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/background.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"

namespace rouse::reactor {
namespace {

// Held while starting the thread, so that only one thread is started.
ABSL_CONST_INIT ThreadMutex start_mu(absl::kConstInit);

// The process whose background thread drives the fallback, or 0. Set before the
// fallback.
// NOLINTNEXTLINE(misc-include-cleaner): <sys/types.h> has pid_t
ABSL_CONST_INIT Atomic<pid_t> background_pid{0};

// Returns the fallback if it exists.
std::optional<absl::StatusOr<Handle>> TryExisting() {
  std::optional<Handle> set = Handle::TryFallback();
  if (!set.has_value()) return std::nullopt;
  // Relaxed: the load of the fallback has acquired all earlier writes.
  const pid_t pid = background_pid.load(std::memory_order_relaxed);
  if (pid != 0 && pid != ProcessId()) {
    return absl::FailedPreconditionError(
        "this process is a fork without the fallback reactor's thread; after "
        "fork(), call only exec() or _exit()");
  }
  return *std::move(set);
}

}  // namespace

absl::StatusOr<Handle> FallbackHandle() {
  if (auto existing = TryExisting()) return *std::move(existing);
  const ThreadMutexLock lock(&start_mu);
  if (auto existing = TryExisting()) return *std::move(existing);
  absl::StatusOr<Reactor> reactor = Reactor::Create();
  if (!reactor.ok()) return std::move(reactor).status();
  absl::StatusOr<Background> background =
      Background::Start(*std::move(reactor));
  if (!background.ok()) return std::move(background).status();
  Handle handle = background->handle();
  // Relaxed, like the store below: `SetFallback()` releases the value.
  background_pid.store(ProcessId(), std::memory_order_relaxed);
  if (handle.SetFallback().ok()) {
    std::move(*background).Forget();
    return handle;
  }
  background_pid.store(0, std::memory_order_relaxed);
  // Another thread has set a fallback meanwhile. The new background thread ends
  // here.
  return *Handle::TryFallback();
}

absl::StatusOr<Handle> BindHandle(const Handle& handle) {
  if (handle.IsBound()) return handle;
  if (std::optional<Handle> current = Handle::TryCurrent()) {
    return *std::move(current);
  }
  if (ScopedDefault::IsActive()) {
    return absl::FailedPreconditionError(
        "a reactor::ScopedDefault of an unbound handle forbids a reactor on "
        "this thread; pass a handle, or leave the scope");
  }
  return FallbackHandle();
}

}  // namespace rouse::reactor
