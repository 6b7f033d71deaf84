// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: once_cell.h
// -----------------------------------------------------------------------------
//
// A `OnceCell<T>` is made by whoever is the first to need it, by a future:
//
//   rouse::OnceCell<Connection> database;
//
//   rouse::Co<absl::StatusOr<Row>> Find(int id) {
//     const auto connect = [] { return Connection::Open(kAddress); };
//     const Connection* connection =
//         co_await rouse::OrReturn(database.GetOrTryInit(connect));
//     co_return co_await connection->Find(id);
//   }
//
// Of several that come at once one runs its future, and the others wait for it.
// If it fails, or is cancelled, the next one runs its own.

#ifndef ROUSE_SYNC_ONCE_ONCE_CELL_H_
#define ROUSE_SYNC_ONCE_ONCE_CELL_H_

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/atomic.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/lock/brief_lock.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/future.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace internal {

// Whether there is a value, and whose turn it is to make one: nobody's, that
// of one that has it, or, at the same moment as it is given up, that of the one
// that has waited longest.
class OnceCellCore {
 public:
  class Waiter : public WaitNode {
   private:
    friend class OnceCellCore;
    bool has_turn_ = false;  // under the lock
  };

  enum class Answer : uint8_t { kIsSet, kHasTurn, kWaits };

  OnceCellCore() = default;
  OnceCellCore(const OnceCellCore&) = delete;
  OnceCellCore& operator=(const OnceCellCore&) = delete;

  bool IsSet() const {
    // Acquire pairs with the release of End: the value is visible.
    return set_.load(std::memory_order_acquire);
  }

  // Whether somebody has the turn.
  bool IsTaken();

  // The turn for one that does not wait, if nobody has it.
  absl::Status Begin();
  // For one that waits if it must.
  Answer Join(Waiter& waiter, Waker& waker);
  // Stops its waiting. A turn that it was given, and does not know of, is
  // passed on.
  void Leave(Waiter& waiter);

  // Ends the turn, with a value or without.
  void End();
  void PassOn();

  // Nobody uses the cell.
  void SetAlone(bool set) {
    // Relaxed: there is nobody to see it.
    set_.store(set, std::memory_order_relaxed);
  }

  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicMoved();
  [[noreturn]] ABSL_ATTRIBUTE_COLD static void PanicFinished();

 private:
  Atomic<bool> set_{false};
  BriefLock mu_;
  bool is_taken_ ABSL_GUARDED_BY(mu_) = false;  // the turn
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace internal

template <class T, class F>
class GetOrInitFuture;
template <class T, class F>
class GetOrTryInitFuture;

// OnceCell
//
// Thread-safe but for `TakeOut()`. Nothing allocates but what makes the value.
// The value stays where it is.
//
// The cell must outlive its futures, and the calls of `Set()`. That there is a
// value, as `Get()` or a future shows, does not mean that whoever has made it
// uses the cell no more.
template <class T>
class OnceCell {
 public:
  OnceCell() {}
  // With a value.
  explicit OnceCell(T value) {
    std::construct_at(&value_, std::move(value));
    core_.SetAlone(true);
  }
  OnceCell(const OnceCell&) = delete;
  OnceCell& operator=(const OnceCell&) = delete;
  ~OnceCell() {
    if (core_.IsSet()) std::destroy_at(&value_);
  }

  // The value, or null. One load.
  const T* Get() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return core_.IsSet() ? &value_ : nullptr;
  }

  // A future of the value, a `const T&`. If there is none it is the output of
  // the future that `init()` returns, a `T` or what makes one. `init` is called
  // by a poll, once at the most, and lives as long as that future; both are
  // destroyed with this one.
  //
  // One at a time runs its `init`; the others wait, in the order in which they
  // were first polled. Destroying the one that runs, or an exception that comes
  // out of it, gives the turn to the next. So do not keep one that is polled no
  // more: the others wait for it. An `init` that waits for the same cell waits
  // for ever.
  template <class F>
  [[nodiscard]] auto GetOrInit(F&& init) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return GetOrInitFuture<T, std::decay_t<F>>(*this, std::forward<F>(init));
  }

  // The same where making the value may fail: the future that `init()` returns
  // is one of `absl::StatusOr<T>`, and this one of `absl::StatusOr<const T*>`.
  // An error is that of the one whose `init` it was; the next one runs its own.
  template <class F>
  [[nodiscard]] auto GetOrTryInit(F&& init) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return GetOrTryInitFuture<T, std::decay_t<F>>(*this, std::forward<F>(init));
  }

  // Makes the value of `value`, and wakes all that wait.
  //
  // kAlreadyExists: there is one. kUnavailable: one is being made, which may
  // fail. `value` is untouched then.
  template <class U = T>
    requires std::constructible_from<T, U&&>
  absl::Status Set(U&& value) {
    if (absl::Status status = core_.Begin(); !status.ok()) return status;
    ROUSE_TRY { std::construct_at(&value_, std::forward<U>(value)); }
    ROUSE_CATCH_ALL {
      core_.PassOn();
      ROUSE_RETHROW;
    }
    core_.End();
    return absl::OkStatus();
  }

  // The value, or nothing. The cell has none afterwards. Not thread-safe: there
  // are no futures of the cell, and nobody uses its value.
  std::optional<T> TakeOut() {
    if (!core_.IsSet()) return std::nullopt;
    std::optional<T> value(std::move(value_));
    core_.SetAlone(false);
    std::destroy_at(&value_);
    return value;
  }

 private:
  template <class, class>
  friend class GetOrInitFuture;
  template <class, class>
  friend class GetOrTryInitFuture;

  internal::OnceCellCore core_;
  // In a union, so that there need be none.
  union {
    T value_;
  };
};

