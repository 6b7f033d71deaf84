// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: handler_task.h
// -----------------------------------------------------------------------------
//
// The task that runs a handler, and finishes the call in any case: with the
// handler's status, or when the task is destroyed before.

#ifndef ROUSE_GRPC_SERVER_HANDLER_TASK_H_
#define ROUSE_GRPC_SERVER_HANDLER_TASK_H_

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/callable_future.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/future.h"
#include "rouse/grpc/server/server_call.h"
#include "rouse/runtime/handle.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc::internal {

// HandlerTask
//
// A future that polls `Handler`, a future of an `absl::Status`. gRPC sends the
// response and frees the messages at `Finish()`, so the handler is destroyed
// before the call is finished.
template <class Handler>
class HandlerTask {
 public:
  // Takes over a reference to `call`.
  HandlerTask(ServerCall* call, Handler handler)
      : call_(call), handler_(std::move(handler)) {}
  // REQUIRES: `other` has not been polled.
  HandlerTask(HandlerTask&& other) noexcept
      : call_(std::exchange(other.call_, nullptr)),
        handler_(std::move(other.handler_)) {}
  HandlerTask& operator=(HandlerTask&&) = delete;
  ~HandlerTask() {
    if (call_ == nullptr) return;
    handler_.reset();
    Finish(threw_ ? absl::UnknownError("the handler has thrown an exception")
                  : call_->AbandonedStatus());
  }

  PollResult<void> Poll(Context& cx) {
    PollResult<absl::Status> status = PollHandler(cx);
    if (status.IsPending()) return kPending;
    handler_.reset();
    Finish(*status);
    return {};
  }

  void Trace(AwaitTrace& trace) const {
    if (handler_.has_value()) trace.Add(*handler_);
  }

 private:
  PollResult<absl::Status> PollHandler(Context& cx) {
    ROUSE_TRY { return handler_->Poll(cx); }
    ROUSE_CATCH_ALL {
      threw_ = true;
      ROUSE_RETHROW;
    }
    return kPending;
  }

  void Finish(const absl::Status& status) {
    ServerCall* const call = std::exchange(call_, nullptr);
    call->FinishCall(status);
    call->Unref();
  }

  ServerCall* call_;  // null once finished, or moved from
  bool threw_ = false;
  std::optional<Handler> handler_;  // empty once ready
};

// Calls a handler with the arguments that were made for it, when the task is
// first polled, and keeps the handler as long as its future.
template <class F, class... Args>
class BoundHandler {
 public:
  explicit BoundHandler(F handler, Args... args)
      : handler_(std::move(handler)), args_(std::move(args)...) {}

  ROUSE_CORO_WRAPPER auto operator()() {
    return Call(std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... kIndex>
  ROUSE_CORO_WRAPPER auto Call(std::index_sequence<kIndex...>) {
    return handler_(std::move(std::get<kIndex>(args_))...);
  }

  F handler_;
  std::tuple<Args...> args_;
};

// Satisfied if `F` is a handler that is called with `Args`.
template <class F, class... Args>
concept HandlerOf =
    std::invocable<F&, Args...> &&
    std::same_as<FutureOutput<std::invoke_result_t<F&, Args...>>, absl::Status>;

// Spawns the task of `handler`, a future, or a callable without parameters.
template <class F>
AbortHandle SpawnHandler(const Handle& runtime, ServerCall* call, F handler) {
  using Polled = rouse::internal::FutureFrom<F>;
  HandlerTask<Polled> task(call, Polled(std::move(handler)));
  auto joiner = runtime.Spawn(std::move(task));
  AbortHandle abort = joiner.abort_handle();
  joiner.Detach();
  return abort;
}

// Spawns the task of a handler for the given call. A handler that takes a token
// after `args` is notified of a cancellation, and other handlers are destroyed.
template <class F, class... Args>
void StartHandler(const Handle& runtime, ServerCall* call, F handler,
                  Args... args) {
  if constexpr (HandlerOf<F, Args..., CancellationToken>) {
    CancellationToken token;
    call->OnCancelNotify(token);
    SpawnHandler(runtime, call,
                 BoundHandler<F, Args..., CancellationToken>(
                     std::move(handler), std::move(args)..., std::move(token)));
  } else {
    call->OnCancelAbort(SpawnHandler(
        runtime, call,
        BoundHandler<F, Args...>(std::move(handler), std::move(args)...)));
  }
}

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_SERVER_HANDLER_TASK_H_
