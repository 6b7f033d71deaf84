// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/child.h"

#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/log/vlog.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/io/read_to_end.h"
#include "rouse/process/child_pipe.h"
#include "rouse/process/exit_status.h"
#include "rouse/process/pidfd.h"
#include "rouse/process/reaper.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

absl::Status WaitError(int error, pid_t pid) {
  return absl::ErrnoToStatus(
      error,
      absl::StrCat("waitid for child ", pid,
                   error == ECHILD ? "; the program must neither ignore "
                                     "SIGCHLD nor wait for arbitrary children"
                                   : ""));
}

struct Rest {
  std::string bytes;
  bool truncated = false;
};

// Returns the remaining bytes of the pipe, but at most `limit`; no bytes
// without a pipe. The end of the coroutine closes the pipe.
Co<absl::StatusOr<Rest>> ReadRest(std::optional<ChildStdout> pipe,
                                  size_t limit) {
  Rest rest;
  if (pipe.has_value()) {
    auto read = ReadToEnd(*pipe, rest.bytes, limit);
    const absl::StatusOr<size_t> size = co_await read;
    rest.truncated = rest.bytes.size() > limit;
    if (!size.ok() && !rest.truncated) co_return size.status();
    if (rest.truncated) rest.bytes.resize(limit);
  }
  co_return rest;
}

Co<absl::StatusOr<ProcessOutput>> Collect(Child child, size_t limit) {
  Co<absl::StatusOr<Rest>> out = ReadRest(child.TakeStdout(), limit);
  Co<absl::StatusOr<Rest>> err = ReadRest(child.TakeStderr(), limit);
  auto wait = child.Wait();
  auto all = Join(std::move(out), std::move(err), std::move(wait));
  auto [read_out, read_err, status] = co_await std::move(all);
  if (!read_out.ok()) co_return read_out.status();
  if (!read_err.ok()) co_return read_err.status();
  if (!status.ok()) co_return status.status();
  ProcessOutput output(*status, std::move(read_out->bytes),
                       std::move(read_err->bytes));
  output.out_truncated = read_out->truncated;
  output.err_truncated = read_err->truncated;
  co_return output;
}

}  // namespace

std::string Child::ToString() const { return absl::StrCat("process ", pid_); }

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      kill_on_drop_(other.kill_on_drop_),
      status_(other.status_),
      pidfd_(std::move(other.pidfd_)),
      stdin_(std::exchange(other.stdin_, std::nullopt)),
      stdout_(std::exchange(other.stdout_, std::nullopt)),
      stderr_(std::exchange(other.stderr_, std::nullopt)) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  Abandon();
  pid_ = std::exchange(other.pid_, 0);
  kill_on_drop_ = other.kill_on_drop_;
  status_ = other.status_;
  pidfd_ = std::move(other.pidfd_);
  stdin_ = std::exchange(other.stdin_, std::nullopt);
  stdout_ = std::exchange(other.stdout_, std::nullopt);
  stderr_ = std::exchange(other.stderr_, std::nullopt);
  return *this;
}

Child::~Child() { Abandon(); }

void Child::Abandon() {
  if (pid_ == 0 || status_.has_value()) return;
  if (kill_on_drop_) internal::SendSignalTo(pidfd_.fd(), SIGKILL);
  internal::ReapLater(pid_, std::move(pidfd_));
}

std::optional<ChildStdin> Child::TakeStdin() {
  return std::exchange(stdin_, std::nullopt);
}

std::optional<ChildStdout> Child::TakeStdout() {
  return std::exchange(stdout_, std::nullopt);
}

std::optional<ChildStderr> Child::TakeStderr() {
  return std::exchange(stderr_, std::nullopt);
}

int Child::CheckForExit() {
  if (status_.has_value()) return 0;
  if (pid_ == 0) {
    // The `Child` was moved from.
    errno = ECHILD;
    return -1;
  }
  int raw;
  if (internal::TryWaitFor(pid_, pidfd_.fd(), raw) != 0) return -1;
  status_.emplace(raw);
  ROUSE_VLOG(1, *this, " has ended: ", *status_);
  return 0;
}

PollResult<absl::StatusOr<ExitStatus>> Child::PollWait(
    Context& cx, reactor::Waiter* waiter) {
  using Result = absl::StatusOr<ExitStatus>;
  if (status_.has_value()) return Result(*status_);
  PollResult<absl::StatusOr<size_t>> ended = pidfd_.registration().PollIo(
      reactor::Direction::kRead, cx, waiter, /*full=*/0,
      [this] { return ssize_t{CheckForExit()}; },
      [this](int error) { return WaitError(error, pid_); });
  if (ended.IsPending()) return kPending;
  if (!ended->ok()) return Result((*std::move(ended)).status());
  return Result(*status_);
}

absl::StatusOr<std::optional<ExitStatus>> Child::TryWait() {
  if (CheckForExit() == 0) return status_;
  if (errno == EAGAIN) return std::nullopt;
  return WaitError(errno, pid_);
}

Co<absl::StatusOr<ProcessOutput>> Child::WaitWithOutput(size_t limit) && {
  return Collect(std::move(*this), limit);
}

absl::Status Child::SendSignal(int number) {
  if (pid_ == 0 || status_.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("signal ", number, " was not sent: the child has exited"));
  }
  if (internal::SendSignalTo(pidfd_.fd(), number) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat("pidfd_send_signal of ", number, " to child ", pid_));
}

absl::Status Child::Kill() { return SendSignal(SIGKILL); }

}  // namespace rouse
