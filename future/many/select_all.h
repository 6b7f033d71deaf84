// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: select_all.h
// -----------------------------------------------------------------------------
//
// Runs any number of futures of one type concurrently, in one task, until one
// is ready:
//
//   std::vector<rouse::Co<Reply>> asked = ...;
//   auto [index, reply] = co_await rouse::SelectAll(std::move(asked));
//
// To keep the other futures, use `FuturesUnordered`.

#ifndef ROUSE_FUTURE_MANY_SELECT_ALL_H_
#define ROUSE_FUTURE_MANY_SELECT_ALL_H_

#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_set.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// SelectedOf
//
// The output of `SelectAll()`.
template <class Item>
struct SelectedOf {
  size_t index;  // of the future that was ready first
  // The future's output: a `std::reference_wrapper` in place of a reference,
  // and `std::monostate` in place of void.
  Item output;
};

// SelectAllFuture
//
// See `SelectAll()`.
template <class F>
class [[nodiscard]] SelectAllFuture {
  using T = FutureOutput<F>;

 public:
  using Output = SelectedOf<internal::ChildItem<T>>;

  explicit SelectAllFuture(std::vector<F> futures) {
    if (futures.empty()) {
      Panic(
          "SelectAll: there are no futures, and none would ever be ready; "
          "check whether the vector is empty");
    }
    for (size_t i = 0; i < futures.size(); ++i) {
      children_.Add(std::move(futures[i]), i);
    }
  }

  PollResult<Output> Poll(Context& cx) {
    std::optional<Output> selected;
    const PollResult<bool> found =
        children_.Poll(cx, [&selected](size_t key, PollResult<T>&& output) {
          if (output.IsPending()) return false;  // the future has thrown
          selected.emplace(key, internal::ToChildItem(std::move(output)));
          return true;
        });
    if (found.IsPending()) return kPending;
    if (!*found) {
      Panic("SelectAll was polled after it completed; keep the result");
    }
    // Cancels the other futures.
    children_.Clear();
    return *std::move(selected);
  }

  bool BorrowsClosure() const { return children_.BorrowsClosure(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "SelectAll");
    children_.Trace(branches);
  }

 private:
  internal::ChildSet<F> children_;
};

// SelectAll()
//
// Returns a future of the first output of `futures`, and of the index of the
// future that gave it. The other futures are cancelled by then. Panics if
// `futures` is empty.
//
// If several futures are ready, the one that was woken first wins. An exception
// from a future propagates out of the poll.
template <Future F>
SelectAllFuture<F> SelectAll(std::vector<F> futures) {
  return SelectAllFuture<F>(std::move(futures));
}

// SelectOkFuture
//
// See `SelectOk()`.
template <class F>
class [[nodiscard]] SelectOkFuture {
  using T = FutureOutput<F>;

 public:
  explicit SelectOkFuture(std::vector<F> futures) {
    if (futures.empty()) {
      Panic(
          "SelectOk: there are no futures, and none would ever succeed; check "
          "whether the vector is empty");
    }
    for (size_t i = 0; i < futures.size(); ++i) {
      children_.Add(std::move(futures[i]), i);
    }
  }

  PollResult<T> Poll(Context& cx) {
    if (children_.size() == 0) {
      Panic("SelectOk was polled after it completed; keep the result");
    }
    std::optional<T> outcome;
    const PollResult<bool> has_succeeded =
        children_.Poll(cx, [&outcome](size_t, PollResult<T>&& output) {
          if (output.IsPending()) return false;  // the future has thrown
          outcome.emplace(*std::move(output));
          return outcome->ok();
        });
    if (has_succeeded.IsPending()) return kPending;
    // Cancels the other futures.
    children_.Clear();
    return *std::move(outcome);
  }

  bool BorrowsClosure() const { return children_.BorrowsClosure(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "SelectOk");
    children_.Trace(branches);
  }

 private:
  internal::ChildSet<F> children_;
};

// SelectOk()
//
// Like `SelectAll()`, but for futures of `absl::Status` or `absl::StatusOr`,
// and without an index: the output is the first success, or the last error if
// all futures fail.
template <Future F>
  requires requires(FutureOutput<F> outcome) {
    { outcome.ok() } -> std::same_as<bool>;
  }
SelectOkFuture<F> SelectOk(std::vector<F> futures) {
  return SelectOkFuture<F>(std::move(futures));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_MANY_SELECT_ALL_H_
