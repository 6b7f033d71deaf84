// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: client_call.h
// -----------------------------------------------------------------------------
//
// A call of a client: the object that gRPC calls back, on gRPC's own threads.
//
// # Lifetime
//
// gRPC has a reference from the start of the call to `OnDone()`, its last use
// of the object. Each object of the user (a reader, a writer, a future) has
// another. The last one deletes the call.
//
// # Holds
//
// gRPC destroys its part of a call when all operations and holds have ended,
// and an operation that started later would use a destroyed object. Each
// direction therefore has a hold, from before `StartCall()` to the point after
// which the direction starts no operation. An operation that is in progress
// keeps gRPC's part alive by itself. `OnDone()`, which brings the status, comes
// after the last hold, so no direction may keep its hold once the call is known
// to have ended.

#ifndef ROUSE_GRPC_CLIENT_CLIENT_CALL_H_
#define ROUSE_GRPC_CLIENT_CLIENT_CALL_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "rouse/base/atomic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/grpc/call_options.h"
#include "rouse/grpc/client/keep_queue.h"
#include "rouse/grpc/status.h"
#include "rouse/waker/atomic_waker.h"

namespace rouse::rpc::internal {

// ClientCall
//
// The part of a call that does not depend on its messages.
class ClientCall {
 public:
  ClientCall(const ClientCall&) = delete;
  ClientCall& operator=(const ClientCall&) = delete;

  // Gives up a reference.
  void Unref() {
    // Release pairs with the acquire of the last call: every use comes before
    // the deletion.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  // Creates a call with references for gRPC and for `users` objects.
  ClientCall(const CallOptions& options, uint32_t users)
      : references_(users + 1) {
    KeepQueue();
    options.ApplyTo(context_);
  }
  virtual ~ClientCall() = default;

  // Stores the status, wakes the task that waits for it, and gives up gRPC's
  // reference.
  void SetDone(const ::grpc::Status& status) {
    {
      const ThreadMutexLock lock(&mu_);
      status_ = FromGrpc(status);
      done_ = true;
    }
    waker_.Wake();
    Unref();
  }

  // Cancels the call, unless the call has ended.
  void Cancel() {
    {
      const ThreadMutexLock lock(&mu_);
      if (done_) return;
    }
    // Thread-safe, and does nothing to a call that ends in the meantime.
    context_.TryCancel();
  }

  ::grpc::ClientContext context_;

  // Guards the members below, and those of the directions.
  ThreadMutex mu_;
  bool done_ = false;
  absl::Status status_;

  // The task that waits for a message or for the status. Registers before it
  // checks the state, under the lock.
  AtomicWaker waker_;

 private:
  Atomic<uint32_t> references_;
};

// ReactorCall
//
// A call whose reactor, gRPC's base class for callbacks, is `Reactor`.
template <class Reactor>
class ReactorCall : public Reactor, public ClientCall {
 public:
  // gRPC's last use of the call.
  void OnDone(const ::grpc::Status& status) final { SetDone(status); }

  // A status without initial metadata means that the call has already ended.
  void OnReadInitialMetadataDone(bool ok) final {
    if (!ok) EndWriting();
  }

 protected:
  using ClientCall::ClientCall;

  // Gives up the hold of the writing direction, because the call has ended.
  virtual void EndWriting() {}
};

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_CLIENT_CLIENT_CALL_H_
