// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: as_sender.h
// -----------------------------------------------------------------------------
//
// Makes a sender, for `std::execution` or a library like it, of a future of
// Rouse:
//
//   auto fetch = rouse::interop::AsSender<Stdexec>(runtime.handle(), Fetch());
//   auto [page] = stdexec::sync_wait(std::move(fetch) | ...).value();
//
// `Stdexec` says which library: see library.h.

#ifndef ROUSE_INTEROP_EXECUTION_AS_SENDER_H_
#define ROUSE_INTEROP_EXECUTION_AS_SENDER_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/interop/awaited.h"
#include "rouse/interop/execution/library.h"
#include "rouse/interop/put_output.h"
#include "rouse/runtime/handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/sync/cancellation_token.h"

namespace rouse::interop {

namespace internal {

// The ways in which a future with the output `T` completes a receiver.
template <class L, class T>
struct SignaturesOf {
  using type = typename L::template completion_signatures<
      typename L::set_value_t(T), typename L::set_error_t(std::exception_ptr),
      typename L::set_stopped_t()>;
};
template <class L>
struct SignaturesOf<L, void> {
  using type = typename L::template completion_signatures<
      typename L::set_value_t(), typename L::set_error_t(std::exception_ptr),
      typename L::set_stopped_t()>;
};
template <class L, class T>
struct SignaturesOf<L, absl::StatusOr<T>> {
  using type = typename L::template completion_signatures<
      typename L::set_value_t(T), typename L::set_error_t(absl::Status),
      typename L::set_error_t(std::exception_ptr), typename L::set_stopped_t()>;
};
template <class L>
struct SignaturesOf<L, absl::Status> {
  using type = typename L::template completion_signatures<
      typename L::set_value_t(), typename L::set_error_t(absl::Status),
      typename L::set_error_t(std::exception_ptr), typename L::set_stopped_t()>;
};

template <class T>
inline constexpr bool kIsStatusOr = false;
template <class T>
inline constexpr bool kIsStatusOr<absl::StatusOr<T>> = true;

// Completes `receiver` with `output`. `receiver` may be destroyed by the call.
template <class L, class T, class R>
void CompleteWith(R&& receiver, AwaitedValue<T>&& output) noexcept {
  const typename L::set_value_t set_value;
  const typename L::set_error_t set_error;
  if constexpr (std::is_void_v<T>) {
    set_value(std::forward<R>(receiver));
  } else if constexpr (std::is_reference_v<T>) {
    set_value(std::forward<R>(receiver), static_cast<T>(*output));
  } else if constexpr (std::is_same_v<T, absl::Status>) {
    if (output.ok()) return set_value(std::forward<R>(receiver));
    set_error(std::forward<R>(receiver), std::move(output));
  } else if constexpr (kIsStatusOr<T>) {
    if (output.ok()) {
      return set_value(std::forward<R>(receiver), *std::move(output));
    }
    set_error(std::forward<R>(receiver), std::move(output).status());
  } else {
    set_value(std::forward<R>(receiver), std::move(output));
  }
}

// Completes an operation when its task ends, for any reason: once the operation
// has been started, only this object refers to it.
template <class Operation>
class FinishAtEnd {
 public:
  using Result = typename Operation::Result;

  explicit FinishAtEnd(Operation* operation) : operation_(operation) {}
  FinishAtEnd(FinishAtEnd&& other) noexcept
      : operation_(std::exchange(other.operation_, nullptr)) {}
  FinishAtEnd& operator=(FinishAtEnd&&) = delete;
  // The runtime was shut down, or lacks memory for the task.
  ~FinishAtEnd() {
    if (operation_ != nullptr) operation_->Finish(std::nullopt);
  }

  void Finish(std::optional<Result> result) && {
    std::exchange(operation_, nullptr)->Finish(std::move(result));
  }

 private:
  Operation* operation_;
};

// What a task owns before its first poll. If the task ends before, the future
// is destroyed before the receiver is completed. The members give this order;
// that of a function's parameters depends on the compiler.
template <class Operation, class F>
struct Job {
  Job(FinishAtEnd<Operation> end, F f)
      : at_end(std::move(end)), future(std::move(f)) {}

  FinishAtEnd<Operation> at_end;
  F future;
};

// Runs `job.future` until it is ready, or until `stopped` is cancelled.
template <class Operation, class F>
Co<> RunOperation(Job<Operation, F> job, CancellationToken stopped) {
  std::optional<typename Operation::Result> result;
  {
    // Destroyed before the receiver is completed, because the future may refer
    // to objects that the receiver's side destroys.
    Co<> put = PutOutput<F>(result, std::move(job.future));
    auto run = stopped.RunUntilCancelled(std::move(put));
    co_await std::move(run);
  }
  std::move(job.at_end).Finish(std::move(result));
}

// The operation state of an `AsSender()`.
template <class L, class F, class R>
class FutureOperation {
  using Output = FutureOutput<F>;

 public:
  using operation_state_concept = typename L::operation_state_concept;
  using Result = Awaited<Output>;

