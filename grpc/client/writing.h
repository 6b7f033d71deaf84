// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: writing.h
// -----------------------------------------------------------------------------
//
// The writing direction of a client's call. States, each of them changed under
// the call's lock:
//
//   kIdle --writer--> kWriting --gRPC, ok--> kIdle
//                     kWriting --gRPC, not ok, or the call has ended--> kFailed
//   kIdle --writer--> kClosed
//   kIdle --gRPC, the call has ended--> kFailed
//
// Only the writer starts an operation, and only while the direction has its
// hold. The hold is given up with kClosed (after the operation has started) and
// with kFailed, or when the writer is dropped, whichever comes first.

#ifndef ROUSE_GRPC_CLIENT_WRITING_H_
#define ROUSE_GRPC_CLIENT_WRITING_H_

#include <utility>

#include "absl/status/status.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/grpc/writer.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc::internal {

// Writing
//
// Adds the writing direction to `Base`, a `ReactorCall`.
template <class Base, class Message>
class Writing : public Base, public MessageSink<Message> {
 public:
  PollResult<absl::Status> PollSend(Context& cx, Message& message,
                                    bool& taken) final {
    write_waker_.Register(cx.waker());
    {
      const ThreadMutexLock lock(&this->mu_);
      switch (state_) {
        case State::kWriting:
          // This message, or one whose future was destroyed.
          return kPending;
        case State::kFailed:
          return Ended();
        case State::kClosed:
          return absl::FailedPreconditionError(
              "rpc::Writer::Send() was called after Close()");
        case State::kIdle:
          if (taken) return absl::OkStatus();
          state_ = State::kWriting;
          taken = true;
          break;
      }
    }
    message_ = std::move(message);
    this->StartWrite(&message_);
    return kPending;
  }

  PollResult<absl::Status> PollClose(Context& cx) final {
    write_waker_.Register(cx.waker());
    {
      const ThreadMutexLock lock(&this->mu_);
      switch (state_) {
        case State::kWriting:
          return kPending;
        case State::kFailed:
          return Ended();
        case State::kClosed:
          return absl::OkStatus();
        case State::kIdle:
          state_ = State::kClosed;
          break;
      }
    }
    this->StartWritesDone();
    ReleaseHold();
    return absl::OkStatus();
  }

  void DropWriter() final {
    bool open;
    {
      const ThreadMutexLock lock(&this->mu_);
      open = state_ == State::kIdle || state_ == State::kWriting;
    }
    if (open) this->Cancel();
    ReleaseHold();
    this->Unref();
  }

  void OnWriteDone(bool ok) final {
    bool failed;
    {
      const ThreadMutexLock lock(&this->mu_);
      failed = !ok || call_ended_;
      state_ = failed ? State::kFailed : State::kIdle;
    }
    if (failed) ReleaseHold();
    write_waker_.Wake();
  }

 protected:
  using Base::Base;

  void EndWriting() final {
    {
      const ThreadMutexLock lock(&this->mu_);
      call_ended_ = true;
      // The writer is between two operations. In kWriting, `OnWriteDone()`
      // comes after the operation, which may not have started yet.
      if (state_ != State::kIdle) return;
      state_ = State::kFailed;
    }
    ReleaseHold();
    write_waker_.Wake();
  }

 private:
  enum class State { kIdle, kWriting, kClosed, kFailed };

  static absl::Status Ended() {
    return absl::UnavailableError(
        "the call has ended; the reader or the response has its status");
  }

  // Gives up the hold, unless another caller has.
  void ReleaseHold() {
    {
      const ThreadMutexLock lock(&this->mu_);
      if (!std::exchange(has_hold_, false)) return;
    }
    this->RemoveHold();
  }

  State state_ = State::kIdle;
  bool call_ended_ = false;
  bool has_hold_ = true;
  // Belongs to gRPC in kWriting, and otherwise to the writer.
  Message message_;
  AtomicWaker write_waker_;
};

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_CLIENT_WRITING_H_
