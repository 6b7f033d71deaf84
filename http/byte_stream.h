// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: byte_stream.h
// -----------------------------------------------------------------------------
//
// `ByteStream` holds a connection of any type: a `TcpStream`, a `UnixStream`,
// an end of a `Duplex`, a TLS stream.
//
//   http::ByteStream stream(co_await rouse::OrReturn(rouse::ConnectTcp(host)));
//   co_await rouse::OrReturn(rouse::WriteAll(stream, "hello\n"));

#ifndef ROUSE_HTTP_BYTE_STREAM_H_
#define ROUSE_HTTP_BYTE_STREAM_H_

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http {

namespace internal {

// Io
//
// The interface behind which a connection of any type is hidden: `AsyncRead`
// and `AsyncWrite` as virtual functions.
class Io {
 public:
  Io() = default;
  Io(const Io&) = delete;
  Io& operator=(const Io&) = delete;
  virtual ~Io() = default;

  virtual PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer) = 0;
  virtual PollResult<absl::StatusOr<size_t>> PollWrite(
      Context& cx, std::string_view data) = 0;
  virtual PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) = 0;
  virtual PollResult<absl::Status> PollFlush(Context& cx) = 0;
  virtual PollResult<absl::Status> PollShutdown(Context& cx) = 0;

  // Returns the protocol on which the two ends have agreed by ALPN, or "".
  virtual std::string_view alpn() const { return std::string_view(); }
};

// IoOf
//
// Owns an `S` or, if `S` is a reference, refers to a stream.
template <class S>
class IoOf final : public Io {
 public:
  explicit IoOf(S&& stream) : stream_(std::forward<S>(stream)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer) override {
    return stream_.PollRead(cx, buffer);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) override {
    return stream_.PollWrite(cx, data);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) override {
    return stream_.PollWriteVectored(cx, parts);
  }
  PollResult<absl::Status> PollFlush(Context& cx) override {
    return stream_.PollFlush(cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) override {
    return stream_.PollShutdown(cx);
  }
  std::string_view alpn() const override {
    if constexpr (requires {
                    { stream_.alpn() } -> std::same_as<std::string_view>;
                  }) {
      return stream_.alpn();
    } else {
      return std::string_view();
    }
  }

 private:
  S stream_;
};

}  // namespace internal

// ByteStream
//
// Owns a stream that models `AsyncRead` and `AsyncWrite`, and models both. One
// task reads and one task writes, on one thread at a time unless the stream
// inside allows more. Movable, even while a future waits for the stream.
//
// Cost: one allocation, and an indirect call for each operation.
class ByteStream {
 public:
  // Holds `stream`: an rvalue is moved in, and an lvalue must outlive the
  // `ByteStream`.
  template <class S>
    requires(!std::same_as<std::remove_cvref_t<S>, ByteStream> &&
             AsyncRead<S> && AsyncWrite<S>)
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
  explicit ByteStream(S&& stream)
      : io_(std::make_unique<internal::IoOf<S>>(std::forward<S>(stream))) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) {
    return io_->PollRead(cx, buffer);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) {
    return io_->PollWrite(cx, data);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) {
    return io_->PollWriteVectored(cx, parts);
  }
  PollResult<absl::Status> PollFlush(Context& cx) { return io_->PollFlush(cx); }
  PollResult<absl::Status> PollShutdown(Context& cx) {
    return io_->PollShutdown(cx);
  }

  // Internal: converts from the interface.
  explicit ByteStream(std::unique_ptr<internal::Io> io) : io_(std::move(io)) {}
  // Internal: converts to the interface.
  std::unique_ptr<internal::Io> IntoIo() && { return std::move(io_); }

 private:
  std::unique_ptr<internal::Io> io_;  // null if moved from
};

namespace internal {

// Returns a stream of `prefix`, which was read from `io` too early, and then of
// `io`.
ByteStream WithPrefix(std::string prefix, std::unique_ptr<Io> io);

}  // namespace internal

}  // namespace rouse::http

#endif  // ROUSE_HTTP_BYTE_STREAM_H_
