#include "rouse/examples/echo/shutdown_signal.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/or_return.h"
#include "rouse/future/poll_fn.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"

namespace rouse::echo {
namespace {

Co<absl::Status> WaitFor(OwnedFd signals) {
  const reactor::Registration registration =
      co_await OrReturn(reactor::Registration::Create(
          signals.get(), reactor::Interest::kReadable));
  const auto receive = [&](Context& cx) {
    signalfd_siginfo info;
    return registration.PollIo(
        reactor::Direction::kRead, cx, nullptr, sizeof info,
        [&] { return read(signals.get(), &info, sizeof info); },
        [](int error) {
          return absl::ErrnoToStatus(error, "read of signals");
        });
  };
  co_await OrReturn(PollFn(receive));
  co_return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShutdownSignal> ShutdownSignal::Block() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (const int error = pthread_sigmask(SIG_BLOCK, &signals, nullptr);
      error != 0) {
    return absl::ErrnoToStatus(error, "pthread_sigmask");
  }
  OwnedFd fd(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd.IsValid()) return absl::ErrnoToStatus(errno, "signalfd");
  return ShutdownSignal(std::move(fd));
}

ROUSE_CORO_WRAPPER Co<absl::Status> ShutdownSignal::Wait() && {
  return WaitFor(std::move(fd_));
}

}  // namespace rouse::echo
