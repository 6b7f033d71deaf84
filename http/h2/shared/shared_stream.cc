// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/shared/shared_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/h2/shared/session_clock.h"
#include "rouse/http/headers.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {

bool IsTooLarge(const Headers& fields, size_t more) {
  size_t size = more;
  for (const auto& [name, value] : fields) {
    size += name.size() + value.size() + 12;
  }
  return size > kMaxSentHeader;
}

void WakeDropped(Waker waker) noexcept {
  ROUSE_TRY { std::move(waker).Wake(); }
  ROUSE_CATCH_ALL {}
}

void WakeList::WakeAll() {
  for (Waker& waker : wakers_) WakeDropped(std::move(waker));
  wakers_.clear();
}

Waker StreamLink::Change(const std::shared_ptr<SharedStream>& stream) {
  if (!stream->is_changed) {
    changed.push_back(stream);
    stream->is_changed = true;
  }
  return std::exchange(session, Waker());
}

Waker StreamLink::Consume(const std::shared_ptr<SharedStream>& stream,
                          size_t bytes) {
  if (!stream->is_changed) {
    changed.push_back(stream);
    stream->is_changed = true;
  }
  stream->consumed += bytes;
  consumed += bytes;
  if (!window_is_low && consumed < connection_threshold_ &&
      stream->consumed < stream_threshold_) {
    return Waker();
  }
  return std::exchange(session, Waker());
}

void StreamLink::Wait(const Waker& waker, int32_t left, SessionClock& clock) {
  const bool was_closed = std::exchange(window_is_closed, left <= 0);
  if (was_closed && left > 0) window_opened = clock.Time();
  window_is_low = left < static_cast<int32_t>(connection_threshold_);
  if (!session.WillWake(waker)) session = waker.Clone();
}

StreamBody::~StreamBody() {
  if (is_done_) return;
  Waker session;
  std::optional<Waker> reader;  // destroyed without the lock
  ROUSE_TRY {
    const ThreadMutexLock lock(&link_->mu);
    SharedStream& stream = *stream_;
    const size_t unread = stream.in.size();
    if (stream.is_closed || (stream.in_is_complete && unread == 0)) return;
    absl::Status dropped =
        absl::CancelledError("the body was destroyed before its end");
    // Does not depend on the number of bytes: the window of the connection may
    // be closed by several such bodies.
    session = link_->Change(stream_);
    stream.consumed += unread;
    stream.in.Clear();
    stream.in.Shrink(0);
    if (stream.in_error.ok()) stream.in_error = std::move(dropped);
    reader.swap(stream.reader);
  }
  // Without memory, the bytes wait for the end of the stream.
  ROUSE_CATCH_ALL {}
  WakeDropped(std::move(session));
}

PollResult<absl::StatusOr<size_t>> StreamBody::PollRead(
    Context& cx, absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  if (is_done_ || buffer.empty()) return Result(0);
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  Waker session;
  std::optional<Result> result;
  {
    const ThreadMutexLock lock(&link_->mu);
    SharedStream& stream = *stream_;
    if (!stream.in.empty()) {
      const size_t size = std::min(stream.in.size(), buffer.size());
      session = link_->Consume(stream_, size);  // first, because it can throw
      stream.in.view().copy(buffer.data(), size);
      stream.in.Consume(size);
      stream.in.Shrink(0);
      result.emplace(size);
    } else if (!stream.in_error.ok()) {
      result.emplace(stream.in_error);
    } else if (stream.in_is_complete) {
      is_done_ = true;
      trailers_ = std::move(stream.in_trailers);
      result.emplace(0);
    } else if (stream.is_closed) {
      result.emplace(absl::CancelledError(
          "the body of a request can be read only until the response was "
          "sent"));
    } else {
      if (stream.expects_continue) {
        session = link_->Change(stream_);
        stream.expects_continue = false;
        stream.wants_continue = true;
      }
      stream.reader = cx.waker().Clone();
    }
    if (result.has_value()) stream.reader.reset();
  }
  WakeDropped(std::move(session));
  if (!result.has_value()) {
    if (!IsTooSlow(cx)) return kPending;
    const ThreadMutexLock lock(&link_->mu);
    // If anything has come in the meantime, the task is woken.
    if (!stream_->reader.has_value()) return kPending;
    stream_->reader.reset();
    stream_->in_error = absl::DeadlineExceededError(
        "the peer has sent nothing of the body for too long");
    stream_->in_failure = 408;
    return Result(stream_->in_error);
  }
  timer_runs_ = false;
  unit->MadeProgress(result->ok() ? **result : 0);
  return *std::move(result);
}

bool StreamBody::IsTooSlow(Context& cx) {
  if (progress_timeout_ == absl::InfiniteDuration()) return false;
  if (!timer_.has_value()) {
    timer_.emplace(progress_timeout_);
  } else if (!timer_runs_) {
    timer_->Reset(progress_timeout_);
  }
  timer_runs_ = true;
  while (timer_->Poll(cx).IsReady()) {
    const Instant now = Now();
    Instant since;
    {
      const ThreadMutexLock lock(&link_->mu);
      since = link_->window_is_closed ? now : link_->window_opened;
    }
    const Instant end = since + progress_timeout_;
    if (end <= now) return true;
    timer_->ResetAt(end);
  }
  return false;
}

}  // namespace rouse::http::internal
