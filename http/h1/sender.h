// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sender.h
// -----------------------------------------------------------------------------
//
// `Sender` writes messages to a connection: heads, which the caller appends to
// `out()`, and bodies, which it takes from a `Body` as fast as the connection
// takes them.

#ifndef ROUSE_HTTP_H1_SENDER_H_
#define ROUSE_HTTP_H1_SENDER_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/serving/body_length.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// Sender
//
// Not thread-safe. Movable between messages.
class Sender {
 public:
  // Returns the bytes to be written before the body.
  Buffer& out() ABSL_ATTRIBUTE_LIFETIME_BOUND { return out_; }

  // Adds the body of the message whose head was appended last. `framing` is
  // `kLength` or `kNone` for text. A short text is copied and stays in `body`;
  // any other body that is sent is moved out of `body`.
  void SetBody(Body& body, Framing framing);

  // Returns whether nothing is left to be written.
  bool is_idle() const { return out_.empty() && state_ == State::kIdle; }
  // Returns whether the caller may append the next message before the present
  // one was written: there is no body left, and few bytes.
  bool has_room() const {
    return state_ == State::kIdle && out_.size() < kBatch;
  }

  // Writes until nothing is left, and flushes. After an error, nothing more can
  // be sent.
  PollResult<absl::Status> Poll(Context& cx, Io& io);

  // Returns whether the last error came from the body, and not from the
  // connection.
  bool body_has_failed() const { return body_has_failed_; }

  // Returns whether any byte was written since the last call.
  bool TakeProgress() {
    const bool progress = has_progress_;
    has_progress_ = false;
    return progress;
  }

  // Returns whether `SetBody()` has moved the body of the last message.
  bool has_body() const { return body_.has_value(); }
  // Returns that body, for another attempt. Only a body of text is whole.
  // REQUIRES: `has_body()`.
  Body TakeBody() {
    Body body = *std::move(body_);
    body_.reset();
    return body;
  }

  // Returns whether everything was written that the body has given so far.
  bool waits_for_body() const {
    return state_ == State::kStream && out_.empty() && !must_flush_;
  }

  // Frees memory between two messages.
  void Shrink() {
    out_.Shrink(kSmallBuffer);
    body_.reset();
  }

 private:
  enum class State {
    kIdle,    // no body, or the body is in `out_`
    kText,    // the text of `body_` follows `out_`
    kStream,  // the bytes of `body_` are read into `out_`
  };

  static constexpr size_t kSmallBuffer = 1024;
  // Text up to this size is copied behind the head, for a single write.
  static constexpr size_t kCopiedText = size_t{8} << 10;
  // Bytes that are collected before they are written, if there are any.
  static constexpr size_t kBatch = size_t{16} << 10;
  // Bytes of one read of a body.
  static constexpr size_t kRead = size_t{16} << 10;

  // Reads some bytes of the body into `out_`. Returns false if the body is
  // pending.
  absl::StatusOr<bool> ReadBody(Context& cx);
  void EndBody();

  State state_ = State::kIdle;
  Framing framing_ = Framing::kNone;
  bool body_has_failed_ = false;
  bool has_progress_ = false;
  bool must_flush_ = false;
  Buffer out_;
  std::optional<Body> body_;  // that `SetBody()` has moved
  size_t text_sent_ = 0;      // bytes of the text
  BodyLength length_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H1_SENDER_H_
