// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: once_cell.h
// -----------------------------------------------------------------------------
//
// A `OnceCell<T>` holds a value made by a future of the first task to need the
// value:
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
// If several tasks need the value at once, one task runs its future and the
// others wait for the result. If that future fails or is cancelled, the next
// task runs its own. The constructors are constant expressions, so a cell can
// be a global variable (`constinit`) without a constructor that runs before
// `main()`.

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
#include "rouse/sync/internal/pending_wait.h"
#include "rouse/sync/internal/wait_node.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace internal {

// The state of a cell: whether the value exists, and who has the turn to make
// the value. The turn belongs to nobody or to one owner. When the owner gives
// up the turn, it passes at the same moment to the waiter that has waited
// longest.
class OnceCellCore {
 public:
  class Waiter : public WaitNode {
   private:
    friend class OnceCellCore;
    bool has_turn_ = false;  // under the core's lock
  };

  enum class Answer : uint8_t { kIsSet, kHasTurn, kWaits };

  OnceCellCore() = default;
  // Starts with a value if `set` is true.
  explicit constexpr OnceCellCore(bool set) : set_(set) {}
  OnceCellCore(const OnceCellCore&) = delete;
  OnceCellCore& operator=(const OnceCellCore&) = delete;

  bool IsSet() const {
    // Acquire pairs with the release of End: the value is visible.
    return set_.load(std::memory_order_acquire);
  }

  // Returns whether somebody has the turn.
  bool IsTaken();

  // Takes the turn if nobody has it; never waits. Returns `kAlreadyExists` if
  // the value exists, and `kUnavailable` if somebody else has the turn.
  absl::Status Begin();
  // Takes the turn, or waits for it if necessary. Returns `kIsSet` if the value
  // exists, `kHasTurn` if the caller now has the turn, and `kWaits` if `waiter`
  // is now in the list.
  Answer Join(Waiter& waiter, Waker& waker);
  // Ends the wait of `waiter`. Passes the turn on if `waiter` had been given
  // the turn and had not noticed yet.
  void Leave(Waiter& waiter);

  // Ends the turn with a value.
  void End();
  // Ends the turn without a value, and passes the turn to the next waiter, if
  // any.
  void PassOn();

  // Sets whether the value exists, while nobody else uses the cell.
  void SetAlone(bool set) {
    // Relaxed: nobody else can see the store.
    set_.store(set, std::memory_order_relaxed);
  }

 private:
  Atomic<bool> set_{false};
  BriefLock mu_;
  bool is_taken_ ABSL_GUARDED_BY(mu_) = false;  // whether somebody has the turn
  IntrusiveList<WaitNode> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace internal

template <class T, class F>
class GetOrInitFuture;
template <class T, class F>
class GetOrTryInitFuture;

// OnceCell
//
// `OnceCell` is thread-safe except for `GetMut()`, `TakeOut()` and
// `IntoInner()`. Nothing allocates except the code that makes the value. The
// value stays in place.
//
// The cell must outlive its futures and all calls of `Set()`. A value seen
// through `Get()` or a future does not imply that the task that made the value
// has stopped using the cell.
template <class T>
class OnceCell {
 public:
  constexpr OnceCell() {}
  // Creates a cell that has the value `value`.
  explicit constexpr OnceCell(T value)
      : core_(/*set=*/true), value_(std::move(value)) {}
  OnceCell(const OnceCell&) = delete;
  OnceCell& operator=(const OnceCell&) = delete;
  ~OnceCell() {
    if (core_.IsSet()) std::destroy_at(&value_);
  }

  // Returns the value, or null if there is no value. Costs one load.
  const T* Get() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return core_.IsSet() ? &value_ : nullptr;
  }

