// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: split.h
// -----------------------------------------------------------------------------
//
// Splits a stream into its two directions, so that one task reads and another
// task writes. The stream is a `TcpStream`, a `UnixStream`, or, in tests, an
// end of a `Duplex`.
//
// If the stream stays in place, its halves can refer to it:
//
//   auto [reader, writer] = rouse::Split(stream);
//   co_await rouse::Join(rouse::Copy(reader, file), rouse::Copy(log, writer));
//
// Halves for separate tasks share the stream:
//
//   auto [reader, writer] = rouse::IntoSplit(std::move(stream));
//   rouse::Spawn(Receive(std::move(reader)));
//   rouse::Spawn(SendAll(std::move(writer)));

#ifndef ROUSE_NET_SPLIT_H_
#define ROUSE_NET_SPLIT_H_

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Requires that a stream can be split: its functions are const and thread-safe,
// and the writing half can be ended without waiting.
template <class S>
concept CanSplit = requires(const S& stream) {
  typename S::Waiter;
  { stream.ShutdownWrite() } -> std::same_as<absl::Status>;
};

// Provide the functions common to borrowed and owned halves. `Half` has a
// `stream()`.
template <class Half, class S>
class ReadHalfBase {
 public:
  using Waiter = typename S::Waiter;

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const {
    return stream().PollRead(cx, buffer, waiter);
  }

  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers,
      Waiter* waiter = nullptr) const
    requires requires(const S& stream) {
      stream.PollReadVectored(cx, buffers, waiter);
    }
  {
    return stream().PollReadVectored(cx, buffers, waiter);
  }

  // Are those of the stream, if the stream is a socket: see
  // net/evented_base.h. `stream()` gives access to the other functions there.
  auto Readable() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires requires(const S& stream) { stream.Readable(); }
  {
    return stream().Readable();
  }
  auto TryRead(absl::Span<char> buffer) const
    requires requires(const S& stream) { stream.TryRead(buffer); }
  {
    return stream().TryRead(buffer);
  }
  auto TryReadVectored(absl::Span<const absl::Span<char>> buffers) const
    requires requires(const S& stream) { stream.TryReadVectored(buffers); }
  {
    return stream().TryReadVectored(buffers);
  }

 private:
  const S& stream() const { return static_cast<const Half&>(*this).stream(); }
};

template <class Half, class S>
class WriteHalfBase {
 public:
  using Waiter = typename S::Waiter;

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) const {
    return stream().PollWrite(cx, data, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) const {
    return stream().PollWriteVectored(cx, parts, waiter);
  }
  PollResult<absl::Status> PollFlush(Context& cx) const {
    return stream().PollFlush(cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) const {
    return stream().PollShutdown(cx);
  }

  // Are those of the stream, if the stream is a socket: see
  // net/evented_base.h.
  auto Writable() const ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires requires(const S& stream) { stream.Writable(); }
  {
    return stream().Writable();
  }
  auto TryWrite(std::string_view data) const
    requires requires(const S& stream) { stream.TryWrite(data); }
  {
    return stream().TryWrite(data);
  }
  auto TryWriteVectored(absl::Span<const std::string_view> parts) const
    requires requires(const S& stream) { stream.TryWriteVectored(parts); }
  {
    return stream().TryWriteVectored(parts);
  }

 private:
  const S& stream() const { return static_cast<const Half&>(*this).stream(); }
};

}  // namespace internal

