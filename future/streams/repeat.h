// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: repeat.h
// -----------------------------------------------------------------------------
//
// Makes a stream that repeats a value without end:
//
//   auto zeros = rouse::Repeat(0) | rouse::Take(10);

#ifndef ROUSE_FUTURE_STREAMS_REPEAT_H_
#define ROUSE_FUTURE_STREAMS_REPEAT_H_

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// RepeatStream
//
// See `Repeat()`.
template <class T>
class [[nodiscard]] RepeatStream {
 public:
  using Item = T;

  explicit RepeatStream(T item) : item_(std::move(item)) {}

  PollResult<std::optional<T>> PollNext(Context& cx) {
    // The next item is always available, so the budget lets other tasks run.
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return PollResult<std::optional<T>>(std::in_place, item_);
  }

 private:
  T item_;
};

// Repeat()
//
// Returns a stream of copies of `item` that never ends. Each item takes a unit
// of the cooperative budget. An exception from the copy propagates out of the
// poll.
template <class T>
  requires std::copy_constructible<std::decay_t<T>>
RepeatStream<std::decay_t<T>> Repeat(T&& item) {
  return RepeatStream<std::decay_t<T>>(std::forward<T>(item));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_REPEAT_H_
