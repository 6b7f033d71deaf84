// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: from_sender.h
// -----------------------------------------------------------------------------
//
// Makes a future of a sender of `std::execution`, or of a library like it:
//
//   auto work = stdexec::schedule(pool) | stdexec::then(Compute);
//   absl::StatusOr<int> answer =
//       co_await rouse::interop::FromSender<Stdexec>(std::move(work));
//
// `Stdexec` says which library: see library.h.

#ifndef ROUSE_INTEROP_EXECUTION_FROM_SENDER_H_
#define ROUSE_INTEROP_EXECUTION_FROM_SENDER_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/panic.h"
#include "rouse/interop/awaited.h"
#include "rouse/interop/error_code.h"
#include "rouse/interop/execution/library.h"
#include "rouse/sync/oneshot.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::interop {

namespace internal {

// The environment of a receiver whose operation stops with its future.
template <class L>
class StopEnv {
  using Source = typename L::stop_source;

 public:
  explicit StopEnv(const Source* source) : source_(source) {}

  auto query(typename L::get_stop_token_t) const noexcept {
    return source_->get_token();
  }

 private:
  const Source* source_;
};

// What a single completion signature means.
template <class L, class Signature>
struct Completion;
template <class L, class Tag, class... Args>
struct Completion<L, Tag(Args...)> {
  static constexpr bool kIsValue = std::is_same_v<Tag, typename L::set_value_t>;
  static constexpr bool kIsError = std::is_same_v<Tag, typename L::set_error_t>;
  static constexpr bool kIsStopped =
      std::is_same_v<Tag, typename L::set_stopped_t>;
  static constexpr bool kIsException =
      kIsError &&
      (... && std::is_same_v<std::decay_t<Args>, std::exception_ptr>);
  static constexpr bool kIsStatus =
      kIsError &&
      (... && (std::is_same_v<std::decay_t<Args>, absl::Status> ||
               std::is_same_v<std::decay_t<Args>, std::error_code>));
  using Value = ValueOf<Args...>;
};

// The value of the first set_value() signature; void without such a signature.
template <class L, class... Signatures>
struct FirstValue {
  using type = void;
};
template <class L, class First, class... Rest>
struct FirstValue<L, First, Rest...> {
  using type = typename std::conditional_t<Completion<L, First>::kIsValue,
                                           typename Completion<L, First>::Value,
                                           FirstValue<L, Rest...>>::type;
};

// What the completion signatures of a sender mean together.
template <class L, class Signatures>
struct Completions;
template <class L, template <class...> class List, class... Signatures>
struct Completions<L, List<Signatures...>> {
  static constexpr bool kHasOneValue =
      (size_t{0} + ... + size_t{Completion<L, Signatures>::kIsValue}) <= 1;
  static constexpr bool kHasKnownErrors =
      (... && (!Completion<L, Signatures>::kIsError ||
               Completion<L, Signatures>::kIsException ||
               Completion<L, Signatures>::kIsStatus));
  static constexpr bool kHasStatus =
      (... || (Completion<L, Signatures>::kIsStatus ||
               Completion<L, Signatures>::kIsStopped));
  using Value = typename FirstValue<L, Signatures...>::type;
};

template <class L, class S>
using CompletionsOf =
    Completions<L,
                typename L::template completion_signatures_of_t<S, StopEnv<L>>>;

template <class T, bool kHasStatus>
struct SenderOutputOf {
  using type = T;
};
template <class T>
struct SenderOutputOf<T, true> {
  using type = oneshot::Received<T>;
};

}  // namespace internal

// SenderOutput
//
// The output of `FromSender<L>(sender)` for a sender of the type `S`.
template <ExecutionLibrary L, class S>
using SenderOutput = typename internal::SenderOutputOf<
    typename internal::CompletionsOf<L, S>::Value,
    internal::CompletionsOf<L, S>::kHasStatus>::type;

namespace internal {

// A connected sender, and the way to its future. Owned by the operation until
// the operation completes, and by the future: whichever is last destroys the
// operation state. An operation that completes gives its part up before it
// sends the result. The future of a received result is therefore the last, and
// the operation state is destroyed before the task continues.
template <class L, class S>
class SenderState {
  using Output = SenderOutput<L, S>;

 public:
  using Result = Awaited<Output>;

  SenderState(S&& sender, oneshot::Sender<Result> result)
      : result_(std::move(result)),
        operation_(typename L::connect_t()(std::move(sender), Receiver(this))) {
  }
  SenderState(const SenderState&) = delete;
  SenderState& operator=(const SenderState&) = delete;

  static void Start(const std::shared_ptr<SenderState>& state) {
    state->self_ = state;
    // The operation may complete during the call, on any thread.
    typename L::start_t()(state->operation_);
  }

  void RequestStop() { stop_.request_stop(); }

 private:
  class Receiver {
   public:
    using receiver_concept = typename L::receiver_concept;

    explicit Receiver(SenderState* state) : state_(state) {}

    template <class... Args>
    void set_value(Args&&... args) && noexcept {
      ROUSE_TRY {
        if constexpr (sizeof...(Args) == 0) {
          state_->Complete(ValueResult());
        } else {
          using Value = typename ValueOf<Args...>::type;
          state_->Complete(Result(std::in_place_index<0>,
                                  Value(std::forward<Args>(args)...)));
        }
      }
      // A move of the values has thrown.
      ROUSE_CATCH_ALL { state_->Complete(ExceptionResult()); }
    }