namespace internal {

// OnceCellTurn
//
// What both futures of a cell have in common: they wait for the value, or for
// the turn, and run `F` when they have it.
template <class F>
class OnceCellTurn {
 public:
  using Inner = std::decay_t<std::invoke_result_t<F&>>;
  static_assert(Future<Inner>, "a OnceCell is made by what returns a future");

  template <class Init>
  OnceCellTurn(OnceCellCore& core, Init&& init)
      : core_(core), init_(std::forward<Init>(init)) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  OnceCellTurn(OnceCellTurn&& other)
      : core_(Movable(other).core_), init_(std::move(other.init_)) {
    other.stage_ = Stage::kFinished;
  }
  OnceCellTurn& operator=(OnceCellTurn&&) = delete;
  ~OnceCellTurn() {
    if (stage_ == Stage::kWaits) core_.Leave(waiter_);
    if (stage_ != Stage::kRuns) return;
    inner_.reset();
    core_.PassOn();
  }

  // Pending, or ready: then there is a value. `keep` is called with the output
  // of the future that `F` gave; whether it has made a value of it.
  template <class Keep>
  PollResult<void> Poll(Context& cx, Keep keep) {
    if (stage_ == Stage::kFinished) OnceCellCore::PanicFinished();
    // One that is to wait has its place from now on, budget or not. As a rule:
    // the turn may be given up before it joins, and then it runs.
    if (!cx.HasBudget() && (stage_ != Stage::kNew || !core_.IsTaken())) {
      return YieldForBudget(cx);
    }
    if (stage_ == Stage::kNew && core_.IsSet()) {
      stage_ = Stage::kFinished;
    } else if (stage_ != Stage::kRuns) {
      Waker waker = waiter_.CloneIfNew(cx.waker());
      switch (core_.Join(waiter_, waker)) {
        case OnceCellCore::Answer::kIsSet:
          stage_ = Stage::kFinished;
          break;
        case OnceCellCore::Answer::kHasTurn:
          stage_ = Stage::kRuns;
          break;
        case OnceCellCore::Answer::kWaits:
          stage_ = Stage::kWaits;
          return kPending;
      }
    }
    if (stage_ == Stage::kRuns && !Run(cx, keep)) return kPending;
    TakeUnitIfAny(cx);
    return {};
  }