// ReadHalf, WriteHalf
//
// Model `AsyncRead` and `AsyncWrite` for one direction of a stream, to which
// the halves refer. Copyable; const members are thread-safe.
template <class S>
class ReadHalf : public internal::ReadHalfBase<ReadHalf<S>, S> {
 public:
  explicit ReadHalf(const S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : stream_(&stream) {}

  const S& stream() const { return *stream_; }

 private:
  const S* stream_;
};

template <class S>
class WriteHalf : public internal::WriteHalfBase<WriteHalf<S>, S> {
 public:
  explicit WriteHalf(const S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : stream_(&stream) {}

  const S& stream() const { return *stream_; }

 private:
  const S* stream_;
};

// Split()
//
// Returns both halves of `stream`. REQUIRES: `stream` outlives the halves and
// stays in place meanwhile.
template <internal::CanSplit S>
std::pair<ReadHalf<S>, WriteHalf<S>> Split(
    const S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return {ReadHalf<S>(stream), WriteHalf<S>(stream)};
}

template <class S>
class OwnedWriteHalf;

// OwnedReadHalf
//
// Owns the stream together with the `OwnedWriteHalf`; the connection is closed
// when both halves are destroyed. Movable, but not while one of its futures is
// alive; const members are thread-safe.
template <class S>
class OwnedReadHalf : public internal::ReadHalfBase<OwnedReadHalf<S>, S> {
 public:
  OwnedReadHalf(OwnedReadHalf&&) = default;
  OwnedReadHalf& operator=(OwnedReadHalf&&) = default;

  const S& stream() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return *stream_; }

 private:
  template <internal::CanSplit T>
  friend std::pair<OwnedReadHalf<T>, OwnedWriteHalf<T>> IntoSplit(T stream);
  template <class T>
  friend absl::StatusOr<T> Reunite(OwnedReadHalf<T>&& reader,
                                   OwnedWriteHalf<T>&& writer);

  explicit OwnedReadHalf(std::shared_ptr<S> stream)
      : stream_(std::move(stream)) {}

  std::shared_ptr<S> stream_;  // null if moved from
};

// OwnedWriteHalf
//
// Like `OwnedReadHalf`, for writing. The destructor notifies the peer that
// nothing more will be written, like `ShutdownWrite()`, even if the other half
// still exists.
template <class S>
class OwnedWriteHalf : public internal::WriteHalfBase<OwnedWriteHalf<S>, S> {
 public:
  OwnedWriteHalf(OwnedWriteHalf&&) = default;
  OwnedWriteHalf& operator=(OwnedWriteHalf&& other) noexcept {
    // Ends the replaced half now, rather than when `other` is destroyed.
    OwnedWriteHalf replaced(std::move(other));
    std::swap(stream_, replaced.stream_);
    return *this;
  }
  ~OwnedWriteHalf() {
    // A connection that has ended cannot and need not be shut down.
    if (stream_ != nullptr) stream_->ShutdownWrite().IgnoreError();
  }

  const S& stream() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return *stream_; }

  // Ends this half without notifying the peer. The peer is notified when the
  // other half is destroyed too.
  void Forget() && { stream_.reset(); }

 private:
  template <internal::CanSplit T>
  friend std::pair<OwnedReadHalf<T>, OwnedWriteHalf<T>> IntoSplit(T stream);
  template <class T>
  friend absl::StatusOr<T> Reunite(OwnedReadHalf<T>&& reader,
                                   OwnedWriteHalf<T>&& writer);

  explicit OwnedWriteHalf(std::shared_ptr<S> stream)
      : stream_(std::move(stream)) {}

  std::shared_ptr<S> stream_;  // null if moved from
};

// IntoSplit()
//
// Returns both halves of `stream`, which can go to different tasks and threads.
// Allocates once.
template <internal::CanSplit S>
std::pair<OwnedReadHalf<S>, OwnedWriteHalf<S>> IntoSplit(S stream) {
  auto shared = std::make_shared<S>(std::move(stream));
  return {OwnedReadHalf<S>(shared), OwnedWriteHalf<S>(shared)};
}

// Reunite()
//
// Reassembles a stream from its two halves. Returns InvalidArgument, leaving
// both halves unchanged, if the halves belong to different streams. REQUIRES:
// no future of either half is alive.
template <class S>
absl::StatusOr<S> Reunite(OwnedReadHalf<S>&& reader,
                          OwnedWriteHalf<S>&& writer) {
  if (reader.stream_ == nullptr || reader.stream_ != writer.stream_) {
    return absl::InvalidArgumentError(
        "Reunite: the halves belong to different streams; pass both halves of "
        "one IntoSplit()");
  }
  writer.stream_.reset();
  const std::shared_ptr<S> stream = std::move(reader.stream_);
  return std::move(*stream);
}

}  // namespace rouse

#endif  // ROUSE_NET_SPLIT_H_
