// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: reader.h
// -----------------------------------------------------------------------------
//
// A `Reader` is the stream of the messages that a peer sends in a call:
//
//   while (auto number = co_await rouse::Next(reader)) {
//     if (!number->ok()) co_return number->status();
//     sum += (*number)->value();
//   }

#ifndef ROUSE_GRPC_READER_H_
#define ROUSE_GRPC_READER_H_

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "rouse/base/panic.h"
#include "rouse/grpc/call_options.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc {

namespace internal {

// The side of a call that a `Reader` uses.
template <class Message>
class MessageSource {
 public:
  virtual PollResult<std::optional<absl::StatusOr<Message>>> PollNext(
      Context& cx) = 0;
  // Gives up the reference of the reader.
  virtual void DropReader() = 0;

 protected:
  ~MessageSource() = default;
};

// The side of a client's call that a `ClientReader` uses.
template <class Message>
class ClientMessageSource : public MessageSource<Message> {
 public:
  virtual Metadata initial_metadata() = 0;
  virtual Metadata trailing_metadata() = 0;

 protected:
  ~ClientMessageSource() = default;
};

}  // namespace internal

// Reader
//
// A stream (see future/stream.h) of `absl::StatusOr<Message>`. An item with an
// error is the last item, and an end without an error means that the peer has
// sent all of its messages:
//
//   on a client  the error is the status of the call, unless it is OK;
//   on a server  the error is kCancelled if the client has cancelled the call
//                or is gone, so that half of an upload is never taken for the
//                whole.
//
// Back-pressure: a message is read when the stream is polled, and at most one
// message waits in the reader. The others wait in gRPC's flow-control window,
// and beyond that in the peer.
//
// Cancellation: destroying the future of `Next()` loses nothing; a message that
// arrives later is the next item. Destroying the reader of a client before the
// end cancels the call. Destroying the reader of a server ends the reading.
//
// Move-only, movable at any time. Tasks must not poll the stream concurrently.
// The reader, the writer and the response of a call may be used by different
// tasks.
template <class Message>
class [[nodiscard]] Reader {
 public:
  // For the implementation. Takes over a reference.
  explicit Reader(internal::MessageSource<Message>* source) : source_(source) {}
  Reader(Reader&& other) noexcept
      : source_(std::exchange(other.source_, nullptr)) {}
  Reader& operator=(Reader&& other) noexcept {
    std::swap(source_, other.source_);
    return *this;
  }
  ~Reader() {
    if (source_ != nullptr) source_->DropReader();
  }

  PollResult<std::optional<absl::StatusOr<Message>>> PollNext(Context& cx) {
    return source().PollNext(cx);
  }

 protected:
  internal::MessageSource<Message>& source() const {
    if (source_ == nullptr) Panic("rpc::Reader was used after it was moved");
    return *source_;
  }

 private:
  internal::MessageSource<Message>* source_;  // null if moved from
};

// ClientReader
//
// The reader of a client, which also has the server's metadata.
template <class Message>
class [[nodiscard]] ClientReader : public Reader<Message> {
 public:
  // For the implementation. Takes over a reference.
  explicit ClientReader(internal::ClientMessageSource<Message>* source)
      : Reader<Message>(source) {}

  // Returns the metadata that the server has sent before its first message.
  // REQUIRES: the stream has returned an item or its end; a violation is a
  // `Panic()`.
  Metadata initial_metadata() const { return client().initial_metadata(); }

  // Returns the metadata that the server has sent with the status.
  // REQUIRES: the stream has returned an error or its end; a violation is a
  // `Panic()`.
  Metadata trailing_metadata() const { return client().trailing_metadata(); }

 private:
  internal::ClientMessageSource<Message>& client() const {
    return static_cast<internal::ClientMessageSource<Message>&>(this->source());
  }
};

}  // namespace rouse::rpc

#endif  // ROUSE_GRPC_READER_H_
