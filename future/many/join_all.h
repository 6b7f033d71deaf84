// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: join_all.h
// -----------------------------------------------------------------------------
//
// Runs any number of futures of one type concurrently, in one task, until all
// are ready:
//
//   std::vector<rouse::Co<Page>> fetches = ...;
//   std::vector<Page> pages = co_await rouse::JoinAll(std::move(fetches));

#ifndef ROUSE_FUTURE_MANY_JOIN_ALL_H_
#define ROUSE_FUTURE_MANY_JOIN_ALL_H_

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_set.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// JoinAllFuture
//
// See `JoinAll()`.
template <class F>
class [[nodiscard]] JoinAllFuture {
  using T = FutureOutput<F>;
  using Item = internal::ChildItem<T>;

 public:
  // Void if the futures have no outputs.
  using Output = std::conditional_t<std::is_void_v<T>, void, std::vector<Item>>;

  explicit JoinAllFuture(std::vector<F> futures) : items_(futures.size()) {
    for (size_t i = 0; i < futures.size(); ++i) {
      children_.Add(std::move(futures[i]), i);
    }
  }

  PollResult<Output> Poll(Context& cx) {
    if (stage_ == Stage::kFinished) {
      Panic("JoinAll was polled after it completed; keep the result");
    }
    if (stage_ == Stage::kThrew) {
      Panic(
          "JoinAll was polled after one of its futures threw an exception; "
          "create a new JoinAll");
    }
    const PollResult<bool> ended =
        children_.Poll(cx, [this](size_t key, PollResult<T>&& output) {
          Take(key, std::move(output));
          return false;
        });
    if (ended.IsPending()) return kPending;
    stage_ = Stage::kFinished;
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      Output outputs;
      outputs.reserve(items_.size());
      for (std::optional<Item>& item : items_) {
        outputs.push_back(*std::move(item));
      }
      items_.clear();
      return outputs;
    }
  }

  bool BorrowsClosure() const { return children_.BorrowsClosure(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "JoinAll");
    children_.Trace(branches);
  }

 private:
  enum class Stage : unsigned char { kRuns, kThrew, kFinished };

  void Take(size_t key, PollResult<T>&& output) {
    // Stays so if moving the output throws.
    stage_ = Stage::kThrew;
    if (output.IsPending()) return;
    if constexpr (!std::is_void_v<T>) {
      items_[key].emplace(internal::ToChildItem(std::move(output)));
    }
    stage_ = Stage::kRuns;
  }

  internal::ChildSet<F> children_;
  // The outputs so far. For futures without outputs, only takes up space.
  std::vector<std::optional<Item>> items_;
  Stage stage_ = Stage::kRuns;
};

// JoinAll()
//
// Like `Join()`, but for any number of futures of one type. The output is a
// `std::vector` of the outputs in order: of `std::reference_wrapper` for
// references, and no output for void. A future is destroyed as soon as it is
// ready. Destroying the result cancels the other futures.
//
// A wake of the task polls only the futures that were woken. Allocates for each
// future, and once for the outputs.
template <Future F>
JoinAllFuture<F> JoinAll(std::vector<F> futures) {
  return JoinAllFuture<F>(std::move(futures));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_MANY_JOIN_ALL_H_
