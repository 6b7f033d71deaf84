// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: copy_bidirectional.h
// -----------------------------------------------------------------------------
//
// Joins two streams, each of which gets what comes from the other one: what a
// proxy does.
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

// How many bytes have gone each way.
struct BytesCopied {
  BytesCopied(uint64_t a_to_b, uint64_t b_to_a)
      : a_to_b(a_to_b), b_to_a(b_to_a) {}

  uint64_t a_to_b;
  uint64_t b_to_a;
};

namespace internal {

// From `R` to `W`, and then a shutdown of `W`.
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
// See `CopyBidirectional()`.
template <class A, class B>
class [[nodiscard]] CopyBidirectionalFuture {
 public:
  CopyBidirectionalFuture(A& a, B& b) : a_(&a), b_(&b) {}

  PollResult<absl::StatusOr<BytesCopied>> Poll(Context& cx) {
    using Result = absl::StatusOr<BytesCopied>;
    if (a_ == nullptr) internal::PanicFinished("CopyBidirectional");
    const auto poll = [&](bool there) {
      return there ? a_to_b_.Poll(cx, *a_, *b_) : b_to_a_.Poll(cx, *b_, *a_);
    };
    // The first may use up the budget of a poll, so they take turns: those that
    // have a budget, lest they keep step with others who take turns.
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

  // What has been written, at any time, also after an error.
  BytesCopied copied() const {
    return BytesCopied(a_to_b_.copied(), b_to_a_.copied());
  }

 private:
  A* a_;  // null when finished
  B* b_;
  internal::CopyAndShutdown<A, B> a_to_b_;
  internal::CopyAndShutdown<B, A> b_to_a_;
  // In the last poll that had a budget.
  bool a_to_b_first_ = false;
};

// CopyBidirectional()
//
// Copies from `a` to `b` and from `b` to `a` at the same time, each as `Copy()`
// does. When one has ended, the other is shut down, and the way back goes on.
// Gives `absl::StatusOr<BytesCopied>` when both have ended, or the first error
// of either.
//
// Destroying it before it is ready loses what was read and not yet written, of
// those that are not `AsyncBufRead`.
template <class A, class B>
  requires AsyncRead<A> && AsyncWrite<A> && AsyncRead<B> && AsyncWrite<B>
CopyBidirectionalFuture<A, B> CopyBidirectional(
    A& a ABSL_ATTRIBUTE_LIFETIME_BOUND, B& b ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return CopyBidirectionalFuture<A, B>(a, b);
}

}  // namespace rouse

#endif  // ROUSE_IO_COPY_BIDIRECTIONAL_H_