    void set_error(std::exception_ptr error) && noexcept {
      state_->Complete(Result(std::in_place_index<1>, std::move(error)));
    }
    void set_error(absl::Status error) && noexcept {
      if (error.ok()) {
        error = absl::InternalError(
            "FromSender: the sender has sent an OK status as an error");
      }
      state_->Complete(Result(std::in_place_index<0>, std::move(error)));
    }
    void set_error(const std::error_code& error) && noexcept {
      std::move(*this).set_error(ToStatus(error));
    }

    void set_stopped() && noexcept {
      state_->Complete(
          Result(std::in_place_index<0>,
                 absl::CancelledError("FromSender: the sender was stopped")));
    }

    StopEnv<L> get_env() const noexcept { return StopEnv<L>(&state_->stop_); }

   private:
    static Result ValueResult() {
      if constexpr (std::is_void_v<Output>) {
        return Result(std::in_place_index<0>);
      } else {
        return Result(std::in_place_index<0>, absl::OkStatus());
      }
    }
    static Result ExceptionResult() {
      return Result(std::in_place_index<1>, std::current_exception());
    }

    SenderState* state_;
  };

  // An exception of the task's waker ends the program.
  void Complete(Result result) noexcept {
    oneshot::Sender<Result> sender = std::move(*result_);
    // Destroys this object if the future was destroyed.
    self_.reset();
    // False if the future was destroyed: the result is discarded.
    (void)sender.Send(std::move(result));
  }

  std::optional<oneshot::Sender<Result>> result_;
  typename L::stop_source stop_;
  std::shared_ptr<SenderState> self_;  // from the start to the completion
  std::invoke_result_t<typename L::connect_t, S, Receiver> operation_;
};

}  // namespace internal

// SenderFuture
//
// See `FromSender()`. Can be moved until it is first polled.
template <ExecutionLibrary L, class S>
class [[nodiscard]] SenderFuture {
  using Completions = internal::CompletionsOf<L, S>;
  static_assert(Completions::kHasOneValue,
                "FromSender: the sender has several set_value() signatures; "
                "make one of them, for example with into_variant()");
  static_assert(Completions::kHasKnownErrors,
                "FromSender: the sender sends an error that is neither a "
                "std::exception_ptr, an absl::Status nor a std::error_code; "
                "convert it, for example with let_error()");
  using State = internal::SenderState<L, S>;
  using Result = typename State::Result;

 public:
  using Output = SenderOutput<L, S>;

  explicit SenderFuture(S sender) : sender_(std::move(sender)) {}
  SenderFuture(SenderFuture&&) = default;
  SenderFuture& operator=(SenderFuture&&) = delete;
  ~SenderFuture() {
    if (state_ != nullptr) state_->RequestStop();
  }

  PollResult<Output> Poll(Context& cx) {
    if (!result_.has_value()) Start();
    PollResult<absl::StatusOr<Result>> sent = result_->Poll(cx);
    if (sent.IsPending()) return kPending;
    // Destroys the operation state.
    state_ = nullptr;
    if (!sent->ok()) {
      Panic(
          "interop::FromSender: the operation was destroyed without a "
          "completion, and will never be ready");
    }
    return internal::ReadyAwaited<Output>(**std::move(sent));
  }

 private:
  void Start() {
    auto [sender, receiver] = oneshot::Channel<Result>();
    const auto state =
        std::make_shared<State>(*std::move(sender_), std::move(sender));
    sender_.reset();
    result_.emplace(std::move(receiver));
    state_ = state;
    State::Start(state);
  }

  std::optional<S> sender_;  // empty after the first poll
  std::optional<oneshot::Receiver<Result>> result_;
  // Null before the start and after the end.
  std::shared_ptr<State> state_;
};

// FromSender()
//
// Returns a future of what `sender`, a sender of the library `L`, completes
// with. The first poll connects the sender and starts the operation. The
// operation completes on any thread; the task continues on its own runtime.
//
// The output is the value of the sender: void without a value, and a
// `std::tuple` of several values. If the sender can send `set_stopped()`, or an
// error that is an `absl::Status` or a `std::error_code`, the output is
// `absl::Status` in place of void, and `absl::StatusOr<T>` in place of a `T`; a
// `StatusOr` is not nested. A sender with several `set_value()` signatures, or
// with other types of errors, does not compile.
//
// A `std::exception_ptr` from the sender, and an exception from the connect,
// propagate from the poll.
//
// Cancellation: destroying a pending future requests a stop, by the stop token
// of the receiver's environment, and does not wait. The operation state is
// destroyed when the operation has completed, on the thread that completes it,
// and a result is discarded. Until then, the operation must not refer to
// objects of the task. A callback of the stop token runs on the thread that
// destroys the future. An operation that ignores its stop token runs to its
// end; one that never completes is never freed.
//
// If the future is not destroyed before the end, the operation state is
// destroyed before the task continues.
//
// Errors: kCancelled if the sender was stopped, and the errors that the sender
// sends. A `std::error_code` is converted by `ToStatus()`.
//
// Costs two allocations: the operation state, and a oneshot channel.
template <ExecutionLibrary L, class S>
SenderFuture<L, std::decay_t<S>> FromSender(S&& sender) {
  return SenderFuture<L, std::decay_t<S>>(std::forward<S>(sender));
}

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_EXECUTION_FROM_SENDER_H_
