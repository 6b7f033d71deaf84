// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h1/server_channel.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

PollResult<absl::StatusOr<size_t>> RequestBody::PollRead(
    Context& cx, absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  if (is_done_ || buffer.empty()) return Result(0);
  const ThreadMutexLock lock(&channel_->mu);
  if (channel_->exchange != exchange_) {
    return Result(absl::CancelledError(
        "the body of a request can be read only until the response was sent"));
  }
  PollResult<Result> size = PollLocked(cx, buffer);
  if (size.IsPending()) {
    if (!IsTooSlow(cx)) {
      channel_->reader = cx.waker().Clone();
      return kPending;
    }
    channel_->reader.reset();
    return Result(channel_->in.FailTooSlow());
  }
  channel_->reader.reset();
  timer_runs_ = false;
  if (channel_->in.body_is_done()) {
    is_done_ = true;
    trailers_ = std::move(channel_->in.trailers());
  }
  return size;
}

PollResult<absl::StatusOr<size_t>> RequestBody::PollLocked(
    Context& cx, absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  // An error is repeated, and what was not sent is not tried again.
  if (channel_->in.body_has_failed()) return Result(channel_->in.error());
  while (!channel_->to_continue.empty()) {
    PollResult<Result> written =
        channel_->io->PollWrite(cx, channel_->to_continue);
    if (written.IsPending() || !written->ok()) return written;
    channel_->to_continue.remove_prefix(**written);
    channel_->must_flush = true;
  }
  if (channel_->must_flush) {
    PollResult<absl::Status> flushed = channel_->io->PollFlush(cx);
    if (flushed.IsPending()) return kPending;
    if (!flushed->ok()) return Result(*std::move(flushed));
    channel_->must_flush = false;
  }
  return channel_->in.PollBody(cx, *channel_->io, buffer);
}

bool RequestBody::IsTooSlow(Context& cx) {
  if (progress_timeout_ == absl::InfiniteDuration()) return false;
  if (!timer_.has_value()) {
    timer_.emplace(progress_timeout_);
  } else if (!timer_runs_) {
    timer_->Reset(progress_timeout_);
  }
  timer_runs_ = true;
  return timer_->Poll(cx).IsReady();
}

}  // namespace rouse::http::internal
