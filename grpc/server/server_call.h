// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_call.h
// -----------------------------------------------------------------------------
//
// A call of a server: the reactor that gRPC calls back, on gRPC's own threads,
// and the state of the handler's task.
//
// # Lifetime
//
// gRPC has a reference to `OnDone()`, its last use of the object. The handler's
// task, the reader and the writer have one each. The last one deletes the call.
//
// # Order of operations
//
// No operation may start after `Finish()`, because gRPC then destroys its part
// of the call. A user can move a reader or a writer out of the handler, so the
// call starts every operation under its lock, and `Finish()` marks the call as
// finished under the same lock. gRPC never calls back inside of an operation. A
// write in progress delays `Finish()`, because its message belongs to the call.

#ifndef ROUSE_GRPC_SERVER_SERVER_CALL_H_
#define ROUSE_GRPC_SERVER_SERVER_CALL_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/grpc/status.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/sync/cancellation_token.h"

namespace rouse::rpc::internal {

// ServerCall
//
// The part of a call that does not depend on its messages.
class ServerCall {
 public:
  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;

  // Gives up a reference.
  void Unref() {
    // Release pairs with the acquire of the last call: every use comes before
    // the deletion.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Ends the call with `status`, for the handler's task.
  void FinishCall(const absl::Status& status) {
    const ThreadMutexLock lock(&mu_);
    if (write_in_progress_) {
      finish_after_write_ = status;
    } else {
      finished_ = true;
      CallFinish(ToGrpc(status));
    }
  }

  // Returns the status of a call whose handler was destroyed before it was
  // ready.
  absl::Status AbandonedStatus() {
    const ThreadMutexLock lock(&mu_);
    return cancelled_ ? absl::CancelledError("the call was cancelled")
                      : absl::UnavailableError("the server is shutting down");
  }

  // Sets what a cancellation does to the handler: the task is aborted, or the
  // token is cancelled. Called before gRPC can call `OnCancel()`.
  void OnCancelAbort(AbortHandle task) {
    const ThreadMutexLock lock(&mu_);
    abort_.emplace(std::move(task));
  }
  void OnCancelNotify(CancellationToken token) {
    const ThreadMutexLock lock(&mu_);
    token_.emplace(std::move(token));
  }

 protected:
  // Creates a call with references for gRPC, the handler's task, and `users`
  // objects.
  ServerCall(::grpc::CallbackServerContext* context, uint32_t users)
      : context_(context), references_(users + 2) {}
  virtual ~ServerCall() = default;

  // Calls the reactor's `Finish()`.
  virtual void CallFinish(::grpc::Status status) = 0;

  // For `OnCancel()`.
  void CancelHandler() {
    std::optional<AbortHandle> abort;
    std::optional<CancellationToken> token;
    {
      const ThreadMutexLock lock(&mu_);
      cancelled_ = true;
      abort = std::move(abort_);
      token = std::move(token_);
    }
    if (token.has_value()) {
      token->Cancel();
    } else if (abort.has_value()) {
      abort->Abort();
    }
  }

  // Exists until `OnDone()`.
  ::grpc::CallbackServerContext* const context_;

  // Guards the members below, and those of the directions.
  ThreadMutex mu_;
  bool finished_ = false;
  bool cancelled_ = false;
  // The status to finish with after the write in progress.
  bool write_in_progress_ = false;
  std::optional<absl::Status> finish_after_write_;

 private:
  std::optional<AbortHandle> abort_;
  std::optional<CancellationToken> token_;
  Atomic<uint32_t> references_;
};

// ServerReactorCall
//
// A call whose reactor, gRPC's base class for callbacks, is `Reactor`.
template <class Reactor>
class ServerReactorCall : public Reactor, public ServerCall {
 public:
  // gRPC's last use of the call.
  void OnDone() final { Unref(); }
  void OnCancel() final { CancelHandler(); }

 protected:
  using ServerCall::ServerCall;

  void CallFinish(::grpc::Status status) final {
    Reactor::Finish(std::move(status));
  }
};

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_SERVER_SERVER_CALL_H_
