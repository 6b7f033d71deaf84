// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reading.h
// -----------------------------------------------------------------------------
//
// The reading direction of a server's call. States, each of them changed under
// the call's lock:
//
//   kIdle --reader--> kReading --gRPC, ok--> kReady --reader--> kIdle
//                     kReading --gRPC, not ok--> kEnded
//
// After `Finish()`, kIdle means the end, too.

#ifndef ROUSE_GRPC_SERVER_READING_H_
#define ROUSE_GRPC_SERVER_READING_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/grpc/reader.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc::internal {

// ServerReading
//
// Adds the reading direction to `Base`, a `ServerReactorCall`.
template <class Base, class Message>
class ServerReading : public Base, public MessageSource<Message> {
  using Item = std::optional<absl::StatusOr<Message>>;

 public:
  PollResult<Item> PollNext(Context& cx) final {
    read_waker_.Register(cx.waker());
    const ThreadMutexLock lock(&this->mu_);
    switch (state_) {
      case State::kReady:
        state_ = State::kIdle;
        return Item(absl::StatusOr<Message>(std::move(message_)));
      case State::kReading:
        return kPending;
      case State::kEnded:
        if (std::exchange(broken_, false)) return Broken();
        return Item();
      case State::kIdle:
        if (this->finished_) return Item();
        state_ = State::kReading;
        this->StartRead(&message_);
        return kPending;
    }
    return kPending;
  }

  void DropReader() final { this->Unref(); }

  void OnReadDone(bool ok) final {
    {
      const ThreadMutexLock lock(&this->mu_);
      state_ = ok ? State::kReady : State::kEnded;
      // After `Finish()`, the end is the server's own.
      broken_ = !ok && !this->finished_ && this->context_->IsCancelled();
    }
    read_waker_.Wake();
  }

 protected:
  using Base::Base;

 private:
  enum class State { kIdle, kReading, kReady, kEnded };

  static Item Broken() {
    return Item(absl::StatusOr<Message>(absl::CancelledError(
        "the client has cancelled the call, or the connection is lost")));
  }

  State state_ = State::kIdle;
  // Set if the next item is an error.
  bool broken_ = false;
  // Belongs to gRPC in kReading, and otherwise to the reader.
  Message message_;
  AtomicWaker read_waker_;
};

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_SERVER_READING_H_
