// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: any_all.h
// -----------------------------------------------------------------------------
//
// Finds out whether any item, or all items, of a stream have a property:
//
//   bool has_error = co_await (std::move(lines) | rouse::Any(&IsError));
//   bool is_sorted = co_await (std::move(pairs) | rouse::All(&IsAscending));

#ifndef ROUSE_FUTURE_STREAMS_ANY_ALL_H_
#define ROUSE_FUTURE_STREAMS_ANY_ALL_H_

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/panic.h"
#include "rouse/future/adapters/adapted_stream.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// AnyAllFuture
//
// See `Any()` and `All()`. The future is ready with `kDecides` at the first
// item for which the function returns `kDecides`, and with `!kDecides` at the
// end of the stream.
template <class S, class F, bool kDecides>
class [[nodiscard]] AnyAllFuture : public internal::EndingStream<S> {
 public:
  AnyAllFuture(S&& stream, F test)
      : internal::EndingStream<S>(std::forward<S>(stream)),
        test_(std::move(test)) {}

  PollResult<bool> Poll(Context& cx) {
    if (this->HasEnded()) {
      Panic(kDecides ? "Any was polled after it completed; keep the result"
                     : "All was polled after it completed; keep the result");
    }
    for (;;) {
      PollResult<std::optional<StreamItem<S>>> item = this->PollSource(cx);
      if (item.IsPending()) return kPending;
      if (!item->has_value()) return !kDecides;
      const bool result = std::invoke(test_, std::as_const(**item));
      if (result == kDecides) {
        this->End();
        return kDecides;
      }
      // A next item may always be available, so the budget lets other tasks
      // run.
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      unit->MadeProgress();
    }
  }

 private:
  F test_;
};

// Any()
//
// Returns a future of whether `test(item)` is true for an item of `stream`. The
// future is ready at the first such item, or at the end of the stream. The
// remaining items of an lvalue are left in the stream. `test` must not wait.
// Each item takes a unit of the cooperative budget. An exception from `test`
// propagates out of the poll, and the item is lost.
template <Stream S, class F>
  requires std::predicate<std::decay_t<F>&, const StreamItem<S>&>
AnyAllFuture<S, std::decay_t<F>, true> Any(S&& stream, F&& test) {
  return AnyAllFuture<S, std::decay_t<F>, true>(std::forward<S>(stream),
                                                std::forward<F>(test));
}

// Returns an adapter: `stream | Any(test)` is `Any(stream, test)`.
template <class F>
auto Any(F&& test) {
  return StreamAdapter([test = std::decay_t<F>(std::forward<F>(
                            test))]<Stream S>(S&& stream) mutable {
    static_assert(std::predicate<std::decay_t<F>&, const StreamItem<S>&>,
                  "stream | Any(test): test must take an item of the stream "
                  "as a const reference, and return a bool");
    return Any(std::forward<S>(stream), std::move(test));
  });
}

// All()
//
// Like `Any()`, but returns a future of whether `test(item)` is true for all
// items of `stream`. The future is ready at the first item for which `test` is
// false, or at the end of the stream. A stream without items gives true.
template <Stream S, class F>
  requires std::predicate<std::decay_t<F>&, const StreamItem<S>&>
AnyAllFuture<S, std::decay_t<F>, false> All(S&& stream, F&& test) {
  return AnyAllFuture<S, std::decay_t<F>, false>(std::forward<S>(stream),
                                                 std::forward<F>(test));
}

// Returns an adapter: `stream | All(test)` is `All(stream, test)`.
template <class F>
auto All(F&& test) {
  return StreamAdapter([test = std::decay_t<F>(std::forward<F>(
                            test))]<Stream S>(S&& stream) mutable {
    static_assert(std::predicate<std::decay_t<F>&, const StreamItem<S>&>,
                  "stream | All(test): test must take an item of the stream "
                  "as a const reference, and return a bool");
    return All(std::forward<S>(stream), std::move(test));
  });
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_ANY_ALL_H_
