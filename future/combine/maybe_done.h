// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: maybe_done.h
// -----------------------------------------------------------------------------
//
// Holds a future, and the output once the future is ready. Internal to this
// folder.

#ifndef ROUSE_FUTURE_COMBINE_MAYBE_DONE_H_
#define ROUSE_FUTURE_COMBINE_MAYBE_DONE_H_

#include <utility>
#include <variant>

#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/co/borrowed_closure.h"
#include "rouse/future/co/output_slot.h"
#include "rouse/future/future.h"
#include "rouse/future/owned_or_ref.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// MaybeDone
//
// Holds a child of a `Join`. `F` is as deduced for the argument `F&&`.
template <class F>
class MaybeDone {
 public:
  using Output = FutureOutput<F>;

  explicit MaybeDone(F&& future)
      : state_(std::in_place_index<0>, std::forward<F>(future)) {}

  // Polls the future unless it has finished. Returns whether the output is
  // available. A future that was moved in has then been destroyed.
  bool Poll(Context& cx) {
    OwnedOrRef<F>* future = std::get_if<0>(&state_);
    if (future == nullptr) {
      if (!output().IsFull()) {
        Panic(
            "Join was polled after one of its futures threw an exception; "
            "create a new Join");
      }
      return true;
    }
    PollResult<Output> result = future->get().Poll(cx);
    if (result.IsPending()) return false;
    state_.template emplace<1>().FillBy(
        [&result] { return std::move(result); });
    return true;
  }

  // Adds a branch for the future, unless the future is done.
  void Trace(AwaitTrace::Branches& branches) const {
    if (const OwnedOrRef<F>* future = std::get_if<0>(&state_)) {
      branches.Add(future->get());
    }
  }

  bool BorrowsClosure() const {
    const OwnedOrRef<F>* future = std::get_if<0>(&state_);
    return future != nullptr && internal::BorrowsClosure(future->get());
  }

  // REQUIRES: `Poll()` has returned true.
  OutputSlot<Output>& output() { return *std::get_if<1>(&state_); }

 private:
  std::variant<OwnedOrRef<F>, OutputSlot<Output>> state_;
};

}  // namespace rouse::internal

#endif  // ROUSE_FUTURE_COMBINE_MAYBE_DONE_H_
