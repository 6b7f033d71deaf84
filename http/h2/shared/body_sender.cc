// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/shared/body_sender.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/body.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/serving/body_length.h"
#include "rouse/http/serving/handler_call.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {
namespace {

// Bytes of one read of a body.
constexpr size_t kRead = size_t{16} << 10;

}  // namespace

void BodySender::Start(Body body, std::optional<uint64_t> size) {
  body_ = std::move(body);
  length_ = BodyLength(size);
}

PollResult<absl::StatusOr<size_t>> BodySender::PollRead(
    Context& cx, absl::Span<char> buffer) {
  ROUSE_TRY { return body_.PollRead(cx, buffer); }
  ROUSE_CATCH_ALL { return absl::StatusOr<size_t>(CurrentException()); }
}

PollResult<absl::Status> BodySender::Poll(
    Context& cx, StreamLink& link,
    const std::shared_ptr<SharedStream>& stream) {
  char bytes[kRead];
  for (;;) {
    waits_for_source_ = false;
    {
      const ThreadMutexLock lock(&link.mu);
      if (stream->is_closed) return absl::OkStatus();
      if (stream->out.size() >= kMaxUnsent) {
        stream->writer = cx.waker().Clone();
        return kPending;
      }
    }
    PollResult<absl::StatusOr<size_t>> size =
        PollRead(cx, absl::MakeSpan(bytes, length_.Most(kRead)));
    if (size.IsPending()) {
      waits_for_source_ = true;
      return kPending;
    }
    if (!size->ok()) return size->status();
    absl::Status counted = length_.Count(**size);
    if (!counted.ok() || **size == 0) return counted;
    Waker session;
    {
      const ThreadMutexLock lock(&link.mu);
      // The session waits for the first bytes, or begins to measure the time
      // that they wait.
      // First, because it can throw.
      if (stream->out.empty()) session = link.Change(stream);
      stream->out.Append(std::string_view(bytes, **size));
    }
    WakeDropped(std::move(session));
  }
}

}  // namespace rouse::http::internal
