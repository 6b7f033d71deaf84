// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: body.h
// -----------------------------------------------------------------------------
//
// `Body` is the body of a request or a response: text in memory, or bytes that
// come from a source as they are needed.
//
//   response.body = "hello\n";
//   response.body = http::Body::FromReader(std::move(file), size);
//   response.body = http::Body::FromStream(Lines(database));  // a Gen
//
//   std::string all = co_await rouse::OrReturn(request.body.ReadAll(1 << 20));
//   co_await rouse::OrReturn(rouse::Copy(request.body, file));

#ifndef ROUSE_HTTP_BODY_H_
#define ROUSE_HTTP_BODY_H_

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/stream.h"
#include "rouse/http/headers.h"
#include "rouse/io/async_read.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http {

namespace internal {

// BodySource
//
// The interface of the bytes behind a `Body`. The protocols implement it, for
// bodies that arrive on a connection.
class BodySource {
 public:
  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;

  // Reads as `AsyncRead` requires.
  virtual PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer) = 0;

  // Returns the fields that followed the body. Called after the end.
  virtual Headers TakeTrailers() { return Headers(); }
};

template <class R>
class ReaderSource final : public BodySource {
 public:
  explicit ReaderSource(R&& reader) : reader_(std::forward<R>(reader)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer) override {
    return rouse::PollRead(reader_, cx, buffer, &waiter_);
  }

 private:
  R reader_;
  [[no_unique_address]] IoWaiter<R> waiter_;
};

// ChunkSource
//
// The part of a `StreamSource` that does not depend on the stream.
class ChunkSource : public BodySource {
 public:
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) final;

 protected:
  // Polls for the next chunk, which may be empty.
  virtual PollResult<std::optional<absl::StatusOr<std::string>>> PollChunk(
      Context& cx) = 0;

 private:
  std::string chunk_;
  size_t taken_ = 0;  // number of bytes of `chunk_`
  bool has_ended_ = false;
};

template <class S>
class StreamSource final : public ChunkSource {
 public:
  explicit StreamSource(S&& stream) : stream_(std::forward<S>(stream)) {}

 private:
  PollResult<std::optional<absl::StatusOr<std::string>>> PollChunk(
      Context& cx) override {
    auto item = stream_.PollNext(cx);
    if (item.IsPending()) return kPending;
    std::optional<absl::StatusOr<std::string>> chunk;
    if (item->has_value()) chunk.emplace(**std::move(item));
    return chunk;
  }

  S stream_;
};

}  // namespace internal

// Body
//
// Owns the bytes of a body, or their source. Reading takes the bytes, so that a
// body is read once. Not thread-safe, and not copyable. Movable, but not while
// a future reads from the body.
//
// The body of a request to a server, and the body of a response to a client,
// arrive as they are read. The peer can send no more than the buffers hold
// until the body is read, and the body need not be read to the end:
//
// * A server's request can be read until the response has been sent, even by
//   another task than the handler's. A later read fails with `kCancelled`. What
//   the handler leaves unread is discarded, or ends the connection. Over
//   HTTP/2, the client is asked to stop, and the connection goes on.
// * A client's response keeps its connection. Destroying the body before the
//   end closes the connection; reading to the end returns the connection to the
//   client.
//
// Errors of reading a body that arrives:
//
//   InvalidArgument     the peer has broken the rules of the protocol
//   ResourceExhausted   the body exceeds the limit
//   DeadlineExceeded    the peer has sent nothing for too long
//   DataLoss            the connection ended before the body
//   Cancelled           the response to the request was sent, or the client has
//                       cancelled the request, as HTTP/2 allows
//
// and the errors of the connection.
class Body {
 public:
  // Makes an empty body.
  Body() = default;
  // Makes a body of `text`.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Body(std::string text) : text_(std::move(text)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Body(std::string_view text) : text_(text) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Body(const char* text) : text_(text) {}

  // Makes a body of the bytes of `reader`, up to the reader's end. If `size` is
  // given, the reader must have exactly `size` bytes, and the peer learns the
  // size in advance. An rvalue is moved in, and an lvalue must outlive the
  // body.
  template <class R>
    requires AsyncRead<R>
  static Body FromReader(R&& reader, std::optional<uint64_t> size = {}) {
    return Body(
        std::make_unique<internal::ReaderSource<R>>(std::forward<R>(reader)),
        size);
  }

  // Makes a body of the items of `stream`, which are strings, or
  // `absl::StatusOr` of a string. An error ends the connection, or the stream
  // of HTTP/2, so that the peer does not take the body for complete. Otherwise
  // like `FromReader()`.
  template <class S>
    requires Stream<S> &&
             std::constructible_from<absl::StatusOr<std::string>, StreamItem<S>>
  static Body FromStream(S&& stream, std::optional<uint64_t> size = {}) {
    return Body(
        std::make_unique<internal::StreamSource<S>>(std::forward<S>(stream)),
        size);
  }

  Body(Body&& other) noexcept = default;
  Body& operator=(Body&& other) noexcept = default;
  ~Body() = default;

  // Returns the number of bytes from the beginning to the end, if known in
  // advance.
  std::optional<uint64_t> size() const {
    return source_ == nullptr ? std::optional<uint64_t>(text_.size()) : size_;
  }

  // Returns the number of bytes that have not been read, if known in advance. A
  // message with this body has this length.
  std::optional<uint64_t> unread_size() const {
    if (source_ == nullptr) return text().size();
    if (!size_.has_value()) return std::nullopt;
    return *size_ - std::min<uint64_t>(taken_, *size_);
  }

  // Reads as `AsyncRead` requires.
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer);

  // Reads all bytes to the end. Returns ResourceExhausted if the body has more
  // than `limit` bytes, and otherwise the errors of reading. The limit is the
  // caller's own: a handler that should answer with 413 checks for the error,
  // because a handler's error is answered with 500. Destroying the
  // future loses the bytes read so far. The body must outlive the future.
  Co<absl::StatusOr<std::string>> ReadAll(size_t limit)
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the trailers: fields that follow the body of a message. Trailers of
  // a message that arrives are there after the end was read. Trailers of a
  // message that is sent are set in advance, and are sent if the body is sent
  // in chunks: over HTTP/1.1, if its size is not known; over HTTP/2, always.
  const Headers& trailers() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  Headers& trailers() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Internal: makes a body of what `source` reads, for protocols.
  explicit Body(std::unique_ptr<internal::BodySource> source,
                std::optional<uint64_t> size)
      : source_(std::move(source)), size_(size) {}
  // Internal: whether the body has no source, and the bytes of such a body.
  bool is_text() const { return source_ == nullptr; }
  std::string_view text() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    // A body that was moved from has no text, but may have been read.
    return std::string_view(text_).substr(
        std::min<uint64_t>(taken_, text_.size()));
  }

 private:
  std::string text_;
  uint64_t taken_ = 0;                            // number of bytes read
  std::unique_ptr<internal::BodySource> source_;  // null for text
  std::optional<uint64_t> size_;                  // of `source_`
  std::unique_ptr<Headers> trailers_;             // null if there are none
};

}  // namespace rouse::http

#endif  // ROUSE_HTTP_BODY_H_
