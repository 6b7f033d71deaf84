#include "rouse/reactor/fallback.h"

#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/background.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/reactor.h"

namespace rouse::reactor {
namespace {

// Of starting the thread, so that no two are started.
ABSL_CONST_INIT ThreadMutex start_mu(absl::kConstInit);

}  // namespace

absl::StatusOr<Handle> FallbackHandle() {
  if (std::optional<Handle> set = Handle::TryFallback()) return *std::move(set);
  const ThreadMutexLock lock(&start_mu);
  if (std::optional<Handle> set = Handle::TryFallback()) return *std::move(set);
  absl::StatusOr<Reactor> reactor = Reactor::Create();
  if (!reactor.ok()) return std::move(reactor).status();
  absl::StatusOr<Background> background =
      Background::Start(*std::move(reactor));
  if (!background.ok()) return std::move(background).status();
  Handle handle = background->handle();
  if (handle.SetFallback().ok()) {
    std::move(*background).Forget();
    return handle;
  }
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
