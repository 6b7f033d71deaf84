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

// Of starting the thread, so that no two are started.
ABSL_CONST_INIT ThreadMutex start_mu(absl::kConstInit);

// The process in which the fallback is a thread in the background, or 0. Set
// before the fallback is.
// NOLINTNEXTLINE(misc-include-cleaner): <sys/types.h> has pid_t
ABSL_CONST_INIT Atomic<pid_t> background_pid{0};

// The fallback, if there is one.
std::optional<absl::StatusOr<Handle>> TryExisting() {
  std::optional<Handle> set = Handle::TryFallback();
  if (!set.has_value()) return std::nullopt;
  // Relaxed: seeing the fallback has acquired what was set before.
  const pid_t pid = background_pid.load(std::memory_order_relaxed);
  if (pid != 0 && pid != ProcessId()) {
    return absl::FailedPreconditionError(
        "the thread of the fallback reactor is not in this process, which has "
        "been forked off; after fork() only call exec() or _exit()");
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
  // Relaxed, as below: SetFallback() releases it.
  background_pid.store(ProcessId(), std::memory_order_relaxed);
  if (handle.SetFallback().ok()) {
    std::move(*background).Forget();
    return handle;
  }
  background_pid.store(0, std::memory_order_relaxed);
  // Somebody has set another one meanwhile. The thread ends here.
  return *Handle::TryFallback();
}

absl::StatusOr<Handle> BindHandle(const Handle& handle) {
  if (handle.IsBound()) return handle;
  if (std::optional<Handle> current = Handle::TryCurrent()) {
    return *std::move(current);
  }
  if (ScopedDefault::IsActive()) {
    return absl::FailedPreconditionError(
        "there is to be no reactor on this thread, by a reactor::ScopedDefault "
        "of an unbound handle; pass a handle, or leave that scope");
  }
  return FallbackHandle();
}

}  // namespace rouse::reactor
