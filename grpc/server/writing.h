// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: writing.h
// -----------------------------------------------------------------------------
//
// The writing direction of a server's call. At most one message is in progress,
// from the writer's operation to gRPC's `OnWriteDone()`.

#ifndef ROUSE_GRPC_SERVER_WRITING_H_
#define ROUSE_GRPC_SERVER_WRITING_H_

#include <utility>

#include "absl/status/status.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/grpc/status.h"
#include "rouse/grpc/writer.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc::internal {

// ServerWriting
//
// Adds the writing direction to `Base`, a `ServerReactorCall`.
template <class Base, class Message>
class ServerWriting : public Base, public MessageSink<Message> {
 public:
  PollResult<absl::Status> PollSend(Context& cx, Message& message,
                                    bool& taken) final {
    write_waker_.Register(cx.waker());
    const ThreadMutexLock lock(&this->mu_);
    // This message, or one whose future was destroyed.
    if (this->write_in_progress_) return kPending;
    if (failed_) {
      return absl::CancelledError(
          "the client has cancelled the call, or the connection is lost");
    }
    if (taken) return absl::OkStatus();
    if (this->finished_) {
      return absl::CancelledError("the handler of the call has ended");
    }
    this->write_in_progress_ = true;
    taken = true;
    message_ = std::move(message);
    this->StartWrite(&message_);
    return kPending;
  }

  PollResult<absl::Status> PollClose(Context&) final {
    Panic("rpc::Writer: only the writer of a client has Close()");
  }

  void DropWriter() final { this->Unref(); }

  void OnWriteDone(bool ok) final {
    {
      const ThreadMutexLock lock(&this->mu_);
      this->write_in_progress_ = false;
      if (!ok) failed_ = true;
      if (this->finish_after_write_.has_value()) {
        this->finished_ = true;
        this->CallFinish(ToGrpc(*this->finish_after_write_));
      }
    }
    write_waker_.Wake();
  }

 protected:
  using Base::Base;

 private:
  bool failed_ = false;
  // Belongs to gRPC while a write is in progress, and otherwise to the writer.
  Message message_;
  AtomicWaker write_waker_;
};

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_SERVER_WRITING_H_