  void Trace(AwaitTrace& trace, std::string_view name) const {
    if (!inner_.has_value()) return trace.AddLeaf(name);
    AwaitTrace::Branches branches(trace, name);
    branches.Add(*inner_);
  }

 private:
  enum class Stage : uint8_t { kNew, kWaits, kRuns, kFinished };

  // For the first that a move makes: a panic leaves all where it was.
  static OnceCellTurn& Movable(OnceCellTurn& turn) {
    if (turn.stage_ != Stage::kNew) OnceCellCore::PanicMoved();
    return turn;
  }

  // Converts to what `init` returns, so that `emplace` elides the move.
  struct Make {
    // NOLINTNEXTLINE(google-explicit-constructor)
    ROUSE_CORO_WRAPPER operator Inner() const { return std::invoke(init); }
    F& init;
  };

  // Whether it has ended, and the turn with it.
  template <class Keep>
  bool Run(Context& cx, Keep& keep) {
    bool has_value = false;
    ROUSE_TRY {
      // Made in place: a future need not be movable.
      if (!inner_.has_value()) inner_.emplace(Make{init_});
      PollResult<FutureOutput<Inner>> result = inner_->Poll(cx);
      if (result.IsPending()) return false;
      has_value = keep(std::move(result).value());
    }
    ROUSE_CATCH_ALL {
      Finish(/*has_value=*/false);
      ROUSE_RETHROW;
    }
    Finish(has_value);
    return true;
  }

  void Finish(bool has_value) {
    stage_ = Stage::kFinished;
    // What made the value goes before others see it, or make their own.
    inner_.reset();
    has_value ? core_.End() : core_.PassOn();
  }

  OnceCellCore& core_;
  F init_;
  std::optional<Inner> inner_;  // goes before `init_`, which it may refer to
  Stage stage_ = Stage::kNew;
  OnceCellCore::Waiter waiter_;
};

}  // namespace internal

// GetOrInitFuture
//
// See `OnceCell::GetOrInit()`. Moved only before it is polled.
template <class T, class F>
class [[nodiscard]] GetOrInitFuture {
 public:
  PollResult<const T&> Poll(Context& cx) {
    const auto keep = [this]<class Output>(Output&& output) {
      std::construct_at(&cell_.value_, std::forward<Output>(output));
      return true;
    };
    if (turn_.Poll(cx, keep).IsPending()) return kPending;
    return std::as_const(cell_.value_);
  }

  void Trace(AwaitTrace& trace) const {
    turn_.Trace(trace, "OnceCell::GetOrInit");
  }

 private:
  friend class OnceCell<T>;

  template <class Init>
  GetOrInitFuture(OnceCell<T>& cell, Init&& init)
      : cell_(cell), turn_(cell.core_, std::forward<Init>(init)) {}

  OnceCell<T>& cell_;
  internal::OnceCellTurn<F> turn_;
};

// GetOrTryInitFuture
//
// See `OnceCell::GetOrTryInit()`. Moved only before it is polled.
template <class T, class F>
class [[nodiscard]] GetOrTryInitFuture {
 public:
  PollResult<absl::StatusOr<const T*>> Poll(Context& cx) {
    absl::Status error;
    const auto keep = [this, &error]<class Output>(Output&& output) {
      if (!output.ok()) {
        error = std::forward<Output>(output).status();
        return false;
      }
      std::construct_at(&cell_.value_, *std::forward<Output>(output));
      return true;
    };
    if (turn_.Poll(cx, keep).IsPending()) return kPending;
    if (!error.ok()) return absl::StatusOr<const T*>(std::move(error));
    return absl::StatusOr<const T*>(&cell_.value_);
  }

  void Trace(AwaitTrace& trace) const {
    turn_.Trace(trace, "OnceCell::GetOrTryInit");
  }

 private:
  friend class OnceCell<T>;

  template <class Init>
  GetOrTryInitFuture(OnceCell<T>& cell, Init&& init)
      : cell_(cell), turn_(cell.core_, std::forward<Init>(init)) {}

  OnceCell<T>& cell_;
  internal::OnceCellTurn<F> turn_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_ONCE_ONCE_CELL_H_
