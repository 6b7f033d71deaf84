// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fork_all.h
// -----------------------------------------------------------------------------
//
// Runs any number of futures of one type in parallel, as parts of one
// computation:
//
//   auto parts = blocks | std::views::transform(&DigestOf);  // makes Cos
//   std::vector<Digest> digests = co_await rouse::ForkAll(parts);
//
// For a loop over numbers or elements, `ParallelFor()` needs no vector.

#ifndef ROUSE_SCHEDULER_FORK_FORK_ALL_H_
#define ROUSE_SCHEDULER_FORK_FORK_ALL_H_

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_item.h"
#include "rouse/scheduler/fork/fork_child.h"
#include "rouse/scheduler/fork/fork_core.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Satisfied by a range whose elements are made by the iteration, or can be
// moved out of: unlike those of a container in a variable.
template <class R>
concept RangeOfNewFutures =
    std::ranges::input_range<R> && Future<std::ranges::range_value_t<R>> &&
    std::constructible_from<std::ranges::range_value_t<R>,
                            std::ranges::range_reference_t<R>>;

}  // namespace internal

// ForkAllFuture
//
// See `ForkAll()`.
template <class F>
class [[nodiscard]] ForkAllFuture
    : private internal::ForkCore<ForkAllFuture<F>> {
  using Core = internal::ForkCore<ForkAllFuture>;
  using T = FutureOutput<F>;
  using Child = internal::ForkChild<F>;
  using Children = std::vector<Child>;

 public:
  // Void if the futures have no outputs.
  using Output = std::conditional_t<std::is_void_v<T>, void,
                                    std::vector<internal::ChildItem<T>>>;

  explicit ForkAllFuture(std::vector<F> futures)
      : ForkAllFuture(ChildrenOf(std::move(futures))) {}
  template <class R>
    requires internal::RangeOfNewFutures<R>
  explicit ForkAllFuture(std::in_place_t, R&& futures)
      : ForkAllFuture(ChildrenOf(futures)) {}
  ForkAllFuture(ForkAllFuture&&) = default;
  ForkAllFuture& operator=(ForkAllFuture&&) = delete;
  ~ForkAllFuture() {
    if (!Core::IsFinished()) [[unlikely]]
      Core::Cancel();
  }

  PollResult<Output> Poll(Context& cx) {
    ROUSE_TRY {
      if (!Core::PollChildren(cx)) return kPending;
    }
    ROUSE_CATCH_ALL {
      Core::Cancel();
      ROUSE_RETHROW;
    }
    // Even if moving an output throws.
    Core::Finish();
    if constexpr (std::is_void_v<T>) {
      children_.clear();
      return {};
    } else {
      Output outputs;
      outputs.reserve(children_.size());
      for (Child& child : children_) {
        outputs.push_back(std::move(child.output()));
      }
      children_.clear();
      return outputs;
    }
  }

  // The children may be another thread's after the first poll.
  bool BorrowsClosure() const {
    return Core::IsFresh() &&
           std::ranges::any_of(children_, [](const Child& child) {
             return child.BorrowsClosure();
           });
  }

  void Trace(AwaitTrace& trace) const { Core::Trace(trace); }

 private:
  friend Core;

  static constexpr std::string_view kName = "ForkAll";

  explicit ForkAllFuture(Children children)
      : Core(children.size()), children_(std::move(children)) {}

  static Children ChildrenOf(std::vector<F> futures) {
    Children children;
    children.reserve(futures.size());
    for (F& future : futures) children.emplace_back(std::move(future));
    return children;
  }
  template <class R>
  static Children ChildrenOf(R& futures) {
    Children children;
    if constexpr (std::ranges::sized_range<R>) {
      children.reserve(static_cast<size_t>(std::ranges::size(futures)));
    }
    for (auto&& future : futures) {
      children.emplace_back(F(std::forward<decltype(future)>(future)));
    }
    return children;
  }

  size_t size() const { return children_.size(); }

  template <class Begin>
  ABSL_ATTRIBUTE_ALWAYS_INLINE void BeginChildren(Begin& begin) {
    size_t index = 0;
    for (Child& child : children_) {
      if (!begin(index++, child)) break;
    }
  }

  bool PollChild(size_t index, Context& cx, bool take_back) {
    return children_[index].Poll(cx, take_back);
  }
  bool GiveChild(size_t index) { return children_[index].Give(); }
  void CancelChildren() {
    for (Child& child : children_) child.Cancel();
    children_.clear();
  }
  void TraceChildren(AwaitTrace::Branches& branches) const {
    for (const Child& child : children_) child.Trace(branches);
  }

  Children children_;
};

// ForkAll()
//
// Like `Fork()`, but for any number of futures of one type. The output is a
// `std::vector` of the outputs in order: of `std::reference_wrapper` for
// references, and no output for void. Without futures, the result is ready at
// the first poll.
//
// The futures are those of a vector, or of a range that makes each future when
// iterated over, at once, such as a `std::views::transform`.
//
// Children move to other workers one at a time. Let each take ten microseconds
// or more; for a loop with less to do in each step, use `ParallelFor()`.
//
// A future is destroyed as soon as it is ready. Allocates twice, for the
// futures and for the outputs; more often for a range without `size()`.
template <Future F>
ForkAllFuture<F> ForkAll(std::vector<F> futures) {
  return ForkAllFuture<F>(std::move(futures));
}
template <class R>
  requires internal::RangeOfNewFutures<R>
ForkAllFuture<std::ranges::range_value_t<R>> ForkAll(R&& futures) {
  return ForkAllFuture<std::ranges::range_value_t<R>>(std::in_place,
                                                      std::forward<R>(futures));
}

}  // namespace rouse

#endif  // ROUSE_SCHEDULER_FORK_FORK_ALL_H_