  // Like `Get()`, but the caller may change the value. Not thread-safe: no
  // future of the cell may exist, and nobody else may use the cell.
  T* GetMut() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return core_.IsSet() ? &value_ : nullptr;
  }

  // Returns a future of the value, a `const T&`. If there is no value, it is
  // made from the output of the future that `init()` returns: a `T`, or an
  // argument for a constructor of `T`. A poll calls `init`, at most once.
  // `init` lives at least as long as the future that it returned, and both are
  // destroyed at the latest with the future of this call.
  //
  // Only one future at a time runs its `init`; the others wait in the order of
  // their first polls. If the running future is destroyed or throws an
  // exception, the turn passes to the next future. Therefore do not keep a
  // future without polling it, because the others wait for it. An `init` that
  // waits for its own cell waits forever.
  template <class F>
  [[nodiscard]] auto GetOrInit(F&& init) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return GetOrInitFuture<T, std::decay_t<F>>(*this, std::forward<F>(init));
  }

  // Like `GetOrInit()`, but making the value may fail. The future that `init()`
  // returns has the output `absl::StatusOr<T>`, and the returned future has the
  // output `absl::StatusOr<const T*>`. An error is returned only to the caller
  // whose `init` failed; the next future runs its own `init`.
  template <class F>
  [[nodiscard]] auto GetOrTryInit(F&& init) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return GetOrTryInitFuture<T, std::decay_t<F>>(*this, std::forward<F>(init));
  }

  // Constructs the value from `value`, and wakes all waiters.
  //
  // Returns `kAlreadyExists` if there is a value, and `kUnavailable` if a value
  // is being made, which may still fail. In both cases `value` is untouched.
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

  // Moves the value out and returns it, or returns `std::nullopt` if there is
  // no value. The cell is empty afterwards. Not thread-safe: no future of the
  // cell may exist, and nobody may use the value.
  std::optional<T> TakeOut() {
    if (!core_.IsSet()) return std::nullopt;
    std::optional<T> value(std::move(value_));
    core_.SetAlone(false);
    std::destroy_at(&value_);
    return value;
  }
  // Like `TakeOut()`, for a cell that is no longer needed:
  //
  //   std::optional<T> value = std::move(cell).IntoInner();
  std::optional<T> IntoInner() && { return TakeOut(); }

 private:
  template <class, class>
  friend class GetOrInitFuture;
  template <class, class>
  friend class GetOrTryInitFuture;

  internal::OnceCellCore core_;
  // In a union, because the cell may be empty. An empty one has `no_value_`,
  // because g++ 12 requires that the initializer of a global constant
  // initializes a member.
  union {
    char no_value_ = 0;
    T value_;
  };
};

namespace internal {

// OnceCellTurn
//
// The common part of both futures of a cell. Waits for the value or for the
// turn, and runs `F` when it has the turn.
template <class F>
class OnceCellTurn {
 public:
  using Inner = std::decay_t<std::invoke_result_t<F&>>;
  static_assert(Future<Inner>,
                "the initializer of a OnceCell must return a future");

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

  // Polls for the value. When the result is ready, the value exists, or `keep`
  // has returned false. `keep` is called with the output of the future that `F`
  // returned, and returns whether the output has become the value.
  template <class Keep>
  PollResult<void> Poll(Context& cx, Keep keep) {
    if (stage_ == Stage::kFinished) PanicPolledAfterEnd(kCall);
    // A future that must wait takes its place now, with or without budget. As a
    // rule: if the turn is given up before the future joins, the future runs.
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
  static constexpr char kCall[] = "OnceCell::GetOrInit";

  enum class Stage : uint8_t { kNew, kWaits, kRuns, kFinished };

  // Returns `turn`, or panics if `turn` can no longer be moved. Used for the
  // first member to be moved, so that a panic leaves everything in place.
  static OnceCellTurn& Movable(OnceCellTurn& turn) {
    if (turn.stage_ != Stage::kNew) PanicMovedAfterPoll(kCall);
    return turn;
  }

  // Converts to the result of `init`, so that `emplace` elides the move.
  struct Make {
    // NOLINTNEXTLINE(google-explicit-constructor)
    ROUSE_CORO_WRAPPER operator Inner() const { return std::invoke(init); }
    F& init;
  };

  // Returns whether the future of `F` has ended, and the turn with it.
  template <class Keep>
  bool Run(Context& cx, Keep& keep) {
    bool has_value = false;
    ROUSE_TRY {
      // Constructed in place, because a future need not be movable.
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
    // The future that made the value is destroyed before others see the value
    // or make their own.
    inner_.reset();
    has_value ? core_.End() : core_.PassOn();
  }

  OnceCellCore& core_;
  F init_;
  // Destroyed before `init_`, to which the future may refer.
  std::optional<Inner> inner_;
  Stage stage_ = Stage::kNew;
  OnceCellCore::Waiter waiter_;
};

}  // namespace internal

// GetOrInitFuture
//
// See `OnceCell::GetOrInit()`. Can be moved only before the first poll.
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
// See `OnceCell::GetOrTryInit()`. Can be moved only before the first poll.
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
