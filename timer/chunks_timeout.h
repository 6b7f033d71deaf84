// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: chunks_timeout.h
// -----------------------------------------------------------------------------
//
// Collects the items of a stream in vectors, each of which is given when it is
// full, or when a time has passed since its first item:
//
//   // Writes at most 100 rows at once, and each row within 50 ms.
//   auto batches = std::move(rows) |
//                  rouse::ChunksTimeout(100, absl::Milliseconds(50));

#ifndef ROUSE_TIMER_CHUNKS_TIMEOUT_H_
#define ROUSE_TIMER_CHUNKS_TIMEOUT_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "rouse/base/any_duration.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/adapters/chunks.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ChunksTimeoutStream
//
// See `ChunksTimeout()`. Can be moved until it is first polled.
template <class S>
class [[nodiscard]] ChunksTimeoutStream : public internal::EndingStream<S> {
 public:
  using Item = std::vector<StreamItem<S>>;

  ChunksTimeoutStream(S&& stream, size_t size, AnyDuration duration)
      : internal::EndingStream<S>(std::forward<S>(stream)),
        size_(size),
        duration_(duration),
        sleep_(duration) {}

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    const bool had_budget = cx.HasBudget();
    while (chunk_.size() < size_) {
      PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
      if (item.IsPending()) return PollTime(cx, had_budget);
      if (!item->has_value()) {
        if (chunk_.empty()) return std::nullopt;
        break;
      }
      if (chunk_.empty()) sleep_.Reset(duration_);
      chunk_.push_back(**std::move(item));
      // A next item may always be available, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return PollTime(cx, had_budget);
      unit->MadeProgress();
    }
    return TakeChunk();
  }

 private:
  // Gives an incomplete chunk if time is up.
  PollResult<std::optional<Item>> PollTime(Context& cx, bool had_budget) {
    if (chunk_.empty()) return kPending;
    // A stream that uses up the budget does not keep time from being up.
    std::optional<UnconstrainedScope> unconstrained;
    if (had_budget && !cx.HasBudget()) unconstrained.emplace(cx);
    PollResult<SleepResult> up = sleep_.Poll(cx);
    if (up.IsPending()) return kPending;
    if (!up->ok()) this->End();
    return TakeChunk();
  }

  std::optional<Item> TakeChunk() { return std::exchange(chunk_, Item()); }

  const size_t size_;
  const absl::Duration duration_;
  Sleep sleep_;  // runs, or has been up, unless the chunk is empty
  Item chunk_;
};

// ChunksTimeout()
//
// Returns a stream of vectors of at most `size` items of `stream`, and at least
// one. A vector is given when it is full, when `duration` has passed since its
// first item was taken from `stream`, or at the end of `stream`. Panics if
// `size` is 0.
//
// Time is measured as by a `Sleep`, on the clock of the current driver. If the
// driver has shut down, the stream gives the chunk and then ends.
//
// Cancellation: destroying a `Next()` of the stream loses nothing. Destroying
// the stream loses the items of an incomplete chunk, even if `stream` was
// passed as an lvalue. After an exception from `stream`, the incomplete chunk
// is kept.
//
// Each item takes a unit of the cooperative budget. A chunk costs one reset of
// a sleep, O(1).
template <Stream S>
ChunksTimeoutStream<S> ChunksTimeout(S&& stream, size_t size,
                                     AnyDuration duration) {
  return ChunksTimeoutStream<S>(
      std::forward<S>(stream),
      internal::CheckedChunkSize(size, "ChunksTimeout"), duration);
}

// Returns an adapter: `stream | ChunksTimeout(size, duration)` is
// `ChunksTimeout(stream, size, duration)`.
inline auto ChunksTimeout(size_t size, AnyDuration duration) {
  internal::CheckedChunkSize(size, "ChunksTimeout");
  return StreamAdapter([size, duration]<Stream S>(S&& stream) {
    return ChunksTimeout(std::forward<S>(stream), size, duration);
  });
}

}  // namespace rouse

#endif  // ROUSE_TIMER_CHUNKS_TIMEOUT_H_
