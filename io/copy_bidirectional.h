// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: copy_bidirectional.h
// -----------------------------------------------------------------------------
//
// Joins two streams, as a proxy does: each stream is sent the bytes of the
// other stream.
//
//   rouse::BytesCopied copied = co_await rouse::OrReturn(
//       rouse::CopyBidirectional(client, server));

#ifndef ROUSE_IO_COPY_BIDIRECTIONAL_H_
#define ROUSE_IO_COPY_BIDIRECTIONAL_H_

#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/copy_loop.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// Number of bytes copied in each direction.
struct BytesCopied {
  BytesCopied(uint64_t a_to_b, uint64_t b_to_a)
      : a_to_b(a_to_b), b_to_a(b_to_a) {}

  uint64_t a_to_b;
  uint64_t b_to_a;
};

namespace internal {

// Copies from `R` to `W`, and then shuts `W` down.
template <class R, class W>
class CopyAndShutdown {
 public:
  PollResult<absl::Status> Poll(Context& cx, R& reader, W& writer) {
    if (stage_ == Stage::kCopying) {
      PollResult<absl::Status> status = loop_.Poll(cx, reader, writer);
      if (status.IsPending() || !status->ok()) return status;
      stage_ = Stage::kShuttingDown;
    }
    if (stage_ == Stage::kShuttingDown) {
      PollResult<absl::Status> status =
          PollShutdown(writer, cx, &shutdown_waiter_);
      if (status.IsPending() || !status->ok()) return status;
      stage_ = Stage::kDone;
    }
    return absl::OkStatus();
  }

  uint64_t copied() const { return loop_.copied(); }

 private:
  enum class Stage : uint8_t { kCopying, kShuttingDown, kDone };

  CopyLoop<R, W> loop_;
  Stage stage_ = Stage::kCopying;
  [[no_unique_address]] IoWaiter<W> shutdown_waiter_;
};

}  // namespace internal

// CopyBidirectionalFuture
//
// Returned by `CopyBidirectional()`.
template <class A, class B>
class [[nodiscard(
    "nothing is copied until the future is awaited")]] CopyBidirectionalFuture {
 public:
  CopyBidirectionalFuture(A& a, B& b) : a_(&a), b_(&b) {}

  PollResult<absl::StatusOr<BytesCopied>> Poll(Context& cx) {
    using Result = absl::StatusOr<BytesCopied>;
    if (a_ == nullptr) internal::PanicFinished("CopyBidirectional");
    const auto poll = [&](bool there) {
      return there ? a_to_b_.Poll(cx, *a_, *b_) : b_to_a_.Poll(cx, *b_, *a_);
    };
    // The direction polled first may use up the budget of a poll, so the
    // directions take turns. Only polls with a budget count as turns, so that
    // the turns do not fall into step with other code that takes turns.
    if (cx.HasBudget()) a_to_b_first_ = !a_to_b_first_;
    PollResult<absl::Status> first = poll(a_to_b_first_);
    if (first.IsReady() && !first->ok()) {
      a_ = nullptr;
      return Result(*std::move(first));
    }
    PollResult<absl::Status> second = poll(!a_to_b_first_);
    if (second.IsReady() && !second->ok()) {
      a_ = nullptr;
      return Result(*std::move(second));
    }
    if (first.IsPending() || second.IsPending()) return kPending;
    a_ = nullptr;
    return Result(copied());
  }

  // Returns the number of bytes written in each direction. Can be called at any
  // time, even after an error.
  BytesCopied copied() const {
    return BytesCopied(a_to_b_.copied(), b_to_a_.copied());
  }

 private:
  A* a_;  // null when finished
  B* b_;
  internal::CopyAndShutdown<A, B> a_to_b_;
  internal::CopyAndShutdown<B, A> b_to_a_;
  // The direction polled first in the last poll that had a budget.
  bool a_to_b_first_ = false;
};

// CopyBidirectional()
//
// Copies from `a` to `b` and from `b` to `a` concurrently, each as `Copy()`
// does. When either stream ends, the other stream is shut down, and the
// opposite direction continues.
//
// Returns a future of `absl::StatusOr<BytesCopied>`, which is ready when both
// directions have ended, or with the first error of either stream.
//
// Cancellation: destroying the future before it is ready loses the bytes that
// were read and not yet written, except for bytes from a stream that is an
// `AsyncBufRead`.
template <class A, class B>
  requires AsyncRead<A> && AsyncWrite<A> && AsyncRead<B> && AsyncWrite<B>
CopyBidirectionalFuture<A, B> CopyBidirectional(
    A& a ABSL_ATTRIBUTE_LIFETIME_BOUND, B& b ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return CopyBidirectionalFuture<A, B>(a, b);
}

}  // namespace rouse

#endif  // ROUSE_IO_COPY_BIDIRECTIONAL_H_
