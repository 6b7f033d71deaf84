// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reading.h
// -----------------------------------------------------------------------------
//
// The reading direction of a client's call. States, each of them changed under
// the call's lock:
//
//   kIdle --reader--> kReading --gRPC, ok--> kReady --reader--> kIdle
//                     kReading --gRPC, not ok--> kEnded
//   any state --the reader is dropped--> kDropped
//
// Only the reader starts an operation, and only while the direction has its
// hold: until the state is kEnded or kDropped.

#ifndef ROUSE_GRPC_CLIENT_READING_H_
#define ROUSE_GRPC_CLIENT_READING_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/grpc/call_options.h"
#include "rouse/grpc/reader.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc::internal {

// Reading
//
// Adds the reading direction to `Base`, a `ReactorCall`.
template <class Base, class Message>
class Reading : public Base, public ClientMessageSource<Message> {
  using Item = std::optional<absl::StatusOr<Message>>;

 public:
  PollResult<Item> PollNext(Context& cx) final {
    this->waker_.Register(cx.waker());
    {
      const ThreadMutexLock lock(&this->mu_);
      switch (state_) {
        case State::kReady:
          state_ = State::kIdle;
          has_initial_metadata_ = true;
          return Item(absl::StatusOr<Message>(std::move(message_)));
        case State::kEnded:
          if (!this->done_) return kPending;
          has_initial_metadata_ = true;
          has_trailing_metadata_ = true;
          if (std::exchange(reported_, true) || this->status_.ok()) {
            return Item();
          }
          return Item(absl::StatusOr<Message>(this->status_));
        case State::kIdle:
          state_ = State::kReading;
          break;
        default:
          return kPending;
      }
    }
    this->StartRead(&message_);
    return kPending;
  }

  void DropReader() final {
    // A call that has ended and a call whose end is being delivered are left
    // alone; otherwise nobody wants the remaining messages.
    this->Cancel();
    State before;
    {
      const ThreadMutexLock lock(&this->mu_);
      before = std::exchange(state_, State::kDropped);
    }
    if (before != State::kEnded) this->RemoveHold();
    this->Unref();
  }

  Metadata initial_metadata() final {
    if (!has_initial_metadata_) {
      Panic(
          "rpc::ClientReader::initial_metadata() was called before the first "
          "item; await Next() first");
    }
    return ToMetadata(this->context_.GetServerInitialMetadata());
  }
  Metadata trailing_metadata() final {
    if (!has_trailing_metadata_) {
      Panic(
          "rpc::ClientReader::trailing_metadata() was called before the end "
          "of the stream; await Next() until it returns an error or nothing");
    }
    return ToMetadata(this->context_.GetServerTrailingMetadata());
  }

  void OnReadDone(bool ok) final {
    bool ended = false;
    {
      const ThreadMutexLock lock(&this->mu_);
      if (state_ == State::kReading) {
        state_ = ok ? State::kReady : State::kEnded;
        ended = !ok;
      }
    }
    // No read can succeed any more, and neither can a write.
    if (!ok) this->EndWriting();
    if (ended) this->RemoveHold();
    this->waker_.Wake();
  }

 protected:
  using Base::Base;

 private:
  enum class State { kIdle, kReading, kReady, kEnded, kDropped };

  State state_ = State::kIdle;
  // Set when the status has been the reader's last item. Written by the reader.
  bool reported_ = false;
  // Set when the reader knows that gRPC has the metadata. Written by the
  // reader.
  bool has_initial_metadata_ = false;
  bool has_trailing_metadata_ = false;
  // Belongs to gRPC in kReading, and otherwise to the reader.
  Message message_;
};

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_CLIENT_READING_H_