  FutureOperation(Handle runtime, F future, R receiver,
                  std::source_location where)
      : runtime_(std::move(runtime)),
        future_(std::move(future)),
        receiver_(std::move(receiver)),
        where_(where) {}
  FutureOperation(FutureOperation&&) = delete;
  FutureOperation& operator=(FutureOperation&&) = delete;

  void start() & noexcept {
    // From the spawn on, the operation may be completed, and then destroyed.
    const Handle runtime = std::move(runtime_);
    const std::source_location where = where_;
    FinishAtEnd<FutureOperation> at_end(this);
    ROUSE_TRY {
      const CancellationToken stopped;
      on_stop_.emplace(
          typename L::get_stop_token_t()(typename L::get_env_t()(receiver_)),
          OnStop(stopped));
      runtime
          .Spawn(RunOperation(Job<FutureOperation, F>(std::move(at_end),
                                                      std::move(future_)),
                              stopped),
                 SpawnOptions(), where)
          .Detach();
    }
    // `at_end`, here or in the task, has completed the operation.
    ROUSE_CATCH_ALL {}
  }

 private:
  friend class FinishAtEnd<FutureOperation>;

  class OnStop {
   public:
    explicit OnStop(CancellationToken stopped) : stopped_(std::move(stopped)) {}
    void operator()() const noexcept { stopped_.Cancel(); }

   private:
    CancellationToken stopped_;
  };
  using StopToken = std::decay_t<decltype(typename L::get_stop_token_t()(
      typename L::get_env_t()(std::declval<const R&>())))>;

  // Completes the receiver. Called once, and the last access to this object.
  void Finish(std::optional<Result> result) noexcept {
    // Waits for a callback that is running on another thread.
    on_stop_.reset();
    if (!result.has_value()) {
      typename L::set_stopped_t()(std::move(receiver_));
    } else if (result->index() == 1) {
      typename L::set_error_t()(std::move(receiver_),
                                std::get<1>(*std::move(result)));
    } else {
      CompleteWith<L, Output>(std::move(receiver_),
                              std::get<0>(*std::move(result)));
    }
  }

  Handle runtime_;
  F future_;
  R receiver_;
  std::source_location where_;
  std::optional<typename L::template stop_callback_for_t<StopToken, OnStop>>
      on_stop_;
};

}  // namespace internal

// FutureSender
//
// See `AsSender()`. Can be connected more than once if the future can be
// copied.
template <ExecutionLibrary L, Future F>
class [[nodiscard]] FutureSender {
 public:
  using sender_concept = typename L::sender_concept;
  using completion_signatures =
      typename internal::SignaturesOf<L, FutureOutput<F>>::type;

  FutureSender(Handle runtime, F future, std::source_location where)
      : runtime_(std::move(runtime)),
        future_(std::move(future)),
        where_(where) {}

  // The form of C++26. Earlier forms use the type of this name's result.
  template <class Self, class... Env>
  static consteval completion_signatures get_completion_signatures() {
    return {};
  }

  // Returns the operation state for `receiver`.
  template <class R>
  internal::FutureOperation<L, F, std::decay_t<R>> connect(R&& receiver) && {
    return {std::move(runtime_), std::move(future_), std::forward<R>(receiver),
            where_};
  }
  // Returns an operation state for `receiver` and a copy of the future.
  template <class R>
  internal::FutureOperation<L, F, std::decay_t<R>> connect(R&& receiver) const&
    requires std::copy_constructible<F>
  {
    return {runtime_, future_, std::forward<R>(receiver), where_};
  }

 private:
  Handle runtime_;
  F future_;
  std::source_location where_;
};

// AsSender()
//
// Returns a sender for the library `L`. When the sender is connected and
// started, the future runs as a task of `runtime`, and completes the receiver
// on the thread that ends the task:
//
//   set_value(T)            the output of the future; without an argument if
//                           the output is void
//   set_error(absl::Status) the error, if the output is an `absl::Status` or an
//                           `absl::StatusOr<T>`, whose value goes to set_value
//   set_error(std::exception_ptr)
//                           an exception that escapes the future
//   set_stopped()           a stop was requested, or the runtime was shut down,
//                           or memory for the task was lacking
//
// The receiver must not block there. A receiver that continues elsewhere uses
// its library's means, such as `continues_on()`.
//
// Cancellation: a stop requested by the token of the receiver's environment
// destroys the future, unless it is ready by then. As for any sender, the
// operation state must exist until the receiver has been completed, which also
// happens after a stop.
//
// Costs four allocations at the start: the task, two coroutines, and a
// `CancellationToken`.
template <ExecutionLibrary L, Future F>
FutureSender<L, std::decay_t<F>> AsSender(
    Handle runtime, F&& future,
    std::source_location where = std::source_location::current()) {
  return FutureSender<L, std::decay_t<F>>(std::move(runtime),
                                          std::forward<F>(future), where);
}

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_EXECUTION_AS_SENDER_H_
