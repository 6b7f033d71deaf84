// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: writer.h
// -----------------------------------------------------------------------------
//
// A `Writer` sends the messages of a call, one after another:
//
//   for (const Chunk& chunk : chunks) {
//     co_await rouse::OrReturn(writer.Send(chunk));
//   }
//   co_await rouse::OrReturn(writer.Close());

#ifndef ROUSE_GRPC_WRITER_H_
#define ROUSE_GRPC_WRITER_H_

#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "rouse/base/panic.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc {

namespace internal {

// The side of a call that a `Writer` uses.
template <class Message>
class MessageSink {
 public:
  // Takes `message` when the sink is free, and then sets `taken`. Ready when
  // gRPC has taken the message.
  virtual PollResult<absl::Status> PollSend(Context& cx, Message& message,
                                            bool& taken) = 0;
  // Ends the messages. Only for clients.
  virtual PollResult<absl::Status> PollClose(Context& cx) = 0;
  // Gives up the reference of the writer.
  virtual void DropWriter() = 0;

 protected:
  ~MessageSink() = default;
};

}  // namespace internal

// SendFuture
//
// See `Writer::Send()`. Can be moved at any time.
template <class Message>
class [[nodiscard]] SendFuture {
 public:
  SendFuture(internal::MessageSink<Message>& sink, Message message)
      : sink_(&sink), message_(std::move(message)) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (sink_ == nullptr)
      Panic("rpc::SendFuture was polled after it was ready");
    PollResult<absl::Status> sent = sink_->PollSend(cx, message_, taken_);
    if (sent.IsReady()) sink_ = nullptr;
    return sent;
  }

 private:
  internal::MessageSink<Message>* sink_;  // null once ready
  Message message_;
  bool taken_ = false;
};

// CloseFuture
//
// See `ClientWriter::Close()`. Can be moved at any time.
template <class Message>
class [[nodiscard]] CloseFuture {
 public:
  explicit CloseFuture(internal::MessageSink<Message>& sink) : sink_(&sink) {}

  PollResult<absl::Status> Poll(Context& cx) { return sink_->PollClose(cx); }

 private:
  internal::MessageSink<Message>* sink_;
};

// Writer
//
// The writer of a server. The handler's return ends the messages. Move-only,
// movable at any time. Tasks must not use a writer concurrently.
template <class Message>
class [[nodiscard]] Writer {
 public:
  // For the implementation. Takes over a reference.
  explicit Writer(internal::MessageSink<Message>* sink) : sink_(sink) {}
  Writer(Writer&& other) noexcept
      : sink_(std::exchange(other.sink_, nullptr)) {}
  Writer& operator=(Writer&& other) noexcept {
    std::swap(sink_, other.sink_);
    return *this;
  }
  ~Writer() {
    if (sink_ != nullptr) sink_->DropWriter();
  }

  // Returns a future that sends `message`, and is ready when gRPC has taken the
  // message. gRPC takes a message when the peer's flow-control window has room,
  // so a sender is as slow as the peer. Being ready does not mean that the peer
  // has the message.
  //
  // REQUIRES: the writer outlives the future, and no other `Send()` or
  // `Close()` of the writer is pending.
  //
  // Cancellation: destroying the future before its first poll sends nothing. A
  // message that the future has given to gRPC is sent nevertheless, and the
  // next `Send()` waits for it.
  //
  // Errors, after which no message can be sent: on a client kUnavailable if the
  // call has ended, whose status comes from the reader or the response, and
  // kFailedPrecondition after `Close()`; on a server kCancelled.
  [[nodiscard]] SendFuture<Message> Send(Message message)
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture<Message>(sink(), std::move(message));
  }

 protected:
  internal::MessageSink<Message>& sink() const {
    if (sink_ == nullptr) Panic("rpc::Writer was used after it was moved");
    return *sink_;
  }

 private:
  internal::MessageSink<Message>* sink_;  // null if moved from
};

// ClientWriter
//
// The writer of a client. Destroying the writer before `Close()` is ready
// cancels the call, so that the server never takes half of an upload for the
// whole.
template <class Message>
class [[nodiscard]] ClientWriter : public Writer<Message> {
 public:
  using Writer<Message>::Writer;

  // Returns a future that ends the messages: the server's reader gets the end
  // after the last message. A second call does nothing.
  //
  // Errors: kUnavailable if the call has ended before.
  [[nodiscard]] CloseFuture<Message> Close() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return CloseFuture<Message>(this->sink());
  }
};

}  // namespace rouse::rpc

#endif  // ROUSE_GRPC_WRITER_H_
