// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: futures_unordered.h
// -----------------------------------------------------------------------------
//
// Runs any number of futures concurrently, in one task, and returns their
// outputs in the order in which the futures become ready:
//
//   rouse::Co<> Crawl(std::vector<Url> urls) {
//     rouse::FuturesUnordered<rouse::Co<Page>> fetches;
//     for (Url& url : urls) fetches.Push(Fetch(std::move(url)));
//     while (std::optional<Page> page = co_await rouse::Next(fetches)) {
//       for (Url& link : LinksOf(*page)) fetches.Push(Fetch(std::move(link)));
//     }
//   }
//
// The futures share the task and its thread. To run futures in parallel, spawn
// tasks into a `JoinSet`. To limit how many futures run at once, use
// `BufferUnordered()`.

#ifndef ROUSE_FUTURE_MANY_FUTURES_UNORDERED_H_
#define ROUSE_FUTURE_MANY_FUTURES_UNORDERED_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_set.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// FuturesUnordered
//
// A stream of the outputs of futures of type `F`. A wake of the task polls only
// the futures that were woken, so that many futures cost no more than few. Each
// item takes a unit of the budget (context.h).
//
// Not thread-safe: one task at a time uses the set. The set can be moved while
// no task waits for it. Destroying the set destroys its futures.
//
// An exception from a future propagates out of the poll. The future is
// destroyed, and the others stay in the set.
template <Future F>
class FuturesUnordered {
 public:
  // The output of a future: a `std::reference_wrapper` in place of a reference,
  // and `std::monostate` in place of void.
  using Item = internal::ChildItem<FutureOutput<F>>;

  FuturesUnordered() = default;
  FuturesUnordered(FuturesUnordered&&) = default;
  FuturesUnordered& operator=(FuturesUnordered&&) = default;

  // Adds `future`, which is first polled by the next poll of the set. Wakes the
  // task that waits for the set, if any. A future of the set may add others
  // while it is polled or destroyed. Allocates once. O(1).
  void Push(F future) { children_.Add(std::move(future), 0); }

  // Polls the futures that were woken, each once, until one is ready, and
  // returns its output. Returns `std::nullopt` if the set is empty. The stream
  // continues if the set is given new futures after the stream has ended.
  PollResult<std::optional<Item>> PollNext(Context& cx) {
    std::optional<Item> item;
    const PollResult<bool> found = children_.Poll(
        cx, [&item](size_t, PollResult<FutureOutput<F>>&& output) {
          if (output.IsPending()) return false;  // the future has thrown
          item.emplace(internal::ToChildItem(std::move(output)));
          return true;
        });
    if (found.IsPending()) return kPending;
    if (*found) TakeUnitIfAny(cx);
    return item;
  }

  // Destroys all futures, even those that their destructors add, and leaves the
  // set empty. Wakes the task that waits for the set, if any; exceptions from
  // its waker are dropped. Must not be called by a future of the set.
  void Clear() { children_.ClearAndWake(); }

  // Returns the number of futures that are not ready yet.
  size_t size() const { return children_.size(); }
  bool empty() const { return size() == 0; }

  bool BorrowsClosure() const { return children_.BorrowsClosure(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "FuturesUnordered");
    children_.Trace(branches);
  }

 private:
  internal::ChildSet<F> children_;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_MANY_FUTURES_UNORDERED_H_
