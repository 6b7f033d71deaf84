// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: futures_ordered.h
// -----------------------------------------------------------------------------
//
// Runs any number of futures concurrently, in one task, and returns their
// outputs in the order in which the futures were added:
//
//   rouse::FuturesOrdered<rouse::Co<Reply>> replies;
//   for (Request& request : requests) replies.Push(Handle(std::move(request)));
//   while (std::optional<Reply> reply = co_await rouse::Next(replies)) {
//     co_await Send(*std::move(reply));
//   }

#ifndef ROUSE_FUTURE_MANY_FUTURES_ORDERED_H_
#define ROUSE_FUTURE_MANY_FUTURES_ORDERED_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_set.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// FuturesOrdered
//
// Like `FuturesUnordered`, but the outputs come in the order of the futures. An
// output that is ready before its turn is kept in the set until then.
//
// An exception from a future propagates out of the poll, possibly before the
// outputs of earlier futures. The stream has no item for this future.
template <Future F>
class FuturesOrdered {
 public:
  // The output of a future: a `std::reference_wrapper` in place of a reference,
  // and `std::monostate` in place of void.
  using Item = internal::ChildItem<FutureOutput<F>>;

  FuturesOrdered() = default;
  FuturesOrdered(FuturesOrdered&& other)
      // The deque comes first, because its move may throw.
      : places_(std::move(other.places_)),
        first_(other.first_),
        threw_(std::exchange(other.threw_, 0)),
        children_(std::move(other.children_)) {}
  FuturesOrdered& operator=(FuturesOrdered&& other) {
    FuturesOrdered taken(std::move(other));
    DestroyAll();
    places_.swap(taken.places_);
    std::swap(first_, taken.first_);
    std::swap(threw_, taken.threw_);
    children_ = std::move(taken.children_);
    return *this;
  }
  ~FuturesOrdered() { DestroyAll(); }

  // Adds `future`, whose output comes last, and which is first polled by the
  // next poll of the set. Wakes the task that waits for the set, if any. A
  // future of the set may add others while it is polled or destroyed. O(1).
  void Push(F future) {
    places_.emplace_back();
    // If memory runs out. If a waker throws, the future is in the set.
    const absl::Cleanup take_back = [this, before = children_.size()] {
      if (children_.size() == before) places_.pop_back();
    };
    children_.Add(std::move(future), first_ + places_.size() - 1);
  }

  // Polls the futures that were woken, each once, until the output of the first
  // future is known, and returns this output. Returns `std::nullopt` if the set
  // is empty. The stream continues if the set is given new futures after the
  // stream has ended.
  PollResult<std::optional<Item>> PollNext(Context& cx) {
    for (;;) {
      while (!places_.empty() && places_.front().is_done) {
        if (!places_.front().item.has_value()) {
          PopPlace();
          --threw_;
          continue;
        }
        // Outputs that were kept need no poll, which would check the budget.
        if (!cx.HasBudget()) return YieldForBudget(cx);
        std::optional<Item> item = std::move(places_.front().item);
        PopPlace();
        TakeUnitIfAny(cx);
        return item;
      }
      if (places_.empty()) return std::nullopt;
      if (PollChildren(cx).IsPending()) return kPending;
    }
  }

  // Destroys all futures and outputs, even those that their destructors add,
  // and leaves the set empty. Wakes the task that waits for the set, if any;
  // exceptions from its waker are dropped. Must not be called by a future of
  // the set.
  void Clear() {
    children_.ClearAndWake();
    DestroyAll();
  }

  // Returns the number of futures whose outputs have not been returned. A
  // future that has thrown an exception does not count.
  size_t size() const { return places_.size() - threw_; }
  bool empty() const { return size() == 0; }

  bool BorrowsClosure() const { return children_.BorrowsClosure(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "FuturesOrdered");
    children_.Trace(branches);
  }

 private:
  // The place of a future's output.
  struct Place {
    bool is_done = false;
    std::optional<Item> item;  // empty if the future threw an exception
  };

  // Is ready with true when the output of the first future is known.
  PollResult<bool> PollChildren(Context& cx) {
    return children_.Poll(
        cx, [this](size_t key, PollResult<FutureOutput<F>>&& output) {
          Place& place = places_[key - first_];
          place.is_done = true;
          // The future counts as one that has thrown until its output is kept,
          // because moving the output may throw, too.
          ++threw_;
          if (output.IsPending()) return false;  // the future has thrown
          place.item.emplace(internal::ToChildItem(std::move(output)));
          --threw_;
          return key == first_;
        });
  }

  void PopPlace() {
    places_.pop_front();
    ++first_;
  }

  // Destroys all futures and outputs. Each destructor may add futures.
  void DestroyAll() {
    threw_ = 0;
    for (;;) {
      children_.Clear();
      if (places_.empty()) return;
      places_.front().item.reset();
      PopPlace();
    }
  }

  // The places of the futures from number `first_` on.
  std::deque<Place> places_;
  size_t first_ = 0;
  size_t threw_ = 0;  // number of places whose futures threw an exception
  internal::ChildSet<F> children_;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_MANY_FUTURES_ORDERED_H_
