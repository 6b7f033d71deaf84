// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/child_pipe.h"

#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/fd/adopt_fd.h"
#include "rouse/io/fd/quiet_write.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using reactor::AsyncFd;
using reactor::Direction;
using reactor::Interest;

OwnedFd Blocking(OwnedFd fd) {
  // Cannot fail: the descriptor is open.
  internal::MakeBlocking(fd.get()).IgnoreError();
  return fd;
}

absl::StatusOr<AsyncFd<OwnedFd>> Adopt(OwnedFd fd, Interest interest,
                                       const reactor::Handle& handle) {
  absl::Status adopted = internal::AdoptFd(fd.get());
  if (!adopted.ok()) return adopted;
  return AsyncFd<OwnedFd>::Create(std::move(fd), interest, handle);
}

}  // namespace

absl::StatusOr<ChildStdin> ChildStdin::FromFd(OwnedFd fd,
                                              const reactor::Handle& handle) {
  absl::StatusOr<AsyncFd<OwnedFd>> pipe =
      Adopt(std::move(fd), Interest::kWritable, handle);
  if (!pipe.ok()) return std::move(pipe).status();
  return ChildStdin(*std::move(pipe));
}

PollResult<absl::StatusOr<size_t>> ChildStdin::PollWrite(
    Context& cx, std::string_view data, reactor::Waiter* waiter) const {
  if (data.empty()) return absl::StatusOr<size_t>(0);
  // A pipe refuses a write that it must take as a whole, even if the pipe has
  // room for a smaller one. A partial write therefore does not show whether the
  // pipe would take the rest.
  return pipe_.registration().PollIo(
      Direction::kWrite, cx, waiter, /*full=*/0,
      [&] { return internal::QuietWrite(fd(), absl::MakeConstSpan(&data, 1)); },
      [](int error) {
        return absl::ErrnoToStatus(error, "write to a child's standard input");
      });
}

PollResult<absl::StatusOr<size_t>> ChildStdin::PollWriteVectored(
    Context& cx, absl::Span<const std::string_view> parts,
    reactor::Waiter* waiter) const {
  for (const std::string_view part : parts) {
    if (!part.empty()) return PollWrite(cx, part, waiter);
  }
  return absl::StatusOr<size_t>(0);
}

OwnedFd ChildStdin::IntoBlockingFd() && {
  return Blocking(std::move(pipe_).IntoInner());
}

absl::StatusOr<ChildStdout> ChildStdout::FromFd(OwnedFd fd,
                                                const reactor::Handle& handle) {
  absl::StatusOr<AsyncFd<OwnedFd>> pipe =
      Adopt(std::move(fd), Interest::kReadable, handle);
  if (!pipe.ok()) return std::move(pipe).status();
  return ChildStdout(*std::move(pipe));
}

PollResult<absl::StatusOr<size_t>> ChildStdout::PollRead(
    Context& cx, absl::Span<char> buffer, reactor::Waiter* waiter) const {
  if (buffer.empty()) return absl::StatusOr<size_t>(0);
  // The child may have made the pipe a pipe of packets, from which each read
  // returns a single packet.
  return pipe_.registration().PollIo(
      Direction::kRead, cx, waiter, /*full=*/0,
      [&] { return read(fd(), buffer.data(), buffer.size()); },
      [](int error) {
        return absl::ErrnoToStatus(error, "read from a child's output");
      });
}

OwnedFd ChildStdout::IntoBlockingFd() && {
  return Blocking(std::move(pipe_).IntoInner());
}

}  // namespace rouse
