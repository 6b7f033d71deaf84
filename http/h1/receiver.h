// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: receiver.h
// -----------------------------------------------------------------------------
//
// `Receiver` reads messages from a connection: it finds the end of each head,
// and then reads the body.

#ifndef ROUSE_HTTP_H1_RECEIVER_H_
#define ROUSE_HTTP_H1_RECEIVER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/buffer.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/headers.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// HeadState
//
// The state of a head that has arrived in part.
enum class HeadState {
  kIncomplete,
  kComplete,
  kTooLarge,
  kMalformed,  // a bare CR or LF, or a folded line
};

// BodyLimits
//
// The limits of a body that is received.
struct BodyLimits {
  uint64_t max_bytes = 0;
  size_t max_trailer_bytes = 0;
  size_t max_trailer_count = 0;
};

// Receiver
//
// Keeps the bytes that were received and not yet taken. Not thread-safe.
// Movable between messages.
class Receiver {
 public:
  // `is_request` says whether the messages are requests, whose first line is
  // checked early, and before which an empty line is skipped.
  explicit Receiver(bool is_request) : is_request_(is_request) {}

  // Returns whether no byte of the next message has arrived.
  bool empty() const { return in_.empty(); }
  // Returns the bytes that were received and not taken.
  std::string_view buffered() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return in_.view();
  }

  // Receives more bytes into the buffer. Returns their number, or 0 at the end
  // of the connection.
  PollResult<absl::StatusOr<size_t>> PollMore(Context& cx, Io& io);

  // Searches for the end of the head in the bytes received so far. Remembers
  // how far it has searched, so that the search takes time in proportion to the
  // bytes, however they arrive.
  HeadState FindHead(size_t max_bytes);
  // Returns the head that `FindHead()` has found.
  std::string_view head() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return in_.view().substr(0, head_size_);
  }
  // Takes the head, and starts the body.
  void TakeHead(Framing framing, uint64_t length, const BodyLimits& limits);

  // Returns whether the body has been taken to the end.
  bool body_is_done() const { return state_ == State::kDone; }
  // Returns whether all of the body is in the buffer, for a body of known
  // length.
  bool body_is_buffered() const {
    return state_ == State::kLength && in_.size() >= left_;
  }
  // Takes the rest of such a body.
  std::string TakeBufferedBody();

  // Reads from the body, as `AsyncRead` requires. An error is repeated.
  PollResult<absl::StatusOr<size_t>> PollBody(Context& cx, Io& io,
                                              absl::Span<char> buffer);
  // Returns whether at most `bytes` of a body of known length are left.
  bool body_has_at_most(uint64_t bytes) const {
    return state_ == State::kDone ||
           (state_ == State::kLength && left_ <= bytes);
  }
  // Ends the body with an error because the peer was too slow.
  absl::Status FailTooSlow();
  // Returns whether the body has ended with an error.
  bool body_has_failed() const { return state_ == State::kFailed; }
  // Returns the status of HTTP for the error of the body, or 0 if none has
  // occurred or the connection has failed.
  int failure() const { return failure_; }

  // Returns the error of the body, or OK.
  const absl::Status& error() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return error_;
  }

  // Returns the trailers, after the end of the body.
  Headers& trailers() { return trailers_; }

  // Frees memory between two messages.
  void Shrink() { in_.Shrink(kSmallBuffer); }

 private:
  enum class State {
    kDone,
    kLength,
    kUntilEnd,
    kChunkSize,
    kChunkData,
    kChunkEnd,
    kTrailers,
    kFailed,
  };

  static constexpr size_t kSmallBuffer = 2048;
  // Most bytes of a line with the size of a chunk, and of the extensions of a
  // body's chunks together.
  static constexpr size_t kMaxChunkLine = 4096;
  static constexpr size_t kMaxChunkExtensions = size_t{16} << 10;

  // Receives more bytes of the body. The end of the connection is an error.
  PollResult<absl::Status> PollMoreOfBody(Context& cx, Io& io);
  // Reads a line that ends with CRLF from the buffer. Returns whether the line
  // is complete or was refused; if so, sets `line`, without CRLF.
  PollResult<absl::Status> PollLine(Context& cx, Io& io, size_t max_size,
                                    std::string_view& line);
  PollResult<absl::Status> PollChunkSize(Context& cx, Io& io);
  PollResult<absl::Status> PollChunkEnd(Context& cx, Io& io);
  PollResult<absl::Status> PollTrailers(Context& cx, Io& io);
  // Reads up to `left_` bytes.
  PollResult<absl::StatusOr<size_t>> PollData(Context& cx, Io& io,
                                              absl::Span<char> buffer);
  // Ends the body with an error.
  absl::Status Fail(int failure, absl::Status error);
  absl::Status Malformed(std::string_view what);

  const bool is_request_;
  State state_ = State::kDone;
  Buffer in_;
  // While a head arrives: the number of bytes without a line end to search, and
  // the begin of the line.
  size_t searched_ = 0;
  size_t line_begin_ = 0;
  size_t head_size_ = 0;
  size_t first_line_size_ = 0;  // 0 if incomplete, or checked
  bool skipped_line_ = false;
  size_t line_size_ = 0;   // of the line that was read last, with CRLF
  uint64_t left_ = 0;      // bytes of the body or of the chunk
  uint64_t received_ = 0;  // bytes of the chunks
  size_t extensions_ = 0;  // bytes
  size_t trailer_bytes_ = 0;
  BodyLimits limits_;
  int failure_ = 0;
  absl::Status error_;
  Headers trailers_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H1_RECEIVER_H_
