// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: try_join_all.h
// -----------------------------------------------------------------------------
//
// Runs any number of futures of one type concurrently, in one task, until all
// have succeeded or one has failed:
//
//   std::vector<rouse::Co<absl::StatusOr<Page>>> fetches = ...;
//   absl::StatusOr<std::vector<Page>> pages =
//       co_await rouse::TryJoinAll(std::move(fetches));

#ifndef ROUSE_FUTURE_MANY_TRY_JOIN_ALL_H_
#define ROUSE_FUTURE_MANY_TRY_JOIN_ALL_H_

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/future.h"
#include "rouse/future/many/child_set.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Describes the outputs of successful futures of type `T`.
template <class T>
struct TryJoinAllTraits {
  static_assert(sizeof(T) == 0,
                "TryJoinAll takes futures whose output is absl::Status or "
                "absl::StatusOr");
};
template <>
struct TryJoinAllTraits<absl::Status> {
  using Output = absl::Status;
  struct Value {};
  static absl::Status Status(const absl::Status& outcome) { return outcome; }
  static Value Take(absl::Status&&) { return {}; }
  static Output All(std::vector<std::optional<Value>>&&) {
    return absl::OkStatus();
  }
};
template <class T>
struct TryJoinAllTraits<absl::StatusOr<T>> {
  using Output = absl::StatusOr<std::vector<T>>;
  using Value = T;
  static absl::Status Status(const absl::StatusOr<T>& outcome) {
    return outcome.status();
  }
  static T&& Take(absl::StatusOr<T>&& outcome) { return *std::move(outcome); }
  static Output All(std::vector<std::optional<T>>&& values) {
    std::vector<T> all;
    all.reserve(values.size());
    for (std::optional<T>& value : values) all.push_back(*std::move(value));
    return all;
  }
};

}  // namespace internal

// TryJoinAllFuture
//
// See `TryJoinAll()`.
template <class F>
class [[nodiscard]] TryJoinAllFuture {
  using T = FutureOutput<F>;
  using Traits = internal::TryJoinAllTraits<T>;

 public:
  using Output = typename Traits::Output;

  explicit TryJoinAllFuture(std::vector<F> futures) : values_(futures.size()) {
    for (size_t i = 0; i < futures.size(); ++i) {
      children_.Add(std::move(futures[i]), i);
    }
  }

  PollResult<Output> Poll(Context& cx) {
    if (stage_ == Stage::kFinished) {
      Panic("TryJoinAll was polled after it completed; keep the result");
    }
    if (stage_ == Stage::kThrew) {
      Panic(
          "TryJoinAll was polled after one of its futures threw an exception; "
          "create a new TryJoinAll");
    }
    absl::Status error;
    const PollResult<bool> has_failed =
        children_.Poll(cx, [this, &error](size_t key, PollResult<T>&& output) {
          // Stays so if moving the value throws.
          stage_ = Stage::kThrew;
          if (output.IsPending()) return false;
          error = Traits::Status(*output);
          if (error.ok()) {
            values_[key].emplace(Traits::Take(*std::move(output)));
          }
          stage_ = Stage::kRuns;
          return !error.ok();
        });
    if (has_failed.IsPending()) return kPending;
    stage_ = Stage::kFinished;
    if (!*has_failed) return Traits::All(std::move(values_));
    children_.Clear();
    return Output(std::move(error));
  }

  bool BorrowsClosure() const { return children_.BorrowsClosure(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "TryJoinAll");
    children_.Trace(branches);
  }

 private:
  enum class Stage : unsigned char { kRuns, kThrew, kFinished };

  internal::ChildSet<F> children_;
  std::vector<std::optional<typename Traits::Value>> values_;
  Stage stage_ = Stage::kRuns;
};

// TryJoinAll()
//
// Like `JoinAll()`, but for futures of `absl::Status` or `absl::StatusOr<T>`.
// If a future fails, the output is its error at once, and the other futures
// have been cancelled by then. Otherwise the output is `absl::OkStatus()`, or
// an `absl::StatusOr` of a `std::vector<T>` of the values in order.
template <Future F>
TryJoinAllFuture<F> TryJoinAll(std::vector<F> futures) {
  return TryJoinAllFuture<F>(std::move(futures));
}

}  // namespace rouse

#endif  // ROUSE_FUTURE_MANY_TRY_JOIN_ALL_H_
